"""Facts, what they are found by, and the log of their changes in SQLite.

The row of a fact is what it is now; the log keeps what it was after each change. So the facts as of an
earlier change are those of now with the few that changed since put back, and reading them costs the same
however long the log is.

A user's facts are few: a search reads the words of all of them, which stand in their rows, and no index of words is
kept up. What a new fact is compared with is found by ``policy.facts.conflict.handles``.
"""

from __future__ import annotations

import secrets
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw

from wellkept.errors import Conflict, NotFound
from wellkept.policy.facts.claims import Claim
from wellkept.policy.facts.conflict import fingerprint, handles
from wellkept.records import ROLES, Scope, utc
from wellkept.store.facts import EXPLICIT, Actor, Change, Fact, FactState
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.factrows import (
    FROM_FACTS,
    NAMES,
    SELECT_FACT,
    STATE_NUMBERS,
    fact_id,
    fact_key,
    handles_of,
    ms,
    read_fact,
    restored,
    row_of,
    words_of,
)
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.sessions import compact, ensure_scope, scope_key
from wellkept.store.sqlite.vectors import remove_vectors

_SELECT = f"{SELECT_FACT} {FROM_FACTS}"
IN_STATE = f"{_SELECT} WHERE f.scope = ? AND f.state = ? AND f.key > ? ORDER BY f.key LIMIT ?"
FINDABLE = f"{SELECT_FACT}, f.scope, f.words {FROM_FACTS} ORDER BY f.key"
GET = f"{_SELECT} WHERE f.key = ? AND f.scope = ?"
_INSERT = f"INSERT INTO facts ({NAMES}, scope, fingerprint, words) VALUES ({', '.join('?' * 15)})"
PUT = f"""
    {_INSERT}
    ON CONFLICT (key) DO UPDATE SET state = excluded.state, pinned = excluded.pinned, text = excluded.text,
        claim = excluded.claim, sources = excluded.sources, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
        superseded_by = excluded.superseded_by, metadata = excluded.metadata, changed = excluded.changed,
        fingerprint = excluded.fingerprint, words = excluded.words
"""
COPY = f"{_INSERT} ON CONFLICT DO NOTHING RETURNING key"
OWNER = "SELECT scope FROM facts WHERE key = ?"
# As the index has it in which no two active facts of a scope say the same.
_SAYING = "SELECT key FROM facts WHERE scope = ?1 AND state = 0 AND CASE state WHEN 0 THEN fingerprint ELSE key END = ?2"
BY_TEXT = f"{_SELECT} WHERE f.key = ({_SAYING})"
NEXT_KEY = "SELECT max(coalesce(max(key), 0) + 4, ?) FROM facts"
RELATED = f"""
    {_SAYING} UNION ALL SELECT fact FROM fact_handles WHERE scope = ?1 AND handle IN (SELECT value FROM json_each(?3))
"""
ADD_HANDLE = "INSERT INTO fact_handles (scope, handle, fact) VALUES (?, ?, ?)"
DROP_HANDLE = "DELETE FROM fact_handles WHERE scope = ? AND handle = ? AND fact = ?"
LABELS = """
    SELECT DISTINCT label.value FROM facts f, json_each(f.claim, '$.labels') label
    WHERE f.scope = ? AND f.state = 0 AND f.key <> ? ORDER BY f.key
"""
COUNT = "SELECT count(*) FROM facts WHERE scope = ? AND state = 0"
ADD_SOURCE = "INSERT INTO fact_sources (event, fact) VALUES (?, ?) ON CONFLICT DO NOTHING"
OF_EVENT = "SELECT fact FROM fact_sources WHERE event = ?"
USE = """
    INSERT INTO fact_uses (fact, scope, uses, last) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (fact) DO UPDATE SET uses = uses + excluded.uses, last = max(last, excluded.last)
"""
LOG = """
    INSERT INTO fact_changes (scope, fact, operation, action, actor, at, after) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number
"""
ADD_LOG_LINE = "INSERT INTO fact_changes (scope, fact, action, actor, at) VALUES (?, ?, ?, ?, ?)"
_LOG_COLUMNS = "number, coalesce(operation, number), fact, action, actor, at, after"
CHANGES = f"""
    SELECT {_LOG_COLUMNS} FROM fact_changes WHERE scope = ?1 AND number > ?2 AND (?3 IS NULL OR fact = ?3)
    AND (?4 IS NULL OR coalesce(operation, number) = ?4) AND number < ?6 ORDER BY number DESC LIMIT ?5
"""
_END = (1 << 63) - 1
CHANGED = """
    SELECT max(f.number), c.namespace, c.user FROM fact_changes f JOIN scopes c ON c.key = f.scope WHERE f.number > ?
    GROUP BY f.scope
"""
CHANGE = f"SELECT {_LOG_COLUMNS} FROM fact_changes WHERE scope = ? AND number = ?"
BEFORE = """
    SELECT after FROM fact_changes WHERE scope = (SELECT scope FROM fact_changes WHERE number = ?2) AND fact = ?1
    AND number < ?2 ORDER BY number DESC LIMIT 1
"""
NEWEST = "SELECT max(number) FROM fact_changes WHERE scope = ?"
NEWEST_AT = (
    "SELECT max(number) FROM fact_changes WHERE scope = ? AND at <= ? AND (NOT ? OR actor <> 'extract')"
)
TOUCHED = "SELECT DISTINCT fact FROM fact_changes WHERE scope = ? AND number > ?"
ANCHOR = """
    INSERT INTO fact_anchors (scope, session, number) VALUES (?, ?, ?)
    ON CONFLICT (scope, session) DO UPDATE SET number = excluded.number
"""
ANCHORED = "SELECT max(number) FROM fact_anchors WHERE scope = ? AND session IN (0, ?)"
EXTRACTED = "SELECT extracted FROM fact_anchors WHERE scope = ? AND session = ?"
UNREAD = f"""
    SELECT count(*) FROM (SELECT 1 FROM events WHERE key > ? AND key <= ? AND role = {ROLES.index("user")} LIMIT ?)
"""
SET_EXTRACTED = """
    INSERT INTO fact_anchors (scope, session, number, extracted) VALUES (?1, ?2, 0, ?3)
    ON CONFLICT (scope, session) DO UPDATE SET extracted = excluded.extracted WHERE extracted = ?4 RETURNING extracted
"""


