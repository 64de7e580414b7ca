"""Forgetting in SQLite: what a scope holds of something, its removal, and a second look at what is left."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

from wellkept.policy import lazy
from wellkept.policy.claims import USER
from wellkept.policy.needles import Needle
from wellkept.records import Scope
from wellkept.store.facts import Actor
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.facts import ADD_LOG_LINE, ANCHOR, GET, NEWEST, fact_key, indexed_terms, read_fact
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.sessions import dump, ensure_scope, load, scope_key
from wellkept.store.sqlite.terms import Terms
from wellkept.store.sqlite.vectors import remove_vectors

SALT = "SELECT value FROM settings WHERE name = 'salt'"
ADD_SALT = "INSERT INTO settings (name, value) VALUES ('salt', ?) ON CONFLICT DO NOTHING"
BURY = "INSERT INTO tombstones (scope, hash, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)"
BURIED = "SELECT at FROM tombstones WHERE scope = ? AND hash = ?"
UNBURY = "DELETE FROM tombstones WHERE scope = ? AND hash = ?"
SESSION = "SELECT id FROM sessions WHERE key = ? AND scope = ?"
EVENTS = "SELECT key, content, speaker, metadata, idempotency_key FROM events WHERE scope = ? ORDER BY key"
PLACES = ("content", "speaker", "metadata", "idempotency_key")
SESSIONS = "SELECT key, title, metadata FROM sessions WHERE scope = ?"
SET_SESSION = "UPDATE sessions SET title = ?, metadata = ? WHERE key = ?"
FACT_TABLES = {
    "facts": "DELETE FROM facts WHERE key = ?",
    "fact_uses": "DELETE FROM fact_uses WHERE fact = ?",
    "fact_sources": "DELETE FROM fact_sources WHERE fact = ?",
    "fact_changes": "DELETE FROM fact_changes WHERE fact = ?",
}
UNLINK = "UPDATE facts SET superseded_by = NULL WHERE scope = ? AND superseded_by = ?"
DOUBTS = "SELECT key, payload FROM doubts WHERE scope = ?"
REMOVE_DOUBT = "DELETE FROM doubts WHERE key = ?"
JOBS = """
    SELECT key, payload, coalesce(raw_reply, ''), coalesce(last_error, ''), coalesce(result, '') FROM jobs
    WHERE scope = ? AND state IN ('done', 'failed', 'cancelled')
"""
REMOVE_JOB = "DELETE FROM jobs WHERE key = ?"
WAITING_JOBS = """
    SELECT key, coalesce(raw_reply, ''), coalesce(last_error, ''), coalesce(result, '') FROM jobs
    WHERE scope = ? AND state IN ('ready', 'running')
