"""What a transaction means for the device's files: found from its changed rows, written as part of its line."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

import apsw

from wellkept.errors import Conflict
from wellkept.policy.content import dumps, loads
from wellkept.records import ROLES, Draft, Scope
from wellkept.store.flash.messages import Backend, draft_of, line_of
from wellkept.store.flash.places import Place, Places, home_of, is_file_name, place_of
from wellkept.store.flash.rows import Change, Row
from wellkept.store.sqlite.factrows import fact_id
from wellkept.store.sqlite.keys import SEQ_BITS
from wellkept.store.sqlite.sessions import load

SCOPE = "SELECT namespace, user FROM scopes WHERE key = ?"
OWNER = "SELECT value FROM settings WHERE name = 'flash owner'"
SET_OWNER = "INSERT INTO settings (name, value) VALUES ('flash owner', ?)"
SESSION = """
    SELECT s.scope, s.id, f.file FROM sessions s LEFT JOIN flash_sessions f ON f.session = s.key WHERE s.key = ?
"""
NEIGHBOURS = """
    SELECT s.id, f.file FROM sessions s LEFT JOIN flash_sessions f ON f.session = s.key WHERE s.scope = ? AND s.key <> ?
"""
NAME_FILE = "INSERT INTO flash_sessions (session, file) VALUES (?, ?)"
FILE = "DELETE FROM flash_sessions WHERE session = ? RETURNING file"
RECORD = "SELECT length, crc FROM flash_records WHERE event = ?"
ADD_RECORD = "INSERT INTO flash_records (event, length, crc, whole) VALUES (?, ?, ?, ?)"
DROP_RECORD = "DELETE FROM flash_records WHERE event = ? RETURNING length, crc"
ITEM = "SELECT item FROM flash_items WHERE fact = ?"
NAME_ITEM = "INSERT INTO flash_items (fact, item) VALUES (?, ?)"
ITEMS = "SELECT f.key, i.item FROM facts f LEFT JOIN flash_items i ON i.fact = f.key"
IN_USE = "SELECT 1 FROM flash_items WHERE item = ?"
DROP_ITEM = "DELETE FROM flash_items WHERE fact = ? RETURNING item"


def owner_of(connection: apsw.Connection) -> Scope | None:
    """Whose memory lies in the root itself, if that is settled."""
    value = connection.execute(OWNER).get
    return Scope(*json.loads(value)) if value else None


def items_of(connection: apsw.Connection) -> set[str]:
    """The names of all memories on the device, archived ones too."""
    return {item or fact_id(key) for key, item in connection.execute(ITEMS)}


def set_owner(connection: apsw.Connection, scope: Scope) -> None:
    """Settle it, once and for all."""
    connection.execute(SET_OWNER, (json.dumps([scope.namespace, scope.user], ensure_ascii=False),))


def home(connection: apsw.Connection, scope_key: int) -> str:
    """The directory of a user below the root. Who writes first owns the root."""
    scope = Scope(*next(connection.execute(SCOPE, (scope_key,))))
    owner = owner_of(connection)
    if owner is None:
        set_owner(connection, scope)
        return ""
    return "" if scope == owner else home_of(scope)


def place(connection: apsw.Connection, session: int) -> Place:
    """Where a session is."""
    scope_key, id, file = next(connection.execute(SESSION, (session,)))
    return place_of(home(connection, scope_key), id, file)


class Planner:
    """Finds out what changed rows mean for the files, and notes in the mirror which record holds which event."""

    def __init__(self, connection: apsw.Connection, places: Places, backend: Backend) -> None:
        self._db = connection
        self._places = places
        self._backend = backend
        self.owners: dict[str, Scope] = {}
        self.batches: dict[Place, list[tuple[int, bytes]]] = defaultdict(list)
        self._cut: dict[int, Place] = {}
        self._drop: set[Place] = set()
        self._items: list[tuple[int, str, str]] = []
        self._documents: set[tuple[int, str, str]] = set()

    def take(self, changes: Sequence[Change]) -> None:
        """Look at all changes of the transaction."""
        by_table: dict[str, list[Change]] = defaultdict(list)
        for change in changes:
            by_table[change.table].append(change)
        for change in by_table["scopes"]:
            if change.kind == "put":
                self.owners[home(self._db, change.row["key"])] = Scope(
                    change.row["namespace"], change.row["user"]
                )
        self._sessions(by_table["sessions"])
        self._events(by_table["events"])
        self._facts(by_table["facts"])
        for change in by_table["profiles"]:
            scope_key = change.row["scope"]
            self._documents.add((scope_key, home(self._db, scope_key), change.row["name"]))

    def files(self) -> dict[str, Any]:
        """The plan, as part of a line."""
        plan: dict[str, Any] = {
            "add": [self._addition(place, batch) for place, batch in self.batches.items()],
            "cut": sorted(self._cut.items()),
            "drop": sorted(self._drop),
            "items": sorted(self._items),
            "documents": sorted(self._documents),
        }
        return {name: value for name, value in plan.items() if value}

    def _addition(self, place: Place, batch: Iterable[tuple[int, bytes]]) -> list[Any]:
        session = self._places.session(place)
        session.ready()
        data = b"".join(line + b"\n" for _, line in batch)
        return [place, max(0, session.size()), len(data), crc32(data)]

    # ── sessions and events ──────────────────────────────────────────────────────────────────────────────

    def _sessions(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if change.kind == "put":
                self._name(change.row)
            elif change.kind == "del":
                file = self._db.execute(FILE, (change.row["key"],)).get
                self._drop.add(place_of(home(self._db, change.row["scope"]), change.row["id"], file))

    def _name(self, row: Row) -> None:
        """Give a new session the file that it had on the device it was imported from, if nobody else has it."""
        key = row["key"]
        taken = {place_of("", *other).file for other in self._db.execute(NEIGHBOURS, (row["scope"], key))}
        source = load(row["metadata"]).get("device")
        wanted = source.get("file") if isinstance(source, dict) else None
        if is_file_name(wanted) and wanted not in taken and row["id"] == str(wanted)[:-4]:
            self._db.execute(NAME_FILE, (key, wanted))
        elif place_of("", row["id"], None).file in taken:
            raise Conflict(
                f"On a device the session {row['id']!r} would share another one's file. Give it another id."
            )

    def _events(self, changes: Iterable[Change]) -> None:
        for change in sorted(changes, key=lambda change: int(change.row["key"])):
            key = change.row["key"]
            if change.kind == "put" and self._db.execute(RECORD, (key,)).fetchone() is None:
                self._write_down(key, change.row)
            elif change.kind == "del" and self._db.execute(DROP_RECORD, (key,)).fetchall():
                self._cut_from(key >> SEQ_BITS)

    def _cut_from(self, session: int) -> None:
        if self._db.execute(SESSION, (session,)).fetchone():
            self._cut[session] = place(self._db, session)

    def _write_down(self, key: int, row: Row) -> None:
        there = place(self._db, key >> SEQ_BITS)
        content = loads(row["content"])
        event = Draft(
            role=ROLES[row["role"]], content=content, speaker=row["speaker"], metadata=load(row["metadata"])
        )
        kind, line = line_of(event, self._backend)
        whole = _says(kind, self._places.session(there).format, line) == (event.role, row["content"])
        self._db.execute(ADD_RECORD, (key, len(line) + 1, crc32(line + b"\n"), int(whole)))
        self.batches[there].append((kind, line))

    # ── memories ─────────────────────────────────────────────────────────────────────────────────────────

    def _facts(self, changes: Iterable[Change]) -> None:
        for change in changes:
            key = change.row["key"]
            scope_key = (
                change.row.get("scope")
                or self._db.execute("SELECT scope FROM facts WHERE key = ?", (key,)).get
            )
            there = home(self._db, scope_key)
            if change.kind == "put":
                self._name_item(key, there, change.row)
            statement = DROP_ITEM if change.kind == "del" else ITEM
            item = self._db.execute(statement, (key,)).get or fact_id(key)
            self._items.append((key, there, item))

    def _name_item(self, key: int, there: str, row: Row) -> None:
        """Give a new memory the id that it had where it comes from, if nothing else has it."""
        source = load(row["metadata"]).get("device")
        wanted = source.get("id") if isinstance(source, dict) else None
        if not isinstance(wanted, str) or not wanted or self._db.execute(ITEM, (key,)).get:
            return
        if not self._db.execute(IN_USE, (wanted,)).get and not self._places.memory(there).has(wanted):
            self._db.execute(NAME_ITEM, (key, wanted))


def _says(kind: int, style: int, line: bytes) -> tuple[str, str]:
    draft = draft_of(kind, style, line.decode())
    return draft.role, dumps(draft.content)
