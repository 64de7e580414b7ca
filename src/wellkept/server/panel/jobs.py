"""Background work: where it stands, a hand on it, and what it spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, get_args

from fastapi import APIRouter
from starlette.responses import Response

from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.records import Record
from wellkept.server.panel.desk import PAGE, Desk, PanelRoute, Reading, Ruling
from wellkept.server.panel.sessions import Seq
from wellkept.store.jobs import Job, JobState

router = APIRouter(route_class=PanelRoute)

STATES: tuple[JobState, ...] = get_args(JobState)
DAYS = 30


@router.get("/jobs")
async def list_jobs(desk: Reading, state: JobState | None = None, before: Seq = 0) -> Response:
    """The user's jobs, newest first."""

    def read(memory: Memory) -> dict[str, Any]:
        found = memory.jobs.list(scope=desk.scope, state=state, limit=PAGE, before=before or None)
        more = found[-1].id if len(found) == PAGE else None
        return {"jobs": found, "state": state, "states": STATES, "more": more}

    return await desk.page("jobs.html", read)


@router.get("/job")
async def show_job(desk: Reading, id: Seq) -> Response:
    """One job, with its last error and what the model answered."""
    return await desk.page("job.html", lambda memory: {"job": _theirs(desk, memory, id)})


def _theirs(desk: Desk, memory: Memory, id: int) -> Job:
    job = memory.jobs.get(id, namespace=desk.scope.namespace)
    if job.scope != desk.scope:
        raise NotFound(f"No job {id}.")
    return job


@router.post("/job/retry")
async def retry(desk: Ruling, id: Seq) -> Response:
    """Let a failed or cancelled job run again, now."""
    namespace = desk.scope.namespace
    return await desk.act(
        lambda memory: memory.jobs.retry(_theirs(desk, memory, id).id, namespace=namespace, actor="user"),
        "job",
        id=id,
    )


@router.post("/job/cancel")
async def cancel(desk: Ruling, id: Seq) -> Response:
    """Keep a job from running, or its result from being stored."""
    namespace = desk.scope.namespace
    return await desk.act(
        lambda memory: memory.jobs.cancel(_theirs(desk, memory, id).id, namespace=namespace, actor="user"),
        "job",
        id=id,
    )


# ── spend
# ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Day(Record):
    """What memory work spent on one day: tokens by kind of job, and calls."""

    day: str
    kinds: dict[str, int]
    calls: int

    @property
    def tokens(self) -> int:
        """All of them."""
        return sum(self.kinds.values())


@router.get("/spend")
async def spend(desk: Reading) -> Response:
    """Tokens per day, as a chart and as a table."""

    def read(memory: Memory) -> dict[str, Any]:
        rows = [row for row in memory.spend(namespace=desk.scope.namespace) if row["user"] == desk.scope.user]
        days = by_day(rows)
        kinds = sorted({kind for day in days for kind in day.kinds})
        most = max((day.tokens for day in days), default=0)
        return {"days": days, "kinds": kinds, "most": most, "ceiling": memory.policy.daily_tokens}

    return await desk.page("spend.html", read)


def by_day(rows: Sequence[dict[str, Any]]) -> list[Day]:
    """From the first day with spend to the last, at most ``DAYS`` of them, those without any included."""
    if not rows:
        return []
    first, last = (date.fromisoformat(pick(row["day"] for row in rows)) for pick in (min, max))
    count = min(DAYS, (last - first).days + 1)
    days = [(last - timedelta(days=back)).isoformat() for back in reversed(range(count))]
    return [_day(day, [row for row in rows if row["day"] == day]) for day in days]


def _day(day: str, rows: Sequence[dict[str, Any]]) -> Day:
    kinds: dict[str, int] = {}
    for row in rows:
        kinds[row["kind"]] = kinds.get(row["kind"], 0) + row["input_tokens"] + row["output_tokens"]
    return Day(day, kinds, sum(row["calls"] for row in rows))
