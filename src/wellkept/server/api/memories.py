"""What is kept about a user: facts, their history, labels, what waits for a decision, and forgetting."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field, model_validator
from starlette.responses import Response

from wellkept.facts.forget import Preview, Receipt
from wellkept.memory import Memory
from wellkept.records import Scope
from wellkept.server.api.messages import Message
from wellkept.server.auth import Admin, Reader, Writer
from wellkept.server.idempotency import kept, once
from wellkept.server.openapi import PROBLEMS, gives
from wellkept.server.routes import StrictRoute
from wellkept.server.service import Served
from wellkept.server.wire import MAX_INTEGER, Body, Cursor, Limit, Moment, Page, Shown, answer, number, page
from wellkept.store.actions import Action
from wellkept.store.facts import Change, Doubt, Fact, FactState
from wellkept.user import UserMemory, UserReader

router = APIRouter(prefix="/v1", tags=["memories"], route_class=StrictRoute, responses=PROBLEMS)

MemoryId = Annotated[str, Path(min_length=1, max_length=64)]
Number = Annotated[int, Path(ge=0, le=MAX_INTEGER)]
Short = Annotated[str, Field(max_length=200)]
MAX_TEXT = 100_000


class Kept(Shown):
    """What became of one statement, in mem0's words."""

    id: str
    memory: str
    event: str


class Added(Shown):
    """What became of all of them; with ``infer`` a job goes on, over the session that is named."""

    results: list[Kept]
    session_id: str | None = None
    jobs: int | None = None


class NewMemory(Body):
    """Something to remember: a statement, or messages to take facts from."""

    messages: str | list[Message] = Field(max_length=MAX_TEXT)
    infer: bool = True
    attribute: Short = ""
    labels: list[Short] = Field(default=[], max_length=16)
    keywords: list[Short] = Field(default=[], max_length=16)
    metadata: dict[str, Any] | None = None
    agent_id: Annotated[str, Field(max_length=512)] | None = None
    run_id: Annotated[str, Field(min_length=1, max_length=512)] | None = None


class NewWording(Body):
    """A fact as it should be; what is left out stays."""

    text: str = Field(max_length=MAX_TEXT)
    labels: list[Short] | None = Field(default=None, max_length=16)
    keywords: list[Short] | None = Field(default=None, max_length=16)
    metadata: dict[str, Any] | None = None


class Changes(Shown):
    """Changes of facts, all that there are, oldest first."""

    items: list[Change]


class Labels(Shown):
    """The catalogue."""

    items: list[str]


class Doubts(Shown):
    """What waits for a decision, oldest first."""

    items: list[Doubt]


class Decision(Body):
    """Yes or no."""

    accept: bool


class Settled(Shown):
    """A decision was carried out; an erasure has a receipt."""

    receipt: Receipt | None


class Receipts(Shown):
    """Receipts, oldest first."""

    items: list[Receipt]


class Forget(Body):
    """What to erase: all that holds the words of ``query``, or the facts ``ids``."""

    query: str | None = Field(default=None, min_length=1, max_length=1000)
    ids: list[Annotated[str, Field(max_length=64)]] | None = Field(
        default=None, min_length=1, max_length=1000
    )
    preview: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> Forget:
        if (self.query is None) == (self.ids is None):
            raise ValueError("give either query or ids")
        return self


def reader(memory: Memory, scope: Scope) -> UserReader:
    """The user's memory to read from."""
    return memory.read_only().user(scope.user, namespace=scope.namespace)


def writer(memory: Memory, scope: Scope) -> UserMemory:
    """The user's memory to write to."""
    return memory.user(scope.user, namespace=scope.namespace)


# ── facts
# ───────────────────────────────────────────────────────────────────────────────────────────────────


@router.post("/memories", status_code=201, responses=gives(Added, 201))
async def add_memory(request: Request, served: Served, scope: Writer, body: NewMemory) -> Response:
    """Remember something: as it is (`infer: false`), or by having facts taken from it in the background."""
    options = body.model_dump(exclude={"messages"}, exclude_unset=True)
    said = body.messages
    messages = said if isinstance(said, str) else [message.said() for message in said]

    def work(memory: Memory) -> Response:
        return answer(writer(memory, scope).add(messages, **options), 201)

    return await once(request, served, scope, work)


@router.get("/memories", responses=gives(Page[Fact]))
async def list_memories(
    served: Served,
    scope: Reader,
    limit: Limit = 50,
    cursor: Cursor = None,
    label: Annotated[list[str] | None, Query(max_length=16)] = None,
    state: Annotated[list[FactState] | None, Query(max_length=3)] = None,
    as_of: Moment | None = None,
) -> Response:
    """Facts in the order they were made; active ones, if `state` does not say more."""
    found = await served.memory.run(
        lambda memory: reader(memory, scope).get_all(
            limit=limit, cursor=cursor, labels=label or (), states=state or ("active",), as_of=as_of
        )
    )
    return answer({"items": found.results, "next": found.cursor})


@router.delete("/memories", responses=gives(Changes))
async def retire_all(served: Served, scope: Admin) -> Response:
    """Retire every fact of the user; undoing one of the changes takes all of them back."""
    changes = await served.memory.run(lambda memory: writer(memory, scope).delete_all())
    served.live.wake()
    return answer({"items": changes})


