"""Passes an upstream's answer on, byte by byte, and has it recorded before its last bytes leave."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx2
from starlette.responses import StreamingResponse
from starlette.types import Send

from wellkept.server.answers import Answer
from wellkept.server.upstream import forwarded

log = logging.getLogger("wellkept.gateway")

Record = Callable[[Answer], Coroutine[Any, Any, None]]
Later = Callable[[Coroutine[Any, Any, None]], None]


class _Cut(Exception):
    """The upstream broke off."""


class Relay(StreamingResponse):
    """A response that is the upstream's, with a few headers of ours.

    Args:
        later: runs a coroutine that must outlive this response.
        answer: reads a copy; None for what is not to be recorded.
        record: called once with the answer: at its end before the caller sees the end, so that the next request
            finds it; or when the connection to either side was cut.
    """

    def __init__(
        self,
        response: httpx2.Response,
        headers: dict[str, str],
        later: Later,
        answer: Answer | None = None,
        record: Record | None = None,
    ) -> None:
        super().__init__(self._pass(), response.status_code)
        self._response = response
        self._answer = answer
        self._record = record
        self._later = later
        own = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        theirs = forwarded(response.headers.multi_items())
        self.raw_headers = [(n.lower().encode("latin-1"), v.encode("latin-1")) for n, v in theirs] + own

    async def stream_response(self, send: Send) -> None:
        """A cut is passed on as one: the response ends without its end, and the server closes the connection."""
        try:
            await super().stream_response(send)
        except _Cut as cut:
            log.warning("An upstream broke off its answer: %s", cut)

    async def _pass(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks():
                if self._answer is not None and self._answer.complete:
                    await self._recorded()
                yield chunk
        except httpx2.TransportError as error:
            raise _Cut(str(error) or type(error).__name__) from error
        finally:
            # Whoever waits for this response may be gone, and this task cancelled with it.
            self._later(self._recorded())
            self._later(self._response.aclose())

    async def _recorded(self) -> None:
        """Have the answer recorded, once."""
        answer, record, self._record = self._answer, self._record, None
        if answer is not None and record is not None:
            await record(answer)

    async def _chunks(self) -> AsyncIterator[bytes]:
        """What comes in. An answer that is no stream is held back by one chunk, for its end to be seen first."""
        is_stream = self._response.headers.get("content-type", "").startswith("text/event-stream")
        held = b""
        async for chunk in self._response.aiter_raw():
            if self._answer is not None:
                self._answer.feed(chunk)
            if is_stream:
                yield chunk
            elif held:
                yield held
            held = b"" if is_stream else chunk
        if self._answer is not None:
            self._answer.end()
        if held:
            yield held
