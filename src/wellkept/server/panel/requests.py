"""The replay: what the model saw for each request, and what it would see under another budget or policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from wellkept.errors import BudgetExceeded, InvalidInput, NotFound
from wellkept.memory import Memory
from wellkept.records import Candidate, Policy, text_of
from wellkept.server.panel import replays
from wellkept.server.panel.desk import PanelRoute, Reading
from wellkept.server.panel.replays import LEVERS, Asked
from wellkept.server.panel.sessions import Id, Seq, opened
from wellkept.server.panel.shots import FRAME, TIERS, Shot
from wellkept.session import SessionReader
from wellkept.user import UserReader

router = APIRouter(route_class=PanelRoute)

ROWS = 12
NAMED = 300
"""Dropped things whose text is looked up."""


@router.get("/requests")
async def list_requests(desk: Reading, id: Id, before: Seq = 0) -> Response:
    """The requests of a session, newest first: those recorded, and for other user messages what a context was then."""

    def read(memory: Memory) -> dict[str, Any]:
        session, budget = opened(desk, memory, id), memory.policy.context_budget
        rows, more = replays.newest(session, before=before, limit=ROWS, budget=budget)
        shots = [row.shot for row in rows if row.shot]
        most = max((max(shot.tokens, shot.budget) for shot in shots), default=1)
        return {"session": session.info(), "rows": rows, "more": more, "most": most, "tiers": [*TIERS, FRAME]}

    return await desk.page("requests.html", read)


@router.get("/request")
async def show_request(
    request: Request,
    desk: Reading,
    id: Id,
    seq: Seq = 0,
    trace: Annotated[str | None, Query(max_length=512)] = None,
) -> Response:
    """One request: what the model saw, beside what it sees under the budget or policy that the query asks for."""
    form = request.query_params

    def read(memory: Memory) -> dict[str, Any]:
        session = opened(desk, memory, id)
        asked = replays.find(session, seq, trace)
        then, policy = asked.shot(session, memory.policy.context_budget), asked.policy(memory.policy)
        other, refused = _otherwise(session, asked, then, policy, form)
        names = _names(desk.reader(memory), session, [*then.dropped, *(other.dropped if other else ())])
        return {
            "session": session.info(), "asked": asked, "levers": _levers(policy, form), "wanted": form.get("budget", ""),
            "then": then, "other": other, "refused": refused, "names": names, **_scale(then, other),
        }  # fmt: skip

    return await desk.page("request.html", read)


def _otherwise(
    session: SessionReader, asked: Asked, then: Shot, policy: Policy, form: Mapping[str, str]
) -> tuple[Shot | None, str]:
    """What comes out otherwise, if anything else is asked for, or why it cannot be done."""
    try:
        budget, wanted = replays.budget_of(form), replays.policy_wanted(policy, form)
        if budget is None and wanted is None:
            return None, ""
        return asked.again(session, budget or then.budget, wanted), ""
    except (BudgetExceeded, InvalidInput) as error:
        return None, str(error)


def _levers(policy: Policy, form: Mapping[str, str]) -> dict[str, Any]:
    return {name: form.get(name) or getattr(policy, name) for name in LEVERS}


def _scale(then: Shot, other: Shot | None) -> dict[str, Any]:
    """What both bars share: the tokens that their whole width stands for, and the tiers that either has."""
    shots = [then, other] if other else [then]
    return {
        "most": max(max(shot.budget, shot.tokens) for shot in shots),
        "tiers": [tier for tier in (*TIERS, FRAME) if any(tier in shot.tiers for shot in shots)],
    }


def _names(user: UserReader, session: SessionReader, dropped: Sequence[Candidate]) -> dict[str, str]:
    """What the ids of the dropped stand for; those that are gone stay ids."""
    names: dict[str, str] = {}
    for candidate in {each.id: each for each in dropped[:NAMED]}.values():
        try:
            if candidate.tier == "window":
                names[candidate.id] = text_of(session.get_event(candidate.id).content)
            elif candidate.tier in ("facts", "news"):
                names[candidate.id] = user.get(candidate.id).text
        except NotFound:
            continue
    return names
