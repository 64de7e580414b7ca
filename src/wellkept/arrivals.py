"""Messages as a server gets them: for several sessions at once, or all of a conversation each time; one commit for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, TypeAlias

from wellkept.core import Core
from wellkept.errors import NotFound, StoreError, WellkeptError
from wellkept.policy.checks import check_name
from wellkept.policy.context.overlap import new_part, reach
from wellkept.policy.privacy.redact import redact_content
from wellkept.policy.recall.terms import HEAVY
from wellkept.records import Draft, Event, Policy, Record, Scope, text_of
from wellkept.session import Session, handle, open_session, prepare, store_events
from wellkept.store.events import NewEvent
from wellkept.store.protocol import Tables

Work: TypeAlias = Callable[[Tables], tuple[list[Event], bool]]


@dataclass(frozen=True, slots=True)
class Arrival(Record):
    """Messages for one session of a user, to be appended all or none."""

    scope: Scope
    session_id: str
    drafts: Sequence[Draft]


def append_all(core: Core, arrivals: Sequence[Arrival]) -> list[list[Event] | WellkeptError]:
    """See ``Memory.append_all``."""
    works = [_made_ready(core, arrival) for arrival in arrivals]
    sound = [work for work in works if not isinstance(work, WellkeptError)]
    try:
        done: list[tuple[list[Event], bool] | WellkeptError] = core.store.write(
            lambda tables: [work(tables) for work in sound]
        )
    except StoreError:
        raise
    except WellkeptError:
        # Nothing of it remains. One of them is at fault, and only that one may fail.
        done = [_alone(core, work) for work in sound]
    if any(not isinstance(each, WellkeptError) and each[1] for each in done):
        core.notify()
    following = iter(done)
    outcomes = [work if isinstance(work, WellkeptError) else next(following) for work in works]
    return [each if isinstance(each, WellkeptError) else each[0] for each in outcomes]


def _made_ready(core: Core, arrival: Arrival) -> Work | WellkeptError:
    """What is to be done in the transaction; all else is done here."""
    now = core.now()
    try:
        check_name("session_id", arrival.session_id)
        events = [prepare(core, draft, now) for draft in arrival.drafts]
    except WellkeptError as error:
        return error

    def work(tables: Tables) -> tuple[list[Event], bool]:
        ref = tables.sessions.find(arrival.scope, arrival.session_id)
        if ref is None:
            raise NotFound(f"No session {arrival.session_id!r} for this user. Begin it first.")
        return store_events(core, tables, ref, events, now) if events else ([], False)

    return work


def _alone(core: Core, work: Work) -> tuple[list[Event], bool] | WellkeptError:
    try:
        return core.store.write(work)
    except WellkeptError as error:
        return error


# ── a message list, of which a part is stored
# ─────────────────────────────────────────────────────────────────────────────


class Asked(NamedTuple):
    """The session of a request to a model, and how its caller begins the answer, if so."""

    session: Session
    begun: Sequence[Draft]


def append_new(core: Core, arrival: Arrival) -> Asked:
    """See ``Memory.append_new``."""
    check_name("session_id", arrival.session_id)
    sent, now = as_stored(core.policy, arrival.drafts), core.now()
    ready: dict[int, NewEvent] = {}

    def work(tables: Tables) -> tuple[Asked, bool] | list[int]:
        ref = open_session(tables, arrival.scope, arrival.session_id, at=now)
        stored = list(islice(tables.events.walk_back(ref), reach(len(sent))))[::-1]
        start, end = new_part(stored, sent)
        new = range(start, end)
        if unready := [place for place in new if place not in ready and _is_long(sent[place])]:
            return unready
        events = [ready.get(place) or prepare(core, sent[place], now) for place in new]
        due = bool(events) and store_events(core, tables, ref, events, now)[1]
        return Asked(handle(core, tables, ref), arrival.drafts[end:]), due

    # What takes long to make ready is not done while others wait to write.
    while isinstance(done := core.store.write(work), list):
        ready |= {place: prepare(core, sent[place], now) for place in done}
    asked, due = done
    if due:
        core.notify()
    return asked


def _is_long(draft: Draft) -> bool:
    return len(text_of(draft.content)) > HEAVY


def as_stored(policy: Policy, drafts: Sequence[Draft]) -> Sequence[Draft]:
    """``drafts`` with secrets masked as the store has them, for comparing."""
    kinds = policy.redaction
    return (
        [replace(draft, content=redact_content(draft.content, kinds)) for draft in drafts]
        if kinds
        else drafts
    )
