"""Forgetting in SQLite: what a scope holds of something, its removal, and a second look at what is left."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

from wellkept.policy.facts.claims import USER
from wellkept.policy.privacy.needles import Needle
from wellkept.policy.text import lazy
from wellkept.records import Scope
from wellkept.store.facts import Actor, Graves
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.factrows import fact_key
from wellkept.store.sqlite.facts import ADD_LOG_LINE, ANCHOR, GET, NEWEST
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.sessions import dump, ensure_scope, load, scope_key
from wellkept.store.sqlite.vectors import remove_vectors

SALT = "SELECT value FROM settings WHERE name = 'salt'"
ADD_SALT = "INSERT INTO settings (name, value) VALUES ('salt', ?) ON CONFLICT DO NOTHING"
BURY = "INSERT INTO tombstones (scope, hash, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)"
BURIED = "SELECT at FROM tombstones WHERE scope = ? AND hash = ?"
UNBURY = "DELETE FROM tombstones WHERE scope = ? AND hash = ?"
ORIGINS = "SELECT salt, namespace, user FROM tombstone_origins WHERE scope = ?"
ADD_ORIGIN = (
    "INSERT INTO tombstone_origins (scope, salt, namespace, user) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
GRAVES = "SELECT hash, at FROM tombstones WHERE scope = ? ORDER BY at, hash"
SESSION = "SELECT id FROM sessions WHERE key = ? AND scope = ?"
EVENTS = "SELECT key, content, speaker, metadata, idempotency_key FROM events WHERE scope = ? ORDER BY key"
PLACES = ("content", "speaker", "metadata", "idempotency_key")
SESSIONS = "SELECT key, title, metadata FROM sessions WHERE scope = ?"
SET_SESSION = "UPDATE sessions SET title = ?, metadata = ? WHERE key = ?"
FACT_TABLES = {
    "facts": "DELETE FROM facts WHERE key = :fact",
    "fact_uses": "DELETE FROM fact_uses WHERE fact = :fact",
    "fact_sources": "DELETE FROM fact_sources WHERE fact = :fact",
    "fact_changes": "DELETE FROM fact_changes WHERE scope = :scope AND fact = :fact",
}
UNLINK = "UPDATE facts SET superseded_by = NULL WHERE scope = ? AND superseded_by = ?"
DROP_HANDLES = "DELETE FROM fact_handles WHERE scope = ? AND fact = ?"
DOUBTS = "SELECT key, payload FROM doubts WHERE scope = ?"
REMOVE_DOUBT = "DELETE FROM doubts WHERE key = ?"
JOBS = """
    SELECT key, payload, coalesce(raw_reply, ''), coalesce(last_error, ''), coalesce(result, '') FROM jobs
    WHERE scope = ? AND state IN ('done', 'failed', 'cancelled') AND kind <> 'erase'
"""
REMOVE_JOB = "DELETE FROM jobs WHERE key = ?"
WAITING_JOBS = """
    SELECT key, coalesce(raw_reply, ''), coalesce(last_error, ''), coalesce(result, '') FROM jobs
    WHERE scope = ? AND state IN ('ready', 'running')
