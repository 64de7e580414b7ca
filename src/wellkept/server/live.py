"""Server-sent events: what changes in a session or around a user, as it happens.

What this process writes wakes the streams at once; what other processes write is found by looking. Looking is
the truth and waking only makes it sooner, so that no change is lost.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import StreamingResponse

from wellkept.aio import AsyncMemory
from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.records import Record, Scope
from wellkept.server.problems import Problem
from wellkept.store.actions import Action
from wellkept.store.facts import Change
from wellkept.store.jobs import Job

PAGE = 100
SHOWN = 50
ALL = 1 << 31
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
        """What changes around a user: ``event: session`` and ``event: job``, of the newest ``SHOWN`` of each, and every
        ``event: change`` of a fact and ``event: action`` on anything else."""
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
    """What is new since the last look: of the newest sessions and jobs by comparing them, of the logs by their numbers."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._seen: dict[tuple[str, Any], Record] = {}
        self._changes, self._actions = _Log(), _Log()

    def __call__(self, memory: Memory) -> list[tuple[str, Record]]:
        user = memory.user(self._scope.user, namespace=self._scope.namespace)
        now: dict[tuple[str, Any], Record] = {
            ("session", info.id): info for info in user.sessions(limit=SHOWN)
        }
        now |= {("job", job.id): job for job in memory.jobs.list(scope=self._scope, limit=SHOWN)}
        seen, self._seen = self._seen, {key: _lasting(record) for key, record in now.items()}
        changed = [(key[0], record) for key, record in now.items() if seen.get(key) != self._seen[key]]
        changed += [("change", change) for change in self._changes.newer(user.changes)]
        return changed + [("action", action) for action in self._actions.newer(user.actions)]


class _Log:
    """How far a log of the user was read."""

    def __init__(self) -> None:
        self._newest: int | None = None

    def newer(self, read: Callable[..., Sequence[Change | Action]]) -> Sequence[Record]:
        """What stands behind that, oldest first; at the first look only the newest line."""
        most = 1 if self._newest is None else ALL
        found = sorted(read(limit=most, after=self._newest or 0), key=lambda it: it.id)
        self._newest = found[-1].id if found else self._newest or 0
        return found


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
    """``events`` as a response, with a sign of life in silence.

    ``check`` is awaited before anything is told; when it raises a problem, because the visitor's key was revoked, the
    stream ends.
    """
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
            said = ": still here\n\n"
            if done:
                said, pending = pending.result(), None
            await check()
            yield said
    except (StopAsyncIteration, Problem):
        return
    except NotFound:
        yield sse("gone", {})
    finally:
        if pending is not None:
            pending.cancel()


async def _next(events: AsyncIterator[str]) -> str:
    return await anext(events)
