"""Passes an upstream's answer on, byte by byte, and has it recorded before its last bytes leave."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from wellkept.server.answers import Answer
from wellkept.server.leaving import left
from wellkept.server.reply import Reply, UpstreamFailed
from wellkept.server.upstream import forwarded

log = logging.getLogger("wellkept.gateway")

Record = Callable[[Answer], Coroutine[Any, Any, None]]
Later = Callable[[Coroutine[Any, Any, None]], None]


class Relay(Response):
    """A response that is the upstream's, with a few headers of ours.

    Args:
        later: runs a coroutine that must outlive this response.
        answer: reads a copy; None for what is not to be recorded.
        record: called once with the answer: at its end before the caller sees the end, so that the next request
            finds it; or when the connection to either side was cut.
    """

    def __init__(
        self,
        reply: Reply,
        headers: dict[str, str],
        later: Later,
        answer: Answer | None = None,
        record: Record | None = None,
    ) -> None:
        self.status_code = reply.status
        own = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self.raw_headers = forwarded(reply.headers.raw) + own
        self._reply = reply
        self._answer = answer
        self._record = record
        self._later = later

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A cut is passed on as one: the response ends without its end, and the server closes the connection."""
        leaving = asyncio.create_task(self._await_leaving(receive))
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            await self._pass(send)
        except UpstreamFailed as error:
            if not leaving.done():
                log.warning("An upstream broke off its answer: %s", error)
        finally:
            leaving.cancel()
            self._reply.close()
            if self._record is not None:
                # This task may have been cancelled.
                self._later(self._recorded())

    async def _await_leaving(self, receive: Receive) -> None:
        """Cut the upstream when nobody waits for its answer any more."""
        await left(receive)
        self._reply.close()

    async def _pass(self, send: Send) -> None:
        """Send what comes. Of an answer that is no stream one chunk is held back, for its end to be seen first."""
        is_stream = self._reply.headers.get("content-type", "").startswith("text/event-stream")
        held = b""
        try:
            async for chunk in self._reply.body:
                if self._answer is not None:
                    self._answer.feed(chunk)
                    if self._answer.complete:
                        await self._recorded()
                ready, held = (chunk, b"") if is_stream else (held, chunk)
                if ready:
                    await send({"type": "http.response.body", "body": ready, "more_body": True})
        except UpstreamFailed:
            await send({"type": "http.response.body", "body": held, "more_body": True})
            raise
        if self._answer is not None:
            self._answer.end()
        await self._recorded()
        await send({"type": "http.response.body", "body": held, "more_body": False})

    async def _recorded(self) -> None:
        """Have the answer recorded, once."""
        answer, record, self._record = self._answer, self._record, None
        if answer is not None and record is not None:
            await record(answer)