@router.get("/memories/{memory_id}", responses=gives(Fact))
async def get_memory(served: Served, scope: Reader, memory_id: MemoryId) -> Response:
    """One fact, in whatever state."""
    return answer(await served.memory.run(lambda memory: reader(memory, scope).get(memory_id)))


@router.put("/memories/{memory_id}", responses=gives(Fact))
async def update_memory(served: Served, scope: Writer, memory_id: MemoryId, body: NewWording) -> Response:
    """Change a fact under the same id; what it was is in its history."""
    options = body.model_dump(exclude={"text"}, exclude_unset=True)
    fact = await served.memory.run(
        lambda memory: writer(memory, scope).update(memory_id, body.text, **options)
    )
    served.live.wake()
    return answer(fact)


@router.delete("/memories/{memory_id}", responses=gives(Change))
async def retire_memory(served: Served, scope: Writer, memory_id: MemoryId) -> Response:
    """Retire a fact: out of every context and search, in history, undoable."""
    change = await served.memory.run(lambda memory: writer(memory, scope).delete(memory_id))
    served.live.wake()
    return answer(change)


@router.get("/memories/{memory_id}/history", responses=gives(Changes))
async def memory_history(served: Served, scope: Reader, memory_id: MemoryId) -> Response:
    """All changes of a fact, oldest first."""
    return answer({"items": await served.memory.run(lambda memory: reader(memory, scope).history(memory_id))})


@router.post("/memories/{memory_id}/{action}", responses=gives(Fact))
async def pin_memory(
    request: Request, served: Served, scope: Writer, memory_id: MemoryId, action: Literal["pin", "unpin"]
) -> Response:
    """Keep a fact from being evicted, or let it be again."""

    def work(memory: Memory) -> Response:
        user = writer(memory, scope)
        return answer(user.pin(memory_id) if action == "pin" else user.unpin(memory_id))

    return await once(request, served, scope, work)


@router.get("/labels", responses=gives(Labels))
async def labels(served: Served, scope: Reader) -> Response:
    """The catalogue: the labels of the active facts."""
    return answer({"items": await served.memory.run(lambda memory: reader(memory, scope).labels())})


# ── changes and decisions
# ───────────────────────────────────────────────────────────────────────────────────


@router.get("/changes", responses=gives(Page[Change]))
async def changes(
    served: Served,
    scope: Reader,
    limit: Limit = 50,
    cursor: Cursor = None,
    after: Annotated[int, Query(ge=0, le=MAX_INTEGER)] = 0,
) -> Response:
    """The newest changes of all facts, oldest first; only those with an id above `after`. `next` leads to earlier ones."""
    before = number(cursor)
    found = await served.memory.run(
        lambda memory: reader(memory, scope).changes(limit=limit, after=after, before=before)
    )
    return page(found, limit, found[0].id if found else None)


@router.get("/actions", responses=gives(Page[Action]))
async def actions(served: Served, scope: Reader, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """What was done to sessions, summaries, profile, jobs and questions, and each erasure, newest first."""
    before = number(cursor)
    found = await served.memory.run(lambda memory: reader(memory, scope).actions(limit=limit, before=before))
    return page(found, limit, found[-1].id if found else None)


@router.post("/changes/{change_id}/undo", responses=gives(Changes))
async def undo(request: Request, served: Served, scope: Writer, change_id: Number) -> Response:
    """Take back a change, with all that was changed in the same operation; the changes that this made."""

    def work(memory: Memory) -> Response:
        return answer({"items": writer(memory, scope).undo(change_id)})

    return await once(request, served, scope, work)


@router.get("/review", responses=gives(Doubts))
async def review(served: Served, scope: Reader) -> Response:
    """What waits for a decision."""
    return answer({"items": await served.memory.run(lambda memory: reader(memory, scope).review())})


@router.post("/review/{doubt_id}", responses=gives(Settled))
async def settle(
    request: Request, served: Served, scope: Admin, doubt_id: Number, body: Decision
) -> Response:
    """Decide: accepting retires or erases what is in question, refusing leaves all as it is."""

    def work(memory: Memory) -> Response:
        return answer({"receipt": writer(memory, scope).settle(doubt_id, accept=body.accept)})

    return await kept(request, served, scope, work)


# ── forgetting
# ──────────────────────────────────────────────────────────────────────────────────────────────


@router.post("/forget", responses=gives(Preview | Receipt))
async def forget(request: Request, served: Served, scope: Admin, body: Forget) -> Response:
    """Erase, not undoable: facts with their history, the messages behind them and all that was made of those.

    With `preview` nothing is done, and the answer says what would go. Else it is the receipt: what was removed, and
    what a second look found left. Doing it twice finds nothing the second time.
    """

    def work(memory: Memory) -> Response:
        user = writer(memory, scope)
        found = user.forget(body.query, ids=body.ids or ())
        return answer(found if body.preview else user.forget(found))

    if body.preview:
        # It holds what is to be forgotten: no copy of it is kept.
        return await served.memory.run(work)
    return await kept(request, served, scope, work)


@router.get("/receipts", responses=gives(Receipts))
async def receipts(served: Served, scope: Reader) -> Response:
    """What erasures removed, oldest first."""
    return answer({"items": await served.memory.run(lambda memory: reader(memory, scope).receipts())})
