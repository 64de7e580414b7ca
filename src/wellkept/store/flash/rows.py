"""The rows of the mirror that no file of the device can hold: what a transaction changed, as JSON, and back.

The mirror is a SQLite database in memory. SQLite's session extension tells which rows a transaction changed, whatever
table they are in, so a new kind of row needs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import apsw

from wellkept.store.sqlite.keys import SEQ_BITS

Row: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["put", "set", "del"]

SCHEMA = """
    CREATE TABLE flash_sessions (session INTEGER PRIMARY KEY, file TEXT NOT NULL);
    CREATE TABLE flash_records (
        event INTEGER PRIMARY KEY, length INTEGER NOT NULL, crc INTEGER NOT NULL, whole INTEGER NOT NULL
    );
    CREATE TABLE flash_items (fact INTEGER PRIMARY KEY, item TEXT NOT NULL);
"""
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
COLUMNS = "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid"
HOMELESS_EVENTS = f"""
    DELETE FROM events WHERE key >> {SEQ_BITS} NOT IN (SELECT key FROM sessions) OR key NOT IN (SELECT event FROM flash_records)
"""
HOMELESS_RECORDS = "DELETE FROM flash_records WHERE event NOT IN (SELECT key FROM events)"
_NOT_KEPT = {"migrations", "sqlite_sequence", "embedders", "vectors", "unembedded", "fact_handles"}
# What is made anew at opening.
_DERIVED = {("facts", "words")}
_INDEX = "_terms_"
_KINDS: dict[str, Kind] = {"INSERT": "put", "UPDATE": "set", "DELETE": "del"}


@dataclass(frozen=True)
class Table:
    """A table whose rows are kept: its columns, and those of them that are its key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A changed row: all of it (put), its key and what is new in it (set), or what it was (del)."""

    table: str
    kind: Kind
    row: Row


def tables_of(connection: apsw.Connection) -> dict[str, Table]:
    """The tables that are kept, by name."""
    names = [str(name) for (name,) in connection.execute(TABLES)]
    return {name: _table(connection, name) for name in names if name not in _NOT_KEPT and _INDEX not in name}


def _table(connection: apsw.Connection, name: str) -> Table:
    columns = list(connection.execute(COLUMNS, (name,)))
    keys = sorted((place, column) for column, place in columns if place)
    return Table(name, tuple(column for column, _ in columns), tuple(column for _, column in keys))


def watch(connection: apsw.Connection, tables: Mapping[str, Table]) -> apsw.Session:
    """Note every change of the tables from now on; the caller closes it."""
    session = apsw.Session(connection, "main")
    session.table_filter(lambda name: name in tables)
    return session


def changes(watched: apsw.Session, tables: Mapping[str, Table]) -> Iterator[Change]:
    """What was changed since ``watch``."""
    for change in apsw.Changeset.iter(watched.changeset()):
        table, kind = tables[change.name], _KINDS[change.op]
        row = _named(table, change.old if kind == "del" else change.new)
        if kind == "set":
            old = _named(table, change.old)
            row = {**{name: old[name] for name in table.key}, **row}
            if row.keys() == set(table.key):
                continue
        yield Change(table.name, kind, row)


def _named(table: Table, values: Iterable[Any] | None) -> Row:
    pairs = zip(table.columns, values or (), strict=True)
    return {
        name: value
        for name, value in pairs
        if value is not apsw.no_change and (table.name, name) not in _DERIVED
    }


class Folded:
    """The rows that stand after a number of lines, each {"put" | "set" | "del": {table: rows}}."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._rows: dict[str, dict[tuple[Any, ...], Row]] = {name: {} for name in tables}
        self._highest: dict[str, int] = {}

    def take(self, line: Mapping[str, Any]) -> None:
        """Apply one line; what it says of tables and columns that are no more is passed over."""
        for kind in ("del", "set", "put"):
            for name, rows in line.get(kind, {}).items():
                if name in self._tables:
                    for row in rows:
                        self._take(self._tables[name], kind, _decoded(row))
        for name, number in line.get("highest", {}).items():
            self._highest[name] = max(number, self._highest.get(name, 0))

    def _take(self, table: Table, kind: str, row: Row) -> None:
        key = tuple(row[name] for name in table.key)
        if kind == "del":
            self._rows[table.name].pop(key, None)
        elif kind == "put":
            self._rows[table.name][key] = row
            if isinstance(key[0], int):
                self._highest[table.name] = max(key[0], self._highest.get(table.name, 0))
        elif key in self._rows[table.name]:
            self._rows[table.name][key].update(row)

    def of(self, table: str) -> Iterable[Row]:
        """The rows of one table."""
        return self._rows[table].values()

    def insert(self, connection: apsw.Connection) -> None:
        """Put the rows into the empty tables."""
        for table in self._tables.values():
            for row in self.of(table.name):
                insert(connection, table, row)
        for name, number in self._highest.items():
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (number, name))


def prune(connection: apsw.Connection, tables: Mapping[str, Table]) -> None:
    """Drop rows that belong to nothing, because the line that held their owner was damaged."""
    for table in tables.values():
        if "scope" in table.columns:
            connection.execute(f"DELETE FROM {table.name} WHERE scope NOT IN (SELECT key FROM scopes)")
    for table in tables.values():
        if "session" in table.columns and table.name != "fact_anchors":  # there, 0 stands for all sessions
            lost = "session IS NOT NULL AND session NOT IN (SELECT key FROM sessions)"
            connection.execute(f"DELETE FROM {table.name} WHERE {lost}")
    connection.execute(HOMELESS_EVENTS)
    connection.execute(HOMELESS_RECORDS)


def insert(connection: apsw.Connection, table: Table, row: Row) -> None:
    """Put in one row; columns that it does not name get their defaults."""
    names = [name for name in table.columns if name in row]
    places = ", ".join("?" * len(names))
    statement = f"INSERT OR REPLACE INTO {table.name} ({', '.join(names)}) VALUES ({places})"
    connection.execute(statement, [row[name] for name in names])


def line_of(found: Iterable[Change], tables: Mapping[str, Table]) -> dict[str, Any]:
    """Changes as one line."""
    line: dict[str, Any] = {}
    for change in found:
        names = tables[change.table].key if change.kind == "del" else tuple(change.row)
        row = {name: _encoded(change.row[name]) for name in names}
        if change.kind == "put":
            row = {name: value for name, value in row.items() if value is not None}
        line.setdefault(change.kind, {}).setdefault(change.table, []).append(row)
    return line


def dump(connection: apsw.Connection, tables: Mapping[str, Table]) -> Iterator[Change]:
    """Every row as a change."""
    for table in tables.values():
        for values in connection.execute(f"SELECT {', '.join(table.columns)} FROM {table.name}"):
            yield Change(table.name, "put", _named(table, values))


def highest(connection: apsw.Connection) -> dict[str, int]:
    """The highest number that each table with counted keys ever gave out."""
    return {
        str(name): int(number) for name, number in connection.execute("SELECT name, seq FROM sqlite_sequence")
    }


def _encoded(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _decoded(row: Mapping[str, Any]) -> Row:
    return {
        name: bytes.fromhex(value["hex"]) if isinstance(value, dict) else value for name, value in row.items()
    }
