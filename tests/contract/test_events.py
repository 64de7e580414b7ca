"""The transcript of any store: all or none, in order, once, readable both ways."""

from __future__ import annotations

import json
import pickle
import threading
from contextlib import suppress

import pytest

from tests.contract.scene import ALICE, open_session, said
from wellkept.errors import Conflict, NotFound
from wellkept.records import Event, Image, Other, Text, Thinking, ToolCall, ToolResult
from wellkept.store.events import NewEvent
from wellkept.store.protocol import SessionRef, Store, Tables

FAR = 1 << 40


def append(store: Store, ref: SessionRef, *events: NewEvent, at: int = 1_000) -> list[Event]:
    return store.write(lambda tables: tables.events.append(ref, events, at=at))


def texts(events: list[Event]) -> list[object]:
    return [event.content for event in events]


def test_what_is_appended_is_what_is_read(store: Store, ref: SessionRef) -> None:
    blocks = (
        Thinking("想一想", "sig"),
        Text("看", {"anthropic": {"citations": [1]}}),
        ToolCall("c1", "find", '{"q": "恐龙"'),
        Image("https://x/y.png", {"detail": "low"}),
        Other({"type": "document", "n": 1}),
    )
    event = said(blocks, role="assistant", ts=-5, tokens=9)
    event.speaker, event.metadata = "小明\0", {"a": [1, {"b": None}]}
    stored = append(
        store, ref, event, said((ToolResult("c1", (Text("r"),), True),), role="tool"), said("\x1e[1]")
    )
    assert [event.seq for event in stored] == [1, 2, 3]
    assert stored[0].content == blocks
    assert stored == store.read(lambda tables: list(tables.events.walk(ref)))


@pytest.mark.parametrize(
    "text", ["a\0b", "\0", "  leading", "line\r\nline\n", "'; DROP TABLE events; --", "😀👩‍👩‍👧", "\ufeff"]
)
def test_awkward_text_comes_back_unchanged(store: Store, ref: SessionRef, text: str) -> None:
    append(store, ref, said(text))
    assert texts(store.read(lambda tables: list(tables.events.walk(ref)))) == [text]


def test_order_is_that_of_appending_whatever_the_clocks_say(store: Store, ref: SessionRef) -> None:
    for number, ts in enumerate([5_000, 1_000, 9_000, 1_000]):
        append(store, ref, said(f"m{number}", ts=ts), at=ts)
    assert texts(store.read(lambda tables: list(tables.events.walk(ref)))) == ["m0", "m1", "m2", "m3"]


def test_walking_both_ways_with_limits(store: Store, ref: SessionRef) -> None:
    append(store, ref, *[said(f"m{number}") for number in range(1, 7)])

    def seqs(tables: Tables) -> list[list[int]]:
        walks = (
            tables.events.walk_back(ref),
            tables.events.walk_back(ref, before=3),
            tables.events.walk(ref, after=4),
            tables.events.walk(ref, after=1, until=3),
        )
        return [[event.seq for event in walk] for walk in walks]

    assert store.read(seqs) == [[6, 5, 4, 3, 2, 1], [2, 1], [5, 6], [2, 3]]


@pytest.mark.parametrize("edge", [-FAR, -(1 << 24), -1, 0, 1 << 24, FAR, 1 << 80])
def test_numbers_out_of_range_never_reach_another_session(store: Store, edge: int) -> None:
    refs = [open_session(store, ALICE, f"s{number}") for number in range(3)]
    for ref in refs:
        append(store, ref, said(f"of {ref.id}"))
    middle = refs[1]

    def read(tables: Tables) -> list[Event | None]:
        return [
            *tables.events.walk_back(middle, before=edge),
            *tables.events.walk(middle, after=edge),
            *tables.events.walk(middle, until=edge),
            tables.events.get(middle, edge),
        ]

    found = [event for event in store.read(read) if event is not None]
    assert {event.content for event in found} <= {"of s1"}


def test_one_bad_event_takes_the_whole_batch_back(store: Store, ref: SessionRef) -> None:
    append(store, ref, said("first", key="k"))
    with pytest.raises(Conflict):
        append(store, ref, said("second"), said("other", key="k"))
    assert append(store, ref, said("third"))[0].seq == 2
    assert texts(store.read(lambda tables: list(tables.events.walk(ref)))) == ["first", "third"]


def test_an_error_of_the_caller_takes_everything_back(store: Store, ref: SessionRef) -> None:
    def work(tables: Tables) -> None:
        tables.events.append(ref, [said()], at=1)
        tables.sessions.rename(ref, "changed")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        store.write(work)
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert (info.events, info.title) == (0, "title of s1")


def test_the_same_key_twice_is_one_event(store: Store, ref: SessionRef) -> None:
    first = append(store, ref, said("hello", key="k1"))[0]
    again = append(store, ref, said("hello", key="k1", ts=9_999), said("new", key="k2"))
    assert again[0] == first
    assert [event.seq for event in again] == [1, 2]
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert (info.events, info.tokens) == (2, 10)


