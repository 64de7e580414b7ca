"""A lean HTTP client for load: one connection, one request at a time, as little work of its own as can be."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit


class Connection:
    """A connection to a service that stays open; ``head`` is that of the last answer, in small letters."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self.head = ""

    async def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and body of an answer. Raises OSError or EOFError when the connection breaks."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(
                self._address.hostname, self._address.port
            )
        data = b"" if body is None else json.dumps(body).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = (
            f"{method} {path} HTTP/1.1\r\nhost: {self._address.netloc}\r\ncontent-type: application/json\r\n"
        )
        self._writer.write(f"{head}{more}content-length: {len(data)}\r\n\r\n".encode() + data)
        assert self._reader is not None
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        self.head = head.decode("latin-1")
        return await _answer(head, self._reader)

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()


async def _answer(head: bytes, reader: asyncio.StreamReader) -> tuple[int, bytes]:
    status = int(head[9:12])
    if b"transfer-encoding: chunked" in head:
        body = bytearray()
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
        return status, bytes(body)
    length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
    return status, await reader.readexactly(length)
