"""Conversations in and out as files: JSON Lines of our own, and whatever else the readers know."""

from __future__ import annotations

import os
import tempfile
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

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
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import Shown, answer
from wellkept.store.facts import Book

router = APIRouter(prefix="/v1", tags=["transfer"], route_class=StrictRoute, responses=PROBLEMS)

JSON_LINES = "application/x-ndjson"
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
) -> FileResponse:
    """A user's conversations, profile and facts, or one conversation, as JSON Lines that the import reads back."""
    path = await served.memory.run(lambda memory: _exported(memory, scope, session_id))
    headers = {"content-disposition": 'attachment; filename="wellkept.jsonl"'}
    return FileResponse(
        path, media_type=JSON_LINES, headers=headers, background=BackgroundTask(os.unlink, path)
    )


def _exported(memory: Memory, scope: Scope, session_id: str | None) -> str:
    """The path of a file that the caller removes."""
    user = memory.user(scope.user, namespace=scope.namespace)
    if session_id is None:
        infos = oldest_first(user)
    else:
        infos = [memory.session(namespace=scope.namespace, user=scope.user, session_id=session_id).info()]
    descriptor, path = tempfile.mkstemp(prefix="wellkept-", suffix=".jsonl")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            book = book_of(memory._core, scope) if session_id is None else Book()
            formats.write(items(memory, scope, infos, book), stream)
    except BaseException:
        os.unlink(path)
        raise
    return path


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