"""
EMPTY_JOB = "UPDATE jobs SET raw_reply = NULL, last_error = NULL, result = NULL WHERE key = ?"
# One more attempt, and what comes of the one before is not taken any more.
RESTART_JOBS = "UPDATE jobs SET attempts = attempts + 1, run_at = 0 WHERE scope = ? AND state = 'running'"
HAND_OUT = "INSERT INTO receipts (scope, at, receipt) VALUES (?, ?, ?) RETURNING key"
RECEIPTS = "SELECT key, at, receipt FROM receipts WHERE scope = ? ORDER BY key"
# Columns whose words are the program's own: "store", "app", "failed".
OUR_WORDS = frozenset({"action", "actor", "kind", "state"})
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
COLUMNS = "SELECT name FROM pragma_table_info(?)"
_SUBJECT = lazy.compile(rf'\\?"subject\\?":\s?\\?"{USER}\\?"')


class Erasures:
    """See ``store.protocol.Erasures``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    # ── tombstones ───────────────────────────────────────────────────────────────────────────────────────

    def bury(self, scope: Scope, parts: Sequence[Sequence[str]], *, at: int) -> None:
        owner = ensure_scope(self._db, scope)
        if parts:
            self._db.execute(ADD_SALT, (secrets.token_hex(16),))
        for each in parts:
            self._db.execute(BURY, (owner, self._hash(scope, each), at))

    def buried(self, scope: Scope, parts: Sequence[str]) -> int | None:
        at: int | None = self._db.execute(BURIED, (scope_key(self._db, scope), self._hash(scope, parts))).get
        return at

    def unbury(self, scope: Scope, parts: Sequence[Sequence[str]]) -> None:
        for each in parts:
            self._db.execute(UNBURY, (scope_key(self._db, scope), self._hash(scope, each)))

    def _hash(self, scope: Scope, parts: Sequence[str]) -> bytes:
        salt = self._db.execute(SALT).get or ""
        text = json.dumps([salt, scope.namespace, scope.user, *parts])
        return hashlib.sha256(text.encode()).digest()[:16]

    # ── finding and removing ─────────────────────────────────────────────────────────────────────────────

    def events(
        self, scope: Scope, needles: Sequence[Needle], every: Sequence[Needle] = ()
    ) -> list[tuple[SessionRef, int, tuple[str, ...]]]:
        owner = scope_key(self._db, scope)
        found = []
        for key, *values in self._db.execute(EVENTS, (owner,)):
            held = [_holds(value, needles) for value in values]
            if (
                every
                and not any(held)
                and all(any(needle.is_in(value) for value in values) for needle in every)
            ):
                held[0] = True
            if any(held):
                places = tuple(name for name, hit in zip(PLACES, held, strict=True) if hit)
                found.append((key, places))
        return [
            (self._session(scope, owner, key >> SEQ_BITS), key & MAX_SEQ, places) for key, places in found
        ]

    def sessions(self, scope: Scope, needles: Sequence[Needle]) -> dict[str, int]:
        changed = {"titles": 0, "metadata": 0}
        rows: list[Any] = self._db.execute(SESSIONS, (scope_key(self._db, scope),)).fetchall()
        for key, title, metadata in rows:
            kept = {
                name: value
                for name, value in load(metadata).items()
                if not _holds(dump({name: value}), needles)
            }
            emptied, thinned = _holds(title, needles), dump(kept) != metadata
            if emptied or thinned:
                self._db.execute(SET_SESSION, ("" if emptied else title, dump(kept), key))
                changed["titles"] += emptied
                changed["metadata"] += thinned
        return changed

    def _session(self, scope: Scope, owner: int | None, key: int) -> SessionRef:
        assert owner is not None
        return SessionRef(scope, self._db.execute(SESSION, (key, owner)).get, key, owner)

    def facts(self, scope: Scope, ids: Sequence[str], *, at: int, actor: Actor) -> dict[str, int]:
        removed = dict.fromkeys((*FACT_TABLES, "fact_terms", "vectors", "doubts"), 0)
        owner = scope_key(self._db, scope)
        gone = set()
        for id in ids:
            key = fact_key(id)
            row = self._db.execute(GET, (key, owner)).fetchone()
            if row is not None:
                self._remove(owner, key, row, removed)
                self._db.execute(ADD_LOG_LINE, (owner, key, "erase", actor, at))
                gone.add(id)
        newest = self._db.execute(NEWEST, (owner,)).get
        if gone:
            self._db.execute(ANCHOR, (owner, 0, newest))
        removed["doubts"] = self._remove_doubts(owner, gone)
        return removed

    def _remove(self, owner: int | None, key: int, row: Any, removed: dict[str, int]) -> None:
        terms = indexed_terms(read_fact(row))
        if terms and owner is not None:
            Terms(self._db, "fact").remove(owner, key, terms)
            removed["fact_terms"] += 1
            removed["vectors"] += remove_vectors(self._db, owner, "fact", [key])
        for table, statement in FACT_TABLES.items():
            self._db.execute(statement, (key,))
            removed[table] += self._db.changes()
        self._db.execute(UNLINK, (owner, key))

    def _remove_doubts(self, owner: int | None, gone: set[str]) -> int:
        rows = self._db.execute(DOUBTS, (owner,)).fetchall()
        touched = [key for key, payload in rows if gone & set(load(str(payload))["facts"])]
        for key in touched:
            self._db.execute(REMOVE_DOUBT, (key,))
        return len(touched)

    def jobs(self, scope: Scope, needles: Sequence[Needle]) -> int:
        self._db.execute(RESTART_JOBS, (scope_key(self._db, scope),))
        emptied = self._remove_holding(WAITING_JOBS, EMPTY_JOB, scope, needles)
        return emptied + self._remove_holding(JOBS, REMOVE_JOB, scope, needles)

    def doubts(self, scope: Scope, needles: Sequence[Needle]) -> int:
        return self._remove_holding(DOUBTS, REMOVE_DOUBT, scope, needles)

    def _remove_holding(self, find: str, remove: str, scope: Scope, needles: Sequence[Needle]) -> int:
        rows = self._db.execute(find, (scope_key(self._db, scope),)).fetchall()
        held = [key for key, *columns in rows if any(_holds(column, needles) for column in columns)]
        for key in held:
            self._db.execute(remove, (key,))
        return len(held)

    def left(self, scope: Scope, needles: Sequence[Needle]) -> dict[str, int]:
        owner = scope_key(self._db, scope)
        found = {}
        for table, columns, condition in self._tables():
            words = ", ".join(column for column in columns if column not in OUR_WORDS)
            rows = self._db.execute(f"SELECT {words} FROM {table} WHERE {condition}", (owner,))
            count = sum(any(_holds(_said(value), needles) for value in row) for row in rows)
            if count:
                found[table] = count
        return found

    def _tables(self) -> Iterator[tuple[str, list[str], str]]:
        """Every table with rows of a scope or of a scope's sessions, its columns, and the condition that finds them."""
        for table in [str(name) for (name,) in self._db.execute(TABLES)]:
            columns = [str(name) for (name,) in self._db.execute(COLUMNS, (table,))]
            if table == "scopes":
                yield table, columns, "key = ?"
            elif "scope" in columns:
                yield table, columns, "scope = ?"
            elif "session" in columns:
                yield table, columns, "session IN (SELECT key FROM sessions WHERE scope = ?)"

    # ── receipts ─────────────────────────────────────────────────────────────────────────────────────────

    def hand_out(self, scope: Scope, receipt: Mapping[str, Any], *, at: int) -> int:
        values = (ensure_scope(self._db, scope), at, json.dumps(receipt, ensure_ascii=False))
        number: int = self._db.execute(HAND_OUT, values).get
        return number

    def receipts(self, scope: Scope) -> list[tuple[int, int, dict[str, Any]]]:
        rows = self._db.execute(RECEIPTS, (scope_key(self._db, scope),))
        return [(key, at, json.loads(receipt)) for key, at, receipt in rows]


def _said(value: object) -> object:
    """``value`` without the subject that the program gives to facts about the user, which a row holds as JSON, and
    the log of changes as JSON in JSON."""
    return _SUBJECT.sub("", value) if isinstance(value, str) else value


def _holds(value: object, needles: Sequence[Needle]) -> bool:
    return any(needle.is_in(value) for needle in needles)
