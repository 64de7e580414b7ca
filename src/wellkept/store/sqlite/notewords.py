"""Where words stand in summaries and ledgers: a plain table, because notes are few and change seldom.

A look-up in it costs less than half of one in a full-text index, which pays where as many words come in as messages do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence

import apsw

from wellkept.policy.recall.corpus import Postings
from wellkept.policy.text.words import Term

SCHEMA = """
    CREATE TABLE note_words (
        scope INTEGER NOT NULL, word TEXT NOT NULL, note INTEGER NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (scope, word, note)
    ) WITHOUT ROWID;
"""
# What an older file has in a full-text index, whose terms begin with their scope.
TAKE_OVER = """
    INSERT INTO note_words SELECT s.scope, substr(p.term, instr(p.term, 'x') + 1), p.doc, count(*) FROM summary_postings p
    JOIN sessions s ON s.key = CASE WHEN p.doc & 8 THEN (SELECT session FROM ledger WHERE key = p.doc >> 4)
        ELSE (SELECT session FROM summaries WHERE key = p.doc >> 4) END
    GROUP BY p.term, p.doc;
    DROP TABLE summary_postings;
    DROP TABLE summary_terms;
"""
ADD = "INSERT INTO note_words (scope, word, note, count) VALUES (?, ?, ?, ?)"
REMOVE = "DELETE FROM note_words WHERE scope = ? AND word = ? AND note = ?"
_FIND = """
    SELECT asked.key, w.note, w.count FROM json_each(?2) asked
    CROSS JOIN note_words w ON w.scope = ?1 AND w.word {test}
"""
FIND = _FIND.format(test="= asked.value")
FIND_STARTS = _FIND.format(test="BETWEEN asked.value AND asked.value || '\U0010ffff'")


class NoteWords:
    """See ``store.sqlite.terms.Terms``, which does the same for messages."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def add(self, scope_key: int, note: int, words: Sequence[str]) -> None:
        """Note that ``words`` stand in ``note``."""
        counts = Counter(words)
        self._db.executemany(ADD, [(scope_key, word, note, count) for word, count in counts.items()])

    def remove(self, scope_key: int, note: int, words: Sequence[str]) -> None:
        """Take out what was added with just these ``words``."""
        self._db.executemany(REMOVE, [(scope_key, word, note) for word in set(words)])

    def postings(self, scope_key: int, terms: Collection[Term]) -> dict[Term, Postings]:
        """How often each term stands in which note."""
        exact = self._found(FIND, scope_key, [term for term in terms if not term.prefix])
        return exact | self._found(FIND_STARTS, scope_key, [term for term in terms if term.prefix])

    def _found(self, statement: str, scope_key: int, terms: Sequence[Term]) -> dict[Term, Postings]:
        found: list[dict[int, int]] = [{} for _ in terms]
        asked = json.dumps([term.text for term in terms], ensure_ascii=False)
        for place, note, count in self._db.execute(statement, (scope_key, asked)) if terms else ():
            found[place][note] = found[place].get(note, 0) + count
        return dict(zip(terms, found, strict=True))
