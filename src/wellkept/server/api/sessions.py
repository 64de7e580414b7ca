"""Sessions, their messages and their contexts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from wellkept.arrivals import Arrival
from wellkept.context import Context
from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.records import Event, Scope, SessionInfo
from wellkept.server.api.messages import Messages
from wellkept.server.auth import Admin, Reader, Writer, check_session, writing
from wellkept.server.idempotency import key_of, once
from wellkept.server.openapi import PROBLEMS, gives, parameter, takes
from wellkept.server.routes import BareRoute, StrictRoute, body_of, check_names
from wellkept.server.service import Served, service_of
from wellkept.server.wire import (
    MAX_INTEGER,
    Body,
    Cursor,
    Limit,
    Moment,
    Page,
    SessionId,
    Shown,
    answer,
    number,
    page,
)
from wellkept.session import Session, SessionReader

router = APIRouter(prefix="/v1", tags=["sessions"], route_class=StrictRoute, responses=PROBLEMS)

Shape = Literal["openai", "anthropic"]
Seq = Annotated[int | None, Query(ge=0, le=MAX_INTEGER)]
Then = Moment | Annotated[int, Field(ge=0, le=MAX_INTEGER)]


def reader(memory: Memory, scope: Scope, session_id: str) -> SessionReader:
    """The session to read from. Raises NotFound."""
    return memory.read_only().session(namespace=scope.namespace, user=scope.user, session_id=session_id)


def writer(memory: Memory, scope: Scope, session_id: str) -> Session:
    """The session to write to. Raises NotFound."""
    return memory.session(namespace=scope.namespace, user=scope.user, session_id=session_id)


# ── sessions
# ────────────────────────────────────────────────────────────────────────────────────────────────


class NewSession(Body):
    """A conversation to begin; ``id`` only if it must be the caller's own. One that is there keeps its title and metadata:
    PATCH renames it."""

    id: str | None = Field(default=None, min_length=1, max_length=512)
    prefix: str = Field(default="", max_length=64)
    title: str = Field(default="", max_length=1024)
    metadata: dict[str, Any] | None = None


class Title(Body):
    """A new title."""

    title: str = Field(max_length=1024)


class Ended(Shown):
    """Whether something that the user said waits to be read for facts, and is read now."""

    extracting: bool


@router.post("/sessions", status_code=201, responses=gives(SessionInfo, 201) | gives(SessionInfo))
async def create_session(request: Request, served: Served, scope: Writer, body: NewSession) -> Response:
    """Begin a session (201); with an `id` that this user has already, open that one as it is (200)."""
    if body.id:
        check_session(body.id)

    def create(memory: Memory) -> Response:
        known = body.id is not None and _is_known(memory, scope, body.id)
        session = memory.session(
            namespace=scope.namespace,
            user=scope.user,
            session_id=body.id,
            create=True,
            prefix=body.prefix,
            title=body.title,
            metadata=body.metadata,
        )
        return answer(session.info(), 200 if known else 201)

    return await once(request, served, scope, create)


def _is_known(memory: Memory, scope: Scope, session_id: str) -> bool:
    try:
        reader(memory, scope, session_id)
    except NotFound:
        return False
    return True


@router.get("/sessions", responses=gives(Page[SessionInfo]))
async def list_sessions(served: Served, scope: Reader, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """A user's sessions, last active first."""
    user = served.memory.user(scope.user, namespace=scope.namespace)
    found = await user.sessions(limit=limit, before=cursor)
    return page(found, limit, found[-1].id if found else None)


@router.get("/sessions/{session_id}", responses=gives(SessionInfo))
async def get_session(served: Served, scope: Reader, session_id: SessionId) -> Response:
    """Title, counts and last activity."""
    return answer(await served.memory.run(lambda memory: reader(memory, scope, session_id).info()))


@router.patch("/sessions/{session_id}", responses=gives(SessionInfo))
async def rename_session(served: Served, scope: Writer, session_id: SessionId, body: Title) -> Response:
    """Give it another title."""

    def rename(memory: Memory) -> SessionInfo:
        session = writer(memory, scope, session_id)
        session.rename(body.title)
        return session.info()

    info = await served.memory.run(rename)
    served.live.wake()
    return answer(info)


@router.post("/sessions/{session_id}/end", responses=gives(Ended))
async def end_session(request: Request, served: Served, scope: Writer, session_id: SessionId) -> Response:
    """Say that it is over for now: facts are extracted at once. It can be gone on with at any time."""

    def work(memory: Memory) -> Response:
        return answer({"extracting": writer(memory, scope, session_id).end()})

    return await once(request, served, scope, work)


@router.delete("/sessions/{session_id}", responses=gives(dict[str, int]))
async def delete_session(served: Served, scope: Admin, session_id: SessionId) -> Response:
    """Remove a session for good, with all that was derived from it alone; the rows removed, by table."""
    removed = await served.memory.run(lambda memory: writer(memory, scope, session_id).delete())
    served.live.wake()
    return answer(removed)


