"""What is derived from the events, the truth: the text index, the counts, the homes. Looked over, and made anew."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

import apsw

from wellkept.policy.content import loads
from wellkept.policy.facts.conflict import HANDLES_VERSION
from wellkept.policy.recall.terms import event_terms
from wellkept.policy.text.words import index_tokens, tokens_version
from wellkept.records import ROLES
from wellkept.store.health import Finding
from wellkept.store.sqlite.factrows import handles_of, read_fact, words_of
from wellkept.store.sqlite.facts import FINDABLE, change_handles
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.notewords import NoteWords
from wellkept.store.sqlite.summaries import note_key
from wellkept.store.sqlite.terms import Terms

# Those of the tail are in no index yet.
EVENTS = "SELECT key, scope, content, speaker FROM events WHERE terms >= 0 ORDER BY key"
NOTES = """
    SELECT key, in_ledger, scope, text FROM (
        SELECT m.key, 0 AS in_ledger, s.scope, m.text, m.version,
            max(m.version) OVER (PARTITION BY m.session, m.topic) AS newest
        FROM summaries m JOIN sessions s ON s.key = m.session
    ) WHERE version = newest
    UNION ALL SELECT l.key, 1, s.scope, l.text FROM ledger l JOIN sessions s ON s.key = l.session ORDER BY 1, 2
"""
SAID_IN = "SELECT doc, sum(term_sum(term)) FROM event_postings GROUP BY doc ORDER BY doc"
NOTED_IN = """
    SELECT note, sum(count * term_sum(printf('%xx%s', scope, word))) FROM note_words GROUP BY note ORDER BY note
"""
FOUND_BY = """
    SELECT fact, sum(term_sum(printf('%xx%s', scope, term))) FROM (
        SELECT fact, scope, handle AS term FROM fact_handles UNION ALL SELECT key, scope, words FROM facts WHERE words <> ''
    ) GROUP BY fact ORDER BY fact
"""
CLEAR_INDEX = "INSERT INTO event_terms (event_terms) VALUES ('delete-all')"
CLEAR_NOTES = "DELETE FROM note_words"
# Events keep the number of their terms, which ranking needs.
SET_TERMS = "UPDATE events SET terms = ? WHERE key = ? AND terms <> ?"
SET_WORDS = "UPDATE facts SET words = ? WHERE key = ?"
TOKENS = "SELECT value FROM settings WHERE name = 'tokens'"
SET_TOKENS = "INSERT INTO settings VALUES ('tokens', ?1) ON CONFLICT DO UPDATE SET value = ?1"
HOMELESS = f"""
    SELECT e.key >> {SEQ_BITS} AS session, min(e.scope), count(*), min(e.ts), max(e.ts) FROM events e
    LEFT JOIN sessions s ON s.key = e.key >> {SEQ_BITS} WHERE s.key IS NULL GROUP BY 1
"""
NAME_SCOPES = """
    INSERT OR IGNORE INTO scopes (key, namespace, user) SELECT DISTINCT scope, 'recovered', 'scope-' || scope FROM {table}
"""
ADOPT = """
    INSERT INTO sessions (key, scope, id, title, created, active) VALUES (?1, ?2, 'recovered-' || ?1, '', ?3, ?4)
"""
DROP_ORPHANS = "DELETE FROM {table} WHERE session NOT IN (SELECT key FROM sessions)"
_COUNTED = f"""
    SELECT s.key AS session, count(e.key) AS events, count(CASE e.role WHEN {ROLES.index("user")} THEN 1 END) AS turns,
        coalesce(sum(e.tokens), 0) AS tokens, coalesce(sum(max(e.terms, 0)), 0) AS terms,
        max(s.next_seq, coalesce(max(e.key) & {MAX_SEQ}, 0) + 1) AS next_seq
    FROM sessions s LEFT JOIN events e ON e.key BETWEEN s.key << {SEQ_BITS} AND s.key << {SEQ_BITS} | {MAX_SEQ}
    GROUP BY s.key
"""
MISCOUNTED = f"""
    SELECT s.id, c.session, c.events, c.turns, c.tokens, c.terms, c.next_seq, s.events
    FROM sessions s JOIN ({_COUNTED}) c ON c.session = s.key
    WHERE (s.events, s.turns, s.tokens, s.terms, s.next_seq) <> (c.events, c.turns, c.tokens, c.terms, c.next_seq)
