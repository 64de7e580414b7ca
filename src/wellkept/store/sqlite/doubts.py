"""What waits for a person's decision, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from wellkept.records import Scope, utc
from wellkept.store.facts import Doubt
from wellkept.store.sqlite.sessions import ensure_scope, scope_key

ADD = "INSERT INTO doubts (scope, kind, payload, at) VALUES (?, ?, ?, ?)"
LIST = "SELECT key, kind, payload, at FROM doubts WHERE scope = ? ORDER BY key"
REMOVE = "DELETE FROM doubts WHERE key = ? AND scope = ?"


class Doubts:
    """See ``store.facts.Doubts``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def add(self, scope: Scope, kind: str, *, facts: Sequence[str] = (), text: str = "", at: int) -> None:
        payload = json.dumps({"facts": list(facts), "text": text}, ensure_ascii=False)
        self._db.execute(ADD, (ensure_scope(self._db, scope), kind, payload, at))

    def list(self, scope: Scope) -> list[Doubt]:
        found = []
        for key, kind, payload, at in self._db.execute(LIST, (scope_key(self._db, scope),)):
            data = json.loads(payload)
            found.append(Doubt(id=key, kind=kind, facts=tuple(data["facts"]), text=data["text"], at=utc(at)))
        return found

    def remove(self, scope: Scope, id: int) -> bool:
        self._db.execute(REMOVE, (id, scope_key(self._db, scope)))
        return self._db.changes() > 0