# ── messages
# ────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/sessions/{session_id}/messages", responses=gives(Page[Event]))
async def list_messages(
    served: Served,
    scope: Reader,
    session_id: SessionId,
    limit: Limit = 50,
    cursor: Cursor = None,
    after: Seq = None,
    since: Moment | None = None,
    until: Moment | None = None,
) -> Response:
    """The newest messages in conversation order; `next` leads to earlier ones.

    `after`: those behind this seq. `since`, `until`: those said in this time. With any of these the oldest come first,
    and `next` leads to later ones.
    """
    start = number(cursor)
    forwards = any(it is not None for it in (after, since, until))

    def read(memory: Memory) -> list[Event]:
        session = reader(memory, scope, session_id)
        if forwards:
            later = max(after or 0, start or 0)
            return session.get_events(after=later, since=since, until=until, limit=limit)
        return session.get_events(before=start, limit=limit)

    events = await served.memory.run(read)
    if forwards:
        return page(events, limit, events[-1].seq if events else None)
    return page(events, limit, events[0].seq if events and events[0].seq > 1 else None)


@router.get("/sessions/{session_id}/messages/{event_id}", responses=gives(Event))
async def get_message(served: Served, scope: Reader, session_id: SessionId, event_id: str) -> Response:
    """One message by its id."""
    return answer(
        await served.memory.run(lambda memory: reader(memory, scope, session_id).get_event(event_id))
    )


@router.delete("/sessions/{session_id}/turn", responses=gives(Page[Event]))
async def pop_turn(served: Served, scope: Writer, session_id: SessionId) -> Response:
    """Take the last turn away for good: the newest user message and all after it; what was taken."""
    taken = await served.memory.run(lambda memory: writer(memory, scope, session_id).pop_turn())
    served.live.wake()
    return answer({"items": taken, "next": None})


# The store itself knows a message by its key, so that its route needs no kept answers.
append_router = APIRouter(prefix="/v1", tags=["sessions"], route_class=BareRoute, responses=PROBLEMS)


ID = parameter("session_id", "path", "The session.", required=True, minLength=1, maxLength=512)


@append_router.post(
    "/sessions/{session_id}/messages",
    status_code=201,
    responses=gives(Page[Event], 201),
    openapi_extra=takes(Messages, ID),
)
async def append_messages(request: Request) -> Response:
    """Append messages: durable when this answers. The same `Idempotency-Key` gives the events of the first time."""
    # The declared way takes longer than the commit.
    served, scope = service_of(request), await writing(request)
    check_names(request)
    key, body = key_of(request), await body_of(request, Messages)
    arrival = Arrival(scope, request.path_params["session_id"], body.drafts(key))
    events = await served.appends.append(arrival)
    served.live.wake()
    return answer({"items": events, "next": None}, 201)


# ── context
# ─────────────────────────────────────────────────────────────────────────────────────────────────


class ContextWanted(Body):
    """What a context is wanted for."""

    query: str | None = Field(default=None, max_length=100_000)
    budget: int | None = Field(default=None, ge=1, le=100_000_000)
    as_of: Then | None = None
    shape: Shape = "openai"
    trace: bool = False


@router.get("/sessions/{session_id}/context")
async def get_context(
    served: Served,
    scope: Reader,
    session_id: SessionId,
    query: Annotated[str | None, Query(max_length=10_000)] = None,
    budget: Annotated[int | None, Query(ge=1, le=100_000_000)] = None,
    as_of: Annotated[Then | None, Query()] = None,
    shape: Shape = "openai",
    trace: bool = False,
) -> Response:
    """What to hand to the model for the next request. `as_of`: as it was at an earlier time, or at a message's seq."""
    return await _context(served, scope, session_id, query, budget, as_of, shape, trace)


@router.post("/sessions/{session_id}/context")
async def post_context(served: Served, scope: Reader, session_id: SessionId, body: ContextWanted) -> Response:
    """The same, for queries that are too long or too private for a URL."""
    return await _context(
        served, scope, session_id, body.query, body.budget, body.as_of, body.shape, body.trace
    )


async def _context(
    served: Served,
    scope: Scope,
    session_id: str,
    query: str | None,
    budget: int | None,
    as_of: datetime | int | None,
    shape: Shape,
    trace: bool,
) -> Response:
    # Not a reader: where the policy wants traces, one is kept of each context that was handed out.
    context = await served.memory.run(
        lambda memory: writer(memory, scope, session_id).get_context(query, budget, as_of=as_of)
    )
    return answer(shown(context, shape, trace))


def shown(context: Context, shape: Shape, trace: bool) -> dict[str, Any]:
    """A context as JSON, its messages in the shape of one provider."""
    data = context.to_dict()
    if shape == "anthropic":
        data["messages"] = context.to_anthropic()["messages"]
    if not trace:
        del data["trace"]
    return data
