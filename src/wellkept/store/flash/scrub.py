"""A last look at the files of a device's directory: what was erased must not be in any of them.

Words are found as they are in rows (``policy.privacy.needles``), in what the files say and not in what their formats add.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from wellkept.policy.privacy.needles import Needle
from wellkept.store.flash.places import Places
from wellkept.store.flash.rows import Table
from wellkept_flash import text
from wellkept_flash.items import parse

_LINE = re.compile(r"(?:[0-9a-f]{8} )?([{\[].*)")  # of a device's file, or of our journal
_OURS = {"role", "type"}
_IDS_ONLY = {"memory_digest.log"}


def purge(places: Places, texts: Sequence[str]) -> None:
    """Rewrite what may still hold words that no record has any more."""
    needles = [Needle(text) for text in texts]
    _purge(places, lambda data: bool(_held(data, needles)), lambda data: bool(_held(data, needles)))


def purge_unknown(places: Places, items: Collection[str]) -> None:
    """The same when nobody knows the words: leave nothing beside the records but archived memories that are ``items``."""
    _purge(places, lambda line: parse(line).id not in items, lambda _: True)


def _purge(places: Places, is_gone: Callable[[bytes], bool], is_spoilt: Callable[[bytes], bool]) -> None:
    """Leave out lines of archives that are gone, and damaged files that are spoilt by what they hold."""
    for home in places.homes():
        if places.holds_something(home):
            memory = places.memory(home)
            memory.compact()
            _purge_archive(memory.archive, is_gone)
    for path in Path(places.root).rglob("*.damaged"):
        if is_spoilt(path.read_bytes()):
            places.disk.remove(str(path))


def _purge_archive(archive: Any, is_gone: Callable[[bytes], bool]) -> None:
    lines = list(archive.lines_by_scan())
    kept = [line for line in lines if not is_gone(archive.text(line))]
    if len(kept) < len(lines):
        archive.rewrite((line.type, line.format, line) for line in kept)


def left(
    connection: apsw.Connection, tables: Mapping[str, Table], root: str, texts: Sequence[str]
) -> list[str]:
    """The texts that a file holds and no row, so that nothing explains them."""
    wanted, found = [Needle(text) for text in texts], []
    for path in Path(root).rglob("*"):
        if path.is_file() and path.name not in _IDS_ONLY:
            held = _held(path.read_bytes(), wanted)
            wanted = [needle for needle in wanted if needle not in held]
            found += held
    return [needle.text for needle in found if not _in_rows(connection, tables, needle)]


def _held(data: bytes, needles: Sequence[Needle]) -> list[Needle]:
    said = list(_said(data))
    return [needle for needle in needles if any(map(needle.is_in, said))]


def _said(data: bytes) -> Iterator[str]:
    """The texts in the file, without the names and words that its format adds."""
    plain = []
    for line in text.decode(data).splitlines():
        found = _LINE.fullmatch(line)
        try:
            yield from _leaves(json.loads(found[1])) if found else ()
        except ValueError:
            found = None
        if not found:
            plain.append(line)
    yield "\n".join(plain)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        items = (
            [item for key, item in value.items() if key not in _OURS] if isinstance(value, dict) else value
        )
        for item in items:
            yield from _leaves(item)


def _in_rows(connection: apsw.Connection, tables: Mapping[str, Table], needle: Needle) -> bool:
    for table in tables.values():
        for row in connection.execute(f"SELECT {', '.join(table.columns)} FROM {table.name}"):
            if any(map(needle.is_in, row)):
                return True
    return False
