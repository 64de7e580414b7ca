"""Shows: reads the tiers of a session and hands out one context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from wellkept.core import Core
from wellkept.errors import BudgetExceeded, ModelError
from wellkept.policy.checks import check_budget, check_query, milliseconds
from wellkept.policy.context.assemble import (
    NOTE,
    Count,
    Item,
    Rendered,
    Section,
    SystemText,
    clip,
    conversation,
    joined,
    least_tokens,
    name_of,
    rendered,
    window,
    window_candidates,
)
from wellkept.policy.context.bridge import bridge
from wellkept.policy.context.messages import repair, to_anthropic, to_openai
from wellkept.policy.context.repair import OPENING, opening
from wellkept.policy.text.tokens import MESSAGE_TOKENS, event_tokens
from wellkept.records import Candidate, Event, Record
from wellkept.store.protocol import SessionRef, Tables
from wellkept.tiers import BRIDGE_EVENTS, NOW, Moment, Tiers, read_tiers

if TYPE_CHECKING:
    from wellkept.recall import Result

LEAST_RELEVANCE = 0.25
RECALLED_TOKENS = 120


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
        events: the window, oldest first, made valid for both providers; empty only where nothing was said yet.
        tokens: what system text and messages take, never above the budget.
        parts: tokens by tier.
        changes: what background work changed in the user's facts since the last context of this session handle, to be shown
            to the user; nothing waits for it.
        change: number of the newest change of the facts that it knows of.
        trace: each candidate with its tokens, kept or dropped and why.
        recalled: what recall gave for the query, best first, whether it found room or not.
        trace_id: id of the stored trace, where one is kept.
        seq, version: the newest event and the newest summary version that it knows.
        erasures: how often something of this user had been erased when it was read; counted where traces are kept.
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
    erasures: int = field(default=0, repr=False)

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The window in OpenAI's shape, without the system text."""
        return to_openai(self.events)

    @cached_property
    def text(self) -> str:
        """All of it as plain text. What a message says can be taken neither for memory nor for another message."""
        return "\n\n".join(filter(None, [self.system, conversation(self.events)]))

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

    Raises InvalidInput for a query that is no text or a budget that is no positive number, NotFound for a session that is gone,
    BudgetExceeded when the newest user message, or what is said where there is none, does not fit.
    """
    if query is not None:
        check_query(query)
    budget = check_budget(core.policy.context_budget if budget is None else budget)
    room = core.room(budget)
    if recalled is None and query and query.strip():
        tiers, recalled, failure = _searched(core, ref, room, query, then, seen)
    else:
        tiers = core.store.read(lambda tables: read_tiers(core, tables, ref, room, then, seen))
        failure = ""
    try:
        return _assemble(core, tiers, room, recalled or (), failure)
    except BudgetExceeded as error:
        raise _exceeded(core, budget, room + error.missing) from None


def _exceeded(core: Core, budget: int, needed: int) -> BudgetExceeded:
    """The error in terms of the budget, which an estimate does not use to the full."""
    enough = budget
    while core.room(enough) < needed and core.policy.budget_margin < 1:
        enough += needed - core.room(enough)
    missing = max(1, enough - budget)
    return BudgetExceeded(
        f"A budget of {budget} tokens has no room for the newest user message, or what is said in its place. "
        f"Raise it by {missing} tokens or more.",
        missing=missing,
    )


def _searched(
    core: Core, ref: SessionRef, room: int, query: str, then: Moment, seen: int | None
) -> tuple[Tiers, Sequence[Recalled], str]:
    """The tiers and, of the same moment, what recall finds for the query; of an earlier one, up to the newest event that
    the context knows.

    And why the embedder did not help, if it failed: a chat goes on, with what its words alone find.
    """
    from wellkept.recall import find, question_vector, search_of

    search = search_of(core, query, threshold=LEAST_RELEVANCE, now=then.at)
    asked, failure = None, ""
    try:
        asked = question_vector(core, search)
    except ModelError as error:
        failure = str(error)

    def read(tables: Tables) -> tuple[Tiers, list[Result]]:
        tiers = read_tiers(core, tables, ref, room, then, seen)
        upto = search
        if then != NOW and tiers.uncovered:
            last = tiers.uncovered[-1].ts + timedelta(milliseconds=1)
            upto = replace(search, until=milliseconds(last))
        return tiers, find(core, tables, ref.scope, upto, asked)

    with core.searching:
        tiers, found = core.store.read(read)
    return tiers, [Recalled(it.id, _recalled_line(core, it), it.score, it.events) for it in found], failure


def _assemble(
    core: Core, tiers: Tiers, room: int, recalled: Sequence[Recalled], failure: str = ""
) -> Context:
    """The context out of what was read and recalled; ``failure`` of the embedder stands in its trace."""
    read = [rendered(section, room, core.count) for section in tiers.sections]
    stable = joined(read, core.count)
    note = 0 if stable.tokens else core.count(NOTE) + MESSAGE_TOKENS
    left = room - stable.tokens
    if left < _least(tiers.uncovered, core.count):
        left = room  # the newest user message goes before everything else
    shown, tokens, seen = _window(core, tiers, left, int(room * core.policy.recall_share) + note)
    system = _system(core, tiers, read, room, room - tokens, shown, recalled)
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
        trace=(*system.candidates, *tiers.facts.missing, *_by_words_alone(failure), *seen),
        recalled=tuple(recalled),
        seq=tiers.seq,
        version=tiers.version,
        erasures=tiers.erasures,
    )


def _by_words_alone(failure: str) -> tuple[Candidate, ...]:
    if not failure:
        return ()
    reason = f"the embedder failed, recall went by words alone: {failure}"
    return (Candidate(tier="recall", id="meaning", tokens=0, kept=False, reason=reason),)


_Shown: TypeAlias = tuple[list[Event], int, tuple[Candidate, ...]]


def _window(core: Core, tiers: Tiers, left: int, aside: int) -> _Shown:
    """The events to show, repaired for the providers, their tokens, and what became of the others.

    The room of what changes with the request is set aside whether it is used or not, because the window must
    not move with it; only a newest turn that needs it takes it.
    """
    most = left - aside if _newest_turn(tiers.uncovered) <= left - aside else left
    return _turns(core, tiers, most) or _question(core, tiers, left)


def _turns(core: Core, tiers: Tiers, most: int) -> _Shown | None:
    """The newest turns; None when what repairing adds leaves room for no more than the newest user message."""
    allowed = most
    while allowed > 0:
        try:
            chosen = window(tiers.uncovered, tiers.total, allowed, core.count)
        except BudgetExceeded:
            return None
        shown = _repaired(core, tiers, chosen.events)
        tokens = sum(event.tokens for event in shown)
        if tokens <= most:
            return shown, tokens, chosen.candidates
        allowed -= tokens - most
    return None


def _question(core: Core, tiers: Tiers, most: int) -> _Shown:
    """The newest user message alone."""
    asked = [event for event in tiers.uncovered if event.role == "user"][-1:]
    chosen = window(asked, asked[0].tokens if asked else 0, most, core.count)
    shown = _repaired(core, tiers, chosen.events)
    tokens = sum(event.tokens for event in shown)
    if tokens > most:
        raise BudgetExceeded("There is no room for any message.", missing=tokens - most)
    others = [event for event in tiers.uncovered if event not in asked]
    seen = (*window_candidates(others, frozenset(), ""), *chosen.candidates)
    return shown, tokens, seen


def _repaired(core: Core, tiers: Tiers, events: Sequence[Event]) -> list[Event]:
    """``events`` made valid for both providers; what that changed is counted again."""
    stored = set(map(id, events))
    return [
        event
        if id(event) in stored
        else replace(event, tokens=event_tokens(event.content, event.speaker, core.count))
        for event in repair(events) or map(opening, tiers.uncovered[-1:])
    ]


def _least(events: Sequence[Event], count: Count) -> int:
    """Tokens that the newest user message needs at least, or what is said in its place."""
    asked = next((event for event in reversed(events) if event.role == "user"), None)
    if asked is not None:
        return least_tokens(asked, count)
    return event_tokens(OPENING, None, count) if events else 0


def _newest_turn(events: Sequence[Event]) -> int:
    tokens = 0
    for event in reversed(events):
        tokens += event.tokens
        if event.role == "user":
            break
    return tokens


def _system(
    core: Core,
    tiers: Tiers,
    read: Sequence[Rendered],
    room: int,
    left: int,
    shown: Sequence[Event],
    recalled: Sequence[Recalled],
) -> SystemText:
    """The whole system text inside ``left`` tokens. Bridge and recall have one share between them."""
    found = _recall(core, tiers, recalled, shown)
    share = core.policy.recall_share / 2 if found else core.policy.recall_share
    seqs = {event.seq for event in shown}
    left_out = [event for event in tiers.uncovered if event.seq not in seqs][-BRIDGE_EVENTS:]
    bridged = bridge(left_out, room=room, share=share, zone=core.zone, count=core.count)
    if bridged:
        found = [replace(section, share=share) for section in found]
    moving = [rendered(section, room, core.count) for section in (*bridged, *found)]
    return _fitting([*read, *moving], left, core.count)


def _recall(core: Core, tiers: Tiers, recalled: Sequence[Recalled], shown: Sequence[Event]) -> list[Section]:
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
    text = clip(result.text, RECALLED_TOKENS, core.count)
    if result.kind == "summary":
        return text  # it says itself who said what, and when
    day = result.ts.astimezone(core.zone).date().isoformat()
    return f"[{day}] {name_of(result.speaker, result.role)}: {text}"


def _fitting(shown: Sequence[Rendered], left: int, count: Count) -> SystemText:
    """The system text inside ``left`` tokens; what stands last gives way first."""
    chosen = list(shown)
    dropped: list[Candidate] = []
    system = joined(chosen, count)
    while system.tokens > left and chosen:
        dropped += [_gave_way(candidate) for candidate in chosen.pop().candidates]
        system = joined(chosen, count)
    return replace(system, candidates=(*system.candidates, *dropped)) if dropped else system


def _gave_way(candidate: Candidate) -> Candidate:
    return (
        replace(candidate, kept=False, reason="gave way to the conversation") if candidate.kept else candidate
    )