"""
# What others have at hand of the old state must not pass for the new one.
ALL_DEPARTED = "UPDATE scopes SET departed = departed + 1"
KNOWS_DEPARTURES = "SELECT count(*) FROM pragma_table_info('scopes') WHERE name = 'departed'"
RECOUNT = "UPDATE sessions SET events = ?, turns = ?, tokens = ?, terms = ?, next_seq = ? WHERE key = ?"

Document: TypeAlias = tuple[int, int, list[str]]


def _events(connection: apsw.Connection) -> Iterator[Document]:
    for key, scope, content, speaker in connection.execute(EVENTS):
        yield key, scope, event_terms(loads(content), speaker)


def _notes(connection: apsw.Connection) -> Iterator[Document]:
    for key, in_ledger, scope, text in connection.execute(NOTES):
        yield note_key(key, bool(in_ledger)), scope, index_tokens(text)


def _facts(connection: apsw.Connection) -> Iterator[Document]:
    for *row, scope, _ in connection.execute(FINDABLE):
        fact = read_fact(row)
        yield fact.key, scope, [*filter(None, [words_of(fact)]), *map(str, handles_of(fact))]


def _tables(connection: apsw.Connection) -> set[str]:
    return {
        str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    }


def mistakes(connection: apsw.Connection) -> Iterator[Finding]:
    """What does not agree with the events of a sound file; call it inside a transaction."""
    yield from _references(connection)
    yield from _counts(connection)
    connection.create_scalar_function("term_sum", _sum, 1, deterministic=True)
    yield from _index("event", connection.execute(SAID_IN), _events(connection))
    known = _tables(connection)
    if "note_words" in known:
        yield from _index("summary", connection.execute(NOTED_IN), _notes(connection))
    if "fact_handles" in known:
        yield from _index("fact", connection.execute(FOUND_BY), _facts(connection))


def _references(connection: apsw.Connection) -> Iterator[Finding]:
    broken = Counter((row[0], row[2]) for row in connection.execute("PRAGMA foreign_key_check"))
    for (table, parent), count in broken.items():
        yield Finding(
            subject="references", text=f"{count} rows of {table} name a row of {parent} that is gone."
        )
    for session, _, count, _, _ in connection.execute(HOMELESS):
        yield Finding(
            subject="references", text=f"{count} events belong to session {session}, which is gone."
        )


def _counts(connection: apsw.Connection) -> Iterator[Finding]:
    for id, *_ in connection.execute(MISCOUNTED):
        yield Finding(subject="counts", text=f"The counts of session {id!r} do not match its events.")


def _index(name: str, postings: Iterator[Any], documents: Iterator[Document]) -> Iterator[Finding]:
    """Compares a sum over the terms of each document with the same sum over its postings."""
    posted: Any = next(postings, None)
    missing, orphans = 0, 0
    for key, scope, terms in documents:
        while posted is not None and posted[0] < key:
            orphans, posted = orphans + 1, next(postings, None)
        found: Any = 0
        if posted is not None and posted[0] == key:
            found, posted = posted[1], next(postings, None)
        missing += found != sum(_sum(f"{scope:x}x{term}") for term in terms)
    orphans += (posted is not None) + sum(1 for _ in postings)
    if missing:
        yield Finding(subject="index", text=f"{missing} {name} texts cannot be found by all of their words.")
    if orphans:
        yield Finding(subject="index", text=f"The index holds words of {orphans} {name} texts that are gone.")


def _sum(*terms: Any) -> int:
    return zlib.crc32(terms[0].encode())


# ── making anew ─────────────────────────────────────────────────────────────────────────────────────────────


def rebuild(connection: apsw.Connection) -> None:
    """Make what is derived from the events anew, inside a write transaction."""
    _adopt(connection)
    connection.execute(CLEAR_INDEX)
    index = Terms(connection)
    for key, scope, terms in _events(connection):
        if terms:
            index.add(scope, key, terms)
        connection.execute(SET_TERMS, (len(terms), key, len(terms)))
    known = _tables(connection)
    if "note_words" in known:
        connection.execute(CLEAR_NOTES)
        notes = NoteWords(connection)
        for key, scope, terms in _notes(connection):
            notes.add(scope, key, terms)
    if "fact_handles" in known:
        _file_facts(connection)
    connection.execute(SET_TOKENS, (_version(),))
    for _, session, *counts, _ in connection.execute(MISCOUNTED).fetchall():
        connection.execute(RECOUNT, (*counts, session))
    if connection.execute(KNOWS_DEPARTURES).get:
        connection.execute(ALL_DEPARTED)


def _file_facts(connection: apsw.Connection) -> None:
    """Make anew what facts are found by."""
    connection.execute("DELETE FROM fact_handles")
    rows: list[tuple[Any, ...]] = connection.execute(FINDABLE).fetchall()
    for *row, scope, words in rows:
        fact = read_fact(row)
        change_handles(connection, scope, fact.key, frozenset(), handles_of(fact))
        if words != words_of(fact):
            connection.execute(SET_WORDS, (words_of(fact), fact.key))


def _version() -> str:
    return f"{tokens_version()};{HANDLES_VERSION}"


def is_of_other_words(connection: apsw.Connection) -> bool:
    """Whether the text indexes were made by rules for words that are not today's."""
    return bool(connection.execute(TOKENS).get != _version())


def _adopt(connection: apsw.Connection) -> None:
    """Give homeless rows a home that no user can mistake for theirs; what has no meaning without one goes."""
    for session, scope, _, first, last in connection.execute(HOMELESS).fetchall():
        connection.execute(ADOPT, (session, scope, first, last))
    for table, parent in {(row[0], row[2]) for row in connection.execute("PRAGMA foreign_key_check")}:
        if parent == "scopes":
            connection.execute(NAME_SCOPES.format(table=table))
        elif parent == "sessions":
            connection.execute(DROP_ORPHANS.format(table=table))
