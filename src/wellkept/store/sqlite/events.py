"""The transcript and its text index in SQLite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from functools import lru_cache
from typing import Any

import apsw

from wellkept.errors import Conflict, NotFound, StoreFull
from wellkept.policy.content import MARK, loads
from wellkept.policy.recall.terms import event_terms
from wellkept.records import NOTHING, ROLES, Content, Event, utc
from wellkept.store.events import NewEvent
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite import tail
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.sessions import dump, load
from wellkept.store.sqlite.tally import Tally, holds
from wellkept.store.sqlite.terms import Terms
from wellkept.store.sqlite.vectors import remove_vectors

# One statement proves that the session is still there, gives out the places and keeps the counts.
ALLOCATE = """
    UPDATE sessions SET next_seq = next_seq + ?1, events = events + ?1, turns = turns + ?2,
        tokens = tokens + ?3, active = max(active, ?4)
    WHERE key = ?5 AND scope = ?6 RETURNING next_seq
"""
ADD = f"""
    INSERT INTO events (key, scope, role, content, ts, tokens, terms, speaker, metadata, idempotency_key)
    VALUES (?, ?, ?, ?, ?, ?, {tail.IN_TAIL}, ?, ?, ?)
"""
REMOVE = "DELETE FROM events WHERE key = ? AND scope = ? RETURNING terms, tokens, content, speaker"
FORGET_COUNTS = """
    UPDATE sessions SET events = events - ?1, turns = turns - ?2, tokens = tokens - ?3, terms = terms - ?4
    WHERE key = ?5 AND scope = ?6
"""
_COLUMNS = "key, role, content, ts, tokens, speaker, metadata"
BY_IDEMPOTENCY = f"SELECT {_COLUMNS} FROM events WHERE key >> 24 = ? AND idempotency_key = ?"
# `+scope`: checked, but no reason to leave the primary key for the index on (scope, ts).
DOWN = f"SELECT {_COLUMNS} FROM events WHERE key BETWEEN ? AND ? AND +scope = ? ORDER BY key DESC"
UP = f"SELECT {_COLUMNS} FROM events WHERE key BETWEEN ? AND ? AND +scope = ? ORDER BY key"
BETWEEN = f"""
    SELECT {_COLUMNS} FROM events INDEXED BY events_ts
    WHERE scope = ?1 AND ts >= ?2 AND ts < ?3 AND key BETWEEN ?4 AND ?5 ORDER BY key LIMIT ?6
