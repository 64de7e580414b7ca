"""What one context is made of: the tiers of a session, read in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from wellkept.core import Core
from wellkept.errors import NotFound
from wellkept.facts.show import FactTiers, Past, fact_tiers
from wellkept.policy.checks import milliseconds
from wellkept.policy.context.assemble import Item, Section
from wellkept.records import Event, Record, SessionInfo, Summary
from wellkept.store.protocol import SessionRef, Tables

BRIDGE_EVENTS = 40  # behind the window, so that a context costs the same however long the history is


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Record):
    """A moment to look back to: the newest event, the newest summary version and the time then; None is now."""

    seq: int | None = None
    version: int | None = None
    at: datetime | None = None


NOW = Moment()


@dataclass(frozen=True)
class Tiers(Record):
    """What was read for one context.

    Attributes:
        sections: profile, facts, summary and news.
        uncovered: what no summary covers, oldest first: as much as a window could hold, and some behind it for the bridge.
        total: tokens of the conversation up to its newest event.
        seq, version: the newest event and the newest summary version.
        erasures: how often something of this user had been erased; 0 where no traces are kept.
    """

    sections: list[Section]
    uncovered: list[Event]
    total: int
    facts: FactTiers
    seq: int
    version: int
    erasures: int


def read_tiers(
    core: Core, tables: Tables, ref: SessionRef, room: int, then: Moment = NOW, seen: int | None = None
) -> Tiers:
    """The tiers of a session now, or as they were ``then``.

    Args:
        room: tokens of the whole context.
        seen: number of the last change of the facts that the caller knows of.

    Raises NotFound for a session that is gone.
    """
    info = tables.sessions.info(ref)
    if info is None:
        raise NotFound(f"No session {ref.id!r} for this user. It may have been deleted.")
    summaries = tables.summaries.current(ref, then.seq, then.version)
    covered = max((summary.covers_to for summary in summaries), default=0)
    facts = _facts(core, tables, info, ref, room, then, seen, summaries)
    sections = [_profile(core, tables, ref, then), facts.stable, _summary(core, summaries), facts.news]
    later = 0
    if then.seq is not None:
        later = sum(event.tokens for event in tables.events.walk(ref, after=then.seq))
    before = None if then.seq is None else then.seq + 1
    uncovered = list(_newest(tables.events.walk_back(ref, before=before), room, covered))[::-1]
    return Tiers(
        sections=sections,
        uncovered=uncovered,
        total=info.tokens - later,
        facts=facts,
        seq=uncovered[-1].seq if uncovered else covered,
        version=max((summary.version for summary in summaries), default=0),
        erasures=tables.traces.erasures(ref) if core.tracer.on else 0,
    )


def _facts(
    core: Core, tables: Tables, info: SessionInfo, ref: SessionRef, room: int, then: Moment, seen: int | None,
    summaries: Sequence[Summary],
) -> FactTiers:  # fmt: skip
    """The facts now, or as contexts of that moment showed them."""
    at = then.at
    if at is None and then.seq is not None:
        event = tables.events.get(ref, then.seq)
        at = event.ts if event else None
    anchored = max([info.created_at, *(summary.at for summary in summaries)])
    past = Past(at, anchored) if at is not None else None
    return fact_tiers(core, tables, ref, room, seen, past)


def _newest(events: Iterator[Event], room: int, covered: int) -> Iterator[Event]:
    """Newest first: what could stand in the window, and behind it a bounded number for the bridge."""
    tokens = behind = 0
    for event in events:
        if event.seq <= covered or behind >= BRIDGE_EVENTS:
            return
        yield event
        tokens += event.tokens
        behind += tokens > room


def _profile(core: Core, tables: Tables, ref: SessionRef, then: Moment) -> Section:
    documents = tables.profiles.current(ref.scope, milliseconds(then.at))
    items = [
        Item(name, documents[name].text.strip())
        for name in ("soul", "identity", "user")
        if name in documents and documents[name].text.strip()
    ]
    return Section(tier="profile", items=items, share=core.policy.profile_share, fenced=False, clip=True)


def _summary(core: Core, summaries: Sequence[Summary]) -> Section:
    titled = len(summaries) > 1
    items = [
        Item(f"{it.topic} v{it.version}", f"# {it.topic}\n{it.text}" if titled else it.text, rank=-it.version)
        for it in summaries
    ]
    last = max((it.covers_to for it in summaries), default=0)
    attributes = {"source": "summary of earlier messages of this conversation", "events": f"1-{last}"}
    return Section(
        tier="summary", items=items, share=core.policy.summary_share, clip=True, attributes=attributes
    )
