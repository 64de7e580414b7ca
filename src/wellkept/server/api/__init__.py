"""The HTTP API under ``/v1``: one module a noun. Handlers translate; what happens is the library's."""

from __future__ import annotations

from fastapi import APIRouter

from wellkept.server.api import health, jobs, profile, search, sessions, streams
from wellkept.server.wire import PROBLEMS

router = APIRouter(prefix="/v1", responses=PROBLEMS)
for module in (sessions, search, profile, jobs, streams):
    router.include_router(module.router)

health_router = health.router
