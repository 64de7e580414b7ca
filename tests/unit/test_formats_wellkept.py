from __future__ import annotations

import io
import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import InvalidInput
from wellkept.formats import (
    BadLine,
    Entry,
    Extra,
    Item,
    Note,
    SessionStart,
    entry_of,
    import_key,
    read,
    start_of,
    write,
)
from wellkept.records import (
    ROLES,
    Draft,
    Event,
    Image,
    Other,
    SessionInfo,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    utc,
)

NOON = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
HEADER = '{"kind": "header", "format": "wellkept", "version": "1.0"}\n'
SESSION = '{"kind": "session", "id": "s1"}\n'
EVENT = (
    '{"kind": "event", "session": "s1", "seq": 1, "role": "user", "content": "你好", "ts": 1780300800000}\n'
)
END = '{"kind": "end", "sessions": 1, "events": 1}\n'


def written(items: list[Item]) -> str:
    stream = io.StringIO()
    write(items, stream)
    return stream.getvalue()


def reread(text: str) -> list[Item]:
    return list(read(io.StringIO(text)))


# ── what is read is what was written ────────────────────────────────────────────────────────────────────────

words = st.text(st.characters(exclude_categories=["Cs"]))
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(words, json_values, max_size=3)
maybe = st.none() | objects
simple_blocks = st.one_of(
    st.builds(Text, words, maybe),
    st.builds(Thinking, words, st.none() | words, maybe),
    st.builds(ToolCall, words, words, words, maybe),
    st.builds(Image, words, maybe),
    st.builds(Other, objects),
)
inner_contents = words | st.lists(simple_blocks, max_size=3).map(tuple)
blocks = simple_blocks | st.builds(ToolResult, words, inner_contents, st.none() | st.booleans(), maybe)
contents = words | st.lists(blocks, max_size=4).map(tuple)
times = st.integers(0, 8_000_000_000_000).map(utc)
drafts = st.builds(
    Draft,
    role=st.sampled_from(ROLES),
    content=contents,
    ts=st.none() | times,
    speaker=st.none() | words,
    metadata=maybe,
    idempotency_key=names,
)
sessions = st.builds(
    SessionStart,
    external_id=st.just("对话 1"),
    title=words,
    created_at=st.none() | times,
    metadata=objects,
    namespace=st.none() | words,
    user=st.none() | words,
)
entries = st.builds(
    Entry,
    session=st.just("对话 1"),
    draft=drafts,
    seq=st.integers(1),
    tokens=st.none() | st.integers(0),
)
extras = st.builds(
    Extra,
    kind=st.sampled_from(["profile", "fact", "summary", "卡片"]),
    data=objects.map(lambda data: {name: value for name, value in data.items() if name != "kind"}),
)


@given(sessions, st.lists(entries | extras, max_size=4))
def test_round_trip_is_exact(session: SessionStart, rest: list[Item]) -> None:
    items: list[Item] = [session, *rest]
    text = written(items)
    assert reread(text) == items
    assert written(reread(text)) == text


def test_key_that_was_made_up_on_reading_is_not_written() -> None:
    text = HEADER + SESSION + EVENT + END
    entry = reread(text)[1]
    assert isinstance(entry, Entry)
    assert entry.draft.idempotency_key == import_key("wellkept", "s1", 1)
    assert "idempotency_key" not in written(reread(text))
    assert reread(written(reread(text))) == reread(text)


def test_stored_records_become_items() -> None:
    info = SessionInfo(
        id="s1",
        namespace="acme",
        user="alice",
        title="青岛",
        created_at=NOON,
        last_activity=NOON,
        events=1,
        turns=1,
        tokens=3,
        metadata={"a": 1},
    )
    event = Event(
        id="s1-1", session_id="s1", seq=1, role="user", content="你好", ts=NOON, tokens=3, speaker="李"
    )
    start, entry = reread(written([start_of(info), entry_of(event, "key-1")]))
    assert start == SessionStart(
        external_id="s1", title="青岛", created_at=NOON, metadata={"a": 1}, namespace="acme", user="alice"
    )
    draft = Draft(role="user", content="你好", ts=NOON, speaker="李", metadata={}, idempotency_key="key-1")
    assert entry == Entry(session="s1", draft=draft, seq=1, tokens=3)


