"""Conversations in and out as files: JSON Lines of our own, and whatever else the readers know."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from wellkept import formats
from wellkept.cli.clock import StoryClock
from wellkept.cli.exports import items, oldest_first
from wellkept.cli.importer import Importer, Report
from wellkept.errors import InvalidInput, Unsupported
from wellkept.facts.copies import book_of
from wellkept.memory import Memory
from wellkept.records import Scope
from wellkept.server.auth import Admin, Reader
from wellkept.server.openapi import PROBLEMS, gives
from wellkept.server.problems import PRIVATE
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import Shown, answer
from wellkept.store.facts import Book

router = APIRouter(prefix="/v1", tags=["transfer"], route_class=StrictRoute, responses=PROBLEMS)

JSON_LINES = "application/x-ndjson"
LINES = 200
_FILE: dict[str, Any] = {"content": {JSON_LINES: {"schema": {"type": "string"}}}}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class Imported(Shown):
    """What an import did; what was left out, with its line."""

    sessions: int
    added: int
    known: int
    facts: int
    known_facts: int
    skipped: list[dict[str, Any]]
    notes: list[dict[str, Any]]


@router.get("/export", response_class=Response, responses={200: _FILE})
async def export(
    served: Served, scope: Reader, session_id: Annotated[str | None, Query(max_length=512)] = None
) -> StreamingResponse:
    """A user's conversations, profile and facts, or one conversation, as JSON Lines that the import reads back. A file
    without its `end` line was cut off."""
    pieces = await served.memory.run(lambda memory: _exported(memory, scope, session_id))
    # What fails at once still has an answer.
    first = await served.memory.run(lambda _: next(pieces, b""))

    async def sent() -> AsyncIterator[bytes]:
        piece = first
        while piece:
            yield piece
            piece = await served.memory.run(lambda _: next(pieces, b""))

    headers = {**PRIVATE, "content-disposition": 'attachment; filename="wellkept.jsonl"'}
    return StreamingResponse(sent(), 200, headers, JSON_LINES)


def _exported(memory: Memory, scope: Scope, session_id: str | None) -> Iterator[bytes]:
    """The export in pieces, read from the store one by one: a file of it would outlive what is forgotten."""
    user = memory.user(scope.user, namespace=scope.namespace)
    if session_id is None:
        infos = oldest_first(user)
    else:
        infos = [memory.session(namespace=scope.namespace, user=scope.user, session_id=session_id).info()]
    book = book_of(memory._core, scope) if session_id is None else Book()
    return _pieces(formats.lines(items(memory, scope, infos, book)))


def _pieces(lines: Iterator[str]) -> Iterator[bytes]:
    """``lines`` in pieces that are worth a hop to another thread."""
    while some := list(islice(lines, LINES)):
        yield "".join(some).encode()


@router.post("/import", responses=gives(Imported), openapi_extra=_UPLOAD)
async def take_in(
    request: Request,
    served: Served,
    scope: Admin,
    format: Annotated[str, Query(max_length=40)] = "auto",
    skip_bad: bool = False,
) -> Response:
    """Take conversations, profile and facts from a file (the body) into a user's memory. Each is taken once, so that an
    upload that broke off can be sent again."""
    if format not in ("auto", *formats.FORMATS):
        raise InvalidInput(
            f"The format is {format!r}; it must be one of: auto, {', '.join(formats.FORMATS)}."
        )
    with tempfile.TemporaryFile() as upload:
        async for piece in request.stream():
            upload.write(piece)
        upload.seek(0)
        report: Report = await served.memory.run(
            lambda memory: _imported(memory, scope, formats.read(upload, format), skip_bad)
        )
    await served.memory.start_worker()
    served.live.wake()
    return answer(report)


def _imported(memory: Memory, scope: Scope, found: Any, skip_bad: bool) -> Report:
    """By a second memory on the same store, whose clock tells the times of the story."""
    if memory.location == ":memory:":
        raise Unsupported("A memory without a file takes no imports. Start the service with --store FILE.")
    clock = StoryClock()
    with Memory(memory.location, clock=clock, policy=memory.policy, worker=False) as teller:
        importer = Importer(teller, clock, namespace=scope.namespace, user=scope.user, skip_bad=skip_bad)
        return importer.run(found)
