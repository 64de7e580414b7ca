"""Documents that stay at hand between searches are shared by threads: what one reads, no other changes."""

from __future__ import annotations

from pathlib import Path

from tests.contract.scene import ALICE, open_session, said
from wellkept.store.sqlite import SqliteStore


def test_documents_that_are_being_read_do_not_change_when_new_ones_come(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "chat.db"))
    ref = open_session(store, ALICE, "s")
    store.write(lambda tables: tables.events.append(ref, [said("one")], at=1))
    reading = store.read(lambda tables: tables.corpora["event"].roll(ALICE))
    assert reading is not None
    walk = iter(reading.docs)
    next(walk)
    store.write(lambda tables: tables.events.append(ref, [said("two")], at=2))
    later = store.read(lambda tables: tables.corpora["event"].roll(ALICE))
    assert later is not None
    assert (len(reading.docs), len(later.docs)) == (1, 2)
    assert next(walk, None) is None
    store.close()
