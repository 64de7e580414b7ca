"""Live changes as server-sent events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from wellkept.server import live
from wellkept.server.api.sessions import reader
from wellkept.server.auth import Reader, visitor_of
from wellkept.server.openapi import PROBLEMS
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import MAX_INTEGER, SessionId

router = APIRouter(prefix="/v1", tags=["live"], route_class=StrictRoute, responses=PROBLEMS)

_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


@router.get("/live", response_class=Response, responses=_EVENTS)
async def user_live(request: Request, served: Served, scope: Reader) -> StreamingResponse:
    """What changes around a user: events `session`, `job`, `change` (of a fact) and `action` (on anything else), after a first
    `ready`."""
    return live.stream(served.live.user(scope), lambda: visitor_of(request))


@router.get("/sessions/{session_id}/live", response_class=Response, responses=_EVENTS)
async def session_live(
    request: Request,
    served: Served,
    scope: Reader,
    session_id: SessionId,
    after: Annotated[int, Query(ge=0, le=MAX_INTEGER)] = 0,
    last_event_id: Annotated[str | None, Header(pattern=r"^\d{1,18}$")] = None,
) -> StreamingResponse:
    """Messages of a session as they are appended: event `message`, its seq as id.

    A browser that lost the connection goes on where it was.
    """
    await served.memory.run(lambda memory: reader(memory, scope, session_id).info())
    start = int(last_event_id) if last_event_id is not None else after
    return live.stream(served.live.session(scope, session_id, start), lambda: visitor_of(request))
