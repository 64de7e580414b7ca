"""API keys in SQLite: never the secret, only its hash."""

from __future__ import annotations

from typing import Any

import apsw

from wellkept.records import utc
from wellkept.store.apikeys import ApiKey

SCHEMA = """
    CREATE TABLE api_keys (
        id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, namespace TEXT NOT NULL, user TEXT, role TEXT NOT NULL,
        label TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER
    ) WITHOUT ROWID;
"""
COLUMNS = "id, namespace, user, role, label, created, revoked"
ADD = "INSERT INTO api_keys (id, hash, namespace, user, role, label, created) VALUES (?, ?, ?, ?, ?, ?, ?)"
FIND = f"SELECT {COLUMNS} FROM api_keys WHERE hash = ? AND revoked IS NULL"
ALL = f"SELECT {COLUMNS} FROM api_keys ORDER BY id"
ANY = "SELECT EXISTS (SELECT 1 FROM api_keys)"
REVOKE = "UPDATE api_keys SET revoked = ? WHERE id = ? AND revoked IS NULL"


class ApiKeys:
    """See ``store.apikeys.ApiKeys``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def add(self, key: ApiKey, hash: bytes, *, at: int) -> None:
        self._db.execute(ADD, (key.id, hash, key.namespace, key.user, key.role, key.label, at))

    def find(self, hash: bytes) -> ApiKey | None:
        row = self._db.execute(FIND, (hash,)).fetchone()
        return read_key(row) if row else None

    def all(self) -> list[ApiKey]:
        return [read_key(row) for row in self._db.execute(ALL)]

    def any(self) -> bool:
        return bool(self._db.execute(ANY).get)

    def revoke(self, id: str, *, at: int) -> bool:
        self._db.execute(REVOKE, (at, id))
        return self._db.changes() > 0


def read_key(row: tuple[Any, ...]) -> ApiKey:
    """The key in a row of ``COLUMNS``."""
    id, namespace, user, role, label, created, revoked = row
    return ApiKey(
        id=id,
        namespace=namespace,
        user=user,
        role=role,
        label=label,
        created_at=utc(created),
        revoked_at=None if revoked is None else utc(revoked),
    )
