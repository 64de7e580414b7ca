"""Answers kept for requests that may come twice, in SQLite."""

from __future__ import annotations

import json

import apsw

from wellkept.records import Scope
from wellkept.store.replies import KeptReply

SCHEMA = """
    CREATE TABLE replies (
        namespace TEXT NOT NULL, user TEXT NOT NULL, key BLOB NOT NULL, request BLOB NOT NULL,
        at INTEGER NOT NULL, status INTEGER, body BLOB,
        PRIMARY KEY (namespace, user, key)
    ) WITHOUT ROWID;
    CREATE INDEX replies_at ON replies (at);
"""
PURGE = "DELETE FROM replies WHERE at < ?"
FIND = """
    SELECT request, status, body FROM replies WHERE namespace = ? AND user = ? AND key = ? AND at >= ? AND status NOT NULL
"""
KEEP = """
    INSERT OR REPLACE INTO replies (namespace, user, key, request, status, body, at) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
FORGET = "DELETE FROM replies WHERE namespace = ? AND user IN (?, '')"
FORGET_HOLDING = f"{FORGET} AND (instr(body, ?) OR instr(body, ?))"


class Replies:
    """See ``store.replies.Replies``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def find(self, scope: Scope, key: bytes, *, oldest: int) -> KeptReply | None:
        row = self._db.execute(FIND, (scope.namespace, scope.user, key, oldest)).fetchone()
        return KeptReply(*row) if row else None

    def keep(self, scope: Scope, key: bytes, reply: KeptReply, *, at: int, oldest: int) -> None:
        self._db.execute(PURGE, (oldest,))
        self._db.execute(KEEP, (scope.namespace, scope.user, key, *reply, at))

    def forget(self, scope: Scope, *, holding: str | None = None) -> int:
        if holding is None:
            self._db.execute(FORGET, (scope.namespace, scope.user))
        else:
            written = (holding.encode(), json.dumps(holding)[1:-1].encode())
            self._db.execute(FORGET_HOLDING, (scope.namespace, scope.user, *written))
        return self._db.changes()
