"""Scopes and sessions in SQLite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from wellkept.errors import Conflict
from wellkept.records import Scope, SessionInfo, utc
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.traces import remove_traces

FIND_SCOPE = "SELECT key FROM scopes WHERE namespace = ? AND user = ?"
ADD_SCOPE = "INSERT INTO scopes (namespace, user) VALUES (?, ?) ON CONFLICT DO NOTHING"
ALL_SCOPES = "SELECT namespace, user FROM scopes WHERE ?1 IS NULL OR namespace = ?1 ORDER BY namespace, user"
# No key is given twice: who still holds that of a deleted session must not come to another one.
ADD = """
    INSERT INTO sessions (key, scope, id, title, metadata, created, active) VALUES (1 + max(
        (SELECT coalesce(max(key), 0) FROM sessions),
        (SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM settings WHERE name = 'last_session')
    ), ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING key
"""
LAST = """
    INSERT INTO settings VALUES ('last_session', ?1)
    ON CONFLICT DO UPDATE SET value = max(CAST(value AS INTEGER), ?1)
"""
FIND = """
    SELECT s.key, s.scope FROM sessions s JOIN scopes c ON c.key = s.scope
    WHERE c.namespace = ? AND c.user = ? AND s.id = ?
"""
_COLUMNS = "id, title, created, active, events, turns, tokens, metadata"
INFO = f"SELECT {_COLUMNS} FROM sessions WHERE key = ? AND scope = ?"
LIST = f"""
    SELECT {_COLUMNS} FROM sessions WHERE scope = ?1
    AND (?2 IS NULL OR (active, key) < (SELECT active, key FROM sessions WHERE scope = ?1 AND id = ?2))
    ORDER BY active DESC, key DESC LIMIT ?3
"""
RENAME = "UPDATE sessions SET title = ? WHERE key = ? AND scope = ?"
DELETE = "DELETE FROM sessions WHERE key = ? AND scope = ?"
# Who keeps something of a scope sees by this number that a session of it is gone.
DEPARTED = "UPDATE scopes SET departed = departed + 1 WHERE key = ?"
DELETE_EVENTS = "DELETE FROM events WHERE key BETWEEN ? AND ?"
DELETE_JOBS = "DELETE FROM jobs WHERE session = ?"
DELETE_SUMMARIES = "DELETE FROM summaries WHERE session = ?"
DELETE_SOURCES = "DELETE FROM fact_sources WHERE event BETWEEN ? AND ?"
DELETE_ANCHOR = "DELETE FROM fact_anchors WHERE scope = ? AND session = ?"
DELETE_LEDGER = "DELETE FROM ledger WHERE session = ?"


def scope_key(connection: apsw.Connection, scope: Scope) -> int | None:
    """The store's key of a scope that it has seen."""
    key: int | None = connection.execute(FIND_SCOPE, (scope.namespace, scope.user)).get
    return key


def ensure_scope(connection: apsw.Connection, scope: Scope) -> int:
    """The store's key of a scope, made on first sight."""
    key = scope_key(connection, scope)
    if key is None:
        connection.execute(ADD_SCOPE, (scope.namespace, scope.user))
        key = connection.execute(FIND_SCOPE, (scope.namespace, scope.user)).get
    assert key is not None
    return key


#: A value as JSON text without blanks.
compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump(value: Mapping[str, Any] | None) -> str | None:
    """Metadata as JSON text; nothing for nothing."""
    return compact(value) if value else None


def load(text: str | None) -> dict[str, Any]:
    """Metadata back from its JSON text."""
    return json.loads(text) if text else {}


class Sessions:
    """See ``store.sessions.Sessions``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def create(
        self, scope: Scope, id: str, *, title: str, metadata: Mapping[str, Any], at: int
    ) -> SessionRef:
        owner = ensure_scope(self._db, scope)
        key = self._db.execute(ADD, (owner, id, title, dump(metadata), at, at)).get
        if key is None:
            raise Conflict(
                f"This user already has a session {id!r}. Open it with session(…, session_id={id!r})."
            )
        return SessionRef(scope, id, key, owner)

    def find(self, scope: Scope, id: str) -> SessionRef | None:
        row = self._db.execute(FIND, (scope.namespace, scope.user, id)).fetchone()
        return SessionRef(scope, id, row[0], row[1]) if row else None

    def info(self, ref: SessionRef) -> SessionInfo | None:
        row = self._db.execute(INFO, (ref.key, ref.scope_key)).fetchone()
        return _info(ref.scope, row) if row else None

    def scopes(self, namespace: str | None = None) -> list[Scope]:
        return [Scope(*row) for row in self._db.execute(ALL_SCOPES, (namespace,))]

    def list(self, scope: Scope, *, limit: int, before: str | None = None) -> list[SessionInfo]:
        owner = scope_key(self._db, scope)
        return [_info(scope, row) for row in self._db.execute(LIST, (owner, before, limit))]

    def rename(self, ref: SessionRef, title: str) -> bool:
        self._db.execute(RENAME, (title, ref.key, ref.scope_key))
        return self._db.changes() > 0

    def delete(self, ref: SessionRef) -> dict[str, int]:
        first = ref.key << SEQ_BITS
        removed = {"sessions": 0}
        if self.info(ref) is None:
            return removed
        removed["traces"] = remove_traces(self._db, ref)
        for table, statement, values in (
            ("events", DELETE_EVENTS, (first, first | MAX_SEQ)),
            ("fact_sources", DELETE_SOURCES, (first, first | MAX_SEQ)),
            ("fact_anchors", DELETE_ANCHOR, (ref.scope_key, ref.key)),
            ("jobs", DELETE_JOBS, (ref.key,)),
            ("summaries", DELETE_SUMMARIES, (ref.key,)),
            ("ledger", DELETE_LEDGER, (ref.key,)),
            ("sessions", DELETE, (ref.key, ref.scope_key)),
        ):
            self._db.execute(statement, values)
            removed[table] = self._db.changes()
        self._db.execute(LAST, (ref.key,))
        self._db.execute(DEPARTED, (ref.scope_key,))
        return removed


def _info(scope: Scope, row: tuple[Any, ...]) -> SessionInfo:
    id, title, created, active, events, turns, tokens, metadata = row
    return SessionInfo(
        id=id,
        namespace=scope.namespace,
        user=scope.user,
        title=title,
        created_at=utc(created),
        last_activity=utc(active),
        events=events,
        turns=turns,
        tokens=tokens,
        metadata=load(metadata),
    )
