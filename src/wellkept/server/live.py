"""Server-sent events: what changes in a session or around a user, as it happens.

What this process writes wakes the streams at once; what other processes write is found by looking. Looking is
the truth and waking only makes it sooner, so that no change is lost.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

from starlette.responses import StreamingResponse

from wellkept.aio import AsyncMemory
from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.records import Record, Scope
from wellkept.store.jobs import Job

PAGE = 100
SHOWN = 50
LEAST_SECONDS = 0.1
BEAT_SECONDS = 15.0


class Live:
    """Makes the streams of one service."""

    def __init__(self, memory: AsyncMemory, seconds: float) -> None:
        self._memory = memory
        self._seconds = seconds
        self._woken = asyncio.Event()
        self.ended = False

    def wake(self) -> None:
        """Something was written: let the streams look."""
        self._woken.set()
        self._woken = asyncio.Event()

    def end(self) -> None:
        """End every stream, for the service to stop."""
        self.ended = True
        self.wake()

    async def session(self, scope: Scope, session_id: str, after: int) -> AsyncIterator[str]:
        """Each message behind ``after``, and every later one: ``event: message``, its seq as id."""

        def newer(memory: Memory) -> list[tuple[int, Record]]:
            reader = memory.read_only().session(
                namespace=scope.namespace, user=scope.user, session_id=session_id
            )
            return [(event.seq, event) for event in reader.get_events(after=after, limit=PAGE)]

        while not self.ended:
            woken = self._woken
            found = await self._memory.run(newer)
            for seq, event in found:
                after = seq
                yield sse("message", event.to_dict(), id=str(seq))
            if len(found) < PAGE:
                await self._wait(woken)

    async def user(self, scope: Scope) -> AsyncIterator[str]:
        """What changes around a user: ``event: session``, ``event: job``, ``event: change`` of a fact, and
        ``event: action`` for what was done to anything else."""
        look = _Changes(scope)
        await self._memory.run(look)
        yield sse("ready", {})
        while not self.ended:
            woken = self._woken
            for kind, record in await self._memory.run(look):
                yield sse(kind, record.to_dict())
            await self._wait(woken)

    async def _wait(self, woken: asyncio.Event) -> None:
        await asyncio.sleep(LEAST_SECONDS)
        try:
            await asyncio.wait_for(woken.wait(), self._seconds)
        except asyncio.TimeoutError:
            return


class _Changes:
    """Compares the newest sessions, jobs and changes of a user with those of the last look."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._seen: dict[tuple[str, Any], Record] = {}

    def __call__(self, memory: Memory) -> list[tuple[str, Record]]:
        user = memory.user(self._scope.user, namespace=self._scope.namespace)
        now: dict[tuple[str, Any], Record] = {
            ("session", info.id): info for info in user.sessions(limit=SHOWN)
        }
        now |= {("job", job.id): job for job in memory.jobs.list(scope=self._scope, limit=SHOWN)}
        now |= {("change", change.id): change for change in user.changes(limit=SHOWN)}
        now |= {("action", action.id): action for action in user.actions(limit=SHOWN)}
        seen, self._seen = self._seen, {key: _lasting(record) for key, record in now.items()}
        return [(key[0], record) for key, record in now.items() if seen.get(key) != self._seen[key]]


def _lasting(record: Record) -> Record:
    """What of a record is news when it changes: that the worker of a job lives is none."""
    if isinstance(record, Job) and record.state == "running":
        return replace(record, run_at=record.created_at)
    return record


def sse(event: str, data: Any, *, id: str | None = None) -> str:
    """One server-sent event."""
    head = f"id: {id}\n" if id is not None else ""
    return f"{head}event: {event}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def stream(events: AsyncIterator[str], check: Callable[[], Awaitable[object]]) -> StreamingResponse:
    """``events`` as a response, with a sign of life in silence; ``check`` is awaited now and then."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_beating(events, check), 200, headers, "text/event-stream")


async def _beating(events: AsyncIterator[str], check: Callable[[], Awaitable[object]]) -> AsyncIterator[str]:
    """An event at once when there is one, else a comment every ``BEAT_SECONDS``."""
    yield "retry: 2000\n\n"
    pending: asyncio.Task[str] | None = None
    try:
        while True:
            pending = pending or asyncio.create_task(_next(events))
            done, _ = await asyncio.wait([pending], timeout=BEAT_SECONDS)
            if done:
                event, pending = pending.result(), None
                yield event
            else:
                await check()
                yield ": still here\n\n"
    except StopAsyncIteration:
        return
    except NotFound:
        yield sse("gone", {})
    finally:
        if pending is not None:
            pending.cancel()


async def _next(events: AsyncIterator[str]) -> str:
    return await anext(events)
