"""How contexts came to be, and how they come out under another budget or policy; summaries and their ledger."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from wellkept.errors import InvalidInput
from wellkept.memory import Memory
from wellkept.records import LedgerLine, Policy, Scope, Summary
from wellkept.server.api.sessions import reader
from wellkept.server.auth import Reader, Writer
from wellkept.server.openapi import PROBLEMS, gives
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import Body, Cursor, Limit, Page, SessionId, Shown, answer, number, page
from wellkept.store.traces import Trace
from wellkept.trace import Replay, TraceList, policy_of

router = APIRouter(prefix="/v1", tags=["traces"], route_class=StrictRoute, responses=PROBLEMS)


class ReplayWanted(Body):
    """Under what to build the context again; as it was then, where nothing is given."""

    budget: int | None = Field(default=None, ge=1, le=100_000_000)
    policy: dict[str, Any] | None = Field(default=None, max_length=64)


class Rebuilt(Shown):
    """How many versions of a summary were dropped."""

    dropped: int


def _traces(memory: Memory, scope: Scope, session_id: str | None) -> TraceList:
    if session_id is not None:
        return reader(memory, scope, session_id).traces
    return memory.read_only().user(scope.user, namespace=scope.namespace).traces


@router.get("/traces", responses=gives(Page[Trace]))
async def list_traces(
    served: Served, scope: Reader, session_id: str | None = None, limit: Limit = 20, cursor: Cursor = None
) -> Response:
    """Traces of a user, or of one session, newest first."""

    def read(memory: Memory) -> list[Trace]:
        memory.flush_traces()
        return _traces(memory, scope, session_id).list(limit=limit, before=cursor)

    found = await served.memory.run(read)
    return page(found, limit, found[-1].id if found else None)


@router.get("/traces/{trace_id}", responses=gives(Trace))
async def get_trace(served: Served, scope: Reader, trace_id: str) -> Response:
    """One trace: every candidate, its score, kept or dropped and why, and the exact text."""
    return answer(await served.memory.run(lambda memory: _trace(memory, scope, trace_id)))


def _trace(memory: Memory, scope: Scope, trace_id: str) -> Trace:
    memory.flush_traces()
    return _traces(memory, scope, None).get(trace_id)


@router.post("/traces/{trace_id}/replay")
async def replay(served: Served, scope: Reader, trace_id: str, body: ReplayWanted) -> Response:
    """The context of a trace built again from what the store held at that moment, beside what it was.

    `policy`: some of its fields, on top of the policy of then; its `context_budget` is the budget, if `budget` does not
    say another.
    """
    changed = body.policy or {}

    def work(memory: Memory) -> Replay:
        before = _trace(memory, scope, trace_id)
        policy = _policy(before, changed) if changed else None
        budget = changed.get("context_budget") if body.budget is None else body.budget
        return _traces(memory, scope, None).replay(trace_id, policy=policy, budget=budget)

    return answer(await served.memory.run(work))


def _policy(before: Trace, changed: dict[str, Any]) -> Policy:
    """The policy of then with some fields changed. Raises InvalidInput for unknown fields and impossible values."""
    unknown = changed.keys() - {field.name for field in fields(Policy)}
    if unknown:
        raise InvalidInput(f"Policy has no field {', '.join(sorted(unknown))}.")
    try:
        return policy_of({**before.policy, **changed})
    except TypeError as error:
        raise InvalidInput(f"A value of the policy is of the wrong kind: {error}.") from error


@router.get("/sessions/{session_id}/summaries", responses=gives(Page[Summary]))
async def summaries(
    served: Served, scope: Reader, session_id: SessionId, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """The newest versions of a session's summaries, oldest first; `next` leads to earlier ones. `limit` counts versions,
    which may have several topics."""
    before = number(cursor)
    found = await served.memory.run(
        lambda memory: reader(memory, scope, session_id).summaries(limit=limit, before=before)
    )
    earlier = found[0].version if found and found[0].version > 1 else None
    return answer({"items": found, "next": earlier and str(earlier)})


@router.get("/sessions/{session_id}/ledger", responses=gives(Page[LedgerLine]))
async def ledger(
    served: Served, scope: Reader, session_id: SessionId, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """Key data that the summaries had no room for, oldest first."""
    skip = number(cursor) or 0
    found = await served.memory.run(
        lambda memory: reader(memory, scope, session_id).ledger(limit=limit, skip=skip)
    )
    return page(found, limit, skip + len(found))


@router.delete("/sessions/{session_id}/summaries", responses=gives(Rebuilt))
async def rebuild_summaries(served: Served, scope: Writer, session_id: SessionId) -> Response:
    """Drop the summaries and have them made anew from the messages."""
    dropped = await served.memory.run(
        lambda memory: memory.session(
            namespace=scope.namespace, user=scope.user, session_id=session_id
        ).rebuild_summaries()
    )
    served.live.wake()
    return answer({"dropped": dropped})
