"""What a store must offer for messages: the transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from wellkept.records import Content, Event, Role

if TYPE_CHECKING:
    from wellkept.store.protocol import SessionRef


@dataclass(slots=True, kw_only=True)
class NewEvent:
    """An event made ready outside the transaction.

    Attributes:
        ts: milliseconds since 1970, UTC.
        stored: ``content`` as text for the store (``policy.content``).
        terms: the index terms of a message that takes long to read; None where the store reads it itself.
    """

    role: Role
    content: Content
    stored: str
    ts: int
    tokens: int
    speaker: str | None = None
    metadata: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    terms: Sequence[str] | None = None


class Events(Protocol):
    """The transcript."""

    def append(self, ref: SessionRef, events: Sequence[NewEvent], *, at: int) -> list[Event]:
        """Append in order; an event whose idempotency key is known is not stored again, the stored one comes
        back.

        Raises NotFound when the session is gone, Conflict when a known key comes with other content.
        """

    def walk_back(self, ref: SessionRef, *, before: int | None = None) -> Iterator[Event]:
        """Newest first, lazily; only those with a seq below ``before``."""

    def walk(self, ref: SessionRef, *, after: int = 0, until: int | None = None) -> Iterator[Event]:
        """Oldest first, lazily; those with ``after`` < seq <= ``until``."""

    def get(self, ref: SessionRef, seq: int) -> Event | None:
        """One event."""

    def between(
        self,
        ref: SessionRef,
        since: int | None,
        until: int | None,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int,
    ) -> list[Event]:
        """Events with ``since`` <= ts < ``until`` (ms) and ``after`` < seq < ``before``, in conversation order."""

    def seq_at(self, ref: SessionRef, at: int) -> int:
        """The newest seq whose ts is not after ``at`` (ms); 0 when there is none."""

    def remove(self, ref: SessionRef, events: Sequence[Event]) -> int:
        """Take these away for good, index rows included; how many there were."""
