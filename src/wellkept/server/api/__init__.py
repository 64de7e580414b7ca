"""The HTTP API under ``/v1``: one module a noun. Handlers translate; what happens is the library's."""

from __future__ import annotations

from starlette.routing import BaseRoute

from wellkept.server.api import health, jobs, memories, profile, search, sessions, streams, traces, transfer

_ROUTERS = (
    sessions.append_router,
    sessions.router,
    search.router,
    memories.router,
    traces.router,
    profile.router,
    jobs.router,
    streams.router,
    transfer.router,
    health.router,
)


def routes() -> list[BaseRoute]:
    """Every route of the API, in one flat list, in which looking for one is quick."""
    return [route for router in _ROUTERS for route in router.routes]
