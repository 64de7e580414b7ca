"""The importer: whatever is stored comes back, wherever it is interrupted."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept import formats
from wellkept.cli.clock import StoryClock
from wellkept.cli.exports import items, oldest_first
from wellkept.cli.importer import BATCH, Importer, Report
from wellkept.facts.copies import book_of
from wellkept.formats import Item
from wellkept.memory import Memory
from wellkept.records import Content, Draft, Scope, Text, ToolCall, ToolResult

ALICE = Scope("acme", "alice")
BEGAN = datetime(2026, 6, 1, tzinfo=timezone.utc)

words = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
).filter(lambda text: not text.isspace())
contents: st.SearchStrategy[tuple[str, Content]] = st.one_of(
    st.tuples(st.sampled_from(["user", "assistant", "system"]), words),
    st.tuples(
        st.just("assistant"),
        st.tuples(st.builds(Text, words), st.builds(ToolCall, words, words, st.just("{}"))),
    ),
    st.tuples(
        st.just("tool"), st.tuples(st.builds(ToolResult, words, words, st.sampled_from([None, True, False])))
    ),
)
drafts = st.builds(
    lambda said, minute, speaker, metadata: Draft(
        role=said[0],
        content=said[1],
        ts=BEGAN + timedelta(minutes=minute),
        speaker=speaker,
        metadata=metadata,
    ),
    contents,
    st.integers(0, 100_000),
    st.none() | words,
    st.none() | st.dictionaries(words, words, max_size=2),
)
conversations = st.lists(st.lists(drafts, min_size=1, max_size=8), min_size=1, max_size=3)


def filled(conversation: Sequence[Sequence[Draft]]) -> Memory:
    memory = Memory(":memory:", worker=False)
    for number, session in enumerate(conversation):
        memory.session(namespace="acme", user="alice", title=f"第 {number} 段").append(session)
    return memory


def exported(memory: Memory) -> str:
    infos = oldest_first(memory.user("alice", namespace="acme"))
    stream = io.StringIO()
    formats.write(items(memory, ALICE, infos, book_of(memory._core, ALICE)), stream)
    return stream.getvalue()


def imported(memory: Memory, clock: StoryClock, found: Sequence[Item]) -> Report:
    return Importer(memory, clock, namespace=None, user=None, skip_bad=False).run(found)


@settings(max_examples=60, deadline=None)
@given(conversations, st.data())
def test_an_export_comes_back_exactly_even_when_the_import_is_cut_off(
    conversation: list[list[Draft]], data: st.DataObject
) -> None:
    with filled(conversation) as memory:
        text = exported(memory)
    found = list(formats.read(io.StringIO(text)))
    cut = data.draw(st.integers(0, len(found)))
    clock = StoryClock()
    with Memory(":memory:", clock=clock, worker=False) as other:
        imported(other, clock, found[:cut])
        report = imported(other, clock, found)
        assert report.added + report.known == sum(map(len, conversation))
        assert exported(other) == text


def test_more_than_a_batch_in_mixed_sessions_keeps_the_order_of_each() -> None:
    starts: list[Item] = [
        formats.SessionStart(external_id=name, namespace="n", user="u") for name in ("a", "b")
    ]
    entries: list[Item] = [
        formats.Entry(
            session="ab"[number // 3 % 2],
            draft=Draft(role="user", content=f"message {number}", idempotency_key=str(number)),
        )
        for number in range(3 * BATCH)
    ]
    clock = StoryClock()
    with Memory(":memory:", clock=clock, worker=False) as memory:
        report = imported(memory, clock, [*starts, *entries])
        assert (report.sessions, report.added) == (2, 3 * BATCH)
        for name in "ab":
            chat = memory.session(namespace="n", user="u", session_id=name)
            said = [event.content for event in chat.get_events(after=0, limit=5 * BATCH)]
            expected = [
                e.draft.content for e in entries if isinstance(e, formats.Entry) and e.session == name
            ]
            assert said == expected
