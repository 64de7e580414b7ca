"""Shows: reads the tiers of a session and hands out one context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from wellkept.core import Core
from wellkept.errors import BudgetExceeded, InvalidInput, NotFound
from wellkept.facts.show import FactTiers, Past, fact_tiers
from wellkept.policy.assemble import (
    LEAST_TOKENS,
    NOTE,
    Candidate,
    Item,
    Section,
    SystemText,
    clip,
    fence,
    system_text,
    window,
    window_candidates,
)
from wellkept.policy.checks import milliseconds
from wellkept.policy.digest import Entry, digest
from wellkept.policy.messages import repair, to_anthropic, to_openai
from wellkept.policy.tokens import MESSAGE_TOKENS, event_tokens
from wellkept.recall import Result, recall, search_of
from wellkept.records import Event, Record, Scope, SessionInfo, Summary, text_of
from wellkept.store.protocol import SessionRef, Tables

BRIDGE_EVENTS = 40
LEAST_RELEVANCE = 0.25
RECALLED_TOKENS = 120
BRIDGE_TITLE = "earlier messages of this conversation, shortened"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Record):
    """A moment to look back to: the newest event, the newest summary version and the time then; None is now."""

    seq: int | None = None
    version: int | None = None
    at: datetime | None = None


NOW = Moment()


@dataclass(frozen=True, slots=True)
class Recalled(Record):
    """A line that recall gave for a request, and the ids of the events that it stems from."""

    id: str
    line: str
    score: float
    events: tuple[str, ...]


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
        changes: what background work changed in the user's facts since the last context of this session handle, to be shown
            to the user; nothing waits for it.
        change: number of the newest change of the facts that it knows of.
        trace: each candidate with its tokens, kept or dropped and why.
        recalled: what recall gave for the query, best first, whether it found room or not.
        trace_id: id of the stored trace, where one is kept.
        seq, version: the newest event and the newest summary version that it knows.
    """

    system: str
    boundary: int
    events: tuple[Event, ...]
    tokens: int
    parts: Mapping[str, int]
    changes: tuple[str, ...] = ()
    change: int = 0
    trace: tuple[Candidate, ...] = field(default=(), repr=False)
    recalled: tuple[Recalled, ...] = field(default=(), repr=False)
    trace_id: str | None = None
    seq: int = 0
    version: int = 0

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
            "trace_id": self.trace_id,
            "seq": self.seq,
            "version": self.version,
        }


@dataclass(frozen=True)
class _Tiers:
    """What was read for one context."""

    info: SessionInfo
    sections: list[Section]
    uncovered: list[Event]
    total: int
    facts: FactTiers
    seq: int
    version: int


def build(
    core: Core,
    ref: SessionRef,
    *,
    query: str | None,
    budget: int | None,
    then: Moment = NOW,
    seen: int | None = None,
    recalled: Sequence[Recalled] | None = None,
) -> Context:
    """The context of a session now, or as it was ``then``; ``recalled``: what recall gave then, not to be searched
    for again.

    ``seen``: number of the last change of the facts that the caller knows of.

    Raises InvalidInput for a budget that is no positive number, NotFound for a session that is gone,
    BudgetExceeded when the newest user message does not fit.
    """
    budget = core.policy.context_budget if budget is None else budget
    if not isinstance(budget, int) or budget < 1:
        raise InvalidInput(f"The budget is {budget!r}; it must be a whole number of tokens and at least 1.")
    room = core.room(budget)
    tiers = core.store.read(lambda tables: _read(core, tables, ref, room, then, seen))
    if recalled is None:
        recalled = _recalled(core, ref.scope, tiers, query, then) if query and query.strip() else []
    try:
        return _assemble(core, tiers, room, recalled)
    except BudgetExceeded as error:
        raise _exceeded(core, budget, room + error.missing) from None


def _exceeded(core: Core, budget: int, needed: int) -> BudgetExceeded:
    """The error in terms of the budget, which an estimate does not use to the full."""
    enough = budget
    while core.room(enough) < needed and core.policy.budget_margin < 1:
        enough += needed - core.room(enough)
    missing = max(1, enough - budget)
    return BudgetExceeded(
        f"A budget of {budget} tokens has no room for the newest user message. "
        f"Raise it by {missing} tokens or more.",
        missing=missing,
    )


