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
        cut: why the body broke off, once it was read; None if it did not.
        close: ends the connection unless all has come; whoever reads gets UpstreamFailed.
    """

    status: int
    headers: Headers
    body: AsyncIterator[bytes]
    close: Callable[[], None]
    cut: UpstreamFailed | None = None

    async def read(self) -> bytes:
        """What comes of the body, which can be passed on all the same, with its ``cut`` if it has one."""
        came = bytearray()
        try:
            async for chunk in self.body:
                came += chunk
        except UpstreamFailed as error:
            self.cut = error
        finally:
            self.close()
        whole = bytes(came)
        self.body = _again(whole, self.cut)
        return whole


async def _again(whole: bytes, cut: UpstreamFailed | None) -> AsyncIterator[bytes]:
    yield whole
    if cut is not None:
        raise cut
