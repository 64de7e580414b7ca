"""What a store must offer for answers that are kept for requests that may come twice."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from wellkept.records import Scope


class KeptReply(NamedTuple):
    """A request, by its hash, and the answer that it got."""

    request: bytes
    status: int
    body: bytes


class Replies(Protocol):
    """Answers kept for a while, for requests that may come twice. The user of a scope may be empty here."""

    def find(self, scope: Scope, key: bytes, *, oldest: int) -> KeptReply | None:
        """What is kept for the key since ``oldest`` (ms)."""

    def keep(self, scope: Scope, key: bytes, reply: KeptReply, *, at: int, oldest: int) -> None:
        """Keep an answer, and forget all from before ``oldest`` (ms)."""

    def forget(self, scope: Scope, *, holding: str | None = None) -> int:
        """Remove every answer that may hold something about this user, or those with the text ``holding``; how many
        there were."""
