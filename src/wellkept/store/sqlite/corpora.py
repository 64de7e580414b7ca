"""What recall reads: events and summaries as documents of one scope's text index."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import apsw

from wellkept.policy.content import loads
from wellkept.policy.corpus import Doc
from wellkept.policy.filters import ANYTHING, matches
from wellkept.policy.words import Term
from wellkept.records import ROLES, Scope, text_of, utc
from wellkept.store.facts import Fact
from wellkept.store.search import Hit, Narrow, Roll
from wellkept.store.sqlite import tail
from wellkept.store.sqlite.factrows import FROM_FACTS, SELECT_FACT, read_fact
from wellkept.store.sqlite.facts import NEWEST
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.sessions import scope_key
from wellkept.store.sqlite.terms import Terms
from wellkept.store.sqlite.where import where

MOST_DOCS = 100_000
"""So many documents are kept in memory, about 25 MB; a scope with more is read anew for each question."""

_FOREVER = 1 << 62
_KEYS = "(SELECT value FROM json_each(?))"
SIZE = "SELECT coalesce(sum(events), 0), coalesce(sum(terms), 0) FROM sessions WHERE scope = ?"
# Skips from one name to the next in the index instead of reading every event.
SPEAKERS = """
    WITH RECURSIVE names (name) AS (
        SELECT min(speaker) FROM events WHERE scope = ?1 AND speaker IS NOT NULL UNION ALL
        SELECT (SELECT min(speaker) FROM events WHERE scope = ?1 AND speaker > name) FROM names WHERE name IS NOT NULL
    ) SELECT name FROM names WHERE name IS NOT NULL
"""
EVENT_SESSIONS = """
    SELECT s.key, c.departed, s.next_seq - s.events, s.next_seq FROM sessions s JOIN scopes c ON c.key = s.scope
    WHERE s.scope = ?
"""
NEW_EVENTS = """
    SELECT e.key, e.terms, e.role, e.ts, e.speaker, CASE WHEN e.terms < 0 THEN e.content END FROM json_each(?) new
    CROSS JOIN events e ON e.key >= new.value ->> 0 AND e.key < new.value ->> 1 WHERE +e.scope = ?
"""
EVENT_DOCS = f"""
    SELECT key, terms, role, ts, speaker, CASE WHEN terms < 0 THEN content END FROM events
    WHERE key IN {_KEYS} AND +scope = ?
"""
EVENT_ROWS = f"""
    SELECT e.key, s.id, e.role, e.content, e.ts, e.speaker FROM events e JOIN sessions s ON s.key = e.key >> {SEQ_BITS}
    WHERE e.key IN {_KEYS} AND +e.scope = ?
"""
FACT_WORDS = "SELECT key, words, changed FROM facts WHERE scope = ? AND state IN (0, 2)"
FACT_ROWS = f"{SELECT_FACT}, f.words {FROM_FACTS} WHERE f.key IN {_KEYS} AND +f.scope = ? AND f.state <> 1"
NOTE_SIZE = """
    SELECT count(*), coalesce(sum(length(m.text)) / 4, 0) FROM summaries m JOIN sessions s ON s.key = m.session
    WHERE s.scope = ?
"""
NOTE_DOCS = """
    SELECT m.key << 4, length(m.text), m.at FROM summaries m JOIN sessions s ON s.key = m.session WHERE s.scope = ?1
    UNION ALL
    SELECT l.key << 4 | 8, length(l.text), s.active FROM ledger l JOIN sessions s ON s.key = l.session WHERE s.scope = ?1
"""
SUMMARY_ROWS = f"""
    SELECT m.key << 4, s.key, s.id, m.text, m.at, m.covers_from, m.covers_to FROM summaries m
    JOIN sessions s ON s.key = m.session WHERE m.key IN {_KEYS} AND s.scope = ?
"""
LEDGER_ROWS = f"""
    SELECT l.key << 4 | 8, s.key, s.id, l.text, s.active, l.seq, l.seq FROM ledger l
    JOIN sessions s ON s.key = l.session WHERE l.key IN {_KEYS} AND s.scope = ?
"""


_Lives: TypeAlias = dict[int, tuple[int, int]]
"""What stays as it is while sessions only grow: how many of the scope's are deleted, how many of its events are gone."""


class Roster(NamedTuple):
    """The documents of a scope's events: of each session up to a place in ``ends``."""

    lives: _Lives
    ends: dict[int, int]
    roll: Roll


