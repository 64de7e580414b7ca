"""The log of actions of any store."""

from __future__ import annotations

from tests.contract.scene import ALICE, BOB, open_session
from wellkept.records import utc
from wellkept.store.actions import Action
from wellkept.store.protocol import SessionRef, Store


def listed(store: Store, **page: int) -> list[Action]:
    return store.read(lambda tables: tables.actions.list(ALICE, **{"limit": 100, **page}))


def test_actions_are_listed_newest_first_by_pages(store: Store, ref: SessionRef) -> None:
    store.write(lambda tables: tables.actions.add(ALICE, "rename_session", "user", at=5, subject=ref))
    store.write(lambda tables: tables.actions.add(BOB, "write_profile", "app", at=6, subject="soul"))
    store.write(lambda tables: tables.actions.add(ALICE, "write_profile", "app", at=7, subject="user"))
    store.write(lambda tables: tables.actions.add(ALICE, "retry_job", "tool", at=8, subject=12))
    store.write(lambda tables: tables.actions.add(ALICE, "forget", "user", at=9))
    erased, retried, written, renamed = listed(store)
    assert (renamed.action, renamed.actor, renamed.at) == ("rename_session", "user", utc(5))
    assert [each.subject for each in (renamed, written, retried, erased)] == ["s1", "user", "12", None]
    assert listed(store, limit=2) == [erased, retried]
    assert listed(store, limit=2, before=retried.id) == [written, renamed]
    assert listed(store, after=written.id) == [erased, retried]


def test_the_id_of_a_session_goes_with_it_and_what_was_done_stays(store: Store, ref: SessionRef) -> None:
    store.write(lambda tables: tables.actions.add(ALICE, "rename_session", "user", at=5, subject=ref))
    store.write(lambda tables: tables.sessions.delete(ref))
    store.write(lambda tables: tables.actions.add(ALICE, "delete_session", "user", at=6, subject=ref))
    again = open_session(store, ALICE, ref.id)
    assert again.key != ref.key
    assert [(each.action, each.subject) for each in listed(store)] == [
        ("delete_session", None),
        ("rename_session", None),
    ]
