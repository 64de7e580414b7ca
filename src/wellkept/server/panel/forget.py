"""Erasure: first what would go, then the deed, then the receipt."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from wellkept.errors import Conflict
from wellkept.facts.forget import Preview
from wellkept.memory import Memory
from wellkept.server.panel.desk import PanelRoute, Posted, Reading, Ruling
from wellkept.user import UserMemory

router = APIRouter(route_class=PanelRoute)

Text = Annotated[str, Query(max_length=10_000)]


@router.get("/forget")
async def ask(desk: Ruling, query: Text = "", fact: Text = "") -> Response:
    """What forgetting a text or a fact would take away. Nothing happens yet."""

    def read(memory: Memory) -> dict[str, Any]:
        if not query.strip() and not fact:
            return {"query": "", "fact": "", "preview": None, "seal": ""}
        preview = _preview(desk.writer(memory), query, fact)
        return {"query": query, "fact": fact, "preview": preview, "seal": seal(preview)}

    return await desk.page("forget.html", read)


@router.post("/forget")
async def forget(desk: Ruling, form: Posted) -> Response:
    """Erase what was shown, and nothing that came since."""
    query, fact = form.get("query", ""), form.get("fact", "")

    def do(memory: Memory) -> None:
        user = desk.writer(memory)
        preview = _preview(user, query, fact)
        if seal(preview) != form.get("seal"):
            raise Conflict(
                "What would be erased has changed since it was shown. Look again before you confirm."
            )
        user.forget(preview, actor="user")

    return await desk.act(do, "receipts")


@router.get("/receipts")
async def receipts(desk: Reading) -> Response:
    """What erasures removed, newest first."""
    return await desk.page(
        "receipts.html", lambda memory: {"receipts": list(reversed(desk.reader(memory).receipts()))}
    )


def _preview(user: UserMemory, query: str, fact: str) -> Preview:
    return user.forget(ids=[fact]) if fact else user.forget(query)


def seal(preview: Preview) -> str:
    """The same for the same facts, messages and places, and for no others."""
    places = [id for place, found in sorted(preview.places.items()) for id in (place, *found)]
    ids = [*places, *(fact.id for fact in preview.facts), *(event.id for event in preview.events)]
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()
