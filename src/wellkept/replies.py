"""Requests that may come twice: the second one gets the answer of the first."""

from __future__ import annotations

import hashlib

from wellkept.core import Core
from wellkept.errors import Conflict, InvalidInput
from wellkept.records import Scope
from wellkept.store.replies import KeptReply

KEEP_MS = 24 * 3600 * 1000
STALE_MS = 60 * 1000
MAX_KEY = 255


class ReplyLog:
    """``memory.replies``: answers kept for a day under the key that the caller gave (Idempotency-Key,
    draft-ietf-httpapi-idempotency-key-header)."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def begin(self, scope: Scope, key: str, request: bytes) -> KeptReply | None:
        """None when the request is new: do it, then ``finish`` or ``abandon``. Else its answer.

        Raises:
            Conflict: the same request is being worked on; a process that died lets go of it after a minute.
            InvalidInput: the key was used for another request, or is empty or too long.
        """
        if not 0 < len(key) <= MAX_KEY:
            raise InvalidInput(f"The Idempotency-Key has {len(key)} characters; it must have 1 to {MAX_KEY}.")
        now, wanted = self._core.now(), _digest(request)
        kept = self._core.store.write(
            lambda tables: tables.replies.claim(
                scope, _digest(key.encode()), wanted, at=now, oldest=now - KEEP_MS, stale=now - STALE_MS
            )
        )
        if kept is not None and kept.request != wanted:
            raise InvalidInput("This Idempotency-Key was used for another request. Use a new one for each.")
        if kept is not None and kept.status is None:
            raise Conflict("A request with this Idempotency-Key is being worked on. Ask again in a moment.")
        return kept

    def finish(self, scope: Scope, key: str, status: int, body: bytes) -> None:
        """Keep the answer."""
        self._core.store.write(lambda tables: tables.replies.keep(scope, _digest(key.encode()), status, body))

    def abandon(self, scope: Scope, key: str) -> None:
        """Keep nothing, so that the request may be tried again."""
        self._core.store.write(lambda tables: tables.replies.drop(scope, _digest(key.encode())))


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
