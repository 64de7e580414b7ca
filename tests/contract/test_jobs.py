"""The outbox of any store: written with its cause, claimed once, due again when a worker dies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.scene import ALICE, BOB, TWIN, open_session, said
from wellkept.records import Scope, utc
from wellkept.store.jobs import GONE, HELD_BACK, NEVER, SILENT, Job, JobState
from wellkept.store.protocol import SessionRef, Store, Tables


def put(
    store: Store, scope: Scope = ALICE, kind: str = "summarize", *, at: int = 100, once: str | None = None
) -> int | None:
    return store.write(lambda tables: tables.jobs.put(scope, kind, payload={"n": "数"}, at=at, once=once))


def claim(store: Store, at: int, *, lease: int = 50, kinds: list[str] | None = None) -> Job | None:
    return store.write(lambda tables: tables.jobs.claim(at=at, lease=lease, kinds=kinds))


def claimed(store: Store, *, at: int = 100) -> Job:
    job = claim(store, at)
    assert job is not None
    return job


def retaken(store: Store, *, at: int) -> Job:
    """The job of a worker that has been silent for too long by ``at``."""
    assert claim(store, at - 50) is None
    return claimed(store, at=at)


def finish(store: Store, job: Job, state: JobState, **how: Any) -> bool:
    return store.write(lambda tables: tables.jobs.finish(job, state, at=130, day="2026-11-30", **how))


def get(store: Store, id: int) -> Job:
    job = store.read(lambda tables: tables.jobs.get(id))
    assert job is not None
    return job


def test_a_job_lives_and_dies_with_its_event(store: Store, ref: SessionRef) -> None:
    def work(tables: Tables) -> None:
        tables.events.append(ref, [said()], at=1)
        tables.jobs.put(ALICE, "extract", ref=ref, at=1)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write(work)
    assert store.read(lambda tables: tables.jobs.list()) == []


def test_a_job_carries_what_it_is_about(store: Store, ref: SessionRef) -> None:
    key = store.write(lambda tables: tables.jobs.put(ALICE, "extract", ref=ref, payload={"seq": 3}, at=70))
    assert key is not None
    job = get(store, key)
    assert (job.scope, job.session_id, job.kind, job.payload) == (ALICE, "s1", "extract", {"seq": 3})
    assert (job.state, job.attempts, job.created_at.timestamp()) == ("ready", 0, 0.07)


def test_the_oldest_due_job_comes_first_and_to_one_worker(store: Store) -> None:
    later, sooner = put(store, at=200), put(store, at=100)
    assert claim(store, at=99) is None
    taken = [claim(store, at=300, lease=1_000) for _ in range(3)]
    assert [job.id if job else None for job in taken] == [sooner, later, None]
    assert taken[0] is not None
    assert (taken[0].state, taken[0].attempts) == ("running", 1)


def test_only_the_wanted_kinds_are_claimed(store: Store) -> None:
    put(store, kind="embed")
    wanted = put(store, kind="erase")
    job = claim(store, at=500, kinds=["erase", "extract"])
    assert job is not None
    assert job.id == wanted
    assert claim(store, at=500, kinds=[]) is None


def renew(store: Store, job: Job, until: int) -> bool:
    return store.write(lambda tables: tables.jobs.renew(job, until=until))


def test_a_lease_that_ran_out_is_prolonged_once_and_then_the_job_is_due_again(store: Store) -> None:
    key = put(store)
    assert key is not None
    assert claim(store, at=100, lease=50) is not None
    assert claim(store, at=149, lease=50) is None
    assert get(store, key).last_error is None
    assert claim(store, at=150, lease=50) is None
    assert get(store, key).last_error == SILENT
    assert claim(store, at=199, lease=50) is None
    again = claim(store, at=200, lease=50)
    assert again is not None
    assert (again.attempts, again.failures, again.last_error) == (2, 1, GONE)
    assert claim(store, at=250, lease=50) is None, "the next worker is given as much time"


def test_a_worker_that_renews_keeps_its_job_whatever_the_clock_of_another_says(store: Store) -> None:
    put(store)
    job = claimed(store, at=100)
    for ahead in range(10_000, 20_000, 1_000):
        assert claim(store, at=ahead, lease=500) is None
        assert get(store, job.id).last_error == SILENT
        assert renew(store, job, until=200)
        assert get(store, job.id).last_error is None
    assert finish(store, job, "done")


def test_only_the_holder_can_renew(store: Store) -> None:
    put(store)
    slow = claimed(store)
    quick = retaken(store, at=200)
    assert not renew(store, slow, until=900)
    assert renew(store, quick, until=900)
    assert store.read(lambda tables: tables.jobs.next_due(["summarize"])) == 900
    assert finish(store, quick, "done")
    assert not renew(store, quick, until=999)


def test_failures_are_counted_until_one_moves_the_job_by_hand(store: Store) -> None:
    key = put(store)
    assert key is not None
    assert finish(store, claimed(store), "ready", error="429", failures=1, run_at=100)
    assert claimed(store).failures == 1
    retaken(store, at=200)
    assert get(store, key).failures == 2

    def again(tables: Tables) -> bool:
        tables.jobs.set_state(key, "cancelled", at=300, allowed=["running"])
        return tables.jobs.set_state(key, "ready", at=300, allowed=["cancelled"])

    assert store.write(again)
    assert get(store, key).failures == 0


def test_finishing_says_how_it_went_and_only_once(store: Store) -> None:
    put(store)
    job = claimed(store)
    usage = {"calls": 1, "input_tokens": 3, "output_tokens": 2}
    assert finish(store, job, "done", usage=usage, result={"ok": True})
    assert not finish(store, job, "done")
    stored = get(store, job.id)
    assert (stored.state, stored.usage, stored.result) == ("done", usage, {"ok": True})
    assert stored.finished_at is not None
    assert claim(store, at=9_999) is None


def test_a_failure_is_visible_and_can_be_retried_later(store: Store) -> None:
    put(store)
    assert finish(store, claimed(store), "ready", error="429", raw_reply="{", run_at=500)
    job = get(store, 1)
    assert (job.state, job.last_error, job.raw_reply, job.finished_at) == ("ready", "429", "{", None)
    assert claim(store, at=499) is None
    assert claim(store, at=500) is not None


def test_a_worker_that_came_too_late_changes_nothing(store: Store) -> None:
    put(store)
    slow = claimed(store)
    quick = retaken(store, at=200)
    assert quick.id == slow.id
    assert not finish(store, slow, "failed", error="too late")
    assert finish(store, quick, "done")
    job = get(store, slow.id)
    assert (job.state, job.last_error) == ("done", None)


def test_tokens_are_booked_on_their_day_even_when_the_result_is_not_used(store: Store) -> None:
    put(store)
    put(store, TWIN)
    for _ in range(2):
        job = claimed(store)
        usage = {"calls": 1, "input_tokens": 10, "output_tokens": 5}
        finish(store, job, "done", usage=usage)
        finish(store, job, "done", usage=usage)
    assert store.read(lambda tables: tables.jobs.spent("acme", "2026-11-30")) == 30
    assert store.read(lambda tables: tables.jobs.spent("acme", "2026-12-01")) == 0
    assert store.read(lambda tables: tables.jobs.spend("umbrella", since="2026-11-01")) == [
        {
            "day": "2026-11-30",
            "user": "alice",
            "kind": "summarize",
            "calls": 2,
            "input_tokens": 20,
            "output_tokens": 10,
        }
    ]


def test_a_waiting_job_is_not_put_twice(store: Store) -> None:
    first = put(store, once="s1")
    assert put(store, once="s1") is None
    assert put(store, BOB, once="s1") is not None
    assert put(store, kind="extract", once="s1") is not None
    running = claim(store, at=100)
    assert running is not None
    assert running.id == first
    assert put(store, once="s1") is not None, "what came after the work began needs another run"


def test_a_running_job_can_go_back_though_another_waits(store: Store) -> None:
    put(store, once="s1")
    first = claimed(store)
    second = put(store, once="s1")
    assert finish(store, first, "ready", error="timeout", run_at=120)
    due = [claim(store, at=500, lease=1_000) for _ in range(2)]
    assert {job.id for job in due if job} == {first.id, second}


def test_moving_by_hand_needs_the_right_state(store: Store) -> None:
    key = put(store)
    assert key is not None

    def move(tables: Tables) -> tuple[bool, bool, bool]:
        return (
            tables.jobs.set_state(key, "ready", at=1, allowed=["failed"]),
            tables.jobs.set_state(key, "cancelled", at=2, allowed=["ready", "running"]),
            tables.jobs.set_state(key, "ready", at=3, allowed=["cancelled", "failed"]),
        )

    assert store.write(move) == (False, True, True)
    assert store.read(lambda tables: tables.jobs.next_due(["summarize"])) == 3


def test_a_cancelled_job_is_not_finished(store: Store) -> None:
    put(store)
    job = claimed(store)
    assert store.write(lambda tables: tables.jobs.set_state(job.id, "cancelled", at=2, allowed=["running"]))
    assert not finish(store, job, "done")
    assert get(store, job.id).state == "cancelled"


def test_lists_are_scoped_and_paged(store: Store) -> None:
    keys = [put(store, scope, kind) for scope in (ALICE, BOB, TWIN) for kind in ("embed", "erase")]

    def listed(**filters: object) -> list[int]:
        return [job.id for job in store.read(lambda tables: tables.jobs.list(**filters))]  # type: ignore[arg-type]

    assert listed() == keys[::-1]
    assert listed(namespace="acme") == keys[3::-1]
    assert listed(scope=ALICE) == keys[1::-1]
    assert listed(scope=ALICE, kind="erase", state="ready") == [keys[1]]
    assert listed(limit=2, before=keys[4]) == [keys[3], keys[2]]
    assert keys[0] is not None
    assert store.read(lambda tables: tables.jobs.get(keys[0] or 0, "umbrella")) is None


def test_next_due_is_the_earliest_of_the_open_ones(store: Store) -> None:
    def due(*kinds: str) -> int:
        return store.read(lambda tables: tables.jobs.next_due(kinds))

    assert due("summarize") == NEVER
    put(store, at=300)
    put(store, at=200)
    put(store, kind="embed", at=250)
    claim(store, at=200, lease=500)
    assert due("summarize") == 300
    assert due("summarize", "embed") == 250
    assert due() == NEVER


def test_a_deleted_session_takes_its_jobs_along(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    for each in (ref, other):
        store.write(lambda tables, each=each: tables.jobs.put(ALICE, "extract", ref=each, at=1))
    store.write(lambda tables: tables.sessions.delete(ref))
    assert [job.session_id for job in store.read(lambda tables: tables.jobs.list())] == ["s2"]


def test_a_job_is_due_later_than_it_was_made_and_can_be_put_off_or_hastened(store: Store) -> None:
    def work(tables: Tables) -> SessionRef:
        ref = tables.sessions.create(ALICE, "s1", title="", metadata={}, at=1)
        tables.jobs.put(ALICE, "extract", ref=ref, at=100, due=200, once="s1")
        return ref

    ref = store.write(work)

    def moved(at: int, due: int) -> tuple[int, int]:
        store.write(lambda tables: tables.jobs.postpone(ref, "extract", "s1", at=at, due=due))
        [job] = store.read(lambda tables: tables.jobs.list())
        return int(job.created_at.timestamp() * 1000), int(job.run_at.timestamp() * 1000)

    assert moved(150, 250) == (100, 250)
    assert moved(250, 350) == (100, 250), "it is due already"
    store.write(lambda tables: tables.jobs.hasten("extract", at=160, ref=ref))
    assert moved(170, 270) == (100, 160)
    job = store.write(lambda tables: tables.jobs.claim(at=170, lease=10))
    assert job is not None
    store.write(lambda tables: tables.jobs.finish(job, "ready", at=180, day="d", error=HELD_BACK, run_at=900))
    assert store.read(lambda tables: tables.jobs.held_back(ref, "extract", "s1")) == utc(900)
    assert moved(190, 290) == (100, 900), "it was begun before"
    again = store.write(lambda tables: tables.jobs.put(ALICE, "extract", ref=ref, at=200, once="s1"))
    assert again is None, "what waits to be done again is the job of what came since, too"