def test_times_are_kept_to_the_millisecond_and_in_any_zone() -> None:
    moment = NOON.astimezone(timezone(timedelta(hours=8))) + timedelta(microseconds=1999)
    entry = Entry(session="s1", seq=1, draft=Draft(role="user", content="x", ts=moment, idempotency_key="k"))
    found = reread(written([SessionStart(external_id="s1"), entry]))[1]
    assert isinstance(found, Entry)
    assert found.draft.ts == NOON + timedelta(milliseconds=1)


# ── what cannot be written ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "item",
    [
        BadLine(line=3, reason="broken"),
        Extra(kind="event", data={}),
        Extra(kind="fact", data={"kind": "other"}),
        Entry(session="s", draft=Draft(role="user", content="half \ud83d"), seq=1),
    ],
)
def test_what_would_not_come_back_is_refused(item: Item) -> None:
    with pytest.raises(InvalidInput):
        written([item])


def test_notes_are_not_written() -> None:
    assert len(written([Note(text="3 branches")]).splitlines()) == 2


# ── other versions and damage ───────────────────────────────────────────────────────────────────────────────


def test_newer_minor_version_loses_nothing_silently() -> None:
    card = '{"kind": "card", "front": "恐龙", "back": null}\n'
    event = EVENT.replace('"seq"', '"mood": "glad", "seq"')
    items = reread(HEADER.replace("1.0", "1.7") + SESSION + card + event + END)
    assert items[1] == Extra(kind="card", data={"front": "恐龙", "back": None})
    assert isinstance(items[2], Entry)
    assert items[3] == Note(text="fields of a newer version were left out: mood")


def test_other_major_version_is_refused_with_the_next_step() -> None:
    with pytest.raises(InvalidInput, match="update wellkept"):
        reread(HEADER.replace("1.0", "2.0") + SESSION + EVENT + END)


def test_damaged_header_costs_only_itself() -> None:
    items = reread('{"kind": "header", "form\n' + SESSION + EVENT + END)
    assert [type(item) for item in items] == [BadLine, SessionStart, Entry]
    assert [type(item) for item in reread(SESSION + EVENT + END)] == [BadLine, SessionStart, Entry]


def test_two_exports_in_one_file_are_told() -> None:
    found = reread((HEADER + SESSION + EVENT + END) * 2)
    assert any(
        isinstance(item, BadLine) and item.line == 5 and "one export at a time" in item.reason
        for item in found
    )


def test_missing_end_is_noted() -> None:
    assert isinstance(reread(HEADER + SESSION + EVENT)[-1], Note)


@pytest.mark.parametrize("sessions, events", [(1, 2), (2, 1)])
def test_missing_lines_are_found_by_the_counts(sessions: int, events: int) -> None:
    end = json.dumps({"kind": "end", "sessions": sessions, "events": events})
    last = reread(HEADER + SESSION + EVENT + end)[-1]
    assert isinstance(last, BadLine)
    assert "missing or doubled" in last.reason


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"role": "narrator"}, "'role' must be one of system, user, assistant, tool"),
        ({"content": None}, "'content' must be text or a list of blocks"),
        ({"content": ["x"]}, "a block must be an object"),
        ({"content": [{"type": "tool_call", "id": "1", "name": "f"}]}, "'arguments' is missing"),
        ({"content": [{"type": "text", "text": 5}]}, "'text' must be text, not 5"),
        ({"seq": "1"}, "'seq' must be a whole number"),
        ({"seq": True}, "'seq' must be a whole number"),
        ({"ts": 10**18}, "'ts' is no time"),
        ({"metadata": []}, "'metadata' must be an object"),
        ({"session": "s2"}, "'s2' has no session line before this event"),
        ({"kind": None}, "'kind' is missing"),
    ],
)
def test_bad_event_is_reported_with_its_line(change: dict[str, Any], reason: str) -> None:
    event = json.dumps({**json.loads(EVENT), **change})
    items = reread(HEADER + SESSION + event + "\n" + EVENT)
    bad = items[1]
    assert isinstance(bad, BadLine)
    assert bad.line == 3
    assert reason in bad.reason
    assert isinstance(items[2], Entry)


def test_unknown_block_is_kept() -> None:
    block = {"type": "hologram", "depth": 3}
    entry = reread(HEADER + SESSION + EVENT.replace('"你好"', json.dumps([block])))[1]
    assert isinstance(entry, Entry)
    assert entry.draft.content == (Other(block),)


def test_line_numbers_are_no_part_of_equality() -> None:
    assert SessionStart(external_id="s", line=2) == SessionStart(external_id="s", line=9)
