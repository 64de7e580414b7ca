"""A text index in SQLite: a contentless FTS5 table of our own tokens, and its postings.

Tokens are salted with the scope: no query can reach another scope's rows, a term's frequency is the user's own,
and the cost of a question follows the size of one user's memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import apsw

from wellkept.policy.recall.corpus import Postings
from wellkept.policy.text.words import Term

SCHEMA = """
    CREATE VIRTUAL TABLE {name}_terms USING fts5 (terms, content='', columnsize=0, tokenize='ascii');
    INSERT INTO {name}_terms ({name}_terms, rank) VALUES ('secure-delete', 1);
    CREATE VIRTUAL TABLE {name}_postings USING fts5vocab ({name}_terms, instance);
"""
FREQUENCIES = "CREATE VIRTUAL TABLE {name}_frequencies USING fts5vocab ({name}_terms, row);"
ADD = "INSERT INTO event_terms (rowid, terms) VALUES (?, ?)"
REMOVE = "INSERT INTO event_terms (event_terms, rowid, terms) VALUES ('delete', ?, ?)"
# One text for all terms, because each row that reaches Python costs as much as a place in the index.
_FIND = """
    SELECT group_concat((SELECT json_group_array(doc) FROM event_postings WHERE term {test})) FROM json_each(?) asked
"""
FIND = _FIND.format(test="= asked.value")
FIND_STARTS = _FIND.format(test="BETWEEN asked.value AND asked.value || '\U0010ffff'")


class Terms:
    """The index of messages: their terms by key."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def add(self, scope_key: int, key: int, terms: Sequence[str]) -> None:
        """Index ``terms`` under ``key``."""
        self._db.execute(ADD, (key, salted(scope_key, terms)))

    def add_all(self, scope_key: int, terms: Mapping[int, Sequence[str]]) -> None:
        """Index the terms of many keys."""
        rows = [(key, salted(scope_key, its)) for key, its in terms.items() if its]
        self._db.executemany(ADD, rows)

    def remove(self, scope_key: int, key: int, terms: Sequence[str]) -> None:
        """Take out what was added with just these ``terms``."""
        self._db.execute(REMOVE, (key, salted(scope_key, terms)))

    def postings(self, scope_key: int, terms: Collection[Term]) -> dict[Term, Postings]:
        """How often each term stands in which row."""
        exact = self._found(FIND, scope_key, [term for term in terms if not term.prefix])
        return exact | self._found(FIND_STARTS, scope_key, [term for term in terms if term.prefix])

    def _found(self, statement: str, scope_key: int, terms: Sequence[Term]) -> dict[Term, Postings]:
        if not terms:
            return {}
        salt = f"{scope_key:x}x"
        asked = json.dumps([salt + term.text for term in terms], ensure_ascii=False)
        places = json.loads(f"[{self._db.execute(statement, (asked,)).get}]")
        return dict(zip(terms, map(_counted, places), strict=True))


def _counted(docs: list[int]) -> Postings:
    """How often each of ``docs`` occurs; most words occur once in whatever they occur in."""
    once = dict.fromkeys(docs, 1)
    return once if len(once) == len(docs) else Counter(docs)


def salted(scope_key: int, terms: Sequence[str]) -> str:
    """``terms`` as the index holds them."""
    salt = f"{scope_key:x}x"
    return salt + f" {salt}".join(terms) if terms else ""
