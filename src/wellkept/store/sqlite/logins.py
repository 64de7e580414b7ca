"""Logins in SQLite: never the token, only its hash."""

from __future__ import annotations

import apsw

from wellkept.store.apikeys import ApiKey
from wellkept.store.sqlite.apikeys import COLUMNS, read_key

SCHEMA = """
    CREATE TABLE logins (
        hash BLOB PRIMARY KEY, key TEXT NOT NULL REFERENCES api_keys, until INTEGER NOT NULL
    ) WITHOUT ROWID;
"""
PURGE = "DELETE FROM logins WHERE until <= ?"
OPEN = "INSERT INTO logins (hash, key, until) VALUES (?, ?, ?)"
BOUND = """
    DELETE FROM logins WHERE key = ?1 AND hash NOT IN
        (SELECT hash FROM logins WHERE key = ?1 ORDER BY until DESC LIMIT ?2)
"""
FIND = f"""
    SELECT {COLUMNS} FROM api_keys WHERE revoked IS NULL AND id = (SELECT key FROM logins WHERE hash = ? AND until > ?)
"""
CLOSE = "DELETE FROM logins WHERE hash = ?"


class Logins:
    """See ``store.apikeys.Logins``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def open(self, hash: bytes, key: str, *, at: int, until: int, most: int) -> None:
        self._db.execute(PURGE, (at,))
        self._db.execute(OPEN, (hash, key, until))
        self._db.execute(BOUND, (key, most))

    def find(self, hash: bytes, *, at: int) -> ApiKey | None:
        row = self._db.execute(FIND, (hash, at)).fetchone()
        return read_key(row) if row else None

    def close(self, hash: bytes) -> None:
        self._db.execute(CLOSE, (hash,))
