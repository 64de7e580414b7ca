"""What an upstream answers, whatever client it was asked with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from starlette.datastructures import Headers


class UpstreamFailed(Exception):
    """An upstream could not be reached, or broke off."""


class UpstreamTimeout(UpstreamFailed):
    """An upstream was silent for too long."""


@dataclass
class Reply:
    """An answer whose head is there and whose body comes.

    Attributes:
        status: its status.
        headers: all that it has.
        body: its bytes as they come, in the encoding they come in. Raises UpstreamFailed.
        close: ends the connection unless all has come; whoever reads gets UpstreamFailed.
    """

    status: int
    headers: Headers
    body: AsyncIterator[bytes]
    close: Callable[[], None]

    async def read(self) -> bytes:
        """All of the body, which can be passed on all the same. Raises UpstreamFailed."""
        try:
            whole = b"".join([chunk async for chunk in self.body])
        finally:
            self.close()
        self.body = _again(whole)
        return whole


async def _again(whole: bytes) -> AsyncIterator[bytes]:
    yield whole
