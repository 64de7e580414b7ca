"""Traces of contexts in SQLite: a row each, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from wellkept.records import Candidate, Scope, utc
from wellkept.store.protocol import SessionRef
from wellkept.store.traces import Trace

SCHEMA = """
    CREATE TABLE traces (
        key INTEGER PRIMARY KEY, scope INTEGER NOT NULL REFERENCES scopes, session INTEGER NOT NULL,
        id TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, data TEXT NOT NULL, UNIQUE (scope, id)
    );
    CREATE INDEX traces_session ON traces (session);
    ALTER TABLE scopes ADD COLUMN erasures INTEGER NOT NULL DEFAULT 0;
"""
# A forked child inherits what waits to be written: the same trace may come twice.
ADD = (
    "INSERT INTO traces (scope, session, id, seq, at, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
TRIM = """
    DELETE FROM traces WHERE session = ?1 AND key <= (
        SELECT key FROM traces WHERE session = ?1 ORDER BY key DESC LIMIT 1 OFFSET ?2
    )
"""
_SELECT = """
    SELECT t.key, t.id, s.id, t.seq, t.at, t.data
    FROM traces t JOIN scopes c ON c.key = t.scope JOIN sessions s ON s.key = t.session
    WHERE c.namespace = ?1 AND c.user = ?2
"""
LIST = f"""{_SELECT}
    AND (?3 IS NULL OR t.session = ?3) AND (?4 IS NULL OR t.key < (SELECT key FROM traces WHERE scope = t.scope AND id = ?4))
    ORDER BY t.key DESC LIMIT ?5
"""
GET = f"{_SELECT} AND t.id = ?3"
ERASURES = "SELECT erasures FROM scopes WHERE key = ?"
REMOVE_ALL = "DELETE FROM traces WHERE scope = (SELECT key FROM scopes WHERE namespace = ? AND user = ?)"
COUNT_ALL = "UPDATE scopes SET erasures = erasures + 1 WHERE namespace = ? AND user = ?"
# Other conversations may have recalled something of this one: its id then stands among their candidates.
REMOVE = """
    DELETE FROM traces WHERE scope = ?1 AND (
        session = ?2 AND seq >= ?3 OR session <> ?2 AND (instr(data, ?4 || ':') OR instr(data, ?4 || '/'))
    )
"""
COUNT = "UPDATE scopes SET erasures = erasures + 1 WHERE key = ?"


class Traces:
    """See ``store.traces.Traces``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def erasures(self, ref: SessionRef) -> int:
        return self._db.execute(ERASURES, (ref.scope_key,)).get or 0

    def add(self, ref: SessionRef, trace: Trace, *, keep: int) -> None:
        at = int(trace.at.timestamp() * 1000)
        self._db.execute(ADD, (ref.scope_key, ref.key, trace.id, trace.seq, at, _data(trace)))
        if keep >= 0:
            self._db.execute(TRIM, (ref.key, keep))

    def list(
        self, scope: Scope, ref: SessionRef | None = None, *, limit: int, before: str | None = None
    ) -> list[Trace]:
        values = (scope.namespace, scope.user, ref.key if ref else None, before, limit)
        return [_trace(*row[1:]) for row in self._db.execute(LIST, values)]

    def get(self, scope: Scope, id: str) -> Trace | None:
        row = self._db.execute(GET, (scope.namespace, scope.user, id)).fetchone()
        return _trace(*row[1:]) if row else None

    def remove(self, scope: Scope) -> int:
        self._db.execute(REMOVE_ALL, (scope.namespace, scope.user))
        removed = self._db.changes()
        self._db.execute(COUNT_ALL, (scope.namespace, scope.user))
        return removed

    def remove_from(self, ref: SessionRef, seq: int) -> int:
        return remove_traces(self._db, ref, seq)


def remove_traces(connection: apsw.Connection, ref: SessionRef, seq: int = 0) -> int:
    """Remove each trace that may show events of the session from ``seq`` on; how many there were."""
    connection.execute(REMOVE, (ref.scope_key, ref.key, seq, json.dumps(ref.id, ensure_ascii=False)[:-1]))
    removed = connection.changes()
    connection.execute(COUNT, (ref.scope_key,))
    return removed


_COLUMNS = frozenset({"id", "session_id", "seq", "at"})


def _data(trace: Trace) -> str:
    rest = {name: value for name, value in trace.to_dict().items() if name not in _COLUMNS}
    return json.dumps(rest, ensure_ascii=False, separators=(",", ":"))


def _trace(id: str, session_id: str, seq: int, at: int, data: str) -> Trace:
    fields: dict[str, Any] = json.loads(data)
    candidates: Sequence[Any] = fields.pop("candidates")
    return Trace(
        id=id, session_id=session_id, seq=seq, at=utc(at),
        candidates=tuple(Candidate(**candidate) for candidate in candidates), **fields,
    )  # fmt: skip
