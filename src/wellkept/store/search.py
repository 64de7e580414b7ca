"""What a store offers for finding: its documents as ranking reads them, and their vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from wellkept.policy.recall.corpus import Doc, Postings
from wellkept.policy.recall.filters import ANYTHING, Condition
from wellkept.policy.text.words import Term
from wellkept.records import Record, Scope
from wellkept.store.protocol import SessionRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow(Record):
    """What a search may find: of one session, of a time (``since`` <= ts < ``until``, ms), that fit a filter."""

    session: SessionRef | None = None
    since: int | None = None
    until: int | None = None
    condition: Condition = ANYTHING

    def spans(self, ts: int) -> bool:
        """Whether ``ts`` (ms) lies in its time."""
        return (self.since is None or ts >= self.since) and (self.until is None or ts < self.until)


class Hit(NamedTuple):
    """A document as a result shows it. ``events``: ids of the events that it was made from."""

    kind: str
    id: str
    session_id: str | None
    text: str
    ts: datetime
    role: str
    speaker: str | None
    events: tuple[str, ...]


class Roll(NamedTuple):
    """All documents of one kind of a scope, how many index terms they have together, and everybody who speaks in them.
    Not to be changed: threads share it."""

    docs: Mapping[int, Doc]
    terms: int
    speakers: frozenset[str] = frozenset()


class Corpus(Protocol):
    """One kind of document of a scope, as ranking reads it (see ``policy.recall.corpus.Index``). Keys are the store's own."""

    @property
    def kind(self) -> str:
        """ "event", "fact" or "summary"."""

    def size(self, scope: Scope) -> tuple[int, int]:
        """How many documents the scope has, and how many index terms they have together."""

    def speakers(self, scope: Scope) -> set[str]:
        """Everybody who speaks in them."""

    def postings(self, scope: Scope, terms: Collection[Term]) -> Mapping[Term, Postings]:
        """How often each term stands in which document. Not to be changed: threads share it."""

    def roll(self, scope: Scope) -> Roll | None:
        """All of them; None when they are not kept at hand, because there are too many or it cannot be done now."""

    def docs(self, scope: Scope, keys: Collection[int], narrow: Narrow) -> dict[int, Doc]:
        """Those of ``keys`` that exist and that ``narrow`` lets through."""

    def hits(self, scope: Scope, keys: Collection[int]) -> dict[int, Hit]:
        """Them as results show them."""


class Unembedded(NamedTuple):
    """A document that waits for its vector, or has one."""

    kind: str
    key: int


class Near(NamedTuple):
    """The nearest documents by (kind, key) with their cosines; mean and deviation over all of the scope."""

    cosines: dict[tuple[str, int], float]
    mean: float
    deviation: float


class Vectors(Protocol):
    """Vectors of documents, and the outbox of those that wait for one."""

    def want_events(self, ref: SessionRef, seqs: Iterable[int]) -> None:
        """Put events of a session into the outbox."""

    def want_facts(self, scope: Scope, keys: Iterable[int]) -> None:
        """Put facts into the outbox; vectors that they had are of an older text and go."""

    def wanted(self, scope: Scope, limit: int) -> list[Unembedded]:
        """Some of the scope's that wait."""

    def add(
        self, scope: Scope, name: str, dimension: int, vectors: Mapping[Unembedded, Sequence[float] | None]
    ) -> int:
        """Store vectors of the embedder ``name`` and take their documents out of the outbox (None: only that)."""

    def near(self, scope: Scope, name: str, vector: Sequence[float], kinds: Sequence[str]) -> Near:
        """The nearest documents by vectors of the embedder ``name``; vectors of others are ignored."""

    def counts(self) -> list[tuple[str, int, int]]:
        """(embedder, dimension, vectors) over the whole store."""

    def waiting(self, scope: Scope | None = None) -> int:
        """How many documents wait for a vector."""

    def remake(self, scope: Scope, name: str, dimension: int) -> int:
        """Put all documents into the outbox that have no vector of the embedder ``name``; how many wait now."""
