"""Profile documents in SQLite: each version a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from wellkept.errors import Conflict
from wellkept.records import Document, Scope, utc
from wellkept.store.sqlite.sessions import ensure_scope, scope_key

_COLUMNS = "name, text, hash, version, at"
CURRENT = f"SELECT {_COLUMNS}, max(version) FROM profiles WHERE scope = ? AND at <= ? GROUP BY name"
ALL = f"SELECT {_COLUMNS} FROM profiles WHERE scope = ? AND name = ? ORDER BY version DESC"
ADD = """
    INSERT INTO profiles (scope, name, version, text, hash, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
REMOVE = "DELETE FROM profiles WHERE scope = ? AND name = ? AND version = ?"
_EVER = 1 << 62


class Profiles:
    """See ``store.profiles.Profiles``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def current(self, scope: Scope, at: int | None = None) -> dict[str, Document]:
        rows = self._db.execute(CURRENT, (scope_key(self._db, scope), _EVER if at is None else at))
        return {row[0]: _document(row[:5]) for row in rows}

    def put(self, scope: Scope, document: Document, *, at: int) -> None:
        owner = ensure_scope(self._db, scope)
        self._db.execute(ADD, (owner, document.name, document.version, document.text, document.hash, at))
        if not self._db.changes():
            raise Conflict(
                f"The profile document {document.name!r} was changed meanwhile. Read it again and retry."
            )

    def versions(self, scope: Scope, name: str) -> list[Document]:
        return [_document(row) for row in self._db.execute(ALL, (scope_key(self._db, scope), name))]

    def remove(self, scope: Scope, documents: Sequence[Document]) -> int:
        owner, removed = scope_key(self._db, scope), 0
        for document in documents:
            self._db.execute(REMOVE, (owner, document.name, document.version))
            removed += self._db.changes()
        return removed


def _document(row: tuple[Any, ...]) -> Document:
    name, text, hash, version, at = row
    return Document(name=name, text=text, hash=hash, version=version, updated_at=utc(at))
