"""What a store keeps in memory of a scope's documents is right whoever writes, and bounded."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept import Memory, Policy
from wellkept.policy.recall.corpus import Doc
from wellkept.policy.text.words import Term
from wellkept.recall import Result
from wellkept.records import Scope
from wellkept.store.search import Roll
from wellkept.store.sqlite import at_hand, tail
from wellkept.store.sqlite.at_hand import AtHand, Places, Roster, Rosters
from wellkept.testing import FakeClock

WORDS = st.sampled_from(["cat", "dogs run", "恐龙", "喜欢猫", "2024-03-05", "the", "Paris in May"])
STEPS = st.tuples(
    st.sampled_from(
        ["say", "say", "say", "pop", "delete", "forget", "keep", "retire", "search", "summarise", "rebuild"]
    ),
    st.integers(0, 2),
    WORDS,
)


EAGER = Policy(recent_window_size=1, summarize_every=1)
NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)


def found(memory: Memory, query: str) -> list[Result]:
    return memory.user("ann", namespace="n").search(query, now=NOW, explain=True)


def derived(memory: Memory, query: str) -> list[Result]:
    return memory.user("ann", namespace="n").search(query, now=NOW, kinds=["summary"], explain=True)


def step(memory: Memory, kind: str, number: int, words: str) -> None:
    chat = memory.session(namespace="n", user="ann", session_id=f"s{number}", create=True)
    ann = memory.user("ann", namespace="n")
    if kind == "say":
        chat.add_message("user", words)
    elif kind == "pop":
        chat.pop_turn()
    elif kind == "delete":
        chat.delete()
    elif kind == "forget":
        preview = ann.forget(words)
        if preview.reason is None:
            ann.forget(preview)
    elif kind == "keep":
        ann.keep(words)
    elif kind == "retire":
        ann.delete_all()
    elif kind == "summarise":
        chat.add_messages(
            [{"role": "user", "content": f"{words} {place}, 第{place}号"} for place in range(3)]
        )
        memory.run_jobs()
    elif kind == "rebuild":
        chat.rebuild_summaries()
        memory.run_jobs()


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, max_size=16), st.sampled_from([1, 3, tail.LONGEST]))
def test_another_handle_finds_what_a_new_one_finds(steps: list[tuple[str, int, str]], longest: int) -> None:
    with (
        TemporaryDirectory() as folder,
        patch.object(tail, "LONGEST", longest),
        patch.object(tail, "LOOK_EVERY", 2),
    ):
        path = str(Path(folder) / "a.db")
        with Memory(path, policy=EAGER, worker=False) as writer, Memory(path, worker=False) as reader:
            for kind, number, text in steps:
                step(writer, kind, number, text)
                with Memory(path, worker=False) as fresh:
                    assert found(reader, text) == found(fresh, text)
                    assert derived(reader, text) == derived(fresh, text)
                    assert found(reader, "猫") == found(fresh, "猫")


DOC = Doc(1, "user", 0)


def test_a_roster_grows_while_sessions_only_grow() -> None:
    rosters, lives = Rosters(), {5: (0, 0)}
    rosters.put(1, Roster((1,), Roll({1: DOC}, 1), lives, {5: 3}))
    assert rosters.grown_from(1, lives | {6: (0, 0)}) is not None
    assert rosters.grown_from(2, lives) is None
    assert rosters.grown_from(1, {5: (0, 1)}) is None
    assert rosters.grown_from(1, {5: (1, 0)}) is None
    assert rosters.grown_from(1, {}) is None


def test_only_so_many_documents_are_kept_and_only_as_of_their_stamp() -> None:
    rosters = Rosters(3)
    for owner in (1, 2, 2):
        rosters.put(owner, Roster((7,), Roll({1: DOC, 2: DOC}, 2), {}, {}))
    assert rosters.of(1, (7,)) is None
    assert rosters.of(2, (8,)) is None
    assert rosters.of(2, (7,)) is not None


def test_only_so_many_places_are_kept_and_only_as_of_their_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_hand, "MOST_PLACES", 25)
    places, cat, dog = Places(), Term("cat"), Term("dog")
    places.put(1, (7,), {cat: {1: 1}})
    places.put(1, (7,), {dog: {}, cat: {1: 1}})
    assert places.of(1, (7,), [cat, dog, Term("cat", prefix=True)]) == {cat: {1: 1}, dog: {}}
    assert not places.of(1, (8,), [cat])
    places.put(2, (7,), {cat: {2: 1}})
    assert places.of(1, (7,), [cat])
    places.put(3, (7,), {cat: {3: 1}})
    assert not places.of(2, (7,), [cat])
    places.put(3, (8,), {dog: {3: 1}})
    assert places.of(3, (8,), [cat, dog]) == {dog: {3: 1}}
    assert places.of(1, (7,), [cat])
    places.put(3, (8,), {cat: dict.fromkeys(range(99), 1)})
    assert not places.of(1, (7,), [cat])
    assert not places.of(3, (8,), [cat])


def test_a_scope_that_is_too_large_is_searched_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_hand, "MOST_DOCS", 1)
    with Memory(":memory:", worker=False) as memory:
        chat = memory.session(namespace="n", user="ann")
        chat.add_messages([{"role": "user", "content": text} for text in ("a cat", "养了一只猫", "the cats")])
        assert {hit.text for hit in found(memory, "cat") if hit.dropped is None} >= {"a cat", "the cats"}


@pytest.mark.parametrize("span", [{"since": 2}, {"until": 3}, {"since": 1, "until": 3}, {"since": 9}])
def test_a_time_is_kept_to_whether_documents_are_at_hand_or_not(
    monkeypatch: pytest.MonkeyPatch, span: dict[str, int]
) -> None:
    times = [datetime(2026, 5, day, tzinfo=timezone.utc) for day in range(1, 5)]
    between = {name: datetime(2026, 5, day, tzinfo=timezone.utc) for name, day in span.items()}
    with Memory(":memory:", worker=False) as memory:
        chat = memory.session(namespace="n", user="ann")
        for ts in times:
            chat.add_message("user", f"a cat on day {ts.day}", ts=ts)
        ann = memory.user("ann", namespace="n")
        whole = ann.search("cat", **between)
        monkeypatch.setattr(at_hand, "MOST_DOCS", 1)
        assert whole == ann.search("cat", **between)
    expected = [ts for ts in times if between.get("since", ts) <= ts < between.get("until", times[-1] + DAY)]
    assert sorted(hit.ts for hit in whole) == expected


DAY = timedelta(days=1)


def test_a_session_that_takes_the_place_of_a_deleted_one_is_not_taken_for_it() -> None:
    """The same id, the same key and the same millisecond."""
    with Memory(":memory:", clock=FakeClock(NOW), worker=False) as memory:
        ann = memory.user("ann", namespace="n")
        for texts in (("a cat", "a cat and a dog"), ("the cat sat on a mat", "cat")):
            chat = memory.session(namespace="n", user="ann", session_id="s", create=True)
            chat.add_messages([{"role": "user", "content": text} for text in texts])
            known = ann.search("cat")
            memory._core.store._at_hand = AtHand()  # type: ignore[attr-defined]
            assert known == ann.search("cat")
            chat.delete()


def test_what_is_rolled_back_is_not_kept() -> None:
    with Memory(":memory:", worker=False) as memory:
        chat = memory.session(namespace="n", user="ann")
        chat.add_message("user", "a cat")
        scope = Scope("n", "ann")
        store = memory._core.store
        assert store.write(lambda tables: tables.corpora["event"].roll(scope)) is None
        roll = store.read(lambda tables: tables.corpora["event"].roll(scope))
        assert roll is not None
        assert len(roll.docs) == 1


@pytest.mark.parametrize("take_away", ["pop", "delete"])
def test_as_many_messages_are_not_the_same_messages(take_away: str) -> None:
    with patch.object(tail, "is_due", return_value=True), Memory(":memory:", worker=False) as memory:
        after = ["pop", "the cat sat"] if take_away == "pop" else ["delete", "the cat sat", "a dog"]
        for steps in (["a dog", "a cat"], after):
            for words in steps:
                step(memory, words if words == take_away else "say", 0, words)
            known = [hit.text for hit in found(memory, "cat")]
            memory._core.store._at_hand = AtHand()  # type: ignore[attr-defined]
            assert known == [hit.text for hit in found(memory, "cat")]
        assert "the cat sat" in known


def test_an_index_that_was_repaired_is_looked_at_again() -> None:
    with patch.object(tail, "is_due", return_value=True), Memory(":memory:", worker=False) as memory:
        step(memory, "say", 0, "a cat")
        memory.user("ann", namespace="n").keep("likes cats")
        store = memory._core.store
        for damage in (
            "INSERT INTO event_terms (event_terms) VALUES ('delete-all')",
            "UPDATE facts SET words = ''",
        ):
            store._connections.get().execute(damage)  # type: ignore[attr-defined]
        assert found(memory, "cat") == []
        memory.doctor(repair=True)
        assert {hit.text for hit in found(memory, "cat")} == {"a cat", "likes cats"}