"""
SEQ_AT = (
    "SELECT key FROM events WHERE key BETWEEN ? AND ? AND +scope = ? AND ts <= ? ORDER BY key DESC LIMIT 1"
)

_ROLE_NUMBER = {role: number for number, role in enumerate(ROLES)}
_FOREVER = 1 << 62
SHORT = 1_000  # characters of a message that is worth remembering
_new_event = object.__new__
(
    _put_id,
    _put_session,
    _put_seq,
    _put_role,
    _put_content,
    _put_ts,
    _put_tokens,
    _put_speaker,
    _put_metadata,
) = (getattr(Event, field.name).__set__ for field in fields(Event))


class Events:
    """See ``store.events.Events``."""

    def __init__(self, connection: apsw.Connection, tally: Tally | None = None) -> None:
        self._db = connection
        self._tally = tally
        self._recounts: bool | None = None if tally else False
        self._terms = Terms(connection)

    def append(self, ref: SessionRef, events: Sequence[NewEvent], *, at: int) -> list[Event]:
        if all(new.idempotency_key is None for new in events):
            return self._append_new(ref, events, at)
        return self._append_known(ref, events, at)

    def _append_new(self, ref: SessionRef, events: Sequence[NewEvent], at: int) -> list[Event]:
        first = self._allocate(ref, events, at)
        added = [self._add(ref, seq, new) for seq, new in enumerate(events, first)]
        key = ref.key << SEQ_BITS | first
        heavy = {key + place: new.terms for place, new in enumerate(events) if new.terms is not None}
        if heavy or tail.is_due(self._db, ref.scope_key, range(first, first + len(events))):
            tail.index(self._db, ref.scope_key, heavy)
        return added

    def _append_known(self, ref: SessionRef, events: Sequence[NewEvent], at: int) -> list[Event]:
        names = [
            place if new.idempotency_key is None else new.idempotency_key for place, new in enumerate(events)
        ]
        stored: dict[int | str, Event] = {}
        fresh: dict[int | str, NewEvent] = {}
        for name, new in zip(names, events, strict=True):
            if name in stored or name in fresh:
                continue
            if isinstance(name, str) and (known := self._known(ref, name)) is not None:
                stored[name] = known
            else:
                fresh[name] = new
        stored |= zip(fresh, self._append_new(ref, list(fresh.values()), at), strict=True)
        return [_same(stored[name], new) for name, new in zip(names, events, strict=True)]

    def _known(self, ref: SessionRef, key: str) -> Event | None:
        row = self._db.execute(BY_IDEMPOTENCY, (ref.key, key)).fetchone()
        return self._event(ref, row) if row else None

    def _allocate(self, ref: SessionRef, fresh: Sequence[NewEvent], at: int) -> int:
        count = len(fresh)
        turns = sum(event.role == "user" for event in fresh)
        tokens = sum(event.tokens for event in fresh)
        following = self._db.execute(ALLOCATE, (count, turns, tokens, at, ref.key, ref.scope_key)).get
        if following is None:
            raise NotFound(f"No session {ref.id!r} for this user. It may have been deleted: start a new one.")
        if following > MAX_SEQ:
            raise StoreFull(
                f"Session {ref.id!r} holds {MAX_SEQ} messages, the most there can be. Start a new one."
            )
        return int(following) - count

    def _add(self, ref: SessionRef, seq: int, event: NewEvent) -> Event:
        key = ref.key << SEQ_BITS | seq
        self._db.execute(
            ADD,
            (
                key,
                ref.scope_key,
                _ROLE_NUMBER[event.role],
                event.stored,
                event.ts,
                event.tokens,
                event.speaker,
                dump(event.metadata),
                event.idempotency_key,
            ),
        )
        return Event(
            id=f"{ref.id}:{seq}",
            session_id=ref.id,
            seq=seq,
            role=event.role,
            content=event.content,
            ts=utc(event.ts),
            tokens=event.tokens,
            speaker=event.speaker,
            metadata=event.metadata or {},
        )

    def walk_back(self, ref: SessionRef, *, before: int | None = None) -> Iterator[Event]:
        first, last = _span(ref, 1, MAX_SEQ if before is None else before - 1)
        return self._walk(DOWN, ref, first, last)

    def walk(self, ref: SessionRef, *, after: int = 0, until: int | None = None) -> Iterator[Event]:
        first, last = _span(ref, after + 1, MAX_SEQ if until is None else until)
        return self._walk(UP, ref, first, last)

    def _walk(self, statement: str, ref: SessionRef, first: int, last: int) -> Iterator[Event]:
        # A cursor that is dropped half-way, with another statement run meanwhile, keeps its snapshot open for good
        # in apsw 3.54.0; one that is closed does not.
        with closing(self._db.execute(statement, (first, last, ref.scope_key))) as rows:
            for row in rows:
                yield self._event(ref, row)

    def get(self, ref: SessionRef, seq: int) -> Event | None:
        return next(self.walk(ref, after=seq - 1, until=seq), None)

    def between(
        self,
        ref: SessionRef,
        since: int | None,
        until: int | None,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int,
    ) -> list[Event]:
        first, last = _span(ref, after + 1, MAX_SEQ if before is None else before - 1)
        start = -_FOREVER if since is None else since
        end = _FOREVER if until is None else until
        rows = self._db.execute(BETWEEN, (ref.scope_key, start, end, first, last, min(limit, MAX_SEQ)))
        return [self._event(ref, row) for row in rows]

    def seq_at(self, ref: SessionRef, at: int) -> int:
        first, last = _span(ref, 1, MAX_SEQ)
        key = self._db.execute(SEQ_AT, (first, last, ref.scope_key, at)).get
        return 0 if key is None else int(key) & MAX_SEQ

    def remove(self, ref: SessionRef, events: Sequence[Event]) -> int:
        removed = words = turns = tokens = 0
        for event in events:
            key = ref.key << SEQ_BITS | event.seq
            row = self._db.execute(REMOVE, (key, ref.scope_key)).fetchone()
            if row is None:
                continue
            its_words, its_tokens, content, speaker = row
            if its_words > 0:
                self._terms.remove(ref.scope_key, key, event_terms(loads(content), speaker))
                words += its_words
            removed += 1
            turns += event.role == "user"
            tokens += its_tokens
        keys = [ref.key << SEQ_BITS | event.seq for event in events]
        remove_vectors(self._db, ref.scope_key, "event", keys)
        self._db.execute(FORGET_COUNTS, (removed, turns, tokens, words, ref.key, ref.scope_key))
        return removed

    def _event(self, ref: SessionRef, row: tuple[Any, ...]) -> Event:
        _, _, content, _, tokens, speaker, metadata = row
        if metadata is None and len(content) <= SHORT and content[:1] != MARK and self._recounts is False:
            return _plain(ref.id, row)
        said = loads(content)
        return _made(ref.id, row, said, self._tokens(said, speaker, tokens), load(metadata))

    def _tokens(self, content: Content, speaker: str | None, cached: int) -> int:
        """The cached count, if it is by this handle's tokenizer; a new one otherwise."""
        if self._recounts is None and self._tally is not None:
            self._recounts = not holds(self._db, self._tally.name)
        return self._tally.count(content, speaker) if self._recounts and self._tally else cached


def _made(
    session: str, row: tuple[Any, ...], content: Content, tokens: int, metadata: Mapping[str, Any]
) -> Event:
    # Half the time of the frozen record's own constructor, for the hundred events that a context reads.
    key, role, _, ts, _, speaker, _ = row
    seq = key & MAX_SEQ
    event = _new_event(Event)
    _put_id(event, f"{session}:{seq}")
    _put_session(event, session)
    _put_seq(event, seq)
    _put_role(event, ROLES[role])
    _put_content(event, content)
    _put_ts(event, utc(ts))
    _put_tokens(event, tokens)
    _put_speaker(event, speaker)
    _put_metadata(event, metadata)
    return event


@lru_cache(maxsize=4_096)
def _plain(session: str, row: tuple[Any, ...]) -> Event:
    """An event of mere words. One context after the other reads the same rows, and a row says all of it."""
    return _made(session, row, row[2], row[4], NOTHING)


def _same(stored: Event, new: NewEvent) -> Event:
    if (stored.role, stored.content) != (new.role, new.content):
        raise Conflict(
            f"The idempotency key {new.idempotency_key!r} was used in this session for another message ({stored.id}). "
            "Use a new key for a new message."
        )
    return stored


def _span(ref: SessionRef, first: int, last: int) -> tuple[int, int]:
    """Row keys of the places ``first`` to ``last``, never those of a neighbouring session."""
    base = ref.key << SEQ_BITS
    return base + min(max(first, 1), MAX_SEQ + 1), base + min(max(last, 0), MAX_SEQ)
