"""The log of actions in SQLite: a row each."""

from __future__ import annotations

import apsw

from wellkept.records import Scope, utc
from wellkept.store.actions import Action, Verb
from wellkept.store.facts import Actor
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.sessions import ensure_scope, scope_key

# ``about`` is the key of a session: its id may hold words that are to be forgotten, and no other session gets that key.
SCHEMA = """
    CREATE TABLE actions (
        number INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL REFERENCES scopes,
        action TEXT NOT NULL, actor TEXT NOT NULL, at INTEGER NOT NULL, about INTEGER, subject
    );
    CREATE INDEX actions_scope ON actions (scope);
"""
ADD = "INSERT INTO actions (scope, action, actor, at, about, subject) VALUES (?, ?, ?, ?, ?, ?)"
LIST = """
    SELECT a.number, a.action, a.actor, a.at, coalesce(s.id, CAST(a.subject AS TEXT))
    FROM actions a LEFT JOIN sessions s ON s.key = a.about
    WHERE a.scope = ?1 AND (?2 IS NULL OR a.number < ?2) AND a.number > ?3 ORDER BY a.number DESC LIMIT ?4
"""


class Actions:
    """See ``store.actions.Actions``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def add(
        self,
        scope: Scope,
        action: Verb,
        actor: Actor,
        *,
        at: int,
        subject: SessionRef | str | int | None = None,
    ) -> None:
        session, named = (subject.key, None) if isinstance(subject, SessionRef) else (None, subject)
        self._db.execute(ADD, (ensure_scope(self._db, scope), action, actor, at, session, named))

    def list(self, scope: Scope, *, limit: int, before: int | None = None, after: int = 0) -> list[Action]:
        rows = self._db.execute(LIST, (scope_key(self._db, scope), before, after, limit))
        return [
            Action(id=number, action=action, actor=actor, at=utc(at), subject=subject)
            for number, action, actor, at, subject in rows
        ]
