"""The summaries of a session: every version as a difference, the key data marked, and the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.policy.text.keydata import KINDS
from wellkept.records import Summary
from wellkept.server.panel.desk import PanelRoute, Reading, Writing
from wellkept.server.panel.differences import Kind, differences
from wellkept.server.panel.sessions import Id, opened

router = APIRouter(route_class=PanelRoute)


@router.get("/summaries")
async def list_summaries(desk: Reading, id: Id) -> Response:
    """Every version, newest first, and what the summaries had no room for."""

    def read(memory: Memory) -> dict[str, Any]:
        session = opened(desk, memory, id)
        versions = _versions(session.summaries())
        return {"session": session.info(), "versions": versions, "ledger": session.ledger(), "kinds": KINDS}

    return await desk.page("summaries.html", read)


def _versions(summaries: Sequence[Summary]) -> list[tuple[Summary, list[tuple[Kind, str]], bool]]:
    """Each summary with its difference to the one before it of its topic, and whether it is the current one."""
    last: dict[str, Summary] = {}
    found = []
    for summary in summaries:
        before = last.get(summary.topic)
        found.append((summary, differences(before.text, summary.text) if before else []))
        last[summary.topic] = summary
    return [(it, pieces, last[it.topic] is it) for it, pieces in reversed(found)]


@router.post("/summaries/rebuild")
async def rebuild(desk: Writing, id: Id) -> Response:
    """Drop them all and have them made anew from the events."""

    def do(memory: Memory) -> None:
        scope = desk.scope
        session = memory.session(namespace=scope.namespace, user=scope.user, session_id=id)
        session.rebuild_summaries(actor="user")

    return await desk.act(do, "summaries", id=id)
