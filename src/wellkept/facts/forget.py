"""Erases: shows what would go, removes it with all that was derived from it, looks again, and hands out a
receipt."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

from wellkept.core import Core
from wellkept.errors import InvalidInput, NotFound
from wellkept.facts.graves import claim_graves, doubt_grave, source_grave, sources
from wellkept.facts.keep import find
from wellkept.outbox import ERASE, put_if_due
from wellkept.policy.facts.claims import USER
from wellkept.policy.facts.wish import takes_most
from wellkept.policy.privacy import needles
from wellkept.policy.privacy.needles import Needle
from wellkept.policy.text.words import index_tokens, query_terms
from wellkept.records import Document, Event, Record, Scope, text_of, utc
from wellkept.store.facts import Actor, Fact, FactState
from wellkept.store.protocol import SessionRef, Tables
from wellkept_flash.rules import fingerprint

if TYPE_CHECKING:
    from wellkept.jobs import Finish, Outcome, Run

ALL_STATES: tuple[FactState, ...] = ("active", "retired", "archived")
LEAST_NEEDLE = 4
PATIENCE_MS = 60_000
"""After so long somebody else may end an erasure whose rows are gone: whoever began it is likely to be dead."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview(Record):
    """What an erasure would take away. Nothing has happened yet: pass it to ``forget`` to do it.

    Attributes:
        scope: whose memory it is about; nobody else's ``forget`` takes it.
        facts: facts in any state, with their history; those whose only sources go are among them.
        events: messages of whatever role that hold what is to be forgotten, or that the facts came from.
        sessions: the conversations whose summaries are dropped and made anew.
        places: where else it stands, with the ids of the rows: "message metadata", "message idempotency_key" and
            "message speaker" (the message goes as a whole), "session title" (is emptied), "session metadata" (the
            entry goes), "profile" (names; left to you), "earlier profile" (names; these versions go).
        alike: ids of facts and messages that hold all the words of a phrase, but apart, and of facts that
            are only filed under it (label, attribute); they stay.
        reason: why ``forget`` will refuse it, or None.
    """

    scope: Scope
    query: str | None
    facts: tuple[Fact, ...]
    events: tuple[Event, ...]
    sessions: tuple[str, ...]
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    alike: tuple[str, ...] = ()
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
        resumed: the process ended in the middle, and a job ended the erasure. The rows went at once, as always. Nobody
            knew the texts any more to look for, so all files of the store were written anew.
    """

    id: int
    at: datetime
    removed: Mapping[str, int]
    left: Mapping[str, int]
    resumed: bool = False


def preview(core: Core, scope: Scope, *, query: str | None, ids: Sequence[str]) -> Preview:
    """What forgetting ``query``, or the facts ``ids``, would take away: what holds the query as a phrase, and
    where nothing does, what holds all its words."""
    if (query is None) == (not ids):
        raise InvalidInput("Say what to forget: a text, or ids=[…] of memories.")
    return core.store.read(lambda tables: _preview(tables, scope, query, ids))


def _preview(tables: Tables, scope: Scope, query: str | None, ids: Sequence[str]) -> Preview:
    known = tables.facts.all(scope, states=ALL_STATES)
    if query is None:
        found = _Found.of(tables, scope, [find(tables, scope, id) for id in ids], [])
        return _planned(tables, scope, None, known, found, ())
    needle, words = needles.query(query), needles.parts(query)
    if needle is None:
        return _refused(
            scope, query, f"{query!r} names nothing in particular. Say what to forget, or pass ids."
        )
    found = _Found.of(tables, scope, [fact for fact in known if _mentions(fact, [needle])], [needle])
    apart = _Found.of(tables, scope, [fact for fact in known if words and _mentions(fact, words)], [], words)
    if not found.facts and not found.events:
        found, apart = apart, found
    filed = [fact.id for fact in known if any(needle.is_in(word) for word in (fact.attribute, *fact.labels))]
    alike = [id for id in dict.fromkeys([*apart.ids(), *filed]) if id not in found.ids()]
    return _planned(tables, scope, query, known, found, alike)


def _planned(
    tables: Tables,
    scope: Scope,
    query: str | None,
    known: Sequence[Fact],
    found: _Found,
    alike: Sequence[str],
) -> Preview:
    ids = {event.id for _, event in found.events.values()}
    facts = found.facts + [
        fact
        for fact in known
        if fact not in found.facts and fact.sources and all(id in ids for id in fact.sources)
    ]
    places = {**found.places, **_elsewhere(tables, scope, _wanted(query, facts))}
    if not facts and not ids and not places:
        return _refused(scope, query, f"Nothing of this user holds {query!r}.")
    most = query is not None and takes_most(len(facts), len(known))
    reason = (
        f"{query!r} matches {len(facts)} of this user's {len(known)} memories. Pass ids to say which."
        if most
        else None
    )
    events = [
        event for _, event in sorted(found.events.values(), key=lambda pair: (pair[0].key, pair[1].seq))
    ]
    return Preview(
        scope=scope,
        query=query,
        facts=tuple(sorted(facts, key=lambda fact: fact.key)),
        events=tuple(events),
        sessions=tuple(dict.fromkeys(event.session_id for event in events)),
        places=places,
        alike=tuple(alike),
        reason=reason,
    )


def _refused(scope: Scope, query: str | None, reason: str) -> Preview:
    return Preview(scope=scope, query=query, facts=(), events=(), sessions=(), reason=reason)


def _mentions(fact: Fact, wanted: Sequence[Needle]) -> bool:
    """Whether what somebody said or wrote holds it: labels, attributes and "user" are the program's own words."""
    subject = "" if fact.subject == USER else fact.subject
    values = [fact.text, fact.quote, subject, *fact.keywords, json.dumps(dict(fact.metadata), default=str)]
    return all(any(needle.is_in(value) for value in values) for needle in wanted)


