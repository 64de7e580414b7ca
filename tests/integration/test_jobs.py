"""Background work as its runner does it: what counts as a failure, who keeps a job, and what is taken up again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wellkept import Memory, ModelError, Policy, lease
from wellkept.jobs import MAX_FAILURES, Runner
from wellkept.lease import LEASE_MS
from wellkept.records import Scope
from wellkept.server.live import _Changes
from wellkept.store.jobs import Job
from wellkept.testing import Call, FakeClock, FakeModel

NOTHING = '{"intent": "none", "memories": []}'
Make = Callable[..., Memory]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def make(tmp_path: Path, clock: FakeClock) -> Iterator[Make]:
    """Opens the store, with one message to extract from."""
    opened: list[Memory] = []

    def build(script: Any = NOTHING, *, worker: bool = False, **policy: Any) -> Memory:
        path, rules = str(tmp_path / "chat.db"), Policy(**policy)
        opened.append(Memory(path, model=FakeModel(script), worker=worker, clock=clock, policy=rules))
        return opened[-1]

    with Memory(str(tmp_path / "chat.db"), model=FakeModel(), worker=False, clock=clock) as memory:
        memory.session(namespace="acme", user="alice").add_message("user", "I am allergic to peanuts")
    yield build
    for memory in opened:
        memory.close()


def only(memory: Memory) -> Job:
    [job] = memory.jobs.list()
    return job


def begun_and_left(memory: Memory, clock: FakeClock) -> None:
    """What a worker leaves behind that dies."""
    store, at = memory._core.store, int(clock().timestamp() * 1000)
    store.write(lambda tables: tables.jobs.hasten("extract", at=at))
    for _ in range(2):
        clock.advance(seconds=LEASE_MS / 1000)
        at = int(clock().timestamp() * 1000)
        store.write(lambda tables, at=at: tables.jobs.claim(at=at, lease=LEASE_MS))


def test_a_job_that_kills_whoever_works_on_it_is_given_up_and_can_be_retried(
    make: Make, clock: FakeClock
) -> None:
    memory = make()
    for _ in range(MAX_FAILURES):
        begun_and_left(memory, clock)
    clock.advance(seconds=LEASE_MS / 1000)
    assert memory.run_jobs() == 1
    job = only(memory)
    assert (job.state, job.failures, job.usage) == ("failed", MAX_FAILURES, None)
    assert job.last_error and "without a word" in job.last_error and "5 failures" in job.last_error
    memory.jobs.retry(job.id)
    assert memory.run_jobs() == 1
    assert (only(memory).state, only(memory).failures) == ("done", 0)


def test_being_held_back_is_no_failure(make: Make, clock: FakeClock) -> None:
    replies = iter([ModelError("429", retryable=True), NOTHING])
    memory = make(lambda call: next(replies), daily_tokens=0)
    for _ in range(2 * MAX_FAILURES):
        assert memory.run_jobs() == 1
        assert (only(memory).state, only(memory).failures) == ("ready", 0)
        clock.advance(days=1)
    richer = make(lambda call: next(replies))
    assert richer.run_jobs() == 1
    assert (only(richer).state, only(richer).failures, only(richer).last_error) == ("ready", 1, "429")
    clock.advance(seconds=2)
    assert richer.run_jobs() == 1
    assert (only(richer).state, only(richer).failures) == ("done", 0)


def test_failures_in_a_row_are_tried_again_later_and_later_and_then_given_up(
    make: Make, clock: FakeClock
) -> None:
    memory = make(lambda call: ModelError("429", retryable=True))
    pauses = []
    while only(memory).state == "ready":
        memory.run_jobs()
        pauses.append((only(memory).run_at - clock()).total_seconds())
        clock.advance(seconds=pauses[-1])
    assert (only(memory).state, only(memory).failures) == ("failed", MAX_FAILURES)
    assert pauses[:4] == [2, 8, 32, 128]


def test_who_works_renews_the_lease(make: Make, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)

    def slow(call: Call) -> str:
        for _ in range(3):
            before = only(memory).run_at
            clock.advance(seconds=LEASE_MS / 1000)
            while only(memory).run_at == before:
                pass
        return NOTHING

    memory = make(slow)
    assert memory.run_jobs() == 1
    assert (only(memory).state, only(memory).attempts) == ("done", 1)


def test_that_a_worker_lives_is_no_news_to_those_who_watch(make: Make, clock: FakeClock) -> None:
    memory = make()
    look = _Changes(Scope("acme", "alice"))
    look(memory)
    begun_and_left(memory, clock)
    [(kind, job)] = look(memory)
    assert kind == "job" and isinstance(job, Job) and job.state == "running"
    write, later = memory._core.store.write, int(clock().timestamp() * 1000) + LEASE_MS
    assert write(lambda tables: tables.jobs.renew(job, until=later))
    [(_, renewed)] = look(memory)
    assert isinstance(renewed, Job) and renewed.last_error is None, "it had been in doubt"
    assert write(lambda tables: tables.jobs.renew(job, until=later + 1))
    assert look(memory) == []


def test_who_has_lost_the_job_asks_the_model_no_more(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)

    asked = []

    def cancelled(call: Call) -> str:
        asked.append(call)
        memory.jobs.cancel(only(memory).id)
        for thread in threading.enumerate():
            if thread.name == "wellkept-lease":
                thread.join(60)
        return "this cannot be read, and would be asked for again"

    memory = make(cancelled)
    assert memory.run_jobs() == 1
    assert (only(memory).state, len(asked)) == ("cancelled", 1)
    [spent] = memory.spend(namespace="acme")
    assert spent["calls"] == 1


def test_an_interrupted_job_is_handed_back(make: Make) -> None:
    replies = iter([KeyboardInterrupt(), NOTHING])
    memory = make(lambda call: next(replies))
    with pytest.raises(KeyboardInterrupt):
        memory.run_jobs()
    job = only(memory)
    assert (job.state, job.failures) == ("ready", 0)
    assert job.last_error and "begins again" in job.last_error
    assert memory.run_jobs() == 1
    assert only(memory).state == "done"


def test_a_restarted_process_takes_up_what_is_due_later(
    make: Make, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellkept.jobs.POLL_SECONDS", 0.01)
    done = threading.Event()

    def reply(call: Call) -> str:
        done.set()
        return NOTHING

    memory = make(reply, worker=True)
    assert only(memory).run_at > clock()
    clock.advance(hours=1)
    assert done.wait(60)


def test_each_thread_hands_back_its_own_job(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """``close`` while the worker is at a long job, after another thread has run a job of its own."""
    monkeypatch.setattr(Runner.stop, "__defaults__", (0.05,))
    asked, released = threading.Event(), threading.Event()

    def reply(call: Call) -> str:
        if threading.current_thread().name == "wellkept-worker":
            asked.set()
            released.wait(60)
        return NOTHING

    memory = make(reply, worker=True)
    memory.user("alice", namespace="acme").extract()
    assert asked.wait(60)
    memory.session(namespace="acme", user="bob").add_message("user", "I live in Oslo")
    assert memory.run_jobs() == 1
    memory.close()
    released.set()
    assert [job.state for job in make().jobs.list()] == ["done", "ready"]
