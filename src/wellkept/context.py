"""Shows: reads the tiers of a session and hands out one context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from wellkept.core import Core
from wellkept.errors import InvalidInput, NotFound
from wellkept.policy.assemble import (
    Candidate,
    Item,
    Section,
    SystemText,
    system_text,
    window,
)
from wellkept.policy.digest import Entry, digest
from wellkept.policy.messages import repair, to_anthropic, to_openai
from wellkept.records import Event, Record, SessionInfo, Summary, text_of
from wellkept.store.protocol import SessionRef, Tables

BRIDGE_EVENTS = 40
BRIDGE_TITLE = "earlier messages of this conversation, shortened"


@dataclass(frozen=True)
class Context(Record):
    """What is handed to the model for one request.

    Attributes:
        system: the system text: profile, facts and summary, then what belongs to this request only.
        boundary: length of the stable prefix of ``system`` in characters; it stays the same from request to
            request.
        events: the window, oldest first, made valid for both providers.
        tokens: what system text and messages take, never above the budget.
        parts: tokens by tier.
        changes: what background work changed since the last context.
        trace: each candidate with its tokens, kept or dropped and why.
    """

    system: str
    boundary: int
    events: tuple[Event, ...]
    tokens: int
    parts: Mapping[str, int]
    changes: tuple[str, ...] = ()
    trace: tuple[Candidate, ...] = field(default=(), repr=False)

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The window in OpenAI's shape, without the system text."""
        return to_openai(self.events)

    @cached_property
    def text(self) -> str:
        """All of it as plain text."""
        lines = [f"{event.speaker or event.role}: {text_of(event.content)}" for event in self.events]
        return "\n\n".join(filter(None, [self.system, "\n".join(lines)]))

    def to_openai(self) -> list[dict[str, Any]]:
        """Messages for OpenAI's chat API, the system text first."""
        return to_openai(self.events, self.system)

    def to_anthropic(self, *, cache: bool = False) -> dict[str, Any]:
        """``{"system", "messages"}`` for Anthropic's API; ``cache`` puts a cache mark behind the stable
        prefix."""
        return to_anthropic(self.events, self.system, self.boundary, cache=cache)

    def to_dict(self) -> dict[str, Any]:
        """This context as plain JSON-ready data, messages in OpenAI's shape."""
        return {
            "system": self.system,
            "boundary": self.boundary,
            "messages": self.messages,
            "tokens": self.tokens,
            "parts": dict(self.parts),
            "changes": list(self.changes),
            "trace": [candidate.to_dict() for candidate in self.trace],
        }


@dataclass(frozen=True)
class _Tiers:
    """What was read for one context."""

    info: SessionInfo
    sections: list[Section]
    uncovered: list[Event]
    total: int


def build(
    core: Core, ref: SessionRef, *, query: str | None, budget: int | None, upto: int | None = None
) -> Context:
    """The context of a session now, or as it was when ``upto`` was its newest seq.

    Raises InvalidInput for a budget that is no positive number, NotFound for a session that is gone,
    BudgetExceeded when the newest user message does not fit.
    """
    budget = core.policy.context_budget if budget is None else budget
    if not isinstance(budget, int) or budget < 1:
        raise InvalidInput(f"The budget is {budget!r}; it must be a whole number of tokens and at least 1.")
    room = core.room(budget)
    tiers = core.store.read(lambda tables: _read(core, tables, ref, room, upto))
    return _assemble(core, tiers, room)


def _read(core: Core, tables: Tables, ref: SessionRef, room: int, upto: int | None) -> _Tiers:
    info = tables.sessions.info(ref)
    if info is None:
        raise NotFound(f"No session {ref.id!r} for this user. It may have been deleted.")
    summaries = tables.summaries.current(ref, upto)
    covered = max((summary.covers_to for summary in summaries), default=0)
    sections = [_profile(core, tables, ref), _summary(core, summaries)]
    later = 0
    if upto is not None:
        later = sum(event.tokens for event in tables.events.walk(ref, after=upto))
    before = None if upto is None else upto + 1
    uncovered = list(_newest(tables.events.walk_back(ref, before=before), room, covered))[::-1]
    return _Tiers(info, sections, uncovered, info.tokens - later)