class Rosters:
    """The most recently searched rosters, ``MOST_DOCS`` documents together; shared by the threads of a store.

    Events never change: a roster holds as long as each of its sessions is there and has lost none, whoever writes,
    and grows by what is new.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Roster] = OrderedDict()

    def get(self, owner: int, lives: _Lives) -> Roster | None:
        """The roster of a scope whose sessions are ``lives``, if none of those that it holds has lost an event."""
        with self._lock:
            kept = self._kept.get(owner)
        return kept if kept is not None and kept.lives.items() <= lives.items() else None

    def put(self, owner: int, roster: Roster) -> None:
        """Keep ``roster``, and let go of the ones unused for longest."""
        with self._lock:
            self._kept[owner] = roster
            self._kept.move_to_end(owner)
            while sum(len(kept.roll.docs) for kept in self._kept.values()) > MOST_DOCS:
                self._kept.popitem(last=False)


class _Corpus:
    """What all kinds of documents have in common: an index of terms called after the kind."""

    kind: str
    _size: str

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._terms = Terms(connection, self.kind)

    def size(self, scope: Scope) -> tuple[int, int]:
        documents, terms = next(self._db.execute(self._size, (scope_key(self._db, scope),)))
        return int(documents), int(terms)

    def speakers(self, scope: Scope) -> set[str]:
        return set()

    def postings(self, scope: Scope, terms: Collection[Term]) -> dict[Term, dict[int, int]]:
        owner = scope_key(self._db, scope)
        return {} if owner is None else self._terms.postings(owner, terms)


class EventCorpus(_Corpus):
    """See ``store.protocol.Corpus``."""

    kind = "event"
    _size = SIZE

    def __init__(self, connection: apsw.Connection, rosters: Rosters) -> None:
        super().__init__(connection)
        self._rosters = rosters
        self._tails: dict[Scope, dict[int, tail.Words]] = {}

    def roll(self, scope: Scope) -> Roll | None:
        owner = scope_key(self._db, scope)
        rows: list[Any] = self._db.execute(EVENT_SESSIONS, (owner,)).fetchall()
        ends = {key: key << SEQ_BITS | end for key, _, _, end in rows}
        if owner is None or sum(row[3] for row in rows) > MOST_DOCS or self._is_writing():
            return None
        lives: _Lives = {key: (departed, gone) for key, departed, gone, _ in rows}
        kept = self._rosters.get(owner, lives) or Roster({}, {}, Roll({}))
        new = [
            (kept.ends.get(key, key << SEQ_BITS), end)
            for key, end in ends.items()
            if kept.ends.get(key) != end
        ]
        roll = kept.roll
        if new:
            docs = _docs(self._db.execute(NEW_EVENTS, (json.dumps(new), owner)))
            speakers = {doc.speaker for doc in docs.values() if doc.speaker is not None}
            roll = Roll({**roll.docs, **docs}, roll.speakers | speakers)
        self._rosters.put(owner, Roster(lives, ends, roll))
        return roll

    def _is_writing(self) -> bool:
        """What is not committed may never be: it must not stay in memory."""
        return self._db.txn_state("main") == apsw.SQLITE_TXN_WRITE

    def size(self, scope: Scope) -> tuple[int, int]:
        documents, terms = super().size(scope)
        return documents, terms + sum(words.size for words in self._tail(scope).values())

    def postings(self, scope: Scope, terms: Collection[Term]) -> dict[Term, dict[int, int]]:
        found = super().postings(scope, terms)
        for term, key, count in tail.occurrences(self._tail(scope), terms):
            found.setdefault(term, {})[key] = count
        return found

    def _tail(self, scope: Scope) -> dict[int, tail.Words]:
        if scope not in self._tails:
            self._tails[scope] = tail.read(self._db, scope_key(self._db, scope))
        return self._tails[scope]

    def speakers(self, scope: Scope) -> set[str]:
        return {name for (name,) in self._db.execute(SPEAKERS, (scope_key(self._db, scope),))}

    def docs(self, scope: Scope, keys: Collection[int], narrow: Narrow) -> dict[int, Doc]:
        condition, values = where(narrow.condition)
        if narrow.since is not None or narrow.until is not None:
            condition = f"({condition}) AND ts >= ? AND ts < ?"
            start = -_FOREVER if narrow.since is None else narrow.since
            values += [start, _FOREVER if narrow.until is None else narrow.until]
        if narrow.session is not None:
            condition = f"({condition}) AND key BETWEEN ? AND ?"
            first = narrow.session.key << SEQ_BITS
            values += [first, first | MAX_SEQ]
        statement = f"{EVENT_DOCS} AND ({condition})"
        rows = self._db.execute(statement, (_listed(keys), scope_key(self._db, scope), *values))
        return _docs(rows)

    def hits(self, scope: Scope, keys: Collection[int]) -> dict[int, Hit]:
        rows = self._db.execute(EVENT_ROWS, (_listed(keys), scope_key(self._db, scope)))
        return {row[0]: _event_hit(*row) for row in rows}


def _docs(rows: Iterable[Any]) -> dict[int, Doc]:
    return {
        key: Doc(
            terms if uncounted is None else tail.words_of(uncounted, speaker).size, ROLES[role], ts, speaker
        )
        for key, terms, role, ts, speaker, uncounted in rows
    }


def _event_hit(key: int, session: str, role: int, content: str, ts: int, speaker: str | None) -> Hit:
    id = f"{session}:{key & MAX_SEQ}"
    return Hit(
        id=id,
        session_id=session,
        text=text_of(loads(content)),
        ts=utc(ts),
        role=ROLES[role],
        speaker=speaker,
        events=(id,),
    )


_Words: TypeAlias = list[tuple[int, list[str], int]]


class FactCorpus:
    """See ``store.protocol.Corpus``. Documents are the active and the archived facts, few enough to read the words of
    all of them; filters see a fact's metadata."""

    kind = "fact"

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._read: tuple[tuple[int | None, int | None], _Words] | None = None

    def size(self, scope: Scope) -> tuple[int, int]:
        docs = self.roll(scope).docs
        return len(docs), sum(doc.length for doc in docs.values())

    def speakers(self, scope: Scope) -> set[str]:
        return set()

    def postings(self, scope: Scope, terms: Collection[Term]) -> dict[Term, dict[int, int]]:
        found: dict[Term, dict[int, int]] = {term: {} for term in terms}
        exact = {term.text: found[term] for term in terms if not term.prefix}
        starts = [(term.text, found[term]) for term in terms if term.prefix]
        for key, words, _ in self._words(scope):
            for word in exact.keys() & words:
                exact[word][key] = words.count(word)
            for start, its in starts:
                if count := sum(word.startswith(start) for word in words):
                    its[key] = count
        return found

    def roll(self, scope: Scope) -> Roll:
        return Roll({key: Doc(len(words), "user", changed) for key, words, changed in self._words(scope)})

    def _words(self, scope: Scope) -> _Words:
        """Key, words and time of each fact; read once for all that one search asks."""
        owner = scope_key(self._db, scope)
        state = owner, self._db.execute(NEWEST, (owner,)).get
        if self._read is None or self._read[0] != state:
            rows = self._db.execute(FACT_WORDS, (owner,))
            self._read = state, [(key, words.split(), changed) for key, words, changed in rows]
        return self._read[1]

    def docs(self, scope: Scope, keys: Collection[int], narrow: Narrow) -> dict[int, Doc]:
        return {
            fact.key: Doc(len(words), "user", int(fact.changed_at.timestamp() * 1000))
            for fact, words in self._rows(scope, keys)
            if _lets_through(narrow, fact)
        }

    def hits(self, scope: Scope, keys: Collection[int]) -> dict[int, Hit]:
        return {fact.key: _fact_hit(fact) for fact, _ in self._rows(scope, keys)}

    def _rows(self, scope: Scope, keys: Collection[int]) -> Iterator[tuple[Fact, list[str]]]:
        for *row, words in self._db.execute(FACT_ROWS, (_listed(keys), scope_key(self._db, scope))):
            yield read_fact(row), words.split()


