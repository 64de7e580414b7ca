"""``/mcp``: streamable HTTP of the MCP server, started with its first request, because its SDK takes a while to load."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from wellkept import records
from wellkept.errors import MissingExtra, WellkeptError
from wellkept.server.auth import LEVELS, scope_of, secret_of
from wellkept.server.mcp_tools import Admitted
from wellkept.server.problems import Problem, of_error, problem
from wellkept.server.service import Service


class McpDoor:
    """An ASGI app that admits by key and hands over to the SDK."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._starting: asyncio.Task[Any] | None = None
        self._stop = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._admit(Request(scope))
            handle = await self._handler()
        except WellkeptError as error:
            await of_error(error)(scope, receive, send)
        except Problem as error:
            refused = problem(error.status_code, error.code, str(error.detail), headers=error.headers)
            await refused(scope, receive, send)
        else:
            await handle(scope, receive, send)

    async def _admit(self, request: Request) -> Admitted:
        """Whose memory a request is about: the key's user, or the one that the service was started for."""
        visitor = await self._service.doorkeeper.admit(secret_of(request))
        try:
            whose: records.Scope = scope_of(visitor, self._service.settings, None, None)
        except Problem as error:
            raise Problem(
                403, "unbound", "MCP needs a key for one user: wellkept keys create --user …"
            ) from error
        return Admitted(whose, LEVELS[visitor.role] >= LEVELS["writer"])

    async def _handler(self) -> Any:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> Any:
        try:
            sdk = await asyncio.to_thread(import_module, "mcp.server.streamable_http_manager")
            ours = await asyncio.to_thread(import_module, "wellkept.server.mcp")
        except ImportError as error:
            self._starting = None
            raise MissingExtra("mcp", "The MCP server") from error
        # Without sessions of its own: each request brings its key, and any process may answer it.
        server = ours.server_of(self._service.memory, self._admit)
        manager = sdk.StreamableHTTPSessionManager(server, stateless=True, json_response=True)
        started = asyncio.Event()
        self._service.later(self._run(manager, started))
        await started.wait()
        return manager.handle_request

    async def _run(self, manager: Any, started: asyncio.Event) -> None:
        async with manager.run():
            started.set()
            await self._stop.wait()

    def close(self) -> None:
        """Let the SDK end."""
        self._stop.set()
