"""The tail: the newest messages of a user, which the text index does not hold yet.

Words are put into the index for many messages at once, in the transaction of the message that makes the tail long
enough, because each commit that touches the index writes several pages of it. Until then a search reads the tail itself:
what was said a moment ago is found like all else. (The same trade as the memory table of a log-structured merge tree;
O'Neil et al., "The log-structured merge-tree", 1996.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import apsw

from wellkept.policy.content import loads
from wellkept.policy.recall.terms import HEAVY, event_terms
from wellkept.policy.text.words import Term
from wellkept.store.sqlite.keys import SEQ_BITS
from wellkept.store.sqlite.terms import Terms

IN_TAIL = -1
"""Stands in a row for the number of its terms as long as nobody counted them."""
LONGEST = 32  # messages
LOOK_EVERY = 8  # messages of a session

SCHEMA = "CREATE INDEX events_tail ON events (scope) WHERE terms < 0;"
LENGTH = "SELECT count(*) FROM events WHERE scope = ? AND terms < 0"
ROWS = "SELECT key, content, speaker FROM events WHERE scope = ? AND terms < 0 ORDER BY key"
COUNT = "UPDATE events SET terms = ? WHERE key = ?"
COUNT_SESSION = "UPDATE sessions SET terms = terms + ? WHERE key = ?"


def is_due(connection: apsw.Connection, owner: int, seqs: range) -> bool:
    """Whether the tail of a scope is to be indexed now that a session has messages at ``seqs``.

    A session looks at its first message and at each eighth one after it, which bounds the tail by the number of sessions
    that are being talked in.
    """
    looks = any(seq % LOOK_EVERY == 1 for seq in seqs)
    return looks and int(connection.execute(LENGTH, (owner,)).get) >= LONGEST


class Words(NamedTuple):
    """The terms of a message: how often each stands in it, how many begin with which character, and how many there are."""

    counts: Mapping[str, int]
    heads: Mapping[str, int]
    size: int


def read(connection: apsw.Connection, owner: int | None) -> dict[int, Words]:
    """The terms of each message in the tail of a scope, by key."""
    return {key: words_of(content, speaker) for key, content, speaker in connection.execute(ROWS, (owner,))}


def occurrences(messages: Mapping[int, Words], terms: Collection[Term]) -> Iterator[tuple[Term, int, int]]:
    """Each of ``terms`` with the key of each message that it stands in, and how often it does."""
    exact = {term.text: term for term in terms if not term.prefix}
    # A prefix is a single character.
    heads = {term.text: term for term in terms if term.prefix}
    for key, words in messages.items():
        for text in exact.keys() & words.counts.keys():
            yield exact[text], key, words.counts[text]
        for text in heads.keys() & words.heads.keys():
            yield heads[text], key, words.heads[text]


def words_of(stored: str, speaker: str | None) -> Words:
    """The terms of a message as it is stored."""
    # One search after the other reads the same rows.
    return _remembered(stored, speaker) if len(stored) <= HEAVY else _words_of(stored, speaker)


def _words_of(stored: str, speaker: str | None) -> Words:
    terms = event_terms(loads(stored), speaker)
    return Words(Counter(terms), Counter(term[0] for term in terms), len(terms))


_remembered = lru_cache(maxsize=512)(_words_of)


def index(connection: apsw.Connection, owner: int, known: Mapping[int, Sequence[str]]) -> None:
    """Put the tail of a scope into the text index; call it in a write transaction. ``known``: terms of messages by key."""
    rows: list[Any] = connection.execute(ROWS, (owner,)).fetchall()
    terms: dict[int, Sequence[str]] = {
        key: known[key] if key in known else event_terms(loads(content), speaker)
        for key, content, speaker in rows
    }
    Terms(connection).add_all(owner, terms)
    connection.executemany(COUNT, [(len(its), key) for key, its in terms.items()])
    sizes: Counter[int] = Counter()
    for key, its in terms.items():
        sizes[key >> SEQ_BITS] += len(its)
    connection.executemany(COUNT_SESSION, [(size, session) for session, size in sizes.items()])
