"""Tombstones: what marks a forgotten thing, so that the same words do not bring it back."""

from __future__ import annotations

from wellkept.policy.facts.claims import Claim
from wellkept.records import Event, Scope, text_of
from wellkept.store.facts import Doubt, Fact
from wellkept.store.protocol import SessionRef, Tables
from wellkept_flash import rules


def source_grave(source: str) -> tuple[str, ...]:
    """The grave of a message as a whole, by its fingerprint."""
    return ("source", source)


def claim_graves(claim: Claim, source: str) -> list[tuple[str, ...]]:
    """The graves of one claim of a message: its words, and its key, because a model may word it differently
    next time."""
    graves: list[tuple[str, ...]] = [("claim", source, rules.fingerprint(claim.text))]
    if claim.attribute:
        graves.append(("key", source, rules.normal(claim.subject), rules.normal(claim.attribute)))
    return graves


def doubt_grave(doubt: Doubt) -> tuple[str, ...]:
    """The grave of a question that was decided, or of what it was about."""
    return ("doubt", doubt.kind, *doubt.facts, doubt.text, doubt.at.isoformat())


def sources(tables: Tables, scope: Scope, fact: Fact) -> list[tuple[SessionRef, Event]]:
    """The events of a fact that are still there."""
    found = []
    for id in fact.sources:
        session, _, seq = id.rpartition(":")
        ref = tables.sessions.find(scope, session)
        event = tables.events.get(ref, int(seq)) if ref else None
        if ref is not None and event is not None:
            found.append((ref, event))
    return found


def graves_of(tables: Tables, scope: Scope, fact: Fact) -> list[tuple[str, ...]]:
    """The graves of a fact in each of its source events."""
    return [
        grave
        for _, event in sources(tables, scope, fact)
        for grave in claim_graves(fact, rules.fingerprint(text_of(event.content)))
    ]


def is_buried(tables: Tables, scope: Scope, claim: Claim, text: str, at: int) -> bool:
    """Whether what was said in ``text`` at ``at`` (ms), or ``claim`` drawn from it, was forgotten since."""
    source = rules.fingerprint(text)
    graves = [source_grave(source), *claim_graves(claim, source)]
    times = [tables.erasures.buried(scope, grave) for grave in graves]
    return any(buried is not None and at <= buried for buried in times)
