"""The HTTP API under ``/v1``: one module a noun. Handlers translate; what happens is the library's."""

from __future__ import annotations

from fastapi import APIRouter

from wellkept.server.api import health, jobs, memories, profile, search, sessions, streams, traces, transfer
from wellkept.server.wire import PROBLEMS

router = APIRouter(responses=PROBLEMS)
for module in (sessions, memories, traces, search, profile, jobs, streams, transfer):
    router.include_router(module.router)
for more in (sessions.append_router, memories.forget_router):
    router.include_router(more)

health_router = health.router