def _wanted(query: str | None, facts: Sequence[Fact]) -> list[Needle]:
    asked = [needle] if query and (needle := needles.query(query)) else []
    return asked + [Needle(text) for fact in facts for text in dict.fromkeys((fact.text, fact.quote)) if text]


@dataclass(frozen=True)
class _Found:
    """What holds what is to be forgotten: facts, events by id, and for those where else than in their content."""

    facts: list[Fact]
    events: dict[str, tuple[SessionRef, Event]]
    places: dict[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        tables: Tables,
        scope: Scope,
        facts: list[Fact],
        wanted: Sequence[Needle],
        every: Sequence[Needle] = (),
    ) -> _Found:
        """With the sources of ``facts``, and whatever says the same word for word."""
        sought = [*wanted, *_wanted(None, facts)]
        hits = tables.erasures.events(scope, sought, every) if sought or every else []
        events, places = {}, defaultdict(list)
        for ref, seq, where in hits:
            if (event := tables.events.get(ref, seq)) is not None:
                events[event.id] = (ref, event)
                for place in where:
                    if place != "content":
                        places[f"message {place}"].append(event.id)
        for fact in facts:
            events.update((event.id, (ref, event)) for ref, event in sources(tables, scope, fact))
        return cls(facts, events, {place: tuple(ids) for place, ids in places.items()})

    def ids(self) -> list[str]:
        return [*(fact.id for fact in self.facts), *self.events]


def _elsewhere(tables: Tables, scope: Scope, wanted: Sequence[Needle]) -> dict[str, tuple[str, ...]]:
    """Titles and metadata of sessions, and profile documents, that hold it."""
    infos = tables.sessions.list(scope, limit=1 << 31)
    documents = tables.profiles.current(scope)
    found = {
        "session title": [info.id for info in infos if _held(info.title, wanted)],
        "session metadata": [info.id for info in infos if _held(json.dumps(dict(info.metadata)), wanted)],
        "profile": [name for name, document in documents.items() if _held(document.text, wanted)],
        "earlier profile": list(dict.fromkeys(it.name for it in _earlier(tables, scope, wanted))),
    }
    return {place: tuple(ids) for place, ids in found.items() if ids}


def _earlier(tables: Tables, scope: Scope, wanted: Sequence[Needle]) -> list[Document]:
    """Versions of profile documents that hold it, without the current ones, which are left to the user."""
    return [
        document
        for name in tables.profiles.current(scope)
        for document in tables.profiles.versions(scope, name)[1:]
        if _held(document.text, wanted)
    ]


