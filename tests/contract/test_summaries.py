"""Summaries of any store: views with versions, that cover each event once and can be taken back."""

from __future__ import annotations

from tests.contract.scene import ALICE, open_session, said
from wellkept.records import LedgerLine, Summary, utc
from wellkept.store.protocol import SessionRef, Store, Tables
from wellkept.store.summaries import Uncovered

LINE = LedgerLine(seq=2, kind="date", value="2026-03-07", text="三月七日")


def summary(
    ref: SessionRef, covers_to: int, *, version: int = 1, topic: str = "talk", text: str = "摘要"
) -> Summary:
    return Summary(
        session_id=ref.id, topic=topic, version=version, covers_from=1, covers_to=covers_to, text=text, tokens=7,
        by="extractive", at=utc(9_000),
    )  # fmt: skip


def fill(store: Store, ref: SessionRef, turns: int) -> None:
    events = [
        said(f"{role} {turn}", role=role, tokens=2) for turn in range(turns) for role in ("user", "assistant")
    ]
    store.write(lambda tables: tables.events.append(ref, events, at=1))


def uncovered(store: Store, ref: SessionRef, turns: int) -> Uncovered:
    return store.read(lambda tables: tables.summaries.uncovered(ref, turns))


def add(
    store: Store, ref: SessionRef, *added: Summary, expected: int, ledger: list[LedgerLine] | None = None
) -> bool:
    return store.write(lambda tables: tables.summaries.add(ref, added, ledger or [], expected=expected))


def test_what_stands_before_the_recent_turns_is_uncovered(store: Store, ref: SessionRef) -> None:
    assert uncovered(store, ref, 2).events == 0
    fill(store, ref, 5)
    assert uncovered(store, ref, 2) == Uncovered(first=1, last=6, events=6, tokens=12)
    assert uncovered(store, ref, 5).events == 0
    assert uncovered(store, ref, 99).events == 0


def test_coverage_moves_once_and_only_from_where_it_was(store: Store, ref: SessionRef) -> None:
    fill(store, ref, 5)
    assert add(store, ref, summary(ref, 4), expected=0, ledger=[LINE])
    assert not add(store, ref, summary(ref, 6, text="a rival"), expected=0)
    assert uncovered(store, ref, 2) == Uncovered(first=5, last=6, events=2, tokens=4)
    assert store.read(lambda tables: tables.summaries.current(ref)) == [summary(ref, 4)]
    assert store.read(lambda tables: tables.summaries.ledger(ref)) == [LINE]


def test_each_topic_shows_its_newest_version_as_of_then(store: Store, ref: SessionRef) -> None:
    fill(store, ref, 6)
    add(store, ref, summary(ref, 4, topic="work"), summary(ref, 4, topic="家"), expected=0)
    add(store, ref, summary(ref, 8, topic="work", text="more"), expected=4)
    work = summary(ref, 8, version=2, topic="work", text="more")

    def current(upto: int | None = None) -> list[tuple[str, int]]:
        found = store.read(lambda tables: tables.summaries.current(ref, upto))
        return sorted((each.topic, each.version) for each in found)

    assert current() == [("work", 2), ("家", 1)]
    assert current(7) == [("work", 1), ("家", 1)]
    assert current(3) == []
    assert work in store.read(lambda tables: tables.summaries.versions(ref))
    assert len(store.read(lambda tables: tables.summaries.versions(ref))) == 3


def test_dropping_takes_back_what_was_made_of_those_events(store: Store, ref: SessionRef) -> None:
    fill(store, ref, 6)
    late = LedgerLine(seq=7, kind="amount", value="80", text="80 元")
    add(store, ref, summary(ref, 4), expected=0, ledger=[LINE])
    add(store, ref, summary(ref, 8, version=2), expected=4, ledger=[late])
    assert store.write(lambda tables: tables.summaries.drop(ref, 7)) == 1
    assert store.read(lambda tables: tables.summaries.current(ref)) == [summary(ref, 4)]
    assert store.read(lambda tables: tables.summaries.ledger(ref)) == [LINE]
    assert uncovered(store, ref, 2).first == 5
    assert store.write(lambda tables: tables.summaries.drop(ref, 7)) == 0


def test_summaries_go_with_their_session_and_no_other(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    for each in (ref, other):
        fill(store, each, 5)
        add(store, each, summary(each, 4), expected=0, ledger=[LINE])
    removed = store.write(lambda tables: tables.sessions.delete(ref))
    assert (removed["summaries"], removed["ledger"]) == (1, 1)

    def left(tables: Tables) -> tuple[int, int, int]:
        return (
            len(tables.summaries.versions(ref)),
            len(tables.summaries.versions(other)),
            len(tables.summaries.ledger(other)),
        )

    assert store.read(left) == (0, 1, 1)


def test_versions_and_ledger_are_read_page_by_page(store: Store, ref: SessionRef) -> None:
    fill(store, ref, 6)
    lines = [LedgerLine(seq=1, kind="number", value=str(number), text=f"{number} 个") for number in range(5)]
    for covered in range(4):
        both = [summary(ref, covered + 1, topic=topic, text=f"{topic} {covered}") for topic in ("a", "b")]
        assert add(store, ref, *both, expected=covered, ledger=lines)
    pages: list[list[tuple[int, str]]] = []
    before: int | None = None
    for _ in range(2):
        page = store.read(lambda tables, until=before: tables.summaries.versions(ref, before=until, limit=2))  # type: ignore[misc]
        pages.append([(each.version, each.topic) for each in page])
        before = page[0].version
    assert pages == [[(3, "a"), (3, "b"), (4, "a"), (4, "b")], [(1, "a"), (1, "b"), (2, "a"), (2, "b")]]
    assert store.read(lambda tables: tables.summaries.versions(ref, before=1, limit=2)) == []
    first, rest = (
        store.read(lambda tables, skip=skip: tables.summaries.ledger(ref, skip=skip, limit=3))  # type: ignore[misc]
        for skip in (0, 3)
    )
    assert first + rest == lines
