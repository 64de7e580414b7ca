"""Forgetting in SQLite: what a scope holds of something, its removal, and a second look at what is left."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

from wellkept.policy.words import Term, simplify
from wellkept.records import Scope
from wellkept.store.facts import Actor
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.facts import ADD_LOG_LINE, ANCHOR, GET, NEWEST, fact_key, indexed_terms, read_fact
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.sessions import ensure_scope, load, scope_key
from wellkept.store.sqlite.terms import Terms
from wellkept.store.sqlite.vectors import remove_vectors

SALT = "SELECT value FROM settings WHERE name = 'salt'"
ADD_SALT = "INSERT INTO settings (name, value) VALUES ('salt', ?) ON CONFLICT DO NOTHING"
BURY = "INSERT INTO tombstones (scope, hash, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)"
BURIED = "SELECT at FROM tombstones WHERE scope = ? AND hash = ?"
UNBURY = "DELETE FROM tombstones WHERE scope = ? AND hash = ?"
SESSION = "SELECT id FROM sessions WHERE key = ? AND scope = ?"
HOLDING = "SELECT key FROM events WHERE scope = ? AND instr(lower(content), lower(?))"
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
HAND_OUT = "INSERT INTO receipts (scope, at, receipt) VALUES (?, ?, ?) RETURNING key"
RECEIPTS = "SELECT key, at, receipt FROM receipts WHERE scope = ? ORDER BY key"
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
SHORT = 4


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
        self, scope: Scope, terms: Sequence[Term], text: str | None = None
    ) -> list[tuple[SessionRef, int]]:
        owner = scope_key(self._db, scope)
        if owner is None:
            return []
        found = [set(postings) for postings in Terms(self._db, "event").postings(owner, terms).values()]
        keys = set.intersection(*found) if found else set()
        for written in {text, json.dumps(text)[1:-1]} if text else ():
            keys.update(key for (key,) in self._db.execute(HOLDING, (owner, written)))
        return [(self._session(scope, owner, key >> SEQ_BITS), key & MAX_SEQ) for key in sorted(keys)]

    def _session(self, scope: Scope, owner: int, key: int) -> SessionRef:
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

    def jobs(self, scope: Scope, texts: Sequence[str]) -> int:
        rows = self._db.execute(JOBS, (scope_key(self._db, scope),)).fetchall()
        needles = needles_of(texts)
        held = [key for key, *columns in rows if any(holds(column, needles) for column in columns)]
        for key in held:
            self._db.execute(REMOVE_JOB, (key,))
        return len(held)

    def left(self, scope: Scope, texts: Sequence[str]) -> dict[str, int]:
        owner = scope_key(self._db, scope)
        needles = needles_of(texts)
        found = {}
        for table, condition in self._tables():
            rows = self._db.execute(f"SELECT * FROM {table} WHERE {condition}", (owner,))
            count = sum(any(holds(value, needles) for value in row) for row in rows)
            if count:
                found[table] = count
        return found

    def _tables(self) -> Iterator[tuple[str, str]]:
        """Every table with rows of a scope or of a scope's sessions, and the condition that finds them."""
        for table in [str(name) for (name,) in self._db.execute(TABLES)]:
            columns = [
                name for (name,) in self._db.execute("SELECT name FROM pragma_table_info(?)", (table,))
            ]
            if table == "scopes":
                yield table, "key = ?"
            elif "scope" in columns:
                yield table, "scope = ?"
            elif "session" in columns:
                yield table, "session IN (SELECT key FROM sessions WHERE scope = ?)"

    # ── receipts ─────────────────────────────────────────────────────────────────────────────────────────

    def hand_out(self, scope: Scope, receipt: Mapping[str, Any], *, at: int) -> int:
        values = (ensure_scope(self._db, scope), at, json.dumps(receipt, ensure_ascii=False))
        number: int = self._db.execute(HAND_OUT, values).get
        return number

    def receipts(self, scope: Scope) -> list[tuple[int, int, dict[str, Any]]]:
        rows = self._db.execute(RECEIPTS, (scope_key(self._db, scope),))
        return [(key, at, json.loads(receipt)) for key, at, receipt in rows]


def needles_of(texts: Sequence[str]) -> list[str | re.Pattern[str]]:
    """What to look for in folded values: each text as it is and as JSON writes it. A short word of ASCII letters
    must stand alone: "art" is not in "party"."""
    found: dict[str, None] = {}
    for text in filter(None, texts):
        written = (text, *(json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False)))
        found.update((_fold(each), None) for each in written)
    return [
        re.compile(rf"(?<![a-z0-9]){re.escape(each)}(?![a-z0-9])")
        if each.isascii() and len(each) < SHORT
        else each
        for each in found
    ]


def _fold(text: str) -> str:
    """Without letter case, width and the difference of traditional Chinese, which the index ignores, too."""
    return text.lower() if text.isascii() else simplify(unicodedata.normalize("NFKC", text).casefold())


def holds(value: Any, needles: Sequence[str | re.Pattern[str]]) -> bool:
    if not isinstance(value, str) or not value:
        return False
    folded = _fold(value)
    return any(
        needle in folded if isinstance(needle, str) else needle.search(folded) is not None
        for needle in needles
    )