def _held(value: str, wanted: Sequence[Needle]) -> bool:
    return any(needle.is_in(value) for needle in wanted)


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
    wanted = [Needle(text, inflected=text == plan.query) for text in texts]
    now = core.now()
    removed, job = core.store.write(_Removal(core, plan, wanted, _graves(plan), now, actor).begin)
    left = core.store.read(lambda tables: tables.erasures.left(scope, wanted)) | _left(core, scope, texts)
    kept = {"removed": removed, "left": left}

    def end(tables: Tables) -> int:
        tables.jobs.set_state(job, "done", at=core.now(), allowed=("ready", "running"))
        return tables.erasures.hand_out(scope, kept, at=now)

    return Receipt(id=core.store.write(end), at=utc(now), removed=removed, left=left)


def resume(run: Run) -> Finish:
    """The handler of a job of an erasure: ends what a process that died began, and hands out the receipt."""
    core, scope, begun = run.core, run.scope, run.job
    kept = {**begun.payload, "left": _left(core, scope, None), "resumed": True}

    def store(tables: Tables) -> Outcome:
        at = int(begun.created_at.timestamp() * 1000)
        return {"receipt": tables.erasures.hand_out(scope, kept, at=at)}

    return store


def _left(core: Core, scope: Scope, texts: Sequence[str] | None) -> dict[str, int]:
    """What of ``texts`` is left outside of rows, in the store's files and in those beside it, when they are clean."""
    left = {"bytes": core.store.scrub(texts)}
    if core.mirror is not None:
        core.mirror.flush()
        left["mirror"] = int(core.mirror.is_behind(scope))
    return {place: count for place, count in left.items() if count}


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


def _graves(plan: Preview) -> list[tuple[str, ...]]:
    """Those of the messages and of the facts that were drawn from them. Made ahead: a long message takes its time."""
    prints = {event.id: fingerprint(text_of(event.content)) for event in plan.events}
    said = [source_grave(prints[event.id]) for event in plan.events if event.role == "user"]
    drawn = [claim_graves(fact, prints[id]) for fact in plan.facts for id in fact.sources if id in prints]
    return [*said, *chain.from_iterable(drawn)]


@dataclass(frozen=True)
class _Removal:
    """The rows that go, all at once."""

    core: Core
    plan: Preview
    wanted: Sequence[Needle]
    graves: Sequence[tuple[str, ...]]
    at: int
    actor: Actor

    def begin(self, tables: Tables) -> tuple[dict[str, int], int]:
        """Remove them; how many went by table, and the job that ends the erasure if nobody else does."""
        removed = {table: rows for table, rows in self._remove(tables, self.plan.scope).items() if rows}
        due = self.at + PATIENCE_MS
        job = tables.jobs.put(self.plan.scope, ERASE, payload={"removed": removed}, at=self.at, due=due)
        assert job is not None
        return removed, job

    def _remove(self, tables: Tables, scope: Scope) -> dict[str, int]:
        asked = tables.doubts.list(scope)
        ids = [fact.id for fact in self.plan.facts]
        removed = tables.erasures.facts(scope, ids, at=self.at, actor=self.actor)
        removed["doubts"] += tables.erasures.doubts(scope, self.wanted)
        left = {doubt.id for doubt in tables.doubts.list(scope)}
        settled = [doubt_grave(doubt) for doubt in asked if doubt.id not in left]
        tables.erasures.bury(scope, [*self.graves, *settled], at=self.at)
        removed["jobs"] = tables.erasures.jobs(scope, self.wanted)
        removed["traces"] = tables.traces.remove(scope)
        removed["replies"] = tables.replies.forget(scope)
        removed["events"] = removed["summaries"] = 0
        for session in self.plan.sessions:
            ref = tables.sessions.find(scope, session)
            if ref is None:
                continue
            events = [event for event in self.plan.events if event.session_id == session]
            removed["events"] += tables.events.remove(ref, events)
            removed["summaries"] += tables.summaries.drop(ref, min(event.seq for event in events))
            put_if_due(tables, ref, self.core.policy, self.at)
        removed.update(tables.erasures.sessions(scope, self.wanted))
        removed["profiles"] = tables.profiles.remove(scope, _earlier(tables, scope, self.wanted))
        tables.actions.add(scope, "forget", self.actor, at=self.at)
        return removed
