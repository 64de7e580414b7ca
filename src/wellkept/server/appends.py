"""Appends of many callers, handed to the store together: what arrives during a commit goes with the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from wellkept.aio import AsyncMemory
from wellkept.arrivals import Arrival
from wellkept.records import Event

MOST = 256
_Waiting: TypeAlias = tuple[Arrival, "asyncio.Future[list[Event]]"]


class Appends:
    """The line in front of one memory. A lone caller does not wait in it."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, arrival: Arrival) -> list[Event]:
        """The events, durable. Raises what ``Session.append`` raises.

        A caller that is cancelled may find its messages stored or not, but never in part.
        """
        loop = asyncio.get_running_loop()
        mine = loop.create_future()
        self._waiting.append((arrival, mine))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work())
        events: list[Event] = await mine
        return events

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            arrivals = [arrival for arrival, _ in batch]
            outcomes: Sequence[list[Event] | Exception]
            try:
                outcomes = await self._memory.append_all(arrivals)
            except Exception as error:  # noqa: BLE001 - each caller gets it
                outcomes = [error] * len(batch)
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if future.done():
                    continue
                if isinstance(outcome, BaseException):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)
