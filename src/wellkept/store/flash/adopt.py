"""Opening a directory: what the device did since the mirror was last written becomes part of it.

A device appends records to a session, drops some in a compaction, folds the oldest into a summary; it stores, changes
and drops memories; it edits the profile. It has no place for our rows, so rows and files are compared by content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from wellkept.errors import InvalidInput
from wellkept.policy.content import dumps
from wellkept.policy.recall.terms import terms_ahead
from wellkept.records import ROLES, Draft, Scope
from wellkept.store.events import NewEvent
from wellkept.store.flash import plan
from wellkept.store.flash.messages import draft_of
from wellkept.store.flash.places import Place, Places, home_of, place_of
from wellkept.store.protocol import SessionRef, Tables
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.sessions import dump
from wellkept.store.sqlite.tally import Tally
from wellkept_flash import text

CLOCK_WAS_SET = 978_307_200_000  # 2001: FAT's time begins in 1980, a chip's in 1970
REPLACE = """
    UPDATE events SET role = ?, content = ?, tokens = ?, speaker = NULL, metadata = ?, idempotency_key = NULL WHERE key = ?
"""
ADD_RECORD = "INSERT INTO flash_records (event, length, crc, whole) VALUES (?, ?, ?, 1)"
FORGET_RECORD = "DELETE FROM flash_records WHERE event = ?"
PUT_CONTENT = "UPDATE events SET content = ? WHERE key = ?"
RECORDS = """
    SELECT event & ?3, length, crc, whole FROM flash_records WHERE event BETWEEN ?1 AND ?2 ORDER BY event
"""
KEYS = """
    SELECT s.key FROM sessions s JOIN scopes c ON c.key = s.scope WHERE c.namespace = ? AND c.user = ?
