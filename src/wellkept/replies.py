"""Requests that may come twice: the second one gets the answer of the first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeAlias

from wellkept.core import Core
from wellkept.errors import Conflict
from wellkept.records import Scope
from wellkept.store.protocol import Tables
from wellkept.store.replies import KeptReply

KEEP_MS = 24 * 3600 * 1000

Reply: TypeAlias = tuple[int, bytes]
"""A status and a body."""


class ReplyLog:
    """``memory.replies``: answers kept for a day under the key that the caller gave (Idempotency-Key,
    draft-ietf-httpapi-idempotency-key-header)."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def once(self, scope: Scope, key: str, request: bytes, work: Callable[[], Reply]) -> tuple[Reply, bool]:
        """The answer of ``work``, and whether it is one that was kept.

        What ``work`` writes by this memory and its answer are one commit: whoever dies leaves both behind or neither, and
        of several at once one does the work. What it raises is raised, and nothing is done.

        Raises Conflict when the key was used for another request.
        """

        def do(tables: Tables) -> tuple[Reply, bool]:
            kept = self._find(tables, scope, key, request)
            if kept is not None:
                return kept, True
            reply = work()
            self._keep(tables, scope, key, request, reply)
            return reply, False

        done = self._core.store.write(do)
        self._core.notify()
        return done

    def find(self, scope: Scope, key: str, request: bytes) -> Reply | None:
        """The answer that is kept, for work that cannot be one commit with it. Raises Conflict, as ``once`` does."""
        return self._core.store.read(lambda tables: self._find(tables, scope, key, request))

    def keep(self, scope: Scope, key: str, request: bytes, reply: Reply) -> None:
        """Keep the answer of such work."""
        self._core.store.write(lambda tables: self._keep(tables, scope, key, request, reply))

    def _find(self, tables: Tables, scope: Scope, key: str, request: bytes) -> Reply | None:
        kept = tables.replies.find(scope, _digest(key.encode()), oldest=self._core.now() - KEEP_MS)
        if kept is None:
            return None
        if kept.request != _digest(request):
            raise Conflict("This Idempotency-Key was used for another request. Use a new one for each.")
        return kept.status, kept.body

    def _keep(self, tables: Tables, scope: Scope, key: str, request: bytes, reply: Reply) -> None:
        now = self._core.now()
        kept = KeptReply(_digest(request), *reply)
        tables.replies.keep(scope, _digest(key.encode()), kept, at=now, oldest=now - KEEP_MS)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
