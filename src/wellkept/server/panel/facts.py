"""Facts: read, add, edit, pin, retire, undo; their history, their sources, their labels."""

from __future__ import annotations

from collections import Counter
from heapq import merge
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query
from starlette.responses import Response

from wellkept.errors import InvalidInput, NotFound
from wellkept.memory import Memory
from wellkept.records import Event
from wellkept.server.panel.desk import PAGE, Desk, PanelRoute, Posted, Reading, Writing
from wellkept.server.panel.sessions import Id, Seq, opened
from wellkept.store.actions import Action
from wellkept.store.facts import Change, Fact, FactState

router = APIRouter(route_class=PanelRoute)

STATES: tuple[FactState, ...] = get_args(FactState)


@router.get("/facts")
async def list_facts(
    desk: Reading,
    label: Annotated[str, Query(max_length=512)] = "",
    state: FactState = "active",
    cursor: Annotated[str | None, Query(max_length=512)] = None,
) -> Response:
    """A user's facts in one state, all or those under one label."""

    def read(memory: Memory) -> dict[str, Any]:
        user = desk.reader(memory)
        page = user.get_all(limit=PAGE, cursor=cursor, labels=[label] if label else (), states=[state])
        shown = {"state": state, "states": STATES, "label": label, "labels": user.labels()}
        return {**shown, "facts": page.results, "more": page.cursor}

    return await desk.page("facts.html", read)


@router.get("/labels")
async def list_labels(desk: Reading) -> Response:
    """The catalogue: each label with the facts under it."""

    def read(memory: Memory) -> dict[str, Any]:
        user = desk.reader(memory)
        facts = user.get_all(limit=10_000).results
        return {"labels": _by_label(facts), "unlabelled": sum(not fact.labels for fact in facts)}

    return await desk.page("labels.html", read)


def _by_label(facts: tuple[Fact, ...]) -> list[tuple[str, int]]:
    counts = Counter(label for fact in facts for label in fact.labels)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


@router.get("/fact")
async def show_fact(desk: Reading, id: Id) -> Response:
    """One fact: what it says, where it comes from, how it changed."""

    def read(memory: Memory) -> dict[str, Any]:
        user = desk.reader(memory)
        fact = user.get(id)
        history = list(reversed(user.history(id)))
        return {"fact": fact, "history": history, "sources": _sources(desk, memory, fact)}

    return await desk.page("fact.html", read)


def _sources(desk: Desk, memory: Memory, fact: Fact) -> list[tuple[str, Event | None]]:
    """The ids of the source events with the events; None for one that is gone."""
    found: list[tuple[str, Event | None]] = []
    for id in fact.sources:
        try:
            found.append((id, opened(desk, memory, id.rpartition(":")[0]).get_event(id)))
        except NotFound:
            found.append((id, None))
    return found


@router.get("/changes")
async def list_changes(desk: Reading, change: Seq = 0, action: Seq = 0) -> Response:
    """The changes of all facts and what was done to anything else, newest first; those before ``change`` and ``action``."""

    def read(memory: Memory) -> dict[str, Any]:
        user = desk.reader(memory)
        changes: list[Change | Action] = [*reversed(user.changes(limit=PAGE + 1, before=change or None))]
        actions = user.actions(limit=PAGE + 1, before=action or None)
        made = list(merge(changes, actions, key=lambda it: it.at, reverse=True))
        last = {"change": change, "action": action}
        last |= {"action" if isinstance(it, Action) else "change": it.id for it in made[:PAGE]}
        return {"changes": made[:PAGE], "more": last if len(made) > PAGE else None}

    return await desk.page("changes.html", read)


# ── doing
# ────────────────────────────────────────────────────────────────────────────────────────────────────


@router.post("/facts/add")
async def add(desk: Writing, form: Posted) -> Response:
    """Store a statement as it is."""
    text, labels = form.get("text", "").strip(), _labels(form)
    return await desk.act(lambda memory: desk.writer(memory).keep(text, labels=labels, actor="user"), "facts")


@router.post("/fact/edit")
async def edit(desk: Writing, id: Id, form: Posted) -> Response:
    """Change the text or the labels; what was is in the history."""
    text, labels = form.get("text", "").strip(), _labels(form)
    return await desk.act(
        lambda memory: desk.writer(memory).update(id, text, labels=labels, actor="user"), "fact", id=id
    )


@router.post("/fact/pin")
async def pin(desk: Writing, id: Id) -> Response:
    """Keep it from being evicted."""
    return await desk.act(lambda memory: desk.writer(memory).pin(id, actor="user"), "fact", id=id)


@router.post("/fact/unpin")
async def unpin(desk: Writing, id: Id) -> Response:
    """Let it be evicted again."""
    return await desk.act(lambda memory: desk.writer(memory).unpin(id, actor="user"), "fact", id=id)


@router.post("/fact/retire")
async def retire(desk: Writing, id: Id) -> Response:
    """Take it out of every context and search; undoable."""
    return await desk.act(lambda memory: desk.writer(memory).delete(id, actor="user"), "fact", id=id)


@router.post("/changes/undo")
async def undo(desk: Writing, change: Seq, fact: Annotated[str, Query(max_length=512)] = "") -> Response:
    """Take back a change, with what was changed together with it."""
    if not change:
        raise InvalidInput("Say which change to undo.")
    return await desk.act(
        lambda memory: desk.writer(memory).undo(change, actor="user"), "fact" if fact else "changes", id=fact
    )


def _labels(form: dict[str, str]) -> list[str]:
    """The labels of a form, which a person parts with commas of either width."""
    given = form.get("labels", "").replace("，", ",").replace("、", ",")
    return [label.strip() for label in given.split(",") if label.strip()]
