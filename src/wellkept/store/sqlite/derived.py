"""What is derived from the events, the truth: the text index, the counts, the homes. Looked over, and made anew."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import apsw

from wellkept.policy.content import loads
from wellkept.policy.terms import event_terms
from wellkept.records import ROLES
from wellkept.store.health import Finding
from wellkept.store.sqlite.events import ADD_TERMS, index_terms
from wellkept.store.sqlite.schema import MAX_SEQ, SEQ_BITS

EVENTS = "SELECT key, scope, content, speaker FROM events ORDER BY key"
POSTINGS = "SELECT doc, sum(term_sum(term)) FROM event_postings GROUP BY doc ORDER BY doc"
CLEAR_INDEX = "INSERT INTO event_terms (event_terms) VALUES ('delete-all')"
SET_TERMS = "UPDATE events SET terms = ? WHERE key = ? AND terms <> ?"
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
        coalesce(sum(e.tokens), 0) AS tokens, coalesce(sum(e.terms), 0) AS terms,
        max(s.next_seq, coalesce(max(e.key) & {MAX_SEQ}, 0) + 1) AS next_seq
    FROM sessions s LEFT JOIN events e ON e.key BETWEEN s.key << {SEQ_BITS} AND s.key << {SEQ_BITS} | {MAX_SEQ}
    GROUP BY s.key
"""
MISCOUNTED = f"""
    SELECT s.id, c.session, c.events, c.turns, c.tokens, c.terms, c.next_seq, s.events
    FROM sessions s JOIN ({_COUNTED}) c ON c.session = s.key
    WHERE (s.events, s.turns, s.tokens, s.terms, s.next_seq) <> (c.events, c.turns, c.tokens, c.terms, c.next_seq)
"""
RECOUNT = "UPDATE sessions SET events = ?, turns = ?, tokens = ?, terms = ?, next_seq = ? WHERE key = ?"

_TOKEN = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")


def mistakes(connection: apsw.Connection) -> Iterator[Finding]:
    """What does not agree with the events of a sound file; call it inside a transaction."""
    yield from _references(connection)
    yield from _counts(connection)
    yield from _index(connection)


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


def _index(connection: apsw.Connection) -> Iterator[Finding]:
    """Compares a sum over the terms of each event with the same sum over its postings."""
    connection.create_scalar_function("term_sum", _sum, 1, deterministic=True)
    postings = iter(connection.execute(POSTINGS))
    posted = next(postings, None)
    missing, orphans = 0, 0
    for key, expected in _sums(connection):
        while posted is not None and posted[0] < key:
            orphans, posted = orphans + 1, next(postings, None)
        found = 0
        if posted is not None and posted[0] == key:
            found, posted = posted[1], next(postings, None)
        missing += found != expected
    orphans += (posted is not None) + sum(1 for _ in postings)
    if missing:
        yield Finding(subject="index", text=f"{missing} events cannot be found by all of their words.")
    if orphans:
        yield Finding(subject="index", text=f"The text index holds words of {orphans} events that are gone.")


def _sums(connection: apsw.Connection) -> Iterator[tuple[int, int]]:
    for key, scope, content, speaker in connection.execute(EVENTS):
        joined = index_terms(scope, event_terms(loads(content), speaker))
        yield key, sum(map(_sum, _TOKEN.findall(joined)))


def _sum(*terms: Any) -> int:
    return zlib.crc32(terms[0].encode())


def rebuild(connection: apsw.Connection) -> None:
    """Make what is derived from the events anew, inside a write transaction."""
    _adopt(connection)
    connection.execute(CLEAR_INDEX)
    writer = connection.cursor()
    for key, scope, content, speaker in connection.execute(EVENTS):
        terms = event_terms(loads(content), speaker)
        writer.execute(SET_TERMS, (len(terms), key, len(terms)))
        if terms:
            writer.execute(ADD_TERMS, (key, index_terms(scope, terms)))
    for _, key, *counts, _ in connection.execute(MISCOUNTED).fetchall():
        connection.execute(RECOUNT, (*counts, key))


def _adopt(connection: apsw.Connection) -> None:
    """Give homeless rows a home that no user can mistake for theirs; what has no meaning without one goes."""
    for session, scope, _, first, last in connection.execute(HOMELESS).fetchall():
        connection.execute(ADOPT, (session, scope, first, last))
    for table, parent in {(row[0], row[2]) for row in connection.execute("PRAGMA foreign_key_check")}:
        if parent == "scopes":
            connection.execute(NAME_SCOPES.format(table=table))
        elif parent == "sessions":
            connection.execute(DROP_ORPHANS.format(table=table))
