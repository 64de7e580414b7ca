"""What recall reads: events and summaries as documents of one scope's text index."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import apsw

from wellkept.policy.content import loads
from wellkept.policy.recall.corpus import Doc, Postings
from wellkept.policy.recall.filters import ANYTHING, matches
from wellkept.policy.text.words import Term
from wellkept.records import ROLES, Scope, text_of, utc
from wellkept.store.facts import Fact
from wellkept.store.search import Hit, Narrow, Roll
from wellkept.store.sqlite import at_hand, tail
from wellkept.store.sqlite.at_hand import AtHand, Lives, Roster, Stamp
from wellkept.store.sqlite.factrows import FROM_FACTS, SELECT_FACT, read_fact
from wellkept.store.sqlite.facts import NEWEST
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.notewords import NoteWords
from wellkept.store.sqlite.sessions import scope_key
from wellkept.store.sqlite.terms import Terms
from wellkept.store.sqlite.where import where

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
EVENT_STAMP = """
    SELECT c.departed, count(*), coalesce(sum(s.next_seq), 0), coalesce(sum(s.events), 0) FROM scopes c
    JOIN sessions s ON s.scope = c.key WHERE c.key = ?
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
# When the message of a line of the ledger was said.
SAID = f"coalesce((SELECT ts FROM events WHERE key = s.key << {SEQ_BITS} | l.seq), s.created)"
NOTE_STAMP = "SELECT departed, noted FROM scopes WHERE key = ?"
# The newest text of each topic and the lines of the ledger. Skips from one topic to the next, because a long session has
# many versions.
NOTES = f"""
    WITH RECURSIVE topics (session, topic) AS (
        SELECT key, (SELECT min(topic) FROM summaries WHERE session = key) FROM sessions WHERE scope = ?1 UNION ALL
        SELECT session, (SELECT min(topic) FROM summaries m WHERE m.session = t.session AND m.topic > t.topic)
        FROM topics t WHERE topic IS NOT NULL
    )
    SELECT m.key << 4, length(m.text), m.at FROM topics t JOIN summaries m ON m.key = (
        SELECT key FROM summaries WHERE session = t.session AND topic = t.topic ORDER BY version DESC LIMIT 1
    ) UNION ALL
    SELECT l.key << 4 | 8, length(l.text), {SAID} FROM sessions s JOIN ledger l ON l.session = s.key WHERE s.scope = ?1
"""
SUMMARY_ROWS = f"""
    SELECT m.key << 4, s.key, s.id, m.text, m.at, m.covers_from, m.covers_to FROM summaries m
    JOIN sessions s ON s.key = m.session WHERE m.key IN {_KEYS} AND s.scope = ?
"""
LEDGER_ROWS = f"""
    SELECT l.key << 4 | 8, s.key, s.id, l.text, {SAID}, l.seq, l.seq FROM ledger l
    JOIN sessions s ON s.key = l.session WHERE l.key IN {_KEYS} AND s.scope = ?
"""
SUMMARY_SIZES = SUMMARY_ROWS.replace("m.text", "length(m.text)")
LEDGER_SIZES = LEDGER_ROWS.replace("l.text", "length(l.text)")


