"""Callers that leave before they are answered."""

from __future__ import annotations

import asyncio

from starlette.types import Receive

from wellkept.server.deadline import Interruption


class CallerLeft(Exception):
    """Nobody waits for the answer any more."""


async def left(receive: Receive) -> None:
    """Return when the caller of a request, whose body was read, has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class WhileAwaited(Interruption):
    """A block that works for a caller whose request was read: ``with WhileAwaited(receive): await …`` raises CallerLeft when
    nobody waits for it any more."""

    error = CallerLeft

    def __init__(self, receive: Receive) -> None:
        self._receive = receive

    def _watch(self) -> None:
        self._watcher = asyncio.create_task(self._look())

    async def _look(self) -> None:
        await left(self._receive)
        self._pass()

    def _unwatch(self) -> None:
        self._watcher.cancel()
