"""Profile documents of any store."""

from __future__ import annotations

import pytest

from tests.contract.scene import ALICE, BOB, TWIN
from wellkept.errors import Conflict
from wellkept.records import Document, Scope, utc
from wellkept.store.protocol import Store


def document(name: str, text: str, version: int) -> Document:
    return Document(name=name, text=text, hash=f"hash of {text}", version=version, updated_at=utc(5))


def put(store: Store, scope: Scope, written: Document) -> None:
    store.write(lambda tables: tables.profiles.put(scope, written, at=5))


def test_the_newest_version_is_current_and_all_are_kept(store: Store) -> None:
    versions = [document("user", f"第 {number} 版", number) for number in range(1, 12)]
    for each in versions:
        put(store, ALICE, each)
    put(store, ALICE, document("soul", "calm", 1))
    current = store.read(lambda tables: tables.profiles.current(ALICE))
    assert current == {"user": versions[-1], "soul": document("soul", "calm", 1)}
    assert store.read(lambda tables: tables.profiles.versions(ALICE, "user")) == versions[::-1]


def test_a_version_is_written_once(store: Store) -> None:
    put(store, ALICE, document("user", "mine", 1))
    with pytest.raises(Conflict, match="user"):
        put(store, ALICE, document("user", "theirs", 1))
    assert store.read(lambda tables: tables.profiles.current(ALICE))["user"].text == "mine"


def test_profiles_are_the_scopes_own(store: Store) -> None:
    put(store, ALICE, document("user", "alice", 1))
    put(store, TWIN, document("user", "other alice", 1))
    assert store.read(lambda tables: tables.profiles.current(BOB)) == {}
    assert store.read(lambda tables: tables.profiles.versions(BOB, "user")) == []
    assert store.read(lambda tables: tables.profiles.current(TWIN))["user"].text == "other alice"


def test_a_version_that_was_taken_away_is_not_there(store: Store) -> None:
    versions = [document("user", f"version {number}", number) for number in (1, 2, 3)]
    for each in versions:
        put(store, ALICE, each)
        put(store, BOB, each)
    assert store.write(lambda tables: tables.profiles.remove(ALICE, [versions[0], versions[1]])) == 2
    assert store.read(lambda tables: tables.profiles.versions(ALICE, "user")) == [versions[2]]
    assert len(store.read(lambda tables: tables.profiles.versions(BOB, "user"))) == 3
