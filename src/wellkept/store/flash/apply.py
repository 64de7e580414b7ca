"""Bring the device's files to where a transaction's line says they should be. Doing it again changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zlib import crc32

import apsw

from wellkept.store.facts import Fact
from wellkept.store.flash.places import Place, Places
from wellkept.store.sqlite.factrows import FROM_FACTS, SELECT_FACT, read_fact
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept_flash.items import Item

SOURCE = "wellkept"
FACT = f"{SELECT_FACT} {FROM_FACTS} WHERE f.key = ? AND f.state = 0"
DOCUMENT = "SELECT text FROM profiles WHERE scope = ? AND name = ? ORDER BY version DESC LIMIT 1"
RECORDS = "SELECT length, crc FROM flash_records WHERE event BETWEEN ? AND ? ORDER BY event"


def append(places: Places, batches: Mapping[Place, Sequence[tuple[int, bytes]]]) -> None:
    """Append each batch to its session, durable on return."""
    for place, batch in batches.items():
        places.session(place).persist(list(batch))


def arrived(places: Places, additions: Iterable[Sequence[Any]]) -> bool:
    """Whether all batches of a line stand in their files."""
    return all(_stands(places, Place(*place), *what) for place, *what in additions)


def _stands(places: Places, place: Place, offset: int, size: int, crc: int) -> bool:
    session = places.session(place)
    return session.size() >= offset + size and crc32(session.read(offset, size)) == crc


def torn(places: Places, additions: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
    """Those whose file ends inside the batch: what a device did to the file since is not taken back."""
    return [one for one in additions if _is_torn(places, Place(*one[0]), *one[1:])]


def _is_torn(places: Places, place: Place, offset: int, size: int, crc: int) -> bool:
    session = places.session(place)
    at_a_record = offset == 0 or session.read(offset - 1, 1) == b"\n"
    return bool(offset <= session.size() <= offset + size and at_a_record)


def take_back(places: Places, additions: Iterable[Sequence[Any]]) -> None:
    """Cut off what of a line's batches reached the files."""
    for where, offset, *_ in additions:
        place = Place(*where)
        session = places.session(place)
        if offset == 0:
            session.remove()
        else:
            places.disk.truncate(session.path, offset)
        places.release(place)


def apply(connection: apsw.Connection, places: Places, files: Mapping[str, Any]) -> None:
    """Do what a line says of the files, but for its batches."""
    for where in files.get("drop", ()):
        places.session(Place(*where)).remove()
        places.release(Place(*where))
    for key, where in files.get("cut", ()):
        _cut(connection, places, key, Place(*where))
    for key, home, item in files.get("items", ()):
        _remember(connection, places, key, home, item)
    for scope, home, name in files.get("documents", ()):
        _write_document(connection, places, scope, home, name)


def _cut(connection: apsw.Connection, places: Places, key: int, place: Place) -> None:
    """Leave those records in a session's file that an event stands for."""
    session = places.session(place)
    wanted = connection.execute(RECORDS, (key << SEQ_BITS, key << SEQ_BITS | MAX_SEQ)).fetchall()
    lines = list(session.lines())
    kept: list[Any] = []
    for line in lines:
        if len(kept) < len(wanted) and (line.length, line.crc) == wanted[len(kept)]:
            kept.append(line)
    if len(kept) < len(lines):
        session.rewrite((line.type, line.format, line) for line in kept)


def _remember(connection: apsw.Connection, places: Places, key: int, home: str, item: str) -> None:
    """Have the device's memory hold an active fact as it is, and no other one."""
    memory = places.memory(home)
    row = connection.execute(FACT, (key,)).fetchone()
    if row is not None:
        memory.put(item_of(item, read_fact(row)))
    elif memory.has(item):
        memory.forget(item)


def item_of(id: str, fact: Fact) -> Any:
    """A fact as the device's memory holds it: at most 255 bytes of text, three labels and keywords."""
    source = fact.metadata.get("device", {})
    kept = Item(id, fact.text, fact.labels, fact.keywords, source.get("source") or SOURCE)
    kept.created_at = int(fact.created_at.timestamp())
    kept.updated_at = int(fact.changed_at.timestamp())
    kept.access_count = fact.uses
    return kept


def _write_document(connection: apsw.Connection, places: Places, scope: int, home: str, name: str) -> None:
    profile = places.profile(home)
    words = connection.execute(DOCUMENT, (scope, name)).get or ""
    if words != profile.read(name):
        profile.write(name, words)
