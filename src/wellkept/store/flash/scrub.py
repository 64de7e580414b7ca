"""A last look at the files of a device's directory: what was erased must not be in any of them.

A text is told as rows tell it (``store.sqlite.erasures``): in any letter case, a short word of ASCII letters only where
it stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from wellkept.store.flash.places import Places
from wellkept.store.flash.rows import Table
from wellkept.store.sqlite.erasures import holds, needles_of
from wellkept_flash import text

# What the formats write themselves: a message has a role, whoever asks to forget the word "role".
_OURS = re.compile(r'"\w+":|(?<="role":)"\w+"|(?<="type":)"\w+"')
_IDS_ONLY = {"memory_digest.log"}


def purge(places: Places, texts: Sequence[str]) -> None:
    """Rewrite what may still hold words that no record has any more."""
    needles = needles_of(texts)
    for home in places.homes():
        if places.holds_something(home):
            memory = places.memory(home)
            memory.compact()
            _purge_archive(memory.archive, needles)
    for path in Path(places.root).rglob("*.damaged"):
        if holds(text.decode(path.read_bytes()), needles):
            places.disk.remove(str(path))


def _purge_archive(archive: Any, needles: Sequence[Any]) -> None:
    lines = list(archive.lines_by_scan())
    kept = [line for line in lines if not holds(_words(archive.text(line)), needles)]
    if len(kept) < len(lines):
        archive.rewrite((line.type, line.format, line) for line in kept)


def left(
    connection: apsw.Connection, tables: Mapping[str, Table], root: str, texts: Sequence[str]
) -> list[str]:
    """The texts that a file holds and no row, so that nothing explains them."""
    found: set[str] = set()
    for path in Path(root).rglob("*"):
        if path.is_file() and path.name not in _IDS_ONLY:
            words = _words(path.read_bytes())
            found.update(one for one in texts if one not in found and holds(words, needles_of([one])))
    return [one for one in texts if one in found and not _in_rows(connection, tables, one)]


def _words(data: bytes) -> str:
    """What ``data`` says, without what the formats write themselves."""
    return _OURS.sub(" ", text.decode(data))


def _in_rows(connection: apsw.Connection, tables: Mapping[str, Table], words: str) -> bool:
    needles = needles_of([words])
    return any(holds(value, needles) for value in _values(connection, tables))


def _values(connection: apsw.Connection, tables: Mapping[str, Table]) -> Iterator[Any]:
    for table in tables.values():
        for row in connection.execute(f"SELECT {', '.join(table.columns)} FROM {table.name}"):
            yield from row