def _newest(events: Iterator[Event], room: int, covered: int) -> Iterator[Event]:
    """Newest first: what could stand in the window, and behind it a bounded number for the bridge."""
    tokens = behind = 0
    for event in events:
        if event.seq <= covered or behind >= BRIDGE_EVENTS:
            return
        yield event
        tokens += event.tokens
        behind += tokens > room


def _profile(core: Core, tables: Tables, ref: SessionRef) -> Section:
    documents = tables.profiles.current(ref.scope)
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


def _assemble(core: Core, tiers: _Tiers, room: int) -> Context:
    stable = system_text(tiers.sections, room, core.tokenizer)
    shown, tokens, seen = _window(core, tiers, room, room - stable.tokens)
    sections = [*tiers.sections, *_bridge(core, tiers, shown)]
    system = _fitting(sections, room, room - tokens, core)
    parts = dict(system.parts)
    if tokens:
        parts["window"] = tokens
    return Context(
        system=system.text,
        boundary=system.boundary,
        events=tuple(shown),
        tokens=system.tokens + tokens,
        parts=parts,
        trace=(*system.candidates, *seen),
    )


def _window(
    core: Core, tiers: _Tiers, room: int, left: int
) -> tuple[list[Event], int, tuple[Candidate, ...]]:
    """The events to show, repaired for the providers, their tokens, and what became of the others.

    The room of what changes with the request is set aside whether it is used or not, because the window must
    not move with it; only a newest turn that needs it takes it.
    """
    aside = int(room * core.policy.recall_share)
    allowed = most = left - aside if _newest_turn(tiers.uncovered) <= left - aside else left
    while True:
        chosen = window(tiers.uncovered, tiers.total, allowed, core.tokenizer)
        shown = repair(chosen.events)
        tokens = sum(event.tokens for event in shown)
        if tokens <= most:
            return shown, tokens, chosen.candidates
        allowed -= tokens - most


def _newest_turn(events: Sequence[Event]) -> int:
    tokens = 0
    for event in reversed(events):
        tokens += event.tokens
        if event.role == "user":
            break
    return tokens


def _bridge(core: Core, tiers: _Tiers, shown: Sequence[Event]) -> list[Section]:
    """What has left the window and is not summarised yet, shortened on the spot."""
    seqs = {event.seq for event in shown}
    left_out = [event for event in tiers.uncovered if event.seq not in seqs][-BRIDGE_EVENTS:]
    if not left_out:
        return []
    entries = [entry(core, event) for event in left_out]
    limit = int(core.room(core.policy.context_budget) * core.policy.recall_share)
    short = digest(entries, limit=limit, count=core.tokenizer)
    if not short.text:
        return []
    attributes = {"source": BRIDGE_TITLE, "events": f"{left_out[0].seq}-{left_out[-1].seq}"}
    item = Item("bridge", short.text)
    return [
        Section(
            tier="bridge",
            items=[item],
            share=core.policy.recall_share,
            stable=False,
            clip=True,
            attributes=attributes,
        )
    ]


def entry(core: Core, event: Event) -> Entry:
    """An event as the summarisers read it: who, when (in the users' zone) and what."""
    when = event.ts.astimezone(core.zone)
    return Entry(event.seq, event.speaker or event.role, text_of(event.content), when.date().isoformat())


def _fitting(sections: Sequence[Section], room: int, left: int, core: Core) -> SystemText:
    """The system text inside ``left`` tokens; what stands last gives way first."""
    chosen = list(sections)
    while True:
        system = system_text(chosen, room, core.tokenizer)
        if system.tokens <= left or not chosen:
            return system
        chosen.pop()
