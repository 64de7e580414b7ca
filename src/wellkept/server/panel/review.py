"""What waits for a person's decision, and the profile documents that a person writes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.server.panel.desk import PanelRoute, Posted, Reading, Ruling, Writing
from wellkept.server.panel.sessions import Seq
from wellkept.store.facts import Doubt, Fact
from wellkept.user import UserReader

router = APIRouter(route_class=PanelRoute)


@router.get("/review")
async def review(desk: Reading) -> Response:
    """Each question with the facts that it is about."""

    def read(memory: Memory) -> dict[str, Any]:
        user = desk.reader(memory)
        return {"doubts": [(doubt, _facts(user, doubt)) for doubt in user.review()]}

    return await desk.page("review.html", read)


def _facts(user: UserReader, doubt: Doubt) -> list[Fact]:
    found = []
    for id in doubt.facts:
        try:
            found.append(user.get(id))
        except NotFound:
            continue
    return found


@router.post("/review/accept")
async def accept(desk: Ruling, id: Seq) -> Response:
    """Do what the question asks."""
    return await desk.act(lambda memory: desk.writer(memory).settle(id, accept=True, actor="user"), "review")


@router.post("/review/refuse")
async def refuse(desk: Writing, id: Seq) -> Response:
    """Leave all as it is."""
    return await desk.act(lambda memory: desk.writer(memory).settle(id, accept=False, actor="user"), "review")


@router.get("/profile")
async def profile(desk: Reading) -> Response:
    """The three documents."""

    def read(memory: Memory) -> dict[str, Any]:
        documents = desk.reader(memory).profile
        return {"documents": [documents.get(name) for name in documents]}

    return await desk.page("profile.html", read)


@router.post("/profile")
async def write(desk: Writing, name: Annotated[str, Query(max_length=80)], form: Posted) -> Response:
    """A new version of a document, made on the version that was shown."""
    text = form.get("text", "").replace("\r\n", "\n")
    return await desk.act(
        lambda memory: desk.writer(memory).profile.set(name, text, if_hash=form.get("hash"), actor="user"),
        "profile",
    )
