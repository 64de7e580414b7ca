"""Keys of the service in any store, the logins with them, and the answers kept for requests that may come twice."""

from __future__ import annotations

from tests.contract.scene import ALICE, BOB, TWIN
from wellkept.records import Scope, utc
from wellkept.store.apikeys import ApiKey
from wellkept.store.protocol import Store
from wellkept.store.replies import KeptReply


def key(id: str, namespace: str = "acme") -> ApiKey:
    return ApiKey(id=id, namespace=namespace, user=None, role="writer", label="", created_at=utc(5))


def test_a_key_is_found_by_its_hash_until_it_is_revoked(store: Store) -> None:
    assert not store.read(lambda tables: tables.api_keys.any())
    store.write(lambda tables: tables.api_keys.add(key("a"), b"hash a", at=5))
    store.write(lambda tables: tables.api_keys.add(key("b", "umbrella"), b"hash b", at=5))
    assert store.read(lambda tables: tables.api_keys.find(b"hash b")) == key("b", "umbrella")
    assert store.write(lambda tables: tables.api_keys.revoke("b", at=9))
    assert not store.write(lambda tables: tables.api_keys.revoke("b", at=10))
    assert not store.write(lambda tables: tables.api_keys.revoke("c", at=10))
    assert store.read(lambda tables: tables.api_keys.find(b"hash b")) is None
    found = store.read(lambda tables: tables.api_keys.all())
    assert [(it.id, it.revoked_at) for it in found] == [("a", None), ("b", utc(9))]
    assert store.read(lambda tables: tables.api_keys.any())


def test_a_login_lasts_its_time_and_no_longer_than_its_key(store: Store) -> None:
    def found(hash: bytes, at: int) -> ApiKey | None:
        return store.read(lambda tables: tables.logins.find(hash, at=at))

    def open_(hash: bytes, id: str, at: int) -> None:
        store.write(lambda tables: tables.logins.open(hash, id, at=at, until=at + 10, most=2))

    for id in ("a", "b"):
        store.write(lambda tables, id=id: tables.api_keys.add(key(id), id.encode(), at=5))  # type: ignore[misc]
    open_(b"1", "a", 100)
    open_(b"2", "b", 105)
    assert (found(b"1", 109), found(b"1", 110), found(b"3", 105)) == (key("a"), None, None)
    open_(b"3", "b", 106)
    open_(b"4", "b", 107)
    assert [found(hash, 108) for hash in (b"1", b"2", b"3", b"4")] == [key("a"), None, key("b"), key("b")]
    store.write(lambda tables: tables.logins.close(b"3"))
    assert (found(b"3", 108), found(b"4", 108)) == (None, key("b"))
    store.write(lambda tables: tables.api_keys.revoke("b", at=108))
    assert (found(b"1", 108), found(b"4", 108)) == (key("a"), None)


def keep(store: Store, scope: Scope, at: int, body: bytes = b"body") -> None:
    reply = KeptReply(b"r", 201, body)
    store.write(lambda tables: tables.replies.keep(scope, b"k", reply, at=at, oldest=at - 100))


def find(store: Store, scope: Scope, at: int) -> KeptReply | None:
    return store.read(lambda tables: tables.replies.find(scope, b"k", oldest=at - 100))


def test_an_answer_is_kept_under_its_key_for_a_time(store: Store) -> None:
    assert find(store, ALICE, 1000) is None
    keep(store, ALICE, 1000)
    assert find(store, ALICE, 1100) == KeptReply(b"r", 201, b"body")
    assert find(store, ALICE, 1101) is None
    keep(store, ALICE, 1101, b"anew")
    assert find(store, ALICE, 1101) == KeptReply(b"r", 201, b"anew")
    keep(store, BOB, 1202)
    assert find(store, ALICE, 1000) is None, "what is old is removed"


def test_answers_are_the_scopes_own_and_are_forgotten_with_it(store: Store) -> None:
    nobody = Scope("acme", "")
    for scope in (ALICE, BOB, TWIN, nobody):
        keep(store, scope, 1000)
    assert store.write(lambda tables: tables.replies.forget(ALICE)) == 2
    assert find(store, ALICE, 1001) is None
    assert find(store, nobody, 1001) is None
    assert find(store, BOB, 1001) is not None
    assert find(store, TWIN, 1001) is not None
