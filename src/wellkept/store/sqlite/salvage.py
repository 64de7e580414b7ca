"""Getting out of a damaged file what can still be read: each readable row, into a new file beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from wellkept.errors import StoreCorrupt
from wellkept.policy.content import loads
from wellkept.store.sqlite.connection import Connections, typed_errors
from wellkept.store.sqlite.derived import HOMELESS, MISCOUNTED, rebuild
from wellkept.store.sqlite.schema import prepare

TABLES = "SELECT name, wr FROM pragma_table_list WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
COLUMNS = "SELECT name FROM pragma_table_info(?)"
PRIMARY_KEY = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk"

_TRIES = 4_000
_LAST_KEY = (1 << 62) - 1
_UNREADABLE = (apsw.CorruptError, apsw.IOError, apsw.NotADBError, UnicodeDecodeError)

Row = dict[str, Any]


def salvage(connections: Connections) -> tuple[str, list[str]]:
    """Copy every readable row of the damaged file into a new one; its path, and what was lost, in words.

    Raises StoreCorrupt when not even the list of tables can be read.
    """
    target = _free_name(Path(connections.path))
    damaged = Connections(connections.path, read_only=True).raw()
    try:
        with typed_errors(connections.path):
            damaged.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        new = Connections(str(target))
        prepare(new)
        with typed_errors(str(target)):
            lost = _fill(damaged, new.get())
        new.close()
    finally:
        damaged.close(True)
    return str(target), lost


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.stem}.salvaged-{number}{path.suffix}")).exists():
        number += 1
    return name


def _fill(damaged: apsw.Connection, new: apsw.Connection) -> list[str]:
    new.pragma("foreign_keys", 0)
    new.execute("BEGIN IMMEDIATE")
    # One of an older version has not all of today's tables.
    there = {name for name, _ in damaged.execute(TABLES)} - {"migrations"}
    lost = [
        f"a part of the table {table}"
        for table, has_no_rowid in new.execute(TABLES).fetchall()
        if table in there and not _copy(damaged, new, str(table), bool(has_no_rowid))
    ]
    for id, _, there, *_, expected in new.execute(MISCOUNTED):
        if expected > there:
            lost.append(f"{expected - there} of {expected} events of session {id!r}")
    for session, _, count, _, _ in new.execute(HOMELESS):
        lost.append(f"the name of session {session}; its {count} events are kept as 'recovered-{session}'")
    rebuild(new)
    new.execute("COMMIT")
    return lost


def _copy(damaged: apsw.Connection, new: apsw.Connection, table: str, has_no_rowid: bool) -> bool:
    """Whether all of the table could be read, as far as one can tell."""
    key = [name for (name,) in new.execute(PRIMARY_KEY, (table,))] if has_no_rowid else ["rowid"]
    known = {name for (name,) in new.execute(COLUMNS, (table,))}
    reader = _Reader(damaged, table, key)
    whole = True
    for row in reader.by_order() if has_no_rowid else reader.by_halves():
        if table == "events" and not _is_sound(row):
            whole = False
            continue
        names = [name for name in row if name in known]  # an older version had others, too
        marks = ", ".join("?" * len(names))
        values = [row[name] for name in names]
        new.execute(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})", values)
    return whole and reader.whole


def _is_sound(row: Row) -> bool:
    try:
        loads(row["content"])
    except (StoreCorrupt, TypeError):
        return False
    return True


class _Reader:
    """Reads a table around its unreadable places."""

    def __init__(self, connection: apsw.Connection, table: str, key: list[str]) -> None:
        self._db = connection
        self._table = table
        self._key = key
        self._met = 0

    @property
    def whole(self) -> bool:
        """Whether nothing unreadable was met so far."""
        return self._met == 0

    def by_order(self) -> Iterator[Row]:
        """From the beginning to the first damage, and then from the end to the last."""
        seen = set()
        for key, row in self._read(""):
            seen.add(key)
            yield row
        if not self.whole:
            yield from (row for key, row in self._read("DESC") if key not in seen)

    def by_halves(self) -> Iterator[Row]:
        """As ``by_order``, and then so with each half of what lies between, as often as makes sense."""
        ranges = deque([(0, _LAST_KEY)])
        for _ in range(_TRIES):
            if not ranges:
                return
            low, high = ranges.popleft()
            reached, ended, met = low - 1, high + 1, self._met
            for key, row in self._read("", low, high):
                reached = key[0]
                yield row
            if self._met == met:
                continue
            for key, row in self._read("DESC", low, high):
                ended = key[0]
                yield row
            middle = (reached + ended) // 2
            ranges += [
                half for half in ((reached + 1, middle), (middle + 1, ended - 1)) if half[0] <= half[1]
            ]

    def _read(
        self, direction: str, low: int | None = None, high: int | None = None
    ) -> Iterator[tuple[Any, Row]]:
        """Rows with their keys, in order of the key, up to the first one that cannot be read."""
        where = "" if low is None else f"WHERE rowid BETWEEN {low} AND {high}"
        order = ", ".join(f"{name} {direction}" for name in self._key)
        statement = f"SELECT {', '.join(self._key)}, * FROM {self._table} {where} ORDER BY {order}"
        try:
            cursor = self._db.execute(statement)
            for values in cursor:
                names = [name for name, _ in cursor.get_description()[len(self._key) :]]
                yield values[: len(self._key)], dict(zip(names, values[len(self._key) :], strict=True))
        except _UNREADABLE:
            self._met += 1
