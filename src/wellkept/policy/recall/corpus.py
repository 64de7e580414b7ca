"""What ranking has to know of one person's memory: the shape of an index, of a document and of a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from wellkept.policy.text.words import Term

Postings: TypeAlias = Mapping[int, int]
"""How often a term occurs, by document key."""


class Doc(NamedTuple):
    """What is known of a document without reading it.

    Attributes:
        length: its tokens in the index.
        role: "user", "assistant", "tool" or "system"; facts and summaries count as the user's.
        ts: when it was said, in milliseconds since 1970, UTC.
        speaker: who said it, where a role is not enough.
    """

    length: int
    role: str
    ts: int
    speaker: str | None = None


class Window(NamedTuple):
    """The time that a question speaks of: from ``start`` up to ``end``, both aware."""

    start: datetime
    end: datetime


class Index(Protocol):
    """One person's memory, as a store has it at hand.

    Keys are integers. Messages that follow one another in a session have consecutive keys; sessions, and
    whatever is no message, lie at least three apart (``session number << 20 | place`` is such a key).
    """

    @property
    def documents(self) -> int:
        """How many documents there are."""

    @property
    def average(self) -> float:
        """Their average length in tokens."""

    @property
    def speakers(self) -> Collection[str]:
        """Everybody who is the speaker of a document."""

    def postings(self, terms: Collection[Term]) -> Mapping[Term, Postings]:
        """Where each term occurs and how often; for a prefix, all tokens that it starts, together."""

    def docs(self, keys: Iterable[int]) -> Mapping[int, Doc]:
        """A mapping with those of ``keys`` that exist, and perhaps with others: it may be of all that are known."""

    def texts(self, keys: Collection[int]) -> Mapping[int, str]:
        """The texts of those of ``keys`` that exist."""