def test_the_same_key_twice_in_one_batch_is_one_event(store: Store, ref: SessionRef) -> None:
    stored = append(store, ref, said("a", key="k"), said("b"), said("a", key="k"))
    assert [event.seq for event in stored] == [1, 2, 1]
    with pytest.raises(Conflict):
        append(store, ref, said("c", key="n"), said("d", key="n"))
    assert len(store.read(lambda tables: list(tables.events.walk(ref)))) == 2


def test_keys_are_the_sessions_own(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    append(store, ref, said("here", key="k"))
    assert append(store, other, said("there", key="k"))[0].content == "there"


def test_a_key_for_other_content_is_a_conflict(store: Store, ref: SessionRef) -> None:
    append(store, ref, said("hello", key="k"))
    with pytest.raises(Conflict, match="'k'"):
        append(store, ref, said("hello!", key="k"))


def test_a_deleted_session_takes_no_more(store: Store, ref: SessionRef) -> None:
    store.write(lambda tables: tables.sessions.delete(ref))
    with pytest.raises(NotFound):
        append(store, ref, said())


def test_a_number_is_never_given_out_twice(store: Store, ref: SessionRef) -> None:
    event = said("gone")
    stored = append(store, ref, said("stays"), event)
    store.write(lambda tables: tables.events.remove(ref, stored[1:]))
    assert append(store, ref, said("later"))[0].seq == 3
    assert store.read(lambda tables: tables.events.get(ref, 2)) is None


def test_removing_twice_removes_once(store: Store, ref: SessionRef) -> None:
    event = said("x")
    stored = append(store, ref, event, said("y"))
    for expected in (1, 0):
        assert store.write(lambda tables: tables.events.remove(ref, stored[:1])) == expected
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert (info.events, info.turns) == (1, 1)


def test_a_time_range_holds_its_start_and_not_its_end(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    for ts in (3_000, 1_000, 2_000, 2_000):
        append(store, ref, said(f"at {ts}", ts=ts))
        append(store, other, said("elsewhere", ts=ts))

    def found(since: int | None, until: int | None, limit: int = 10, **places: int) -> list[int]:
        events = store.read(lambda tables: tables.events.between(ref, since, until, limit=limit, **places))
        return [event.seq for event in events]

    assert found(1_000, 2_000) == [2]
    assert found(2_000, None) == [1, 3, 4]
    assert found(None, 3_000) == [2, 3, 4]
    assert found(None, None, 2) == [1, 2]
    assert found(None, None, 1 << 80) == [1, 2, 3, 4]
    assert found(2_000, None, after=1, before=4) == [3]


def test_the_newest_number_at_a_moment(store: Store, ref: SessionRef) -> None:
    for ts in (1_000, 5_000, 2_000):
        append(store, ref, said(ts=ts))
    moments = [
        store.read(lambda tables, at=at: tables.events.seq_at(ref, at)) for at in (0, 1_000, 2_500, 9_000)
    ]
    assert moments == [0, 1, 3, 3]


def test_reading_half_of_it_lets_go_of_its_snapshot(store: Store) -> None:
    """Both directions, one event, and a read that stops half-way: what is written afterwards is seen."""
    ref = open_session(store, ALICE, "s")
    store.write(lambda tables: tables.events.append(ref, [said(), said("two"), said("three")], at=1))
    for look in (
        lambda tables: tables.events.get(ref, 1),
        lambda tables: next(tables.events.walk(ref)),
        lambda tables: next(tables.events.walk_back(ref)),
    ):
        store.read(look)
        before = len(store.read(lambda tables: list(tables.events.walk(ref))))
        done = threading.Thread(
            target=lambda: store.write(lambda tables: tables.events.append(ref, [said("more")], at=2))
        )
        done.start()
        done.join()
        assert len(store.read(lambda tables: list(tables.events.walk(ref)))) == before + 1


def test_what_a_reader_does_to_an_event_no_other_reader_sees(store: Store, ref: SessionRef) -> None:
    append(store, ref, said("a"))
    [event] = store.read(lambda tables: list(tables.events.walk(ref)))
    assert pickle.loads(pickle.dumps(event)) == event and json.dumps(event.metadata) == "{}"
    with suppress(TypeError):  # a store that shares what it read refuses
        event.metadata["seen"] = True  # type: ignore[index]
    assert [other.metadata for other in store.read(lambda tables: list(tables.events.walk(ref)))] == [{}]


def test_the_same_place_of_another_conversation_is_another_event(store: Store) -> None:
    refs = [open_session(store, ALICE, id) for id in ("one", "two")]
    for ref in refs:
        append(store, ref, said("a"))
    read = [store.read(lambda tables, ref=ref: list(tables.events.walk(ref))) for ref in refs]  # type: ignore[misc]
    assert [[event.id for event in events] for events in read] == [["one:1"], ["two:1"]]