"""
SESSIONS = "SELECT key, id FROM sessions"
NAME_FILE = "INSERT INTO flash_sessions (session, file) VALUES (?, ?)"


class Record(NamedTuple):
    """A record as a row remembers it."""

    seq: int
    length: int
    crc: int
    whole: bool


class Matched(NamedTuple):
    """How the records of a file and the rows of a session fit together.

    ``standing``: (row, line) of those that are the same. ``changed``: (seq, line) of records that the device put in
    the place of others. ``gone``: seqs of rows whose record is not there any more. ``new``: lines behind all known ones.
    """

    standing: list[tuple[Record, Any]]
    changed: list[tuple[int, Any]]
    gone: list[int]
    new: list[Any]


class _Foreign(Exception):
    """The records are in an order that no device makes."""


def match(rows: Sequence[Record], lines: Sequence[Any]) -> Matched:
    """Compare by length and checksum. A device keeps the order; where it did not, all is taken in anew."""
    try:
        return _match(rows, lines)
    except _Foreign:
        return Matched([], [], [row.seq for row in rows], list(lines))


def _match(rows: Sequence[Record], lines: Sequence[Any]) -> Matched:
    found = Matched([], [], [], [])
    at, waiting = 0, []
    for line in lines:
        place = next(
            (n for n in range(at, len(rows)) if (rows[n].length, rows[n].crc) == (line.length, line.crc)),
            None,
        )
        if place is None:
            waiting.append(line)
            continue
        _fill_gap(found, [row.seq for row in rows[at:place]], waiting)
        found.standing.append((rows[place], line))
        at, waiting = place + 1, []
    found.gone.extend(row.seq for row in rows[at:])
    found.new.extend(waiting)
    return found


def _fill_gap(found: Matched, seqs: Sequence[int], lines: Sequence[Any]) -> None:
    """Records that stand where others stood take the newest of their places."""
    if len(lines) > len(seqs):
        raise _Foreign
    found.gone.extend(seqs)
    found.changed.extend(zip(seqs[len(seqs) - len(lines) :], lines, strict=True))


class Adoption:
    """One opening of a directory, inside the transaction that fills the mirror.

    Args:
        tables: the nouns over ``connection``, whose rows are those that were kept beside the device's files.
        owner: who owns the root, if nobody does yet and the device was there first.
        now: the time (ms) of what the device's clock does not tell.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        tables: Tables,
        places: Places,
        tally: Tally,
        owner: Scope,
        now: int,
    ) -> None:
        self._db = connection
        self._tables = tables
        self._places = places
        self._tally = tally
        self._owner = owner
        self._now = now
        self._new: list[tuple[int, list[Any]]] = []
        self.findings: list[str] = []

    def sessions(self) -> None:
        """Give the events that stand their content; take in what the device changed or dropped."""
        found: list[Any] = self._db.execute(SESSIONS).fetchall()
        for key, id in found:
            place = plan.place(self._db, key)
            session = self._places.session(place)
            rows = self._rows(key)
            if rows and session.size() < 0:
                self._delete(key, id)
                continue
            fit = match(rows, self._lines(session)) if session.size() > 0 else match(rows, [])
            self._fit(key, session, fit)

    def _lines(self, session: Any) -> list[Any]:
        findings: list[str] = []
        lines = list(session.lines(0, findings))
        if findings:
            session.repair()
            lines = list(session.lines())
            self.findings.extend(f"{session.path}: {finding}" for finding in findings)
        return lines

    def _rows(self, key: int) -> list[Record]:
        span = (key << SEQ_BITS, key << SEQ_BITS | MAX_SEQ, MAX_SEQ)
        return [Record(*row) for row in self._db.execute(RECORDS, span)]

    def _delete(self, key: int, id: str) -> None:
        scope_key = self._db.execute("SELECT scope FROM sessions WHERE key = ?", (key,)).get
        scope = Scope(*next(self._db.execute(plan.SCOPE, (scope_key,))))
        for record in self._rows(key):
            self._db.execute(FORGET_RECORD, (key << SEQ_BITS | record.seq,))
        self._tables.sessions.delete(SessionRef(scope, id, key, scope_key))

    def _fit(self, key: int, session: Any, fit: Matched) -> None:
        for record, line in fit.standing:
            if record.whole:
                content = dumps(self._draft(session, line).content)
                self._db.execute(PUT_CONTENT, (content, key << SEQ_BITS | record.seq))
        changed = dict(fit.changed)
        for seq in fit.gone:
            event = key << SEQ_BITS | seq
            self._db.execute(FORGET_RECORD, (event,))
            if seq in changed:
                self._replace(event, session, changed[seq])
            else:
                self._db.execute("DELETE FROM events WHERE key = ?", (event,))
        if fit.new:
            self._new.append((key, fit.new))

    def _replace(self, event: int, session: Any, line: Any) -> None:
        """The device folded or clipped what stood here."""
        draft = self._draft(session, line)
        tokens = self._tally.count(draft.content, None)
        values = (ROLES.index(draft.role), dumps(draft.content), tokens, dump(draft.metadata), event)
        self._db.execute(REPLACE, values)
        self._db.execute(ADD_RECORD, (event, line.length, line.crc))

    def _draft(self, session: Any, line: Any) -> Draft:
        source = text.decode(session.text(line))
        try:
            return draft_of(line.type, line.format, source)
        except InvalidInput:
            return Draft(role="assistant", content=source)

    # ── what is new, once the index is made ──────────────────────────────────────────────────────────────

    def new_events(self) -> None:
        """Append what the device appended, and begin the sessions that it began."""
        for key, lines in self._new:
            scope_key, id, _ = next(self._db.execute(plan.SESSION, (key,)))
            scope = Scope(*next(self._db.execute(plan.SCOPE, (scope_key,))))
            self._append(SessionRef(scope, id, key, scope_key), plan.place(self._db, key), lines)
        for home, scope in self.homes():
            known = {place.file for place in self._known(scope)}
            for file, id in self._places.found(home):
                if file not in known:
                    self._begin(home, scope, file, id)

    def _known(self, scope: Scope) -> list[Place]:
        keys: list[Any] = self._db.execute(KEYS, (scope.namespace, scope.user)).fetchall()
        return [plan.place(self._db, key) for (key,) in keys]

    def _begin(self, home: str, scope: Scope, file: str, id: str) -> None:
        place = place_of(home, id, file)
        session = self._places.session(place)
        lines = self._lines(session) if session.size() > 0 else []
        if not lines:
            return
        at = self._time(place)
        ref = self._tables.sessions.create(scope, id, title="", metadata={}, at=at)
        if file != place_of(home, id, None).file:
            self._db.execute(NAME_FILE, (ref.key, file))
        self._append(ref, place, lines)

    def _append(self, ref: SessionRef, place: Place, lines: Sequence[Any]) -> None:
        at = self._time(place)
        session = self._places.session(place)
        events = [self._new_event(self._draft(session, line), at) for line in lines]
        stored = self._tables.events.append(ref, events, at=at)
        for event, line in zip(stored, lines, strict=True):
            self._db.execute(ADD_RECORD, (ref.key << SEQ_BITS | event.seq, line.length, line.crc))

    def _new_event(self, draft: Draft, at: int) -> NewEvent:
        stored = dumps(draft.content)
        return NewEvent(
            role=draft.role,
            content=draft.content,
            stored=stored,
            ts=at,
            tokens=self._tally.count(draft.content, draft.speaker),
            speaker=draft.speaker,
            metadata=draft.metadata,
            terms=terms_ahead(draft.content, stored, draft.speaker),
        )

    def _time(self, place: Place) -> int:
        at = self._places.changed_at(place.home, place.file)
        return at if at > CLOCK_WAS_SET else self._now

    def homes(self) -> list[tuple[str, Scope]]:
        """The directories there are, each with its user; the root is settled here if something of a device is in it."""
        known = {home_of(scope): scope for scope in self._tables.sessions.scopes()}
        owner = plan.owner_of(self._db)
        if owner is None and self._places.holds_something(""):
            plan.set_owner(self._db, self._owner)
            owner = self._owner
        homes = [("", owner)] if owner else []
        for home in self._places.homes()[1:]:
            scope = known.get(home) or self._places.owner(home)
            homes += [(home, scope)] if scope else []
        return homes
