"""Which tokenizer the cached token counts of a file come from, and what to do when it is another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import apsw

from wellkept.models.protocol import Tokenizer
from wellkept.policy.content import loads
from wellkept.policy.text.tokens import event_tokens
from wellkept.records import Content

FIND = "SELECT value FROM settings WHERE name = 'tokenizer'"
SET = "INSERT INTO settings VALUES ('tokenizer', ?1) ON CONFLICT DO UPDATE SET value = ?1"
SEVERAL = "several"

EVENTS = "SELECT key, content, speaker, tokens FROM events WHERE key > ? ORDER BY key LIMIT 1000"
SET_TOKENS = "UPDATE events SET tokens = ? WHERE key = ?"

_SAMPLES = (
    "The quick brown fox jumps over the lazy dog, doesn't it?",
    "我小孩今年五岁，对恐龙特别着迷。",
    '{"rows": [1, 2.5, -30000], "ok": true, "名": null}',
    "def f(x):\n    return x ** 2  # 平方",
    "😀👩‍👩‍👧🇨🇳",
    "12,500.75 2026-03-07T15:00:00Z",
    "  \n\n\t",
    "supercalifragilisticexpialidocious" * 3,
)


@dataclass(frozen=True)
class Tally:
    """How a handle counts. ``name`` says it by what the counter does, since a function has no reliable name."""

    name: str
    count: Callable[[Content, str | None], int]


def tally(tokenizer: Tokenizer) -> Tally:
    """The tally of ``tokenizer``: two that agree on the samples are taken for the same."""
    name = ",".join(str(tokenizer(sample)) for sample in _SAMPLES)
    return Tally(name, lambda content, speaker: event_tokens(content, speaker, tokenizer))


def mark(connection: apsw.Connection, name: str) -> None:
    """Note in the file that counts by ``name`` may come to it; call it in a write transaction."""
    known = connection.execute(FIND).get
    if known != name:
        connection.execute(SET, (name if known is None else SEVERAL,))


def is_mixed(connection: apsw.Connection) -> bool:
    """Whether counts by several tokenizers came to the file, so that nobody relies on any of them."""
    return bool(connection.execute(FIND).get == SEVERAL)


def recount(connection: apsw.Connection, tally: Tally) -> None:
    """Count every event by ``tally`` and note that; call it in a write transaction. Those of sessions are sums of them."""
    last = -1
    while rows := _events(connection, last):
        for key, content, speaker, tokens in rows:
            counted = tally.count(loads(content), speaker)
            if counted != tokens:
                connection.execute(SET_TOKENS, (counted, key))
        last = rows[-1][0]
    connection.execute(SET, (tally.name,))


def _events(connection: apsw.Connection, after: int) -> list[Any]:
    return connection.execute(EVENTS, (after,)).fetchall()


def holds(connection: apsw.Connection, name: str) -> bool:
    """Whether every cached count in the file is by ``name``."""
    return bool(connection.execute(FIND).get == name)