class Facts:
    """See ``store.facts.Facts``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(
        self,
        scope: Scope,
        *,
        states: Sequence[FactState] = ("active",),
        after: int = 0,
        limit: int | None = None,
    ) -> list[Fact]:
        owner = scope_key(self._db, scope)
        most = -1 if limit is None else limit
        found = [
            read_fact(row)
            for state in states
            for row in self._db.execute(IN_STATE, (owner, STATE_NUMBERS[state], after, most))
        ]
        return sorted(found, key=lambda fact: fact.key)[: None if limit is None else limit]

    def get(self, scope: Scope, id: str) -> Fact | None:
        return self._get(scope_key(self._db, scope), fact_key(id))

    def _get(self, owner: int | None, key: int) -> Fact | None:
        row = self._db.execute(GET, (key, owner)).fetchone()
        return read_fact(row) if row else None

    def by_keys(self, scope: Scope, keys: Sequence[int]) -> list[Fact]:
        owner = scope_key(self._db, scope)
        found = (self._get(owner, key) for key in keys)
        return [fact for fact in found if fact is not None]

    def by_text(self, scope: Scope, fingerprint: str) -> Fact | None:
        row = self._db.execute(BY_TEXT, (scope_key(self._db, scope), bytes.fromhex(fingerprint))).fetchone()
        return read_fact(row) if row else None

    def of_event(self, ref: SessionRef, seqs: Sequence[int]) -> list[int]:
        base = ref.key << SEQ_BITS
        return [key for seq in seqs for (key,) in self._db.execute(OF_EVENT, (base | seq,))]

    def begin(self, scope: Scope, actor: Actor, *, at: int) -> Writer:
        return Writer(self._db, ensure_scope(self._db, scope), actor, at)

    # ── from another store ───────────────────────────────────────────────────────────────────────────────

    def id_here(self, scope: Scope, id: str) -> str:
        owner, key = scope_key(self._db, scope), fact_key(id)
        # The same distance for all facts of a user: they stay in order, and get the same ids when they come again.
        distance = (zlib.crc32(f"{scope.namespace}\n{scope.user}".encode()) >> 8 | 1) << 2
        while self._db.execute(OWNER, (key,)).get not in (None, owner):
            key += distance
        return fact_id(key)

    def copy(self, scope: Scope, fact: Fact, sources: Sequence[tuple[SessionRef, int]]) -> int | None:
        owner = ensure_scope(self._db, scope)
        fact = replace(fact, key=fact_key(fact.id))
        values = (*row_of(fact), owner, fingerprint(fact.text), words_of(fact))
        if not self._db.execute(COPY, values).fetchall():
            return None
        change_handles(self._db, owner, fact.key, frozenset(), handles_of(fact))
        for ref, seq in sources:
            self._db.execute(ADD_SOURCE, (ref.key << SEQ_BITS | seq, fact.key))
        if fact.uses:
            self._db.execute(USE, (fact.key, owner, fact.uses, ms(fact.last_used) or ms(fact.changed_at)))
        return fact.key

    def copy_change(self, scope: Scope, change: Change, *, operation: int | None) -> int:
        owner, key = ensure_scope(self._db, scope), fact_key(change.fact_id)
        after = None if change.after is None else compact(row_of(replace(change.after, key=key)))
        values = (owner, key, operation, change.action, change.actor, ms(change.at), after)
        number = int(self._db.execute(LOG, values).get)
        self._db.execute(ANCHOR, (owner, 0, number))
        return number

    def use(self, scope: Scope, counts: Mapping[str, int], *, at: int) -> None:
        owner = scope_key(self._db, scope)
        for id, count in counts.items():
            if (fact := self.get(scope, id)) is not None:
                self._db.execute(USE, (fact.key, owner, count, at))

    def changed(self, *, after: int) -> tuple[int, list[Scope]]:
        rows: list[tuple[Any, ...]] = self._db.execute(CHANGED, (after,)).fetchall()
        newest: int = max((number for number, _, _ in rows), default=after)
        return newest, [Scope(namespace, user) for _, namespace, user in rows]

    # ── the log ──────────────────────────────────────────────────────────────────────────────────────────

    def changes(
        self,
        scope: Scope,
        *,
        after: int = 0,
        before: int | None = None,
        fact: str | None = None,
        operation: int | None = None,
        newest: int | None = None,
    ) -> list[Change]:
        key = None if fact is None else fact_key(fact)
        most = -1 if newest is None else newest
        end = _END if before is None else before
        rows = self._db.execute(
            CHANGES, (scope_key(self._db, scope), after, key, operation, most, end)
        ).fetchall()
        return [self._change(row) for row in reversed(rows)]

    def change(self, scope: Scope, id: int) -> Change | None:
        row = self._db.execute(CHANGE, (scope_key(self._db, scope), id)).fetchone()
        return self._change(row) if row else None

    def _change(self, row: tuple[Any, ...]) -> Change:
        number, operation, key, action, actor, at, after = row
        return Change(
            id=number,
            operation=operation,
            fact_id=fact_id(key),
            action=action,
            actor=actor,
            at=utc(at),
            before=self._before(key, number),
            after=restored(after),
        )

    def _before(self, key: int, number: int) -> Fact | None:
        return restored(self._db.execute(BEFORE, (key, number)).get)

    def newest(self, scope: Scope) -> int:
        return self._db.execute(NEWEST, (scope_key(self._db, scope),)).get or 0

    def newest_at(self, scope: Scope, at: int, *, explicit: bool = False) -> int:
        return self._db.execute(NEWEST_AT, (scope_key(self._db, scope), at, explicit)).get or 0

    def as_of(self, scope: Scope, number: int) -> list[Fact]:
        touched = {key for (key,) in self._db.execute(TOUCHED, (scope_key(self._db, scope), number))}
        then = [fact for fact in self.all(scope) if fact.key not in touched]
        earlier = (self._before(key, number + 1) for key in touched)
        then += [fact for fact in earlier if fact is not None and fact.state == "active"]
        return sorted(then, key=lambda fact: fact.key)

    def anchor(self, ref: SessionRef) -> None:
        self._db.execute(ANCHOR, (ref.scope_key, ref.key, self.newest(ref.scope)))

    def anchored(self, ref: SessionRef) -> int:
        return self._db.execute(ANCHORED, (ref.scope_key, ref.key)).get or 0

    def extracted(self, ref: SessionRef) -> int:
        return self._db.execute(EXTRACTED, (ref.scope_key, ref.key)).get or 0

    def unread(self, ref: SessionRef, *, most: int) -> int:
        first = ref.key << SEQ_BITS
        return int(self._db.execute(UNREAD, (first | self.extracted(ref), first | MAX_SEQ, most)).get)

    def set_extracted(self, ref: SessionRef, seq: int, *, expected: int) -> bool:
        return self._db.execute(SET_EXTRACTED, (ref.scope_key, ref.key, seq, expected)).get is not None


class Writer:
    """See ``store.facts.FactWriter``."""

    def __init__(self, connection: apsw.Connection, owner: int, actor: Actor, at: int) -> None:
        self._db = connection
        self._owner = owner
        self._actor = actor
        self._at = at
        self.number = 0

    def related(self, claim: Claim) -> list[Fact]:
        sought = str([*handles(claim).sought])
        keys = {key for (key,) in self._db.execute(RELATED, (self._owner, fingerprint(claim.text), sought))}
        return [read_fact(row) for key in sorted(keys) for row in self._db.execute(GET, (key, self._owner))]

    def labels(self, *, besides: int = 0) -> list[str]:
        return [str(label) for (label,) in self._db.execute(LABELS, (self._owner, besides))]

    def active(self) -> int:
        return int(self._db.execute(COUNT, (self._owner,)).get)

    def add(
        self,
        claim: Claim,
        *,
        action: str = "store",
        sources: Sequence[tuple[SessionRef, int]] = (),
        valid_from: int | None = None,
        valid_to: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Fact:
        # Sortable by time, unique in the store, not given out again after an erasure, and four apart: recall takes
        # documents with neighbouring keys for neighbours.
        key = self._db.execute(NEXT_KEY, ((int(time.time()) << 24 | secrets.randbits(24)) << 2,)).get
        fact = Fact(
            **{name: getattr(claim, name) for name in Claim.__dataclass_fields__},
            id=fact_id(key),
            key=key,
            sources=tuple(f"{ref.id}:{seq}" for ref, seq in sources),
            valid_from=None if valid_from is None else utc(valid_from),
            valid_to=None if valid_to is None else utc(valid_to),
            created_at=utc(self._at),
            changed_at=utc(self._at),
            metadata=metadata or {},
        )
        self._write(fact, action, before=frozenset())
        for ref, seq in sources:
            self._db.execute(ADD_SOURCE, (ref.key << SEQ_BITS | seq, key))
        return fact

    def put(self, fact: Fact, action: str) -> Fact:
        row = self._db.execute(GET, (fact.key, self._owner)).fetchone()
        if row is None:
            raise NotFound(f"No memory {fact.id!r} for this user. It may have been erased meanwhile.")
        old = read_fact(row)
        if action not in ("pin", "unpin"):
            fact = replace(fact, changed_at=utc(self._at))
        self._write(fact, action, before=handles_of(old))
        return fact

    def _write(self, fact: Fact, action: str, *, before: frozenset[int]) -> None:
        row = row_of(fact)
        try:
            self._db.execute(PUT, (*row, self._owner, fingerprint(fact.text), words_of(fact)))
        except apsw.ConstraintError as error:
            raise Conflict(
                f"Another active fact says this already: {fact.text!r:.80}. Update or retire that one instead."
            ) from error
        now = handles_of(fact)
        change_handles(self._db, self._owner, fact.key, before, now)
        if before and not now:
            remove_vectors(self._db, self._owner, "fact", [fact.key])
        self._log(fact.key, action, compact(row))

    def _log(self, key: int, action: str, after: str | None) -> None:
        operation = self.number or None
        number = self._db.execute(
            LOG, (self._owner, key, operation, action, self._actor, self._at, after)
        ).get
        self.number = self.number or number
        if self._actor in EXPLICIT:
            self._db.execute(ANCHOR, (self._owner, 0, number))


def change_handles(
    connection: apsw.Connection, owner: int, key: int, before: frozenset[int], now: frozenset[int]
) -> None:
    """Store a fact under other handles than before."""
    connection.executemany(DROP_HANDLE, [(owner, handle, key) for handle in before - now])
    connection.executemany(ADD_HANDLE, [(owner, handle, key) for handle in now - before])
