"""Runs the app in this process until it is told to stop."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from wellkept.errors import InvalidInput
from wellkept.memory import Memory
from wellkept.server.service import Service
from wellkept.server.settings import Settings
from wellkept.store.sqlite.connection import bound_caches

SWITCH_SECONDS = 0.001
"""How long a thread may keep others from running. Python's 5 ms are a request's time, and it may wait for several turns."""

PAGES = 4 << 20
"""Bytes for the pages that SQLite keeps for all threads together. Readers drop theirs at each commit of others anyway."""

TRIM_TICKS = 600
"""So often, in tenths of a second, memory that was freed goes back to the system: searches need some MB each for a moment."""

MOST_HEAD = 64 << 10
"""Bytes of the head of a request that has not ended with what was read at once."""

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

_M_ARENA_MAX = -8  # malloc.h


def check(memory: Memory, settings: Settings) -> None:
    """Raise InvalidInput where everybody on the network could read everything."""
    if not settings.is_loopback and not memory.keys.any():
        raise InvalidInput(
            f"There are no keys, so that the service listens on this machine only, and not on {settings.host}. "
            "Make a key first: wellkept keys create"
        )


def serve(app: FastAPI, *, on_ready: Callable[[str], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; then finish those that run, and hand back the job that does not.

    ``on_ready`` is called with the service's address when it listens.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    bound_caches(PAGES)
    _share_heap()

    def ready(url: str) -> None:
        _settle()
        on_ready(url)

    server_of(app, on_ready=ready).run()


def _share_heap() -> None:
    """glibc would give each thread a heap of its own, and what is freed in one is of no use to the others; where only one
    thread runs at a time, that saves no waiting."""
    _allocator("mallopt", _M_ARENA_MAX, 1)


def _allocator(function: str, *arguments: int) -> None:
    """Call a function of glibc; another C library may not have it, or no use for it."""
    if sys.platform == "linux":
        with suppress(AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)


def _settle() -> None:
    """Spare the garbage collector what stays for good, or some requests wait for it to go through all of that: 90 ms."""
    gc.collect()
    gc.freeze()


def server_of(app: FastAPI, *, on_ready: Callable[[str], None]) -> uvicorn.Server:
    """The server that ``serve`` runs."""
    service: Service = app.state.service
    settings = service.settings
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=_protocol(settings.header_seconds),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
    )
    return _Server(config, service, on_ready)


class _Server(uvicorn.Server):
    """Says when it listens, and ends the live streams before it waits for the other requests."""

    def __init__(self, config: uvicorn.Config, service: Service, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._service = service
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._on_ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    async def on_tick(self, counter: int) -> bool:
        if counter % TRIM_TICKS == TRIM_TICKS - 1:
            _allocator("malloc_trim", 0)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.live.end()
        # The caller asked for an end and gets one: the signal is not raised again after it.
        self.should_exit, self.force_exit = True, self.should_exit


def _protocol(seconds: float) -> type[HttpToolsProtocol]:
    """uvicorn's protocol, with an end to waiting for the head of a request, and to how long one may be."""

    class Protocol(HttpToolsProtocol):
        _deadline: asyncio.TimerHandle | None = None
        _head = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._head = 0 if self._deadline is None else self._head + len(data)
            if self._head > MOST_HEAD:
                self.transport.write(_TOO_LARGE)
                self.transport.close()

        def on_message_begin(self) -> None:
            self._wait()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._stop()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._stop()
            self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None
            self._head = 0

    return Protocol
