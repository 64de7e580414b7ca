"""Erases: shows what would go, removes it with all that was derived from it, looks again, and hands out a
receipt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from wellkept.core import Core
from wellkept.errors import InvalidInput, NotFound
from wellkept.facts.graves import claim_graves, source_grave, sources
from wellkept.facts.keep import find
from wellkept.outbox import put_if_due
from wellkept.policy.terms import event_terms
from wellkept.policy.words import Term, index_tokens, query_terms
from wellkept.records import Event, Record, Scope, text_of, utc
from wellkept.store.facts import Actor, Fact, FactState
from wellkept.store.protocol import SessionRef, Tables

ALL_STATES: tuple[FactState, ...] = ("active", "retired", "archived")
FEW = 3
LEAST_NEEDLE = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview(Record):
    """What an erasure would take away. Nothing has happened yet: pass it to ``forget`` to do it.

    Attributes:
        scope: whose memory it is about; nobody else's ``forget`` takes it.
        facts: facts in any state, with their history; those whose only sources go are among them.
        events: messages of whatever role that hold what is to be forgotten, or that the facts came from.
        sessions: the conversations whose summaries are dropped and made anew.
        reason: why ``forget`` will refuse it, or None.
    """

    scope: Scope
    query: str | None
    facts: tuple[Fact, ...]
    events: tuple[Event, ...]
    sessions: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(Record):
    """What an erasure really removed.

    Attributes:
        removed: rows by table.
        left: what a second look found: rows of this user by table that still hold the erased texts or what was
            asked for, in any letter case, "bytes": erased texts found in the store's files outside of anybody's rows,
            and "mirror": the files kept beside the store, when they could not be written anew. Empty when nothing is
            left.
    """

    id: int
    at: datetime
    removed: Mapping[str, int]
    left: Mapping[str, int]


def preview(core: Core, scope: Scope, *, query: str | None, ids: Sequence[str]) -> Preview:
    """What forgetting ``query`` (all its words), or the facts ``ids``, would take away."""
    if (query is None) == (not ids):
        raise InvalidInput("Say what to forget: a text, or ids=[…] of memories.")
    return core.store.read(lambda tables: _preview(tables, scope, query, ids))


def _preview(tables: Tables, scope: Scope, query: str | None, ids: Sequence[str]) -> Preview:
    known = tables.facts.all(scope, states=ALL_STATES)
    terms = [] if query is None else [term for term in query_terms(query) if not term.stop]
    if query is not None and not terms:
        return _refused(
            scope, query, f"{query!r} names nothing in particular. Say what to forget, or pass ids."
        )
    facts = (
        [fact for fact in known if _mentions(fact, terms)]
        if terms
        else [find(tables, scope, id) for id in ids]
    )
    events = {event.id: (ref, event) for ref, event in _events(tables, scope, query, terms, facts)}
    facts += [
        fact
        for fact in known
        if fact not in facts and fact.sources and all(id in events for id in fact.sources)
    ]
    if not facts and not events:
        return _refused(scope, query, f"Nothing of this user holds {query!r}.")
    everything = len(facts) == len(known) > FEW and query is not None
    reason = f"{query!r} matches every memory of this user. Pass ids to say which." if everything else None
    found = sorted(events.values(), key=lambda pair: (pair[0].key, pair[1].seq))
    return Preview(
        scope=scope,
        query=query,
        facts=tuple(sorted(facts, key=lambda fact: fact.key)),
        events=tuple(event for _, event in found),
        sessions=tuple(dict.fromkeys(event.session_id for _, event in found)),
        reason=reason,
    )


def _refused(scope: Scope, query: str | None, reason: str) -> Preview:
    return Preview(scope=scope, query=query, facts=(), events=(), sessions=(), reason=reason)


def _mentions(fact: Fact, terms: Sequence[Term]) -> bool:
    tokens = set(index_tokens("\n".join([fact.text, fact.attribute, *fact.labels, *fact.keywords])))
    return all(
        any(token.startswith(term.text) for token in tokens) if term.prefix else term.text in tokens
        for term in terms
    )


def _events(
    tables: Tables, scope: Scope, query: str | None, terms: Sequence[Term], facts: Sequence[Fact]
) -> list[tuple[SessionRef, Event]]:
    """Events that hold the query, the sources of ``facts``, and whatever says the same word for word."""
    found = [(ref, tables.events.get(ref, seq)) for ref, seq in tables.erasures.events(scope, terms, query)]
    for fact in facts:
        found += sources(tables, scope, fact)
        for text in {fact.text, fact.quote} - {""}:
            same = tables.erasures.events(scope, (), text)
            found += [(ref, tables.events.get(ref, seq)) for ref, seq in same]
    return [(ref, event) for ref, event in found if event is not None]


# ── doing it ─────────────────────────────────────────────────────────────────────────────────────────────────


def erase(core: Core, scope: Scope, plan: Preview, actor: Actor) -> Receipt:
    """Remove what ``plan`` lists.

    Raises InvalidInput for a plan that says why it cannot be done, NotFound for one about somebody else's memory.
    """
    if plan.scope != scope:
        raise NotFound("This preview is not about this user's memory. Ask this user's forget() for one.")
    if plan.reason is not None:
        raise InvalidInput(f"Nothing was forgotten: {plan.reason}")
    texts = _texts(plan)
    now = core.now()
    removed = core.store.write(lambda tables: _remove(core, tables, scope, plan, texts, now, actor))
    left = core.store.read(lambda tables: tables.erasures.left(scope, texts))
    bytes_left = core.store.scrub(texts)
    if bytes_left:
        left["bytes"] = bytes_left
    if core.mirror is not None:
        core.mirror.flush()
        if core.mirror.is_behind(scope):
            left["mirror"] = 1
    kept = {"removed": removed, "left": left}
    number = core.store.write(lambda tables: tables.erasures.hand_out(scope, kept, at=now))
    return Receipt(id=number, at=utc(now), removed=removed, left=left)


def _texts(plan: Preview) -> list[str]:
    """What must not be found any more: whole statements and messages, what was asked for, and a single word
    asked for as it was written there ("Peanut" for "peanuts")."""
    texts = [text for fact in plan.facts for text in (fact.text, fact.quote)]
    texts += [text_of(event.content) for event in plan.events]
    query = (plan.query or "").strip()
    terms = [term.text for term in query_terms(query) if not term.stop]
    if len(terms) == 1:
        words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
        texts += [word for word in words if index_tokens(word) == terms]
    kept = dict.fromkeys(text for text in texts if len(text.encode()) >= LEAST_NEEDLE)
    return list(kept | dict.fromkeys([query] if query else []))


def _names(title: str, texts: Sequence[str]) -> bool:
    folded = title.casefold()
    words = _WORD.findall(folded)
    return any(
        text.casefold() in (words if text.isascii() and len(text) < LEAST_NEEDLE else folded)
        for text in texts
    )


def _remove(
    core: Core, tables: Tables, scope: Scope, plan: Preview, texts: Sequence[str], now: int, actor: Actor
) -> dict[str, int]:
    graves = [source_grave(text_of(event.content)) for event in plan.events if event.role == "user"]
    for fact in plan.facts:
        for _, event in sources(tables, scope, fact):
            graves += claim_graves(fact, text_of(event.content))
    tables.erasures.bury(scope, graves, at=now)
    removed = tables.erasures.facts(scope, [fact.id for fact in plan.facts], at=now, actor=actor)
    removed["jobs"] = tables.erasures.jobs(scope, texts)
    removed["traces"] = tables.traces.remove(scope)
    removed["replies"] = tables.replies.forget(scope)
    removed["events"] = removed["summaries"] = 0
    for session in plan.sessions:
        ref = tables.sessions.find(scope, session)
        if ref is None:
            continue
        events = [event for event in plan.events if event.session_id == session]
        removed["events"] += tables.events.remove(
            ref, events, [event_terms(event.content, event.speaker) for event in events]
        )
        removed["summaries"] += tables.summaries.drop(ref, min(event.seq for event in events))
        put_if_due(tables, ref, core.policy, now)
        info = tables.sessions.info(ref)
        if info and _names(info.title, texts):
            tables.sessions.rename(ref, "")
    return {table: rows for table, rows in removed.items() if rows}
