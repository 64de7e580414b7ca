"""Sessions and the conversation as it goes on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.server import live
from wellkept.server.panel.desk import PAGE, Desk, PanelRoute, Posted, Reading, Ruling, Writing
from wellkept.server.wire import MAX_INTEGER
from wellkept.session import SessionReader

router = APIRouter(route_class=PanelRoute)

Id = Annotated[str, Query(max_length=512)]
Seq = Annotated[int, Query(ge=0, le=MAX_INTEGER)]


def opened(desk: Desk, memory: Memory, id: str) -> SessionReader:
    """The session to read from. Raises NotFound."""
    scope = desk.scope
    return memory.read_only().session(namespace=scope.namespace, user=scope.user, session_id=id)


@router.get("/sessions")
async def list_sessions(
    desk: Reading, before: Annotated[str | None, Query(max_length=512)] = None
) -> Response:
    """A user's sessions, last active first."""

    def read(memory: Memory) -> dict[str, Any]:
        found = desk.reader(memory).sessions(limit=PAGE, before=before)
        return {"sessions": found, "more": found[-1].id if len(found) == PAGE else None}

    return await desk.page("sessions.html", read)


@router.get("/session")
async def show_session(desk: Reading, id: Id, before: Seq = 0) -> Response:
    """A conversation: its newest messages, or those before a seq; new ones appear as they come."""

    def read(memory: Memory) -> dict[str, Any]:
        session = opened(desk, memory, id)
        events = session.get_events(before=before or None, limit=PAGE)
        first, last = (events[0].seq, events[-1].seq) if events else (1, 0)
        return {"session": session.info(), "events": events, "first": first, "last": last, "live": not before}

    return await desk.page("session.html", read)


@router.get("/session/newer")
async def newer(desk: Reading, id: Id, after: Seq) -> Response:
    """The messages behind a seq, as a piece of the page; nothing (204) when there are none."""
    events = await desk.service.memory.run(
        lambda memory: opened(desk, memory, id).get_events(after=after, limit=PAGE)
    )
    if not events:
        return Response(status_code=204)

    def read(memory: Memory) -> dict[str, Any]:
        info = opened(desk, memory, id).info()
        return {"session": info, "events": events, "last": events[-1].seq, "live": True}

    return await desk.page("newer.html", read)


@router.get("/session/live")
async def session_live(
    desk: Reading,
    id: Id,
    after: Seq,
    last_event_id: Annotated[str | None, Header(pattern=r"^\d{1,18}$")] = None,
) -> Response:
    """A stream that says when there are messages behind a seq."""
    await desk.service.memory.run(lambda memory: opened(desk, memory, id).info())
    start = int(last_event_id) if last_event_id is not None else after
    return live.stream(desk.service.live.session(desk.scope, id, start), desk.visitor)


@router.get("/changes/live")
async def user_live(desk: Reading) -> Response:
    """A stream that says when a session or a job changed."""
    return live.stream(desk.service.live.user(desk.scope), desk.visitor)


@router.post("/session/rename")
async def rename(desk: Writing, id: Id, form: Posted) -> Response:
    """Give it another title."""

    def do(memory: Memory) -> None:
        scope = desk.scope
        session = memory.session(namespace=scope.namespace, user=scope.user, session_id=id)
        session.rename(form.get("title", "").strip()[:1024], actor="user")

    return await desk.act(do, "session", id=id)


@router.get("/session/delete")
async def ask_to_delete(desk: Ruling, id: Id) -> Response:
    """What deleting a session takes away, and the question whether to."""
    return await desk.page("delete.html", lambda memory: {"session": opened(desk, memory, id).info()})


@router.post("/session/delete")
async def delete(desk: Ruling, id: Id) -> Response:
    """Remove a session for good."""

    def do(memory: Memory) -> None:
        scope = desk.scope
        memory.session(namespace=scope.namespace, user=scope.user, session_id=id).delete(actor="user")

    return await desk.act(do, "sessions")
