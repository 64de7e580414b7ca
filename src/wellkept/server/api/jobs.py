"""Background work, what it spent, and who the users are."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.records import Scope
from wellkept.server.auth import AdminTenant, ReaderTenant, Tenant
from wellkept.server.idempotency import once
from wellkept.server.openapi import PROBLEMS, gives
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import MAX_INTEGER, Cursor, Day, Limit, Page, Shown, answer, number, page
from wellkept.store.jobs import Job, JobState

router = APIRouter(prefix="/v1", tags=["jobs"], route_class=StrictRoute, responses=PROBLEMS)

JobId = Annotated[int, Path(ge=0, le=MAX_INTEGER)]


class Spend(Shown):
    """Tokens of one day, user and kind of job."""

    day: str
    user: str
    kind: str
    calls: int
    input_tokens: int
    output_tokens: int


class SpendList(Shown):
    """Spend, oldest day first."""

    items: list[Spend]


class Users(Shown):
    """Users of a namespace."""

    items: list[Scope]


@router.get("/jobs", responses=gives(Page[Job]))
async def list_jobs(
    served: Served,
    tenant: ReaderTenant,
    state: JobState | None = None,
    kind: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Jobs of the namespace, or of one user in it, newest first."""
    found = await served.memory.jobs.list(
        namespace=tenant.namespace,
        scope=tenant.scope,
        state=state,
        kind=kind,
        limit=limit,
        before=number(cursor),
    )
    return page(found, limit, found[-1].id if found else None)


def _theirs(memory: Memory, id: int, tenant: Tenant) -> Job:
    """The job, if it is this user's where the request is about one. Raises NotFound."""
    job = memory.jobs.get(id, namespace=tenant.namespace)
    if tenant.user not in (None, job.scope.user):
        raise NotFound(f"No job {id}.")
    return job


@router.get("/jobs/{id}", responses=gives(Job))
async def get_job(served: Served, tenant: ReaderTenant, id: JobId) -> Response:
    """One job, with its last error and what the model answered."""
    return answer(await served.memory.run(lambda memory: _theirs(memory, id, tenant)))


@router.post("/jobs/{id}/retry", responses=gives(Job))
async def retry_job(request: Request, served: Served, tenant: AdminTenant, id: JobId) -> Response:
    """Let a failed or cancelled job run again, now."""

    def work(memory: Memory) -> Response:
        return answer(memory.jobs.retry(_theirs(memory, id, tenant).id, namespace=tenant.namespace))

    return await once(request, served, _asker(tenant), work)


@router.post("/jobs/{id}/cancel", responses=gives(Job))
async def cancel_job(request: Request, served: Served, tenant: AdminTenant, id: JobId) -> Response:
    """Keep a job from running, or its result from being stored."""

    def work(memory: Memory) -> Response:
        return answer(memory.jobs.cancel(_theirs(memory, id, tenant).id, namespace=tenant.namespace))

    return await once(request, served, _asker(tenant), work)


def _asker(tenant: Tenant) -> Scope:
    """Whose keys a request's ``Idempotency-Key`` is one of: the user's, or those of the namespace."""
    return Scope(tenant.namespace, tenant.user or "")


@router.get("/spend", responses=gives(SpendList))
async def spend(served: Served, tenant: ReaderTenant, since: Day | None = None) -> Response:
    """Tokens that memory work spent on models, by day (UTC), user and kind of job."""
    day = since.isoformat() if since else None
    found: list[dict[str, Any]] = await served.memory.spend(namespace=tenant.namespace, since=day)
    return answer({"items": [row for row in found if tenant.user in (None, row["user"])]})


@router.get("/users", responses=gives(Users))
async def users(served: Served, tenant: ReaderTenant) -> Response:
    """The users of the namespace that this key opens."""
    found = await served.memory.scopes(tenant.namespace)
    return answer({"items": [scope for scope in found if tenant.user in (None, scope.user)]})
