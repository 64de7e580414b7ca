"""The tail: the newest messages of a user, which the text index does not hold yet.

Words are put into the index for many messages at once, in the transaction of the message that makes the tail long
enough, because each commit that touches the index writes several pages of it. Until then a search reads the tail itself:
what was said a moment ago is found like all else. (The same trade as the memory table of a log-structured merge tree;
O'Neil et al., "The log-structured merge-tree", 1996.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import apsw

from wellkept.policy.content import loads
from wellkept.policy.terms import event_terms
from wellkept.policy.words import Term
from wellkept.store.sqlite.keys import SEQ_BITS
from wellkept.store.sqlite.terms import Terms

IN_TAIL = -1
"""Stands in a row for the number of its terms as long as nobody counted them."""
LONGEST = 32  # messages
LOOK_EVERY = 8  # messages of a session
HEAVIEST = 4_000  # characters of a message that no search should have to read

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


def counts(connection: apsw.Connection, owner: int | None) -> dict[int, Mapping[str, int]]:
    """How often each term stands in which message of the tail, by key."""
    rows = connection.execute(ROWS, (owner,))
    return {key: counted(content, speaker) for key, content, speaker in rows}


def count(counts: Mapping[str, int], term: Term) -> int:
    """How often ``term`` stands in a message of the tail; a prefix, all that it starts."""
    if not term.prefix:
        return counts.get(term.text, 0)
    return sum(count for token, count in counts.items() if token.startswith(term.text))


def size(stored: str, speaker: str | None) -> int:
    """How many terms a message of the tail has."""
    return sum(counted(stored, speaker).values())


def counted(stored: str, speaker: str | None) -> Mapping[str, int]:
    """How often each term stands in a message; not to be changed."""
    # One search after the other reads the same rows.
    return _remembered(stored, speaker) if len(stored) <= HEAVIEST else _counted(stored, speaker)


def _counted(stored: str, speaker: str | None) -> Mapping[str, int]:
    return Counter(event_terms(loads(stored), speaker))


_remembered = lru_cache(maxsize=512)(_counted)


def index(connection: apsw.Connection, owner: int) -> None:
    """Put the tail of a scope into the text index; call it in a write transaction."""
    terms = Terms(connection, "event")
    rows: list[Any] = connection.execute(ROWS, (owner,)).fetchall()
    counts: Counter[int] = Counter()
    for key, content, speaker in rows:
        its = event_terms(loads(content), speaker)
        if its:
            terms.add(owner, key, its)
        connection.execute(COUNT, (len(its), key))
        counts[key >> SEQ_BITS] += len(its)
    for session, count in counts.items():
        connection.execute(COUNT_SESSION, (count, session))
