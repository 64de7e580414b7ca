"""The profile documents: soul, identity, user."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from pydantic import Field
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.records import Document
from wellkept.server.auth import Reader, Writer
from wellkept.server.openapi import PROBLEMS, gives
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import Body, Shown, answer

router = APIRouter(prefix="/v1/profile", tags=["profile"], route_class=StrictRoute, responses=PROBLEMS)


class Documents(Shown):
    """Profile documents."""

    items: list[Document]


class NewText(Body):
    """A new version of a document, in Markdown."""

    text: str = Field(max_length=1_000_000)


@router.get("", responses=gives(Documents))
async def list_documents(served: Served, scope: Reader) -> Response:
    """The three documents as they are now."""

    def read(memory: Memory) -> list[Document]:
        profile = memory.read_only().user(scope.user, namespace=scope.namespace).profile
        return [profile.get(name) for name in profile]

    return answer({"items": await served.memory.run(read)})


@router.get("/{name}", responses=gives(Document))
async def get_document(served: Served, scope: Reader, name: str) -> Response:
    """One document; its `hash` is the precondition for writing it."""
    return answer(await served.memory.user(scope.user, namespace=scope.namespace).profile.get(name))


@router.put("/{name}", responses=gives(Document))
async def put_document(
    served: Served,
    scope: Writer,
    name: str,
    body: NewText,
    if_match: Annotated[str | None, Header(max_length=80)] = None,
) -> Response:
    """Write a new version. `If-Match`: the hash of the version that the change was made on."""
    profile = served.memory.user(scope.user, namespace=scope.namespace).profile
    wanted = if_match.strip('"') if if_match is not None else None
    document = await profile.set(name, body.text, if_hash=wanted)
    served.live.wake()
    return answer(document)


@router.get("/{name}/versions", responses=gives(Documents))
async def list_versions(served: Served, scope: Reader, name: str) -> Response:
    """All versions, newest first."""
    profile = served.memory.user(scope.user, namespace=scope.namespace).profile
    return answer({"items": await profile.versions(name)})
