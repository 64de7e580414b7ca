"""Search as one types, with what each score is made of."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.recall import Result
from wellkept.server.panel.desk import PanelRoute, Reading

router = APIRouter(route_class=PanelRoute)

KINDS = ("event", "fact", "summary")
ADDED = ("text", "feedback", "neighbours", "meaning")
"""Parts of a score that were added; the others are factors on their sum."""


@router.get("/search")
async def search(
    desk: Reading,
    query: Annotated[str, Query(max_length=10_000)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """What the memory holds for a question, best first, and what was dropped and why."""

    def read(memory: Memory) -> dict[str, Any]:
        kinds = [kind] if kind in KINDS else None
        found = (
            desk.reader(memory).search(query, kinds=kinds, explain=True, limit=20) if query.strip() else []
        )
        return {
            "query": query, "kind": kind, "kinds": KINDS, "parts_of": parts_of,
            "results": [it for it in found if it.dropped is None],
            "dropped": [it for it in found if it.dropped is not None],
        }  # fmt: skip

    return await desk.page("search.html", read)


def parts_of(result: Result) -> tuple[dict[str, float], dict[str, float]]:
    """What was added up to a score, and the factors that then changed the sum."""
    added = {name: result.parts[name] for name in ADDED if result.parts.get(name)}
    factors = {name: value for name, value in result.parts.items() if name not in ADDED and value != 1}
    return added, factors
