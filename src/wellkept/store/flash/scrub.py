"""A last look at the bytes of a device's directory: what was erased must not be in any file of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from wellkept.store.flash.places import Places
from wellkept.store.flash.rows import Table
from wellkept_flash import text


def purge(places: Places, texts: Sequence[str]) -> None:
    """Rewrite what may still hold words that no record has any more."""
    for home in places.homes():
        if places.holds_something(home):
            memory = places.memory(home)
            memory.compact()
            _purge_archive(memory.archive, texts)
    for path in Path(places.root).rglob("*.damaged"):
        if _held(path.read_bytes(), texts):
            places.disk.remove(str(path))


def _purge_archive(archive: Any, texts: Sequence[str]) -> None:
    lines = list(archive.lines_by_scan())
    kept = [line for line in lines if not _held(archive.text(line), texts)]
    if len(kept) < len(lines):
        archive.rewrite((line.type, line.format, line) for line in kept)


def left(
    connection: apsw.Connection, tables: Mapping[str, Table], root: str, texts: Sequence[str]
) -> list[str]:
    """The texts that a file holds and no row, so that nothing explains them."""
    found: set[str] = set()
    for path in Path(root).rglob("*"):
        if path.is_file():
            found.update(_held(path.read_bytes(), [text for text in texts if text not in found]))
    return [text for text in texts if text in found and not _in_rows(connection, tables, text)]


def _held(data: bytes, texts: Sequence[str]) -> list[str]:
    return [text for text in texts if any(form in data for form in _forms(text))]


def _forms(words: str) -> Iterator[bytes]:
    """How ``words`` may stand in a file: as they are, and inside JSON as either of us writes it."""
    yield words.encode()
    yield text.quote(words)[1:-1].encode()
    yield json.dumps(words, ensure_ascii=False)[1:-1].encode()


def _in_rows(connection: apsw.Connection, tables: Mapping[str, Table], words: str) -> bool:
    for table in tables.values():
        test = " OR ".join(f"instr({column}, ?1)" for column in table.columns)
        if connection.execute(f"SELECT 1 FROM {table.name} WHERE {test} LIMIT 1", (words,)).fetchone():
            return True
    return False
