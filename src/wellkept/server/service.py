"""The parts of one running service, handed to every door."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from fastapi import Depends, Request

from wellkept.aio import AsyncMemory
from wellkept.server.appends import Appends
from wellkept.server.auth import Doorkeeper
from wellkept.server.live import Live
from wellkept.server.metrics import Metrics
from wellkept.server.settings import Settings
from wellkept.server.spans import Spans
from wellkept.server.upstream import Upstreams


@dataclass(frozen=True)
class Service:
    """One memory, opened to the network.

    Attributes:
        keeping: held by work whose answer is kept after it, so that two with one key do it once.
    """

    memory: AsyncMemory
    settings: Settings
    doorkeeper: Doorkeeper
    live: Live
    upstreams: Upstreams
    appends: Appends
    spans: Spans
    metrics: Metrics = field(default_factory=Metrics)
    keeping: asyncio.Lock = field(default_factory=asyncio.Lock)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` whatever becomes of the request; the service waits for it before it ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what runs, then let go of the memory."""
        self.live.end()
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self.upstreams.close()
        await self.memory.close()


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    return cast(Service, request.app.state.service)


async def _served(request: Request) -> Service:
    # A plain function would be run in a thread.
    return service_of(request)


Served = Annotated[Service, Depends(_served)]
