"""Search over what a user's memory holds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.recall import Result
from wellkept.records import Scope
from wellkept.server.auth import Reader
from wellkept.server.openapi import PROBLEMS, gives
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import Body, Moment, Shown, answer

router = APIRouter(prefix="/v1", tags=["search"], route_class=StrictRoute, responses=PROBLEMS)

Kind = Literal["event", "fact", "summary"]
MAX_RESULTS = 200


class Found(Shown):
    """Results, best first."""

    items: list[Result]


class Search(Body):
    """What to look for; ``query`` is plain text, nothing in it is syntax."""

    query: str = Field(max_length=100_000)
    limit: int | None = Field(default=None, ge=1, le=MAX_RESULTS)
    kinds: list[Kind] | None = Field(default=None, min_length=1, max_length=3)
    session_id: str | None = Field(default=None, min_length=1, max_length=512)
    since: Moment | None = None
    until: Moment | None = None
    now: Moment | None = None
    filters: dict[str, Any] | None = None
    threshold: float | None = Field(default=None, ge=0, le=1)
    explain: bool = False


@router.post("/search", responses=gives(Found))
async def search(served: Served, scope: Reader, body: Search) -> Response:
    """What this user's memory holds for a question, best first; with `explain` the dropped ones too."""
    return await _search(served, scope, body)


@router.get("/search", responses=gives(Found))
async def search_as_one_types(
    served: Served,
    scope: Reader,
    query: Annotated[str, Query(max_length=10_000)],
    limit: Annotated[int | None, Query(ge=1, le=MAX_RESULTS)] = None,
    explain: bool = False,
) -> Response:
    """The same, for a question in the URL."""
    return await _search(served, scope, Search(query=query, limit=limit, explain=explain))


async def _search(served: Served, scope: Scope, wanted: Search) -> Response:
    arguments = wanted.model_dump(exclude={"query"})

    def find(memory: Memory) -> list[Result]:
        user = memory.read_only().user(scope.user, namespace=scope.namespace)
        return user.search(wanted.query, **arguments)

    return answer({"items": await served.memory.run(find)})