def _fact_hit(fact: Fact) -> Hit:
    session = fact.sources[0].rpartition(":")[0] if fact.sources else None
    return Hit(
        id=fact.id,
        session_id=session,
        text=fact.text,
        ts=fact.changed_at,
        role="user",
        speaker=None,
        events=fact.sources,
    )


def _lets_through(narrow: Narrow, fact: Fact) -> bool:
    at = int(fact.changed_at.timestamp() * 1000)
    sessions = [source.rpartition(":")[0] for source in fact.sources]
    return (
        (narrow.session is None or narrow.session.id in sessions)
        and narrow.spans(at)
        and matches(narrow.condition, {**fact.metadata, "role": "user", "session_id": sessions})
    )


class SummaryCorpus(_Corpus):
    """See ``store.protocol.Corpus``. Documents are the newest text of each topic, and the lines of the ledger."""

    kind = "summary"
    _size = NOTE_SIZE

    def roll(self, scope: Scope) -> Roll:
        rows = self._db.execute(NOTE_DOCS, (scope_key(self._db, scope),))
        return Roll({key: Doc(max(1, length // 4), "user", at) for key, length, at in rows})

    def docs(self, scope: Scope, keys: Collection[int], narrow: Narrow) -> dict[int, Doc]:
        """A summary has no metadata: with filters there is none."""
        if narrow.condition != ANYTHING:
            return {}
        return {
            row[0]: Doc(max(1, len(row[3]) // 4), "user", row[4])
            for row in self._rows(scope, keys)
            if (narrow.session is None or row[1] == narrow.session.key) and narrow.spans(row[4])
        }

    def hits(self, scope: Scope, keys: Collection[int]) -> dict[int, Hit]:
        return {row[0]: _note_hit(*row) for row in self._rows(scope, keys)}

    def _rows(self, scope: Scope, keys: Collection[int]) -> Iterator[Any]:
        owner = scope_key(self._db, scope)
        for statement, in_ledger in ((SUMMARY_ROWS, False), (LEDGER_ROWS, True)):
            rows = [key >> 4 for key in keys if bool(key & 8) == in_ledger]
            if rows:
                yield from self._db.execute(statement, (_listed(rows), owner))


def _note_hit(key: int, _session: int, id: str, text: str, at: int, first: int, last: int) -> Hit:
    events = tuple(f"{id}:{seq}" for seq in range(first, last + 1))
    part = "ledger" if key & 8 else "summary"
    return Hit(
        id=f"{id}/{part}/{key >> 4}",
        session_id=id,
        text=text,
        ts=utc(at),
        role="user",
        speaker=None,
        events=events,
    )


def _listed(keys: Collection[int]) -> str:
    return json.dumps(list(keys))
