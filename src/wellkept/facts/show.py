"""Shows facts: their section of a context, the news since, and the files that people read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from wellkept.core import Core
from wellkept.facts.files import day
from wellkept.outbox import held_back
from wellkept.policy.context.assemble import Item, Section, fence
from wellkept.policy.facts.evict import worth
from wellkept.policy.facts.labels import catalogue
from wellkept.records import Candidate, Record, Scope
from wellkept.store.facts import EXPLICIT, Change, Fact
from wellkept.store.protocol import SessionRef, Tables

CATALOGUE = (
    "There are more memories than are shown here. They are filed under the labels below. Before you answer what is "
    "remembered or preferred, call memory_recall with labels copied from here, or with a query."
)
SOURCE = {"source": "what the user said in earlier conversations"}


@dataclass(frozen=True)
class FactTiers(Record):
    """What a context shows of facts: a stable section, news behind the boundary, and notes for the
    application; ``missing`` tells the trace what is not there yet."""

    stable: Section
    news: Section
    changes: tuple[str, ...]
    newest: int
    missing: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Past(Record):
    """A moment to look back to, and when the session's summaries were last made then."""

    at: datetime
    anchored: datetime


def fact_tiers(
    core: Core, tables: Tables, ref: SessionRef, room: int, seen: int | None, past: Past | None
) -> FactTiers:
    """The facts as the context of a session shows them.

    Args:
        room: tokens of the whole context.
        seen: number of the last change that the caller knows of; None for one that wants no notes.
        past: an earlier moment; None for now.
    """
    scope = ref.scope
    latest = newest = tables.facts.newest(scope)
    anchor = tables.facts.anchored(ref)
    if past is not None:
        newest, anchor = _then(tables, scope, past)
    # Mostly nothing has changed since, and then there is nothing to look for.
    facts = tables.facts.as_of(scope, anchor) if latest > anchor else tables.facts.all(scope)
    changed = tables.facts.changes(scope, after=anchor) if newest > anchor else []
    since = [change for change in changed if change.id <= newest]
    after = newest if seen is None else seen
    unseen = tables.facts.changes(scope, after=after) if latest > after else []
    notes = [change for change in unseen if change.actor not in EXPLICIT]
    missing = _missing(core, tables, ref) if past is None else ()
    return FactTiers(_stable(core, facts, room), _news(core, since), tuple(_notes(notes)), newest, missing)


def _missing(core: Core, tables: Tables, ref: SessionRef) -> tuple[Candidate, ...]:
    """That the session's newest messages were not read for facts, because the namespace has spent its tokens."""
    until = held_back(tables, ref) if core.model is not None else None
    if until is None:
        return ()
    reason = (
        f"daily_tokens are spent: messages are stored, and read for facts after {until:%Y-%m-%d %H:%M} UTC"
    )
    return (Candidate(tier="facts", id="extraction", tokens=0, kept=False, reason=reason),)


def _then(tables: Tables, scope: Scope, past: Past) -> tuple[int, int]:
    """Number of the newest change, and of the one that contexts showed the facts as of, at an earlier moment."""
    newest = tables.facts.newest_at(scope, _ms(past.at))
    compacted = tables.facts.newest_at(scope, _ms(min(past.anchored, past.at)))
    explicit = tables.facts.newest_at(scope, _ms(past.at), explicit=True)
    return newest, max(compacted, explicit)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _stable(core: Core, facts: Sequence[Fact], room: int) -> Section:
    share = core.policy.facts_share
    lines = [
        Item(fact.id, line(fact, core.zone), rank=-worth(fact) - (1 << 40) * fact.pinned) for fact in facts
    ]
    left = int(room * share) - core.count(fence("facts", "", SOURCE))
    if facts and sum(core.count(item.text) + 1 for item in lines) > left:
        pinned = [item for item, fact in zip(lines, facts, strict=True) if fact.pinned]
        labels = [Item(f"label {label}", f"- {label}", rank=at) for at, label in enumerate(catalogue(facts))]
        lines = [*pinned, Item("catalogue", CATALOGUE, rank=-1), *labels]
    return Section(tier="facts", items=lines, share=share, attributes=SOURCE)


def line(fact: Fact, zone: ZoneInfo) -> str:
    """A fact as a context shows it: the statement, since when, and until when if that is known."""
    since = fact.valid_from or fact.created_at
    until = f", until {day(fact.valid_to, zone)}" if fact.valid_to else ""
    return f"- {fact.text} ({day(since, zone)}{until})"


def _news(core: Core, since: Sequence[Change]) -> Section:
    """What changed behind the stable section's back: the last state of each fact touched."""
    last: dict[str, tuple[Fact | None, Change]] = {}
    for change in since:
        last[change.fact_id] = (last[change.fact_id][0] if change.fact_id in last else change.before, change)
    items = []
    for id, (before, change) in last.items():
        now = change.after
        was, is_ = before is not None and before.state == "active", now is not None and now.state == "active"
        if now is not None and is_ and (not was or before is None or before.text != now.text):
            items.append(Item(id, f"- new: {line(now, core.zone)[2:]}"))
        elif (
            was
            and not is_
            and before is not None
            and change.action in ("replace", "retire", "forget", "undo")
        ):
            items.append(Item(id, f"- no longer true: {before.text}"))
    share = core.policy.recall_share / 2
    return Section(
        tier="news", items=items, share=share, stable=False, attributes={"source": "memory work since"}
    )


def _notes(changes: Sequence[Change]) -> list[str]:
    """Changes as an application shows them."""
    verbs = {
        "store": "remembered",
        "update": "updated",
        "replace": "outdated",
        "forget": "forgotten",
        "evict": "archived",
    }
    notes = []
    for change in changes:
        fact = change.after or change.before
        if fact is not None and change.action in verbs:
            notes.append(f"{verbs[change.action]}: {fact.text}")
    return notes
