"""Sessions of any store: made, found, listed, renamed, deleted, and never somebody else's."""

from __future__ import annotations

import pytest

from tests.contract.scene import ALICE, BOB, TWIN, open_session, said
from wellkept.errors import Conflict
from wellkept.records import Scope
from wellkept.store.protocol import SessionRef, Store


def test_a_new_session_is_found_and_counts_nothing(store: Store, ref: SessionRef) -> None:
    assert store.read(lambda tables: tables.sessions.find(ALICE, "s1")) == ref
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert (info.namespace, info.user, info.title) == ("acme", "alice", "title of s1")
    assert (info.events, info.turns, info.tokens) == (0, 0, 0)
    assert info.created_at == info.last_activity


def test_metadata_comes_back_as_it_was(store: Store) -> None:
    metadata = {"topic": "恐龙", "tags": ["a", 1, None], "deep": {"x": 1.5}}
    ref = store.write(lambda tables: tables.sessions.create(ALICE, "m", title="", metadata=metadata, at=1))
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert info.metadata == metadata


def test_an_id_is_taken_once_per_user_only(store: Store, ref: SessionRef) -> None:
    with pytest.raises(Conflict, match="s1"):
        open_session(store, ALICE, "s1")
    other = open_session(store, BOB, "s1")
    assert other.key != ref.key


@pytest.mark.parametrize(
    "scope", [BOB, TWIN, Scope("acme", "alic"), Scope("acm", "ealice"), Scope("ACME", "alice")]
)
def test_a_foreign_id_looks_like_an_unknown_one(store: Store, ref: SessionRef, scope: Scope) -> None:
    assert store.read(lambda tables: tables.sessions.find(scope, "s1")) is None
    assert store.read(lambda tables: tables.sessions.list(scope, limit=10)) == []


def test_counts_follow_what_is_appended_and_removed(store: Store, ref: SessionRef) -> None:
    events = [said(tokens=3), said("ok", role="assistant", tokens=4), said("bye", tokens=5, ts=9)]
    stored = store.write(lambda tables: tables.events.append(ref, events, at=7_000))
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert (info.events, info.turns, info.tokens) == (3, 2, 12)
    assert info.last_activity.timestamp() == 7
    store.write(lambda tables: tables.events.remove(ref, stored[2:]))
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert (info.events, info.turns, info.tokens) == (2, 1, 7)


def test_last_activity_never_goes_back(store: Store, ref: SessionRef) -> None:
    for at in (5_000, 2_000):
        store.write(lambda tables, at=at: tables.events.append(ref, [said()], at=at))
    info = store.read(lambda tables: tables.sessions.info(ref))
    assert info is not None
    assert info.last_activity.timestamp() == 5


def test_the_list_pages_by_last_activity_and_misses_none(store: Store) -> None:
    for number in range(7):
        open_session(store, ALICE, f"s{number}", at=1_000 + number // 2)
    open_session(store, BOB, "b", at=9_000)
    pages: list[str] = []
    before: str | None = None
    while page := store.read(
        lambda tables, before=before: tables.sessions.list(ALICE, limit=2, before=before)
    ):
        pages += [info.id for info in page]
        before = pages[-1]
    assert pages == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]


def test_rename_and_delete_touch_one_session(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    for each in (ref, other):
        store.write(lambda tables, each=each: tables.events.append(each, [said(), said("x")], at=1))
    assert store.write(lambda tables: tables.sessions.rename(ref, "新标题"))
    assert store.write(lambda tables: tables.sessions.delete(ref))["sessions"] == 1
    assert store.read(lambda tables: tables.sessions.find(ALICE, "s1")) is None
    assert store.read(lambda tables: tables.sessions.info(ref)) is None
    assert list(store.read(lambda tables: list(tables.events.walk(ref)))) == []
    kept = store.read(lambda tables: tables.sessions.info(other))
    assert kept is not None
    assert (kept.title, kept.events) == ("title of s2", 2)


def test_a_reference_with_another_scope_reaches_nothing(store: Store, ref: SessionRef) -> None:
    theirs = open_session(store, BOB, "b")
    store.write(lambda tables: tables.events.append(ref, [said()], at=1))
    forged = SessionRef(BOB, ref.id, ref.key, theirs.scope_key)
    assert store.read(lambda tables: tables.sessions.info(forged)) is None
    assert store.read(lambda tables: list(tables.events.walk(forged))) == []
    assert store.read(lambda tables: tables.events.get(forged, 1)) is None
    assert not store.write(lambda tables: tables.sessions.rename(forged, "mine"))
    assert store.write(lambda tables: tables.sessions.delete(forged))["sessions"] == 0
    assert len(store.read(lambda tables: list(tables.events.walk(ref)))) == 1


def test_scopes_lists_who_is_there(store: Store) -> None:
    for scope in (TWIN, BOB, ALICE):
        open_session(store, scope, "s")
    assert store.read(lambda tables: tables.sessions.scopes()) == [ALICE, BOB, TWIN]
    assert store.read(lambda tables: tables.sessions.scopes("umbrella")) == [TWIN]
