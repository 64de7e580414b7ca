"""Messages for several sessions at once: each all or nothing, and only the one at fault fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from wellkept import AsyncMemory, Conflict, Draft, InvalidInput, Memory, NotFound, Policy, StoreBusy, arrivals
from wellkept.arrivals import Arrival
from wellkept.policy.recall.terms import HEAVY
from wellkept.records import Scope
from wellkept.server.appends import Appends

ALICE, BOB = Scope("acme", "alice"), Scope("acme", "bob")


def said(*texts: str, key: str | None = None) -> list[Draft]:
    return [Draft(role="user", content=text, idempotency_key=key) for text in texts]


def opened(memory: Memory, *ids: str) -> None:
    for id in ids:
        memory.session(namespace="acme", user="alice", session_id=id, create=True)


def held(memory: Memory, id: str) -> list[object]:
    chat = memory.session(namespace="acme", user="alice", session_id=id)
    return [event.content for event in chat.get_recent(1000)]


def test_what_arrives_together_is_stored_in_order() -> None:
    with Memory(":memory:", worker=False) as memory:
        opened(memory, "a", "b")
        arrivals = [
            Arrival(ALICE, "a", said("1", "2")),
            Arrival(ALICE, "b", said("x")),
            Arrival(ALICE, "a", said("3")),
        ]
        first, second, third = memory.append_all(arrivals)
        assert [event.seq for event in [*first, *third]] == [1, 2, 3]  # type: ignore[misc]
        assert (held(memory, "a"), held(memory, "b")) == (["1", "2", "3"], ["x"])
        assert second[0].session_id == "b"  # type: ignore[index]


def test_only_the_one_at_fault_fails_and_leaves_nothing() -> None:
    with Memory(":memory:", worker=False) as memory:
        opened(memory, "a")
        memory.append_all([Arrival(ALICE, "a", said("first", key="k"))])
        outcomes = memory.append_all(
            [
                Arrival(ALICE, "a", said("good")),
                Arrival(ALICE, "gone", said("x")),
                Arrival(BOB, "a", said("not his")),
                Arrival(ALICE, "a", [*said("half"), *said("other", key="k")]),
                Arrival(ALICE, "a", said("fine", " ")),
                Arrival(ALICE, "a", said("last")),
            ]
        )
        kinds = [type(each) for each in outcomes]
        assert kinds == [list, NotFound, NotFound, Conflict, InvalidInput, list]
        assert held(memory, "a") == ["first", "good", "last"]


def test_background_work_becomes_due_as_with_one_at_a_time() -> None:
    with Memory(":memory:", worker=False) as memory:
        opened(memory, "a")
        memory.append_all([Arrival(ALICE, "a", said(str(number))) for number in range(60)])
        assert [job.kind for job in memory.jobs.list()] == ["summarize"]


def test_many_callers_share_commits_and_each_gets_its_own(tmp_path: Path) -> None:
    async def main() -> None:
        async with AsyncMemory(str(tmp_path / "chat.db"), worker=False) as memory:
            await memory.run(lambda opened_: opened(opened_, *(f"s{n}" for n in range(20))))
            line = Appends(memory)
            calls = [line.append(Arrival(ALICE, f"s{n}", said(f"text {n}"))) for n in range(20)]
            missing = line.append(Arrival(ALICE, "nope", said("x")))
            *stored, refused = await asyncio.gather(*calls, missing, return_exceptions=True)
            assert [events[0].content for events in stored] == [f"text {n}" for n in range(20)]  # type: ignore[index]
            assert isinstance(refused, NotFound)

    asyncio.run(main())


def test_what_fails_them_all_is_told_to_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise StoreBusy("locked")

    async def main() -> None:
        async with AsyncMemory(":memory:", worker=False) as memory:
            line = Appends(memory)
            monkeypatch.setattr(Memory, "append_all", busy)
            calls = [line.append(Arrival(ALICE, "a", said("x"))) for _ in range(3)]
            done = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(each) for each in done] == [StoreBusy] * 3

    asyncio.run(main())


# ── a message list, of which a part is stored


def test_what_is_new_of_a_list_is_appended_and_the_session_made() -> None:
    with Memory(":memory:", worker=False) as memory:
        for sent in (said("1"), said("1", "2"), said("2", "3"), said("1", "2", "3")):
            session, _ = memory.append_new(Arrival(ALICE, "a", sent))
        assert held(memory, "a") == ["1", "2", "3"]
        assert [event.content for event in session.get_recent()] == ["1", "2", "3"]
        with pytest.raises(InvalidInput):
            memory.append_new(Arrival(ALICE, "a", said("4", " ")))
        with pytest.raises(InvalidInput):
            memory.append_new(Arrival(ALICE, "b", said(" ")))
        assert held(memory, "a") == ["1", "2", "3"]
        assert [info.id for info in memory.user("alice", namespace="acme").sessions()] == ["a"]


def test_how_a_caller_begins_the_answer_is_not_appended_but_comes_back() -> None:
    begun = Draft(role="assistant", content="{")
    with Memory(":memory:", worker=False) as memory:
        assert memory.append_new(Arrival(ALICE, "a", [*said("1"), begun])).begun == [begun]
        assert memory.append_new(Arrival(ALICE, "a", [*said("1"), begun])).begun == [begun]
        assert held(memory, "a") == ["1"]
        memory.append_all([Arrival(ALICE, "a", [begun])])
        assert memory.append_new(Arrival(ALICE, "a", [*said("1"), begun])).begun == []
        assert memory.append_new(Arrival(ALICE, "a", [])).begun == []
        assert held(memory, "a") == ["1", "{"]


def test_a_long_message_is_read_before_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", worker=False) as memory:
        store = memory._core.store
        writing: list[bool] = []
        write, ready = store.write, arrivals.prepare

        def noted(work: Callable[[Any], Any]) -> Any:
            writing.append(True)
            try:
                return write(work)
            finally:
                writing.pop()

        def seen(core: Any, draft: Draft, now: int) -> Any:
            assert not writing or len(str(draft.content)) < HEAVY
            return ready(core, draft, now)

        monkeypatch.setattr(store, "write", noted)
        monkeypatch.setattr(arrivals, "prepare", seen)
        long = "恐龙 " * HEAVY
        memory.append_new(Arrival(ALICE, "a", said("1", long, "2")))
        memory.append_new(Arrival(ALICE, "a", said(long, "2", "3")))
        assert held(memory, "a") == ["1", long, "2", "3"]


def test_a_list_that_is_sent_twice_at_once_is_stored_once(tmp_path: Path) -> None:
    sent = said("1", "2", "3")
    with Memory(tmp_path / "a.db", worker=False) as memory, ThreadPoolExecutor(8) as pool:
        for number in range(20):
            arrivals = [Arrival(ALICE, f"s{number}", sent)] * 8
            list(pool.map(memory.append_new, arrivals))
            assert held(memory, f"s{number}") == ["1", "2", "3"]


def test_a_message_whose_secret_was_masked_is_known_again() -> None:
    with Memory(":memory:", worker=False, policy=Policy(redaction=("password",))) as memory:
        for _ in range(2):
            memory.append_new(Arrival(ALICE, "a", said("password: hunter2")))
        [stored] = held(memory, "a")
    assert "hunter2" not in str(stored)
