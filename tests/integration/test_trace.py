"""A trace says exactly what a model was given, can be replayed, is never in the way, and shows nothing erased."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from wellkept import Memory, NotFound, Policy, Session, StoreFull, tracing
from wellkept.testing import FakeClock, FakeModel

TALK = [
    ("我小孩今年五岁，对恐龙特别着迷", "恐龙馆6月30日开放，门票120元。"),
    ("My flight is CA1837 at 07:45 on 2026-03-09", "Noted: CA1837, 07:45."),
    ("他对花生过敏，不能吃花生酱", "好的，会避开花生。"),
    ("What shall we pack?", "Warm clothes."),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


def open_memory(path: Path, **options: Any) -> Memory:
    policy = {"debug_trace": -1, "recent_window_size": 2, "summarize_every": 4, **options.pop("policy", {})}
    return Memory(str(path), policy=Policy(**policy), worker=False, **options)


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    with open_memory(path, clock=FakeClock(datetime(2026, 3, 1, tzinfo=timezone.utc))) as opened:
        yield opened


def open_chat(memory: Memory, id: str = "s1", user: str = "alice") -> Session:
    return memory.session(namespace="acme", user=user, session_id=id, create=True)


def talk(chat: Session, times: int = 1) -> None:
    for _ in range(times):
        for question, answer in TALK:
            chat.add_message("user", question)
            chat.add_message("assistant", answer)


# ── what it says ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_trace_is_the_context_to_the_letter(memory: Memory) -> None:
    chat = open_chat(memory)
    talk(chat, 2)
    memory.run_jobs()
    chat.add_message("user", "花生?")
    context = chat.get_context("花生", budget=900)
    memory.run_jobs()
    trace = chat.traces.get(context.trace_id or "")
    assert (trace.system, trace.boundary, list(trace.messages)) == (
        context.system, context.boundary, context.messages,
    )  # fmt: skip
    assert (trace.tokens, trace.parts, trace.candidates) == (context.tokens, context.parts, context.trace)
    assert (trace.query, trace.budget, trace.seq) == ("花生", 900, 17)
    assert trace.policy == memory.policy.to_dict() | {"redaction": []}
    assert trace.version == chat.summaries()[-1].version > 0
    assert {candidate.tier for candidate in trace.candidates} >= {"summary", "window"}
    dropped = [candidate for candidate in trace.candidates if not candidate.kept]
    assert all(candidate.reason for candidate in dropped)


def test_off_is_the_default_and_costs_no_id(path: Path) -> None:
    with Memory(str(path), worker=False) as memory:
        chat = open_chat(memory)
        talk(chat)
        assert chat.get_context().trace_id is None
        memory.run_jobs()
        assert chat.traces.list() == []


def test_the_ring_keeps_the_newest_of_each_session(path: Path) -> None:
    with open_memory(path, policy={"debug_trace": 3}) as memory:
        chat, other = open_chat(memory), open_chat(memory, "s2")
        talk(other)
        other.get_context()
        talk(chat)
        made = [chat.get_context(budget=1000 + number).trace_id for number in range(6)]
        memory.run_jobs()
        assert [trace.id for trace in chat.traces.list()] == made[:2:-1]
        assert len(memory.user("alice", namespace="acme").traces.list()) == 4


def test_looking_back_and_reading_without_the_right_to_write_leave_no_trace(memory: Memory) -> None:
    chat = open_chat(memory)
    talk(chat)
    chat.get_context(as_of=3)
    memory.read_only().session(namespace="acme", user="alice", session_id="s1").get_context()
    memory.run_jobs()
    assert chat.traces.list() == []


def test_traces_are_their_owners_alone(memory: Memory) -> None:
    chat = open_chat(memory)
    talk(chat)
    id = chat.get_context().trace_id or ""
    memory.run_jobs()
    for other in (open_chat(memory, "s2"), open_chat(memory, "s1", user="bob")):
        with pytest.raises(NotFound):
            other.traces.get(id)
        with pytest.raises(NotFound):
            other.traces.list(before=id)
    with pytest.raises(NotFound):
        memory.user("bob", namespace="acme").traces.replay(id)


def test_an_answer_says_which_trace_is_its(path: Path) -> None:
    with open_memory(path, model=FakeModel("ok")) as memory:
        chat = open_chat(memory)
        answer = chat.reply("hello")
        memory.run_jobs()
        trace = chat.traces.get(answer.event.metadata["trace_id"])
        assert trace.messages == [{"role": "user", "content": "hello"}]


# ── replay ────────────────────────────────────────────────────────────────────────────────────────────────


def test_replayed_as_it_was_it_is_the_same_to_the_byte_whatever_came_later(memory: Memory) -> None:
    clock: Any = memory._core.clock
    chat, alice = open_chat(memory), memory.user("alice", namespace="acme")
    alice.profile.set("user", "Lives in 上海.")
    ids = []
    for _ in range(6):
        for question, answer in TALK:
            clock.advance(hours=7)
            chat.add_message("user", question)
            ids.append(chat.get_context(question, budget=1200).trace_id)
            clock.advance(seconds=5)
            chat.add_message("assistant", answer)
            memory.run_jobs()
    clock.advance(days=40)
    alice.profile.set("user", "Lives in 北京 now.")
    assert len({chat.traces.get(id or "").version for id in ids}) > 3
    for id in ids:
        replay = chat.traces.replay(id or "")
        assert replay.difference == ""
        assert replay.after.to_openai()[1:] == replay.before.messages
        assert replay.after.boundary == replay.before.boundary
        assert all(before == after for before, after in replay.tokens.values())


def test_facts_come_back_as_they_stood(memory: Memory) -> None:
    clock: Any = memory._core.clock
    chat, alice = open_chat(memory), memory.user("alice", namespace="acme")
    ids = []
    for number in range(8):
        clock.advance(hours=1)
        fact = alice.add(f"The code word of day {number} is {1000 + number}", infer=False)["results"][0]
        clock.advance(minutes=1)
        talk(chat)
        chat.add_message("user", "code word?")
        ids.append(chat.get_context("code word", budget=1500).trace_id or "")
        memory.run_jobs()
        clock.advance(minutes=1)
        if number % 2:
            alice.update(fact["id"], f"The code word of day {number} was taken back")
    assert "1003" in chat.traces.get(ids[3]).system and "1003" not in chat.get_context("code word").system
    for id in ids:
        assert chat.traces.replay(id).difference == ""


def test_another_budget_or_policy_shows_the_difference(memory: Memory) -> None:
    chat = open_chat(memory)
    talk(chat, 6)
    chat.add_message("user", "门票多少钱?")
    id = chat.get_context(budget=1500).trace_id or ""
    memory.run_jobs()
    smaller = chat.traces.replay(id, budget=500)
    assert smaller.tokens["total"][1] <= 500 < smaller.tokens["total"][0]
    assert smaller.difference.startswith("--- then\n+++ replayed")
    assert smaller.tokens["window"][1] < smaller.tokens["window"][0]
    assert chat.traces.replay(id, policy=memory.policy).after.messages == smaller.before.messages
    bare = chat.traces.replay(id, policy=Policy(summary_share=0.0, recall_share=0.0))
    assert "summary" not in bare.after.parts
    json.dumps(bare.to_dict())


def test_a_popped_turn_and_a_deleted_session_take_their_traces_along(memory: Memory) -> None:
    chat, other = open_chat(memory), open_chat(memory, "s2")
    talk(chat)
    before = chat.get_context().trace_id
    chat.add_message("user", "my secret is XYZZY")
    chat.get_context()
    other.add_message("user", "what is the secret?")
    other.get_context("secret XYZZY")
    memory.run_jobs()
    assert len(memory.user("alice", namespace="acme").traces.list()) == 3
    chat.pop_turn()
    assert [trace.id for trace in memory.user("alice", namespace="acme").traces.list()] == [before]
    chat.delete()
    assert memory.user("alice", namespace="acme").traces.list() == []


def test_what_waits_in_memory_is_not_written_after_an_erasure(memory: Memory, path: Path) -> None:
    chat = open_chat(memory)
    chat.add_message("user", "my secret is XYZZY")
    chat.get_context()
    chat.pop_turn()
    memory.run_jobs()
    assert chat.traces.list() == []
    memory.close()
    assert all(b"XYZZY" not in file.read_bytes() for file in path.parent.iterdir())


# ── never in the way ──────────────────────────────────────────────────────────────────────────────────────


def test_the_file_gets_each_trace_as_a_line_with_or_without_a_ring(path: Path) -> None:
    lines = path.with_name("轨 迹.jsonl")
    with open_memory(path, trace_file=str(lines), policy={"debug_trace": 0}) as memory:
        chat = open_chat(memory)
        talk(chat)
        made = [chat.get_context(), chat.get_context("花生")]
        memory.run_jobs()
        assert chat.traces.list() == []
    read = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert [each["id"] for each in read] == [context.trace_id for context in made]
    assert read[0]["messages"] == made[0].messages


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_costs_the_trace_and_not_the_chat(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with open_memory(path, trace_file="/dev/full") as memory:
        chat = open_chat(memory)
        talk(chat)
        context = chat.get_context()
        memory.run_jobs()
        assert context.messages[-1]["content"] == TALK[-1][1]
        assert memory.trace_losses == {"/dev/full: No space left on device": 1}
        assert "1 traces were lost: /dev/full" in caplog.text
        assert chat.traces.get(context.trace_id or "").tokens == context.tokens
        chat.add_message("user", "still here")


def test_a_store_that_cannot_be_written_costs_the_trace_and_not_the_chat(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = open_chat(memory)
    talk(chat)
    context = chat.get_context()

    def full(work: Any) -> Any:
        raise StoreFull("No room left for chat.db; nothing was written.")

    monkeypatch.setattr(memory._core.store, "write", full)
    with pytest.raises(StoreFull):
        memory.run_jobs()
    monkeypatch.undo()
    assert context.tokens
    assert memory.trace_losses == {"No room left for chat.db; nothing was written.": 1}


def test_too_many_at_once_are_counted_and_the_others_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "WAITING", 3)
    chat = open_chat(memory)
    talk(chat)
    for _ in range(5):
        chat.get_context()
    memory.run_jobs()
    assert len(chat.traces.list()) == 3
    assert memory.trace_losses == {tracing.QUEUE_FULL: 2}


def test_closing_writes_what_waits_and_the_worker_writes_by_itself(path: Path) -> None:
    with open_memory(path) as memory:
        chat = open_chat(memory)
        talk(chat)
        id = chat.get_context().trace_id
    with Memory(str(path), policy=Policy(debug_trace=-1)) as memory:
        chat = open_chat(memory)
        assert [trace.id for trace in chat.traces.list()] == [id]
        chat.get_context()
        wait_for(lambda: len(chat.traces.list()) == 2)


def wait_for(condition: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_context_waits_for_no_write(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = open_chat(memory)
    talk(chat)

    def never(work: Any) -> Any:
        raise AssertionError("get_context wrote to the store")

    monkeypatch.setattr(memory._core.store, "write", never)
    assert chat.get_context("花生").trace_id
    monkeypatch.undo()
