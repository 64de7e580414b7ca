"""Summaries, their coverage and the ledger in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from wellkept.policy.text.words import index_tokens
from wellkept.records import ROLES, LedgerLine, Summary, utc
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.keys import MAX_SEQ, SEQ_BITS
from wellkept.store.sqlite.notewords import NoteWords
from wellkept.store.summaries import Uncovered

COVERED = "SELECT covered FROM sessions WHERE key = ? AND scope = ?"
# The beginning of the newest ?4 turns: the user event with ?4 - 1 user events behind it.
RECENT = """
    SELECT key FROM events WHERE key BETWEEN ? AND ? AND role = ? ORDER BY key DESC LIMIT 1 OFFSET ?
"""
SIZE = (
    "SELECT count(*), coalesce(sum(tokens), 0), coalesce(max(key), 0) FROM events WHERE key > ? AND key < ?"
)
COVER = "UPDATE sessions SET covered = ? WHERE key = ? AND scope = ? AND covered = ?"
NEXT_VERSION = "SELECT coalesce(max(version), 0) + 1 FROM summaries WHERE session = ?"
ADD = """
    INSERT INTO summaries (session, version, topic, covers_from, covers_to, text, tokens, by, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key
"""
NEWEST = "SELECT key, text FROM summaries WHERE session = ? AND topic = ? ORDER BY version DESC LIMIT 1"
ADD_LEDGER = """
    INSERT INTO ledger (session, seq, kind, value, text) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING key
"""
# Keys are given again: who keeps something of the notes sees by this number that there are others.
NOTED = "UPDATE scopes SET noted = noted + 1 WHERE key = ?"
# What can be found: the newest text of each topic, and the ledger.
NOTES = """
    SELECT key, text, 0 FROM (
        SELECT key, text, version, max(version) OVER (PARTITION BY topic) AS newest
        FROM summaries WHERE session = ?1
    ) WHERE version = newest
    UNION ALL SELECT key, text, 1 FROM ledger WHERE session = ?1
"""
_COLUMNS = "topic, version, covers_from, covers_to, text, tokens, by, at"
# The next topic behind ?2 in the alphabet, as it was then. In the order of an index, so that the many versions of a
# long session cost nothing.
NEXT = f"""
    SELECT {_COLUMNS} FROM summaries WHERE session = ? AND topic > ? AND covers_to <= ? AND version <= ?
    ORDER BY topic, version DESC LIMIT 1
"""
FIRST = "SELECT min(version) FROM summaries WHERE session = ? AND topic = ?"
VERSIONS = f"""
    SELECT {_COLUMNS} FROM summaries WHERE session = ?1 AND version IN (
        SELECT DISTINCT version FROM summaries WHERE session = ?1 AND version < ?2 ORDER BY version DESC LIMIT ?3
    ) ORDER BY version, topic
"""
LEDGER = (
    "SELECT seq, kind, value, text FROM ledger WHERE session = ? ORDER BY seq, kind, value LIMIT ? OFFSET ?"
)
DROP = "DELETE FROM summaries WHERE session = ? AND covers_to >= ?"
DROP_LEDGER = "DELETE FROM ledger WHERE session = ? AND seq > (SELECT covered FROM sessions WHERE key = ?1)"
UNCOVER = """
    UPDATE sessions SET covered = coalesce((SELECT max(covers_to) FROM summaries WHERE session = ?1), 0)
    WHERE key = ?1
"""


class Summaries:
    """See ``store.summaries.Summaries``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._words = NoteWords(connection)

    def uncovered(self, ref: SessionRef, turns: int) -> Uncovered:
        base = ref.key << SEQ_BITS
        covered = self._db.execute(COVERED, (ref.key, ref.scope_key)).get or 0
        recent = self._db.execute(RECENT, (base, base | MAX_SEQ, ROLES.index("user"), turns - 1)).get
        if recent is None:
            return Uncovered(first=covered + 1, last=covered, events=0, tokens=0)
        count, tokens, last = next(self._db.execute(SIZE, (base + covered, recent)))
        return Uncovered(first=covered + 1, last=max(covered, last & MAX_SEQ), events=count, tokens=tokens)

    def add(
        self, ref: SessionRef, summaries: Sequence[Summary], ledger: Sequence[LedgerLine], *, expected: int
    ) -> bool:
        covers_to = summaries[0].covers_to
        self._db.execute(COVER, (covers_to, ref.key, ref.scope_key, expected))
        if not self._db.changes():
            return False
        self._db.execute(NOTED, (ref.scope_key,))
        version = self._db.execute(NEXT_VERSION, (ref.key,)).get
        for summary in summaries:
            self._add(ref, version, summary)
        for line in ledger:
            key = self._db.execute(ADD_LEDGER, (ref.key, line.seq, line.kind, line.value, line.text)).get
            if key is not None:
                self._words.add(ref.scope_key, note_key(key, True), index_tokens(line.text))
        return True

    def _add(self, ref: SessionRef, version: int, it: Summary) -> None:
        """The new version of a topic; it takes the last one's place in the index."""
        last = self._db.execute(NEWEST, (ref.key, it.topic)).fetchone()
        if last:
            self._words.remove(ref.scope_key, note_key(last[0], False), index_tokens(last[1]))
        at = int(it.at.timestamp() * 1000)
        values = (ref.key, version, it.topic, it.covers_from, it.covers_to, it.text, it.tokens, it.by, at)
        key = self._db.execute(ADD, values).get
        self._words.add(ref.scope_key, note_key(key, False), index_tokens(it.text))

    def _notes(self, ref: SessionRef) -> dict[int, str]:
        """What can be found of this session, by the key in the index."""
        return {
            note_key(key, in_ledger): text for key, text, in_ledger in self._db.execute(NOTES, (ref.key,))
        }

    def _reindex(self, ref: SessionRef, before: dict[int, str]) -> None:
        after = self._notes(ref)
        for key, text in before.items() - after.items():
            self._words.remove(ref.scope_key, key, index_tokens(text))
        for key, text in after.items() - before.items():
            self._words.add(ref.scope_key, key, index_tokens(text))

    def current(self, ref: SessionRef, upto: int | None = None, version: int | None = None) -> list[Summary]:
        newest, last = (MAX_SEQ if bound is None else bound for bound in (upto, version))
        found: list[Summary] = []
        topic = ""
        while row := self._db.execute(NEXT, (ref.key, topic, newest, last)).fetchone():
            found.append(_summary(ref, row))
            topic = row[0]
        if len(found) > 1:
            found.sort(key=lambda it: (self._db.execute(FIRST, (ref.key, it.topic)).get, it.topic))
        return found

    def versions(
        self, ref: SessionRef, *, before: int | None = None, limit: int | None = None
    ) -> list[Summary]:
        values = (ref.key, MAX_SEQ if before is None else before, -1 if limit is None else limit)
        return [_summary(ref, row) for row in self._db.execute(VERSIONS, values)]

    def ledger(self, ref: SessionRef, *, skip: int = 0, limit: int | None = None) -> list[LedgerLine]:
        rows = self._db.execute(LEDGER, (ref.key, -1 if limit is None else limit, skip))
        names = ("seq", "kind", "value", "text")
        return [LedgerLine(**dict(zip(names, row, strict=True))) for row in rows]

    def drop(self, ref: SessionRef, seq: int) -> int:
        before = self._notes(ref)
        self._db.execute(DROP, (ref.key, seq))
        dropped = self._db.changes()
        if dropped:
            self._db.execute(NOTED, (ref.scope_key,))
            self._db.execute(UNCOVER, (ref.key,))
            self._db.execute(DROP_LEDGER, (ref.key,))
            self._reindex(ref, before)
        return dropped


def note_key(key: int, in_ledger: bool) -> int:
    """The key in the index: far enough apart that no note is another's neighbour."""
    return key << 4 | in_ledger << 3


def _summary(ref: SessionRef, row: tuple[Any, ...]) -> Summary:
    topic, version, covers_from, covers_to, text, tokens, by, at = row
    return Summary(
        session_id=ref.id,
        topic=topic,
        version=version,
        covers_from=covers_from,
        covers_to=covers_to,
        text=text,
        tokens=tokens,
        by=by,
        at=utc(at),
    )
