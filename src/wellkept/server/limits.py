"""What a client may take: bytes, time, which names of this machine it may use; and that its addresses are text."""

from __future__ import annotations

import asyncio
import time
from functools import lru_cache
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wellkept.server.auth import Doorkeeper
from wellkept.server.deadline import Deadline
from wellkept.server.problems import Problem, told
from wellkept.server.settings import Settings, is_loopback

BYTES_A_SECOND = 16 << 10
IMPORT = "/v1/import"


class Limits:
    """An ASGI middleware: refuses bodies that are too large or too slow, foreign names of a local service, and addresses
    that hold no UTF-8."""

    def __init__(self, app: ASGIApp, settings: Settings, doorkeeper: Doorkeeper) -> None:
        self._app = app
        self._settings = settings
        self._doorkeeper = doorkeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._settings.max_import if scope["path"] == IMPORT else self._settings.max_body
        refused = _broken(scope) or await self._refusal(Headers(scope=scope), most)
        if refused is not None:
            # What was not read would be taken for the next request.
            said = told(scope["path"], *refused, {"connection": "close"})
            await said(scope, receive, send)
            return
        await self._app(scope, _Body(receive, most, self._settings.body_seconds), send)

    async def _refusal(self, headers: Headers, most: int) -> tuple[int, str, str] | None:
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return 400, "bad_length", "The Content-Length is no number."
        if int(length) > most:
            return 413, "too_large", _too_large(most)
        # A page of another site reaches an open service by a name of its own that leads to this machine.
        if not _is_local(headers) and not await self._doorkeeper.needs_key():
            return 421, "foreign_host", "This service listens on this machine only. Use http://127.0.0.1:…"
        return None


def _broken(scope: Scope) -> tuple[int, str, str] | None:
    """Two ids that are broken are not the same one, which is what they would be read as."""
    for part in (scope.get("raw_path") or b"", scope["query_string"]):
        if b"%" in part and not _is_text(part):
            return 422, "invalid_input", "The address must be UTF-8, percent-encoded: %E6%97%85 for 旅."
    return None


def _is_text(part: bytes) -> bool:
    try:
        unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_local(headers: Headers) -> bool:
    origin = headers.get("origin")
    return _names_loopback(f"//{headers.get('host', '')}") and (origin is None or _names_loopback(origin))


@lru_cache(maxsize=64)
def _names_loopback(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def _too_large(most: int) -> str:
    return f"The body is larger than {most:,} bytes. Send it in parts."


class _Body:
    """``receive`` that counts bytes and looks at the clock until the body is complete."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._seconds = seconds
        self._start = time.monotonic()
        self._received = 0
        self._complete = False

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()
        message = await self._in_time()
        self._take(message)
        return message

    async def _in_time(self) -> Message:
        """The next piece. Raises a 408 problem when it is late."""
        left = self._start + self._seconds + self._received / BYTES_A_SECOND - time.monotonic()
        try:
            with Deadline(left):
                return await self._receive()
        except asyncio.TimeoutError:
            detail = "The body came too slowly. Send it again."
            raise Problem(408, "too_slow", detail, {"connection": "close"}) from None

    def _take(self, message: Message) -> None:
        self._complete = not message.get("more_body", False)
        self._received += len(message.get("body", b""))
        if self._received > self._most:
            raise Problem(413, "too_large", _too_large(self._most), {"connection": "close"})
