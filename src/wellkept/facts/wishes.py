"""Heeds what a user asks to be forgotten in the conversation: retires it at once, and leaves the erasure to a
person's decision."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from wellkept.facts.graves import graves_of, sources
from wellkept.facts.keep import Keeper
from wellkept.policy.facts.wish import Wish, named_by, takes_most, wishes
from wellkept.records import Event, Scope, text_of, utc
from wellkept.store.facts import Doubt, Fact
from wellkept.store.protocol import SessionRef, Tables


def heed(keeper: Keeper, ref: SessionRef, event: Event, *, sure: bool) -> tuple[list[str], int]:
    """Retire what the user's message names, and bury it; the ids of the facts, and how many doubts were
    raised.

    ``sure``: the model, too, takes the message for a wish to forget. Without that, or when it is not clear
    what is meant, nothing is done and the question goes to the review list.
    """
    retired: list[str] = []
    doubts = 0
    for wish in wishes(text_of(event.content)):
        known = keeper.tables.facts.all(keeper.scope, states=("active", "archived"))
        facts = [fact for fact in known if _is_own(keeper, event, fact)]
        targets = _targets(keeper, ref, event, wish, facts)
        too_many = takes_most(len(targets), len(facts))
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


def _targets(keeper: Keeper, ref: SessionRef, event: Event, wish: Wish, facts: list[Fact]) -> list[Fact]:
    if not wish.last:
        return [facts[at] for at in named_by(wish.text, facts)]
    before = keeper.tables.events.walk_back(ref, before=event.seq)
    own = (
        each.seq
        for each in before
        if each.role == "user" and _speaker(keeper, each) == _speaker(keeper, event)
    )
    keys = set(keeper.tables.facts.of_event(ref, list(islice(own, 1))))
    return [fact for fact in facts if fact.key in keys]


def _is_own(keeper: Keeper, event: Event, fact: Fact) -> bool:
    """Whether the fact comes from the one who speaks in ``event``: in a group, nobody's wish reaches what another
    said. What was written by hand is the user's."""
    said = {_speaker(keeper, source) for _, source in sources(keeper.tables, keeper.scope, fact)}
    return (said or {""}) == {_speaker(keeper, event)}


def _speaker(keeper: Keeper, event: Event) -> str:
    """Who speaks; "" for the user, whether by name or without."""
    name = (event.speaker or "").casefold()
    return "" if name == keeper.scope.user.casefold() else name


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
