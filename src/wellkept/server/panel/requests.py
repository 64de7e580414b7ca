"""The replay: what the model saw for each request, and what it would see under another budget or policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from wellkept.errors import BudgetExceeded, InvalidInput, NotFound
from wellkept.memory import Memory
from wellkept.policy.assemble import Candidate
from wellkept.records import Event, Policy, Record, text_of
from wellkept.server.panel.desk import Desk, PanelRoute, Reading
from wellkept.server.panel.sessions import Id, Seq, opened
from wellkept.server.panel.shots import FRAME, TIERS, Shot, of_context, of_trace
from wellkept.session import SessionReader
from wellkept.store.protocol import Trace
from wellkept.trace import policy_of

router = APIRouter(route_class=PanelRoute)

ROWS = 12
LEVERS = (
    "profile_share",
    "facts_share",
    "summary_share",
    "recall_share",
    "recall_limit",
    "similarity_threshold",
)
"""Settings of a policy that can be tried on a replay."""

MOST = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Record):
    """A request of a session. ``shot`` is None where none fits into the budget, as ``refused`` says."""

    seq: int
    at: datetime
    question: str
    trace: str | None = None
    shot: Shot | None = None
    refused: str = ""


@router.get("/requests")
async def list_requests(desk: Reading, id: Id, before: Seq = 0) -> Response:
    """The requests of a session, newest first: those recorded, and for other user messages what a context was then."""

    def read(memory: Memory) -> dict[str, Any]:
        session = opened(desk, memory, id)
        events = _asked(session, before)
        rows = _rows(session, events, memory.policy.context_budget)
        shown = [row.shot for row in rows if row.shot]
        return {
            "session": session.info(), "rows": rows, "tiers": [*TIERS, FRAME],
            "most": max([shot.tokens for shot in shown] + [shot.budget for shot in shown], default=1),
            "more": events[0].seq if len(events) == ROWS else None,
        }  # fmt: skip

    return await desk.page("requests.html", read)


def _asked(session: SessionReader, before: int) -> list[Event]:
    """The newest user messages before a seq."""
    asked: list[Event] = []
    while len(asked) < ROWS and session.info().events:
        events = session.get_events(before=before or None, limit=100)
        asked = [event for event in events if event.role == "user"] + asked
        if len(events) < 100:
            break
        before = events[0].seq
    return asked[-ROWS:]


def _rows(session: SessionReader, events: Sequence[Event], budget: int) -> list[Row]:
    first = events[0].seq if events else 0
    traces = [trace for trace in session.traces.list(limit=100) if trace.seq >= first]
    recorded = {trace.seq for trace in traces}
    rows = [_rebuilt(session, event, budget) for event in events if event.seq not in recorded]
    known = {event.seq: text_of(event.content) for event in events}
    rows += [
        Row(seq=it.seq, at=it.at, question=it.query or known.get(it.seq, ""), trace=it.id, shot=of_trace(it))
        for it in traces
    ]
    return sorted(rows, key=lambda row: (row.seq, row.at), reverse=True)


def _rebuilt(session: SessionReader, event: Event, budget: int) -> Row:
    question = text_of(event.content)
    row = Row(seq=event.seq, at=event.ts, question=question)
    try:
        return replace(row, shot=_shot(session, event.seq, question, budget))
    except BudgetExceeded as error:
        return replace(row, refused=str(error))


def _shot(session: SessionReader, seq: int, question: str, budget: int) -> Shot:
    return of_context(session.get_context(question or None, budget, as_of=seq), budget)


# ── one request
# ──────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/request")
async def show_request(
    request: Request,
    desk: Reading,
    id: Id,
    seq: Seq = 0,
    trace: Annotated[str | None, Query(max_length=512)] = None,
    budget: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """One request: what the model saw, beside what it sees under another budget or policy."""
    wanted, tokens = request.query_params, _tokens(budget)

    def read(memory: Memory) -> dict[str, Any]:
        session = opened(desk, memory, id)
        found = session.traces.get(trace) if trace else _newest_trace(session, seq)
        if found:
            return _recorded(desk, memory, session, found, tokens, _policy(found, wanted))
        return _then(desk, memory, session, seq, tokens)

    return await desk.page("request.html", read)


def _tokens(given: str) -> int | None:
    """A budget as a form brings it; None for a field that was left empty."""
    if not given.strip():
        return None
    if not (given.isascii() and given.isdigit() and 0 < int(given) <= MOST):
        raise InvalidInput(
            f"The budget is {given!r}; it must be a whole number of tokens from 1 to {MOST:,}."
        )
    return int(given)


def _newest_trace(session: SessionReader, seq: int) -> Trace | None:
    return next((trace for trace in session.traces.list(limit=100) if trace.seq == seq), None)


def _recorded(
    desk: Desk,
    memory: Memory,
    session: SessionReader,
    trace: Trace,
    budget: int | None,
    policy: Policy | None,
) -> dict[str, Any]:
    """A request whose trace was kept, and its replay if another budget or policy is asked for."""
    then, other, refused = of_trace(trace), None, ""
    if budget is not None or policy is not None:
        try:
            replayed = session.traces.replay(trace.id, policy=policy, budget=budget)
            other = of_context(replayed.after, budget or trace.budget)
        except BudgetExceeded as error:
            refused = str(error)
    levers = {name: getattr(policy or policy_of(trace.policy), name) for name in LEVERS}
    question = trace.query or _question(session, trace.seq)
    shown = _sides(desk, memory, session, then, other)
    return {
        **shown, "session": session.info(), "seq": trace.seq, "at": trace.at, "trace": trace.id, "question": question,
        "levers": levers, "refused": refused, "wanted": budget,
    }  # fmt: skip


def _then(desk: Desk, memory: Memory, session: SessionReader, seq: int, budget: int | None) -> dict[str, Any]:
    """A request of which no trace was kept: made anew from what the store held at that message."""
    event = session.get_event(f"{session.id}:{seq}")
    question = text_of(event.content)
    usual, other, refused = memory.policy.context_budget, None, ""
    then = _shot(session, seq, question, usual)
    if budget is not None:
        try:
            other = _shot(session, seq, question, budget)
        except BudgetExceeded as error:
            refused = str(error)
    return {
        **_sides(desk, memory, session, then, other), "session": session.info(), "seq": seq, "at": event.ts, "trace": None,
        "question": question, "levers": {}, "refused": refused, "wanted": budget,
    }  # fmt: skip


def _sides(
    desk: Desk, memory: Memory, session: SessionReader, then: Shot, other: Shot | None
) -> dict[str, Any]:
    """Both contexts, ready to stand side by side."""
    shots = [then, other] if other else [then]
    return {
        "then": then,
        "other": other,
        "most": max(max(shot.budget, shot.tokens) for shot in shots),
        "tiers": [tier for tier in (*TIERS, FRAME) if any(tier in shot.tiers for shot in shots)],
        "names": _names(desk, memory, session, [each for shot in shots for each in shot.dropped]),
    }


def _question(session: SessionReader, seq: int) -> str:
    try:
        return text_of(session.get_event(f"{session.id}:{seq}").content)
    except NotFound:
        return ""


def _names(
    desk: Desk, memory: Memory, session: SessionReader, dropped: Sequence[Candidate]
) -> Mapping[str, str]:
    """What the ids of the dropped stand for; those that are gone stay ids."""
    user = desk.reader(memory)
    names: dict[str, str] = {}
    for candidate in dropped[:300]:
        if candidate.id in names:
            continue
        try:
            if candidate.tier == "window":
                names[candidate.id] = text_of(session.get_event(candidate.id).content)
            elif candidate.tier in ("facts", "news"):
                names[candidate.id] = user.get(candidate.id).text
        except NotFound:
            continue
    return names


def _policy(trace: Trace, wanted: Mapping[str, str]) -> Policy | None:
    """The policy of then with the settings that were asked for; None where that is the same."""
    then = policy_of(trace.policy)
    given = {name: wanted[name] for name in LEVERS if wanted.get(name)}
    try:
        values = {name: type(getattr(then, name))(value) for name, value in given.items()}
    except ValueError as error:
        raise InvalidInput(f"A setting is no number: {error}.") from error
    policy = replace(then, **values)
    return None if policy == then else policy
