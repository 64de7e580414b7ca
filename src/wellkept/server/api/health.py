"""Is it alive, is it ready, what does it count; and what a visitor may do."""

from __future__ import annotations

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

import wellkept
from wellkept.server.auth import visitor_of
from wellkept.server.openapi import PROBLEMS, gives
from wellkept.server.service import Served
from wellkept.server.wire import Shown, answer
from wellkept.store.apikeys import KeyRole

router = APIRouter(tags=["service"], responses=PROBLEMS)


class Health(Shown):
    """How the service is."""

    status: str
    version: str


class Me(Shown):
    """What the caller's key opens; null is for all of them."""

    role: KeyRole
    namespace: str | None
    user: str | None
    key_id: str | None


@router.get("/healthz", responses=gives(Health))
async def healthz() -> Response:
    """The process is alive."""
    return answer({"status": "ok", "version": wellkept.__version__})


@router.get("/readyz", responses=gives(Health))
async def readyz(served: Served) -> Response:
    """The store answers."""
    await served.memory.keys.any()
    return answer({"status": "ready", "version": wellkept.__version__})


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request, served: Served) -> Response:
    """Counters for Prometheus. Needs any key, where keys are needed."""
    await visitor_of(request)
    counts = await served.memory.jobs.counts()
    return Response(served.metrics.text(counts), media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/me", responses=gives(Me))
async def me(request: Request) -> Response:
    """Who the caller is to the service."""
    visitor = await visitor_of(request)
    return answer(
        {
            "role": visitor.role,
            "namespace": visitor.namespace,
            "user": visitor.user,
            "key_id": visitor.key_id,
        }
    )