class _Corpus:
    """What all kinds of documents have in common."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._owners: dict[Scope, int | None] = {}

    def _owner(self, scope: Scope) -> int | None:
        if self._owners.get(scope) is None:
            self._owners[scope] = scope_key(self._db, scope)
        return self._owners[scope]

    def _is_writing(self) -> bool:
        """What is not committed may never be: it must not stay in memory."""
        return self._db.txn_state("main") == apsw.SQLITE_TXN_WRITE

    def speakers(self, scope: Scope) -> set[str]:
        return set()


class EventCorpus(_Corpus):
    """See ``store.search.Corpus``."""

    kind = "event"

    def __init__(self, connection: apsw.Connection, known: AtHand) -> None:
        super().__init__(connection)
        self._terms = Terms(connection)
        self._at_hand = known
        self._tails: dict[Scope, dict[int, tail.Words]] = {}
        self._stamps: dict[int, Stamp] = {}

    def roll(self, scope: Scope) -> Roll | None:
        owner = self._owner(scope)
        if owner is None or self._is_writing():
            return None
        stamp = self._stamp(owner)
        if stamp[2] > at_hand.MOST_DOCS:
            return None
        return self._at_hand.rosters.of(owner, stamp) or self._called(owner, stamp)

    def _stamp(self, owner: int) -> Stamp:
        """Sessions only grow, and it tells how many there are, and events were and are, or are deleted."""
        if owner not in self._stamps:
            self._stamps[owner] = next(self._db.execute(EVENT_STAMP, (owner,)))
        return self._stamps[owner]

    def _indexed(self, scope: Scope, terms: Collection[Term]) -> dict[Term, Postings]:
        """What the index says, as far as it is at hand without asking it."""
        owner = self._owner(scope)
        if owner is None:
            return {}
        if self._is_writing():
            return self._terms.postings(owner, terms)
        stamp = self._stamp_of_index(scope, owner)
        found = self._at_hand.places.of(owner, stamp, terms)
        if len(found) < len(terms):
            new = self._terms.postings(owner, [term for term in terms if term not in found])
            self._at_hand.places.put(owner, stamp, new)
            found |= new
        return found

    def _stamp_of_index(self, scope: Scope, owner: int) -> Stamp:
        """What is deleted is counted, and what was put into the index."""
        departed, sessions, places, events = self._stamp(owner)
        return departed, places - sessions - events, events - len(self._tail(scope))

    def _called(self, owner: int, stamp: Stamp) -> Roll:
        """The roll of the roster that is at hand, with what is new."""
        rows: list[Any] = self._db.execute(EVENT_SESSIONS, (owner,)).fetchall()
        ends = {key: key << SEQ_BITS | end for key, _, _, end in rows}
        lives: Lives = {key: (departed, gone) for key, departed, gone, _ in rows}
        kept = self._at_hand.rosters.grown_from(owner, lives) or Roster(stamp, Roll({}, 0), {}, {})
        new = [
            (kept.ends.get(key, key << SEQ_BITS), end)
            for key, end in ends.items()
            if kept.ends.get(key) != end
        ]
        roll = kept.roll
        if new:
            docs = _docs(self._db.execute(NEW_EVENTS, (json.dumps(new), owner)))
            speakers = {doc.speaker for doc in docs.values() if doc.speaker is not None}
            roll = Roll({**roll.docs, **docs}, roll.terms + _terms(docs), roll.speakers | speakers)
        self._at_hand.rosters.put(owner, Roster(stamp, roll, lives, ends))
        return roll

    def size(self, scope: Scope) -> tuple[int, int]:
        documents, terms = next(self._db.execute(SIZE, (self._owner(scope),)))
        return documents, terms + sum(words.size for words in self._tail(scope).values())

    def postings(self, scope: Scope, terms: Collection[Term]) -> dict[Term, Postings]:
        found = self._indexed(scope, terms)
        newest: defaultdict[Term, dict[int, int]] = defaultdict(dict)
        for term, key, count in tail.occurrences(self._tail(scope), terms):
            newest[term][key] = count
        return found | {term: {**found.get(term, {}), **its} for term, its in newest.items()}

    def _tail(self, scope: Scope) -> dict[int, tail.Words]:
        if scope not in self._tails:
            self._tails[scope] = tail.read(self._db, self._owner(scope))
        return self._tails[scope]

    def speakers(self, scope: Scope) -> set[str]:
        return {name for (name,) in self._db.execute(SPEAKERS, (self._owner(scope),))}

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
        rows = self._db.execute(statement, (_listed(keys), self._owner(scope), *values))
        return _docs(rows)

    def hits(self, scope: Scope, keys: Collection[int]) -> dict[int, Hit]:
        rows = self._db.execute(EVENT_ROWS, (_listed(keys), self._owner(scope)))
        return {row[0]: _event_hit(*row) for row in rows}


def _docs(rows: Iterable[Any]) -> dict[int, Doc]:
    return {
        key: Doc(
            terms if uncounted is None else tail.words_of(uncounted, speaker).size, ROLES[role], ts, speaker
        )
        for key, terms, role, ts, speaker, uncounted in rows
    }


def _terms(docs: Mapping[int, Doc]) -> int:
    return sum([doc.length for doc in docs.values()])


def _event_hit(key: int, session: str, role: int, content: str, ts: int, speaker: str | None) -> Hit:
    id = f"{session}:{key & MAX_SEQ}"
    return Hit("event", id, session, text_of(loads(content)), utc(ts), ROLES[role], speaker, (id,))


_Words: TypeAlias = list[tuple[int, list[str], int]]


class FactCorpus(_Corpus):
    """See ``store.search.Corpus``. Documents are the active and the archived facts, few enough to read the words of
    all of them; filters see a fact's metadata."""

    kind = "fact"

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._read: tuple[tuple[int | None, int | None], _Words] | None = None

    def size(self, scope: Scope) -> tuple[int, int]:
        roll = self.roll(scope)
        return len(roll.docs), roll.terms

    def postings(self, scope: Scope, terms: Collection[Term]) -> dict[Term, Postings]:
        found: dict[Term, dict[int, int]] = {term: {} for term in terms}
        exact = {term.text: found[term] for term in terms if not term.prefix}
        starts = [(term.text, found[term]) for term in terms if term.prefix]
        for key, words, _ in self._words(scope):
            for word in exact.keys() & words:
                exact[word][key] = words.count(word)
            for start, its in starts:
                if count := sum(word.startswith(start) for word in words):
                    its[key] = count
        return {**found}

    def roll(self, scope: Scope) -> Roll:
        docs = {key: Doc(len(words), "user", changed) for key, words, changed in self._words(scope)}
        return Roll(docs, _terms(docs))

    def _words(self, scope: Scope) -> _Words:
        """Key, words and time of each fact; read once for all that one search asks."""
        owner = self._owner(scope)
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
        for *row, words in self._db.execute(FACT_ROWS, (_listed(keys), self._owner(scope))):
            yield read_fact(row), words.split()


