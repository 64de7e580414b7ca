"""What a store must offer for answers that are kept for requests that may come twice."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from wellkept.records import Scope


class KeptReply(NamedTuple):
    """A request, by its hash, and the answer that it got; ``status`` is None while it is being worked on."""

    request: bytes
    status: int | None
    body: bytes | None


class Replies(Protocol):
    """Answers kept for a while, for requests that may come twice. The user of a scope may be empty here."""

    def claim(
        self, scope: Scope, key: bytes, request: bytes, *, at: int, oldest: int, stale: int
    ) -> KeptReply | None:
        """None when the key is new and now taken; else what is kept for it.

        Forgets answers from before ``oldest`` (ms), and requests from before ``stale`` that never got one.
        """

    def keep(self, scope: Scope, key: bytes, status: int, body: bytes) -> None:
        """The answer to a request that was claimed."""

    def drop(self, scope: Scope, key: bytes) -> None:
        """Give the key free again."""

    def forget(self, scope: Scope, *, holding: str | None = None) -> int:
        """Remove every answer that may hold something about this user, or those with the text ``holding``; how many
        there were."""
