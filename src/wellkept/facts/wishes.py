"""Heeds what a user asks to be forgotten in the conversation: retires it at once, and leaves the erasure to a
person's decision."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from wellkept.facts.graves import graves_of
from wellkept.facts.keep import Keeper
from wellkept.policy.intent import Phrase, forget_phrases, named_by
from wellkept.records import Event, Scope, text_of, utc
from wellkept.store.facts import Doubt, Fact
from wellkept.store.protocol import SessionRef, Tables

FEW = 3
"""Up to so many facts a wish may take; beyond, one that takes more than half of all is asked about first."""


def heed(keeper: Keeper, ref: SessionRef, event: Event, *, sure: bool) -> tuple[list[str], int]:
    """Retire what the user's message names, and bury it; the ids of the facts, and how many doubts were
    raised.

    ``sure``: the model, too, takes the message for a wish to forget. Without that, or when it is not clear
    what is meant, nothing is done and the question goes to the review list.
    """
    retired: list[str] = []
    doubts = 0
    for phrase in forget_phrases(text_of(event.content)):
        facts = keeper.tables.facts.all(keeper.scope, states=("active", "archived"))
        targets = _targets(keeper, ref, event, phrase, facts)
        too_many = len(targets) > FEW and 2 * len(targets) > len(facts)
        if targets and sure and not too_many:
            for fact in targets:
                _retire(keeper, fact)
            ids = [fact.id for fact in targets]
            keeper.tables.doubts.add(keeper.scope, "erase", facts=ids, at=keeper.at)
            retired += ids
        else:
            named = [] if too_many else [fact.id for fact in targets]
            keeper.tables.doubts.add(
                keeper.scope, "forget", facts=named, text=text_of(event.content)[:500], at=keeper.at
            )
        doubts += 1
    return retired, doubts


def _targets(keeper: Keeper, ref: SessionRef, event: Event, phrase: Phrase, facts: list[Fact]) -> list[Fact]:
    if not phrase.last:
        return [facts[at] for at in named_by(phrase.text, facts)]
    before = keeper.tables.events.walk_back(ref, before=event.seq)
    said = list(islice((each.seq for each in before if each.role == "user"), 1))
    keys = set(keeper.tables.facts.of_event(ref, said))
    return [fact for fact in facts if fact.key in keys]


def _retire(keeper: Keeper, fact: Fact) -> None:
    keeper.tables.erasures.bury(keeper.scope, graves_of(keeper.tables, keeper.scope, fact), at=keeper.at)
    keeper.writer.put(replace(fact, state="retired", valid_to=utc(keeper.at)), "forget")


def pending(tables: Tables, scope: Scope) -> list[Doubt]:
    """The doubts that still are some: facts that were undone, retired or erased meanwhile settle them."""
    return [doubt for doubt in tables.doubts.list(scope) if _is_open(tables, scope, doubt)]


def _is_open(tables: Tables, scope: Scope, doubt: Doubt) -> bool:
    states = [fact.state if fact else "" for fact in (tables.facts.get(scope, id) for id in doubt.facts)]
    if doubt.kind == "replace":
        return states == ["active", "active"]
    return not doubt.facts or ("retired" in states if doubt.kind == "erase" else "active" in states)