def _fact_hit(fact: Fact) -> Hit:
    session = fact.sources[0].rpartition(":")[0] if fact.sources else None
    return Hit(
        kind="fact",
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
    """See ``store.search.Corpus``. Documents are the newest text of each topic, and the lines of the ledger."""

    kind = "summary"

    def __init__(self, connection: apsw.Connection, known: AtHand) -> None:
        super().__init__(connection)
        self._words = NoteWords(connection)
        self._notes = known.notes

    def roll(self, scope: Scope) -> Roll | None:
        owner = self._owner(scope)
        if owner is None or self._is_writing():
            return None
        stamp: Stamp = next(self._db.execute(NOTE_STAMP, (owner,)))
        return self._notes.of(owner, stamp) or self._called(owner, stamp)

    def _called(self, owner: int, stamp: Stamp) -> Roll:
        roll = self._all(owner)
        self._notes.put(owner, Roster(stamp, roll, {}, {}))
        return roll

    def _all(self, owner: int | None) -> Roll:
        docs = {key: _note(size, at) for key, size, at in self._db.execute(NOTES, (owner,))}
        return Roll(docs, _terms(docs))

    def size(self, scope: Scope) -> tuple[int, int]:
        roll = self._all(self._owner(scope))
        return len(roll.docs), roll.terms

    def postings(self, scope: Scope, terms: Collection[Term]) -> dict[Term, Postings]:
        owner = self._owner(scope)
        return {} if owner is None else self._words.postings(owner, terms)

    def docs(self, scope: Scope, keys: Collection[int], narrow: Narrow) -> dict[int, Doc]:
        """A summary has no metadata: with filters there is none."""
        if narrow.condition != ANYTHING:
            return {}
        return {
            key: _note(size, at)
            for key, session, _, size, at, *_ in self._rows(scope, keys, SUMMARY_SIZES, LEDGER_SIZES)
            if (narrow.session is None or session == narrow.session.key) and narrow.spans(at)
        }

    def hits(self, scope: Scope, keys: Collection[int]) -> dict[int, Hit]:
        return {row[0]: _note_hit(*row) for row in self._rows(scope, keys, SUMMARY_ROWS, LEDGER_ROWS)}

    def _rows(self, scope: Scope, keys: Collection[int], summaries: str, ledger: str) -> Iterator[Any]:
        owner = self._owner(scope)
        for statement, in_ledger in ((summaries, False), (ledger, True)):
            rows = [key >> 4 for key in keys if bool(key & 8) == in_ledger]
            if rows:
                yield from self._db.execute(statement, (_listed(rows), owner))


def _note(size: int, at: int) -> Doc:
    """What ranking knows of a text of ``size`` characters."""
    return Doc(max(1, size // 4), "user", at)


def _note_hit(key: int, _session: int, id: str, text: str, at: int, first: int, last: int) -> Hit:
    events = tuple(f"{id}:{seq}" for seq in range(first, last + 1))
    part = "ledger" if key & 8 else "summary"
    return Hit(
        kind="summary",
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
