"""The HTTP client that upstreams are asked with. It takes a while to load: import it when the service listens already."""

from __future__ import annotations

import asyncio
import io
import os
import ssl
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

import aiohttp
from starlette.datastructures import Headers
from yarl import URL

from wellkept.server.deadline import Deadline
from wellkept.server.reply import Reply, UpstreamFailed, UpstreamTimeout

CONNECT_SECONDS = 10.0
_MOST_HEAD = 64 << 10
_LARGE = 1 << 20
"""Bytes of a body from which on aiohttp wants a file, which it sends in pieces."""


class Client:
    """Sends requests as they are, over connections that stay open for the next one.

    Args:
        seconds: longest silence of the other side.
    """

    def __init__(self, seconds: float) -> None:
        self._head_seconds = CONNECT_SECONDS + seconds
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_trusted()),
            timeout=aiohttp.ClientTimeout(connect=CONNECT_SECONDS, sock_read=seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
            auto_decompress=False,
            max_line_size=_MOST_HEAD,
            max_field_size=_MOST_HEAD,
        )

    async def send(
        self, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes, proxy: str | None
    ) -> Reply:
        """The reply, its body not read yet; the caller closes it. Raises UpstreamFailed."""
        data = io.BytesIO(body) if len(body) > _LARGE else body or None
        # aiohttp's own limits leave out the time in which the other side does not take the request.
        with _failures(), Deadline(self._head_seconds):
            response = await self._session.request(
                method, URL(url, encoded=True), headers=headers, data=data, allow_redirects=False, proxy=proxy
            )
        lowered = Headers(raw=[(name.lower(), value) for name, value in response.raw_headers])
        return Reply(response.status, lowered, _chunks(response.content), response.close)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


async def _chunks(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """What has come since the last chunk, in one."""
    with _failures():
        while chunk := await content.readany():
            yield chunk


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except asyncio.TimeoutError as error:
        raise UpstreamTimeout(type(error).__name__) from error
    except aiohttp.ClientError as error:
        raise UpstreamFailed(type(error).__name__) from error


def _trusted() -> ssl.SSLContext | bool:
    """What says which certificates are good: a file or folder of the environment, else the system. Python, and aiohttp with
    it, knows nothing of those of macOS and little of those of Windows."""
    if sys.platform not in ("darwin", "win32") or {"SSL_CERT_FILE", "SSL_CERT_DIR"} & os.environ.keys():
        return True
    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    return context
