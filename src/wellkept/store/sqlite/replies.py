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
PURGE = "DELETE FROM replies WHERE at < ?1 OR (status IS NULL AND at < ?2)"
CLAIM = """
    INSERT INTO replies (namespace, user, key, request, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
FIND = "SELECT request, status, body FROM replies WHERE namespace = ? AND user = ? AND key = ?"
KEEP = "UPDATE replies SET status = ?, body = ? WHERE namespace = ? AND user = ? AND key = ?"
DROP = "DELETE FROM replies WHERE namespace = ? AND user = ? AND key = ?"
FORGET = "DELETE FROM replies WHERE namespace = ? AND user IN (?, '')"
FORGET_HOLDING = f"{FORGET} AND (instr(body, ?) OR instr(body, ?))"


class Replies:
    """See ``store.replies.Replies``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def claim(
        self, scope: Scope, key: bytes, request: bytes, *, at: int, oldest: int, stale: int
    ) -> KeptReply | None:
        self._db.execute(PURGE, (oldest, stale))
        owner = (scope.namespace, scope.user, key)
        self._db.execute(CLAIM, (*owner, request, at))
        if self._db.changes():
            return None
        return KeptReply(*self._db.execute(FIND, owner).get)

    def keep(self, scope: Scope, key: bytes, status: int, body: bytes) -> None:
        self._db.execute(KEEP, (status, body, scope.namespace, scope.user, key))

    def drop(self, scope: Scope, key: bytes) -> None:
        self._db.execute(DROP, (scope.namespace, scope.user, key))

    def forget(self, scope: Scope, *, holding: str | None = None) -> int:
        if holding is None:
            self._db.execute(FORGET, (scope.namespace, scope.user))
        else:
            written = (holding.encode(), json.dumps(holding)[1:-1].encode())
            self._db.execute(FORGET_HOLDING, (scope.namespace, scope.user, *written))
        return self._db.changes()
