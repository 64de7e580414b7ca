"""One ASGI app from a memory: every door that the service has."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import wellkept
from wellkept.aio import AsyncMemory
from wellkept.server import api, gateway, openapi, panel, problems
from wellkept.server.appends import Appends
from wellkept.server.auth import Doorkeeper
from wellkept.server.limits import Limits
from wellkept.server.live import Live
from wellkept.server.mcp_http import McpDoor
from wellkept.server.metrics import Measured
from wellkept.server.routes import BareRoute, Busy, Heads
from wellkept.server.service import Service
from wellkept.server.settings import Settings
from wellkept.server.spans import Spans, Traced
from wellkept.server.upstream import Upstreams

log = logging.getLogger("wellkept.server")

DESCRIPTION = """Memory for applications that talk with language models.

Each path is about the memory of one `user` in one `namespace`: a key binds them, or the query (or the headers
`X-Wellkept-Namespace` and `X-Wellkept-User`) names them. What belongs to others is not found."""


class _App(FastAPI):
    """FastAPI with the doors of the service around all of it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        try:
            await self._doors(scope, receive, send)
        except asyncio.CancelledError:
            # The server stops, and has waited long enough: an end like any other, not an error to be traced.
            log.warning("A request was cut off because the service stops")

    @cached_property
    def _doors(self) -> ASGIApp:
        service: Service = self.state.service
        busy = [route for route in self.router.routes if isinstance(route, BareRoute)]
        app: ASGIApp = Busy(Heads(super().__call__), busy)
        app = Limits(app, service.settings, service.doorkeeper)
        app = Measured(app, service.metrics)
        return Traced(app) if service.spans.on else app


def create_app(memory: AsyncMemory, settings: Settings | None = None) -> FastAPI:
    """The service over ``memory``. Its lifespan closes the memory at the end.

    ``app.state.service`` holds its parts.
    """
    settings, spans = settings or Settings(), Spans()
    service = Service(
        memory=memory,
        settings=settings,
        doorkeeper=Doorkeeper(memory, settings),
        live=Live(memory, settings.live_seconds),
        upstreams=Upstreams(settings, spans),
        appends=Appends(memory),
        spans=spans,
    )
    app = _App(
        title="wellkept",
        version=wellkept.__version__,
        description=DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # it would lead to http:// behind a proxy that ends TLS
    )
    app.state.service = service
    problems.install(app)
    openapi.install(app)
    app.router.routes += [*api.routes(), *gateway.router.routes]
    panel.install(app)
    door = McpDoor(service)
    app.router.routes.append(Route("/mcp", door))
    app.state.mcp = door
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    await service.memory.start_worker()
    service.later(service.upstreams.load())
    yield
    app.state.mcp.close()
    await service.close()
