"""The summaries of a session: every version as a difference, the key data marked, and the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.policy.text.keydata import KINDS
from wellkept.records import Summary
from wellkept.server.panel.desk import PAGE, PanelRoute, Reading, Writing
from wellkept.server.panel.differences import Kind, differences
from wellkept.server.panel.sessions import Id, Seq, opened
from wellkept.server.wire import MAX_INTEGER

router = APIRouter(route_class=PanelRoute)

VERSIONS = 10


@router.get("/summaries")
async def list_summaries(desk: Reading, id: Id, before: Seq = 0, skip: Seq = 0) -> Response:
    """The newest versions, or those below ``before``, newest first; and what the summaries had no room for, without the
    first ``skip`` lines."""

    def read(memory: Memory) -> dict[str, Any]:
        session = opened(desk, memory, id)
        found = session.summaries(limit=VERSIONS, before=before or None)
        first = found[0].version if found else 1
        lines = session.ledger(limit=PAGE + 1, skip=skip)
        return {
            "session": session.info(), "versions": _versions(found, session.summaries_at(first - 1)), "kinds": KINDS,
            "current": session.summaries_at(MAX_INTEGER), "earlier": first if first > 1 else None, "before": before,
            "ledger": lines[:PAGE], "more": skip + PAGE if len(lines) > PAGE else None,
        }  # fmt: skip

    return await desk.page("summaries.html", read)


def _versions(
    summaries: Sequence[Summary], earlier: Sequence[Summary]
) -> list[tuple[Summary, list[tuple[Kind, str]]]]:
    """Each summary with its difference to the one before it of its topic, newest first."""
    last = {summary.topic: summary for summary in earlier}
    found = []
    for summary in summaries:
        before = last.get(summary.topic)
        found.append((summary, differences(before.text, summary.text) if before else []))
        last[summary.topic] = summary
    return found[::-1]


@router.post("/summaries/rebuild")
async def rebuild(desk: Writing, id: Id) -> Response:
    """Drop them all and have them made anew from the events."""

    def do(memory: Memory) -> None:
        scope = desk.scope
        session = memory.session(namespace=scope.namespace, user=scope.user, session_id=id)
        session.rebuild_summaries(actor="user")

    return await desk.act(do, "summaries", id=id)