"""
EMPTY_JOB = "UPDATE jobs SET raw_reply = NULL, last_error = NULL, result = NULL WHERE key = ?"
# What comes of an attempt that was taken back is not taken any more.
RESTART_JOBS = (
    "UPDATE jobs SET state = 'ready', once = NULL, run_at = 0 WHERE scope = ? AND state = 'running'"
)
HAND_OUT = "INSERT INTO receipts (scope, at, receipt) VALUES (?, ?, ?) RETURNING key"
RECEIPTS = "SELECT key, at, receipt FROM receipts WHERE scope = ? ORDER BY key"
# Columns whose words are the program's own ("store", "app", "failed"), or made from those of another column.
OUR_WORDS = frozenset({"action", "actor", "kind", "name", "state", "subject", "words"})
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
COLUMNS = "SELECT name FROM pragma_table_info(?)"
_SUBJECT = lazy.compile(rf'\\?"subject\\?":\s?\\?"{USER}\\?"')


class Erasures:
    """See ``store.facts.Erasures``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    # ── tombstones ───────────────────────────────────────────────────────────────────────────────────────

    def bury(self, scope: Scope, parts: Sequence[Sequence[str]], *, at: int) -> None:
        owner = ensure_scope(self._db, scope)
        if parts:
            self._db.execute(ADD_SALT, (secrets.token_hex(16),))
        for each in parts:
            self._db.execute(BURY, (owner, _hash(self._own(scope), each), at))

    def buried(self, scope: Scope, parts: Sequence[str]) -> int | None:
        owner = scope_key(self._db, scope)
        times = [self._db.execute(BURIED, (owner, hash)).get for hash in self._hashes(scope, owner, parts)]
        return max((at for at in times if at is not None), default=None)

    def unbury(self, scope: Scope, parts: Sequence[Sequence[str]]) -> None:
        owner = scope_key(self._db, scope)
        for each in parts:
            for hash in self._hashes(scope, owner, each):
                self._db.execute(UNBURY, (owner, hash))

    def graves(self, scope: Scope) -> Graves:
        owner = scope_key(self._db, scope)
        rows: list[Any] = self._db.execute(GRAVES, (owner,)).fetchall()
        hashes = {bytes(hash): int(at) for hash, at in rows}
        return Graves(origins=tuple(self._origins(scope, owner)) if hashes else (), hashes=hashes)

    def take_over(self, scope: Scope, graves: Graves) -> None:
        owner = ensure_scope(self._db, scope)
        own = self._own(scope)
        for origin in graves.origins:
            if origin != own:
                self._db.execute(ADD_ORIGIN, (owner, *origin))
        for hash, at in graves.hashes.items():
            self._db.execute(BURY, (owner, hash, at))

    def _hashes(self, scope: Scope, owner: int | None, parts: Sequence[str]) -> list[bytes]:
        """A tombstone as it would be here, and as it would have come from elsewhere."""
        return [_hash(origin, parts) for origin in self._origins(scope, owner)]

    def _origins(self, scope: Scope, owner: int | None) -> list[tuple[str, str, str]]:
        others = [
            (str(salt), str(space), str(user)) for salt, space, user in self._db.execute(ORIGINS, (owner,))
        ]
        return [self._own(scope), *others]

    def _own(self, scope: Scope) -> tuple[str, str, str]:
        return self._db.execute(SALT).get or "", scope.namespace, scope.user

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
        removed = dict.fromkeys((*FACT_TABLES, "vectors", "doubts"), 0)
        owner = scope_key(self._db, scope)
        gone = set()
        for id in ids:
            key = fact_key(id)
            if owner is not None and self._db.execute(GET, (key, owner)).fetchone() is not None:
                self._remove(owner, key, removed)
                self._db.execute(ADD_LOG_LINE, (owner, key, "erase", actor, at))
                gone.add(id)
        newest = self._db.execute(NEWEST, (owner,)).get
        if gone:
            self._db.execute(ANCHOR, (owner, 0, newest))
        removed["doubts"] = self._remove_doubts(owner, gone)
        return removed

    def _remove(self, owner: int, key: int, removed: dict[str, int]) -> None:
        removed["vectors"] += remove_vectors(self._db, owner, "fact", [key])
        self._db.execute(DROP_HANDLES, (owner, key))
        for table, statement in FACT_TABLES.items():
            self._db.execute(statement, {"scope": owner, "fact": key})
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
        """Every table with rows of a scope or of a scope's sessions, its columns, and the condition that finds them.

        Not what erasures themselves leave behind: counts by the names of tables.
        """
        for table in [str(name) for (name,) in self._db.execute(TABLES)]:
            columns = [str(name) for (name,) in self._db.execute(COLUMNS, (table,))]
            if table == "scopes":
                yield table, columns, "key = ?"
            elif table == "jobs":
                yield table, columns, "scope = ? AND kind <> 'erase'"
            elif "scope" in columns and table != "receipts":
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


def _hash(origin: tuple[str, str, str], parts: Sequence[str]) -> bytes:
    return hashlib.sha256(json.dumps([*origin, *parts]).encode()).digest()[:16]


def _said(value: object) -> object:
    """``value`` without the subject that the program gives to facts about the user, which a row holds as JSON, and
    the log of changes as JSON in JSON."""
    return _SUBJECT.sub("", value) if isinstance(value, str) else value


def _holds(value: object, needles: Sequence[Needle]) -> bool:
    return any(needle.is_in(value) for needle in needles)