def _recalled(core: Core, scope: Scope, tiers: _Tiers, query: str, then: Moment) -> list[Recalled]:
    """What recall finds for the query, as of the newest event that the context knows."""
    last = tiers.uncovered[-1].ts + timedelta(milliseconds=1) if tiers.uncovered else None
    search = search_of(core, query, threshold=LEAST_RELEVANCE, until=last, now=then.at)
    found = recall(core, scope, search)
    return [Recalled(it.id, _recalled_line(core, it), it.score, it.events) for it in found]


def _read(core: Core, tables: Tables, ref: SessionRef, room: int, then: Moment, seen: int | None) -> _Tiers:
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
    return _Tiers(
        info,
        sections,
        uncovered,
        info.tokens - later,
        facts,
        seq=uncovered[-1].seq if uncovered else covered,
        version=max((summary.version for summary in summaries), default=0),
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


def _assemble(core: Core, tiers: _Tiers, room: int, recalled: Sequence[Recalled]) -> Context:
    stable = system_text(tiers.sections, room, core.count)
    note = 0 if stable.tokens else core.count(NOTE) + MESSAGE_TOKENS
    left = room - stable.tokens
    if left < _least(tiers.uncovered):
        left = room  # the newest user message goes before everything else
    shown, tokens, seen = _window(core, tiers, left, int(room * core.policy.recall_share) + note)
    system = _system(core, tiers, room, room - tokens, stable, shown, recalled)
    parts = dict(system.parts)
    if tokens:
        parts["window"] = tokens
    return Context(
        system=system.text,
        boundary=system.boundary,
        events=tuple(shown),
        tokens=system.tokens + tokens,
        parts=parts,
        changes=tiers.facts.changes,
        change=tiers.facts.newest,
        trace=(*system.candidates, *tiers.facts.missing, *seen),
        recalled=tuple(recalled),
        seq=tiers.seq,
        version=tiers.version,
    )


_Shown: TypeAlias = tuple[list[Event], int, tuple[Candidate, ...]]


def _window(core: Core, tiers: _Tiers, left: int, aside: int) -> _Shown:
    """The events to show, repaired for the providers, their tokens, and what became of the others.

    The room of what changes with the request is set aside whether it is used or not, because the window must
    not move with it; only a newest turn that needs it takes it.
    """
    most = left - aside if _newest_turn(tiers.uncovered) <= left - aside else left
    return _turns(core, tiers, most) or _question(core, tiers, left)


def _turns(core: Core, tiers: _Tiers, most: int) -> _Shown | None:
    """The newest turns; None when what repairing adds leaves room for no more than the newest user message."""
    allowed = most
    while allowed > 0:
        try:
            chosen = window(tiers.uncovered, tiers.total, allowed, core.count)
        except BudgetExceeded:
            return None
        shown = _repaired(core, chosen.events)
        tokens = sum(event.tokens for event in shown)
        if tokens <= most:
            return shown, tokens, chosen.candidates
        allowed -= tokens - most
    return None


def _question(core: Core, tiers: _Tiers, most: int) -> _Shown:
    """The newest user message alone."""
    asked = [event for event in tiers.uncovered if event.role == "user"][-1:]
    chosen = window(asked, asked[0].tokens if asked else 0, most, core.count)
    shown = _repaired(core, chosen.events)
    others = [event for event in tiers.uncovered if event not in asked]
    seen = (*window_candidates(others, frozenset(), ""), *chosen.candidates)
    return shown, sum(event.tokens for event in shown), seen


def _repaired(core: Core, events: Sequence[Event]) -> list[Event]:
    """``events`` made valid for both providers; what that changed is counted again."""
    stored = set(map(id, events))
    return [
        event
        if id(event) in stored
        else replace(event, tokens=event_tokens(event.content, event.speaker, core.count))
        for event in repair(events)
    ]


def _least(events: Sequence[Event]) -> int:
    """Tokens that the newest user message needs at least."""
    return next((min(event.tokens, LEAST_TOKENS) for event in reversed(events) if event.role == "user"), 0)


def _newest_turn(events: Sequence[Event]) -> int:
    tokens = 0
    for event in reversed(events):
        tokens += event.tokens
        if event.role == "user":
            break
    return tokens


def _system(
    core: Core,
    tiers: _Tiers,
    room: int,
    left: int,
    stable: SystemText,
    shown: Sequence[Event],
    recalled: Sequence[Recalled],
) -> SystemText:
    """The whole system text. Bridge and recall have one share between them."""
    found = _recall(core, tiers, recalled, shown)
    share = core.policy.recall_share / 2 if found else core.policy.recall_share
    bridge = _bridge(core, tiers, shown, room, share)
    if bridge:
        found = [replace(section, share=share) for section in found]
    if not bridge and not found and stable.tokens <= left:
        return stable
    return _fitting([*tiers.sections, *bridge, *found], room, left, core)


def _bridge(core: Core, tiers: _Tiers, shown: Sequence[Event], room: int, share: float) -> list[Section]:
    """What has left the window and is not summarised yet, shortened on the spot."""
    seqs = {event.seq for event in shown}
    left_out = [event for event in tiers.uncovered if event.seq not in seqs][-BRIDGE_EVENTS:]
    if not left_out:
        return []
    attributes = {"source": BRIDGE_TITLE, "events": f"{left_out[0].seq}-{left_out[-1].seq}"}
    limit = int(room * share) - core.tokenizer(fence("bridge", "", attributes)) - 1
    # A bound method can be hashed even when its object cannot.
    text = _digested(tuple(entry(core, event) for event in left_out), limit, core.tokenizer.__call__)
    if not text:
        return []
    return [
        Section(
            tier="bridge",
            items=[Item("bridge", text)],
            share=share,
            stable=False,
            clip=True,
            attributes=attributes,
        )
    ]


@lru_cache(maxsize=32)
def _digested(entries: tuple[Entry, ...], limit: int, count: Callable[[str], int]) -> str:
    """The digest, kept because the same events stand behind a window that does not move for many turns."""
    return digest(entries, limit=limit, count=count).text if limit > 0 else ""


def _recall(core: Core, tiers: _Tiers, recalled: Sequence[Recalled], shown: Sequence[Event]) -> list[Section]:
    """What was recalled and does not stand in the window, or among the facts, anyway."""
    ids = {event.id for event in shown}
    facts = {item.id for item in tiers.facts.stable.items}
    items = [
        Item(it.id, it.line, rank=rank, score=it.score)
        for rank, it in enumerate(recalled)
        if it.id not in facts and not (it.events and ids.issuperset(it.events))
    ]
    if not items:
        return []
    attributes = {"source": "found for this message in earlier conversations"}
    share = core.policy.recall_share
    return [Section(tier="recall", items=items, share=share, stable=False, attributes=attributes)]


def _recalled_line(core: Core, result: Result) -> str:
    day = result.ts.astimezone(core.zone).date().isoformat()
    return f"[{day}] {result.speaker or result.role}: {clip(result.text, RECALLED_TOKENS, core.count)}"


def entry(core: Core, event: Event) -> Entry:
    """An event as the summarisers read it: who, when (in the users' zone) and what."""
    when = event.ts.astimezone(core.zone)
    return Entry(event.seq, event.speaker or event.role, text_of(event.content), when.date().isoformat())


def _fitting(sections: Sequence[Section], room: int, left: int, core: Core) -> SystemText:
    """The system text inside ``left`` tokens; what stands last gives way first."""
    chosen = list(sections)
    dropped: list[Candidate] = []
    while True:
        system = system_text(chosen, room, core.count)
        if system.tokens <= left or not chosen:
            return replace(system, candidates=(*system.candidates, *dropped))
        gone = chosen.pop()
        dropped += [
            Candidate(
                tier=gone.tier,
                id=item.id,
                tokens=core.count(item.text),
                kept=False,
                reason="gave way to the conversation",
            )
            for item in gone.items
        ]
