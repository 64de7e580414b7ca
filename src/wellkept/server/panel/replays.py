"""The requests of a session: as they were recorded or as they can be rebuilt, and how they come out otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from wellkept.errors import BudgetExceeded, InvalidInput, NotFound
from wellkept.records import Event, Policy, Record, text_of
from wellkept.server.panel.shots import Shot, of_context, of_trace
from wellkept.session import SessionReader
from wellkept.store.traces import Trace
from wellkept.trace import policy_of

LEVERS = ("profile_share", "facts_share", "summary_share", "recall_share", "recall_limit", "similarity_threshold")  # fmt: skip
"""Settings of a policy that can be tried on a replay."""
MOST = 100_000_000
_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Record):
    """One request of a session, after the message ``seq``. ``trace`` is None where none was kept."""

    seq: int
    at: datetime
    question: str
    trace: Trace | None = None

    def policy(self, now: Policy) -> Policy:
        """The policy that it was made under; without a trace that of ``now``."""
        return policy_of(self.trace.policy) if self.trace else now

    def shot(self, session: SessionReader, budget: int) -> Shot:
        """What the model was given; without a trace what it gets at that message inside ``budget``.

        Raises BudgetExceeded.
        """
        return of_trace(self.trace) if self.trace else self._rebuilt(session, budget)

    def again(self, session: SessionReader, budget: int, policy: Policy | None) -> Shot:
        """The same request under another budget or policy. Raises BudgetExceeded, InvalidInput."""
        if self.trace is None:
            return self._rebuilt(session, budget, policy)
        replayed = session.traces.replay(self.trace.id, policy=policy, budget=budget)
        return of_context(replayed.after, budget)

    def _rebuilt(self, session: SessionReader, budget: int, policy: Policy | None = None) -> Shot:
        context = session.get_context(self.question or None, budget, as_of=self.seq, policy=policy)
        return of_context(context, budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Record):
    """A request in a list. ``shot`` is None where the message does not fit into the budget, as ``refused`` says."""

    asked: Asked
    shot: Shot | None = None
    refused: str = ""


def newest(session: SessionReader, *, before: int, limit: int, budget: int) -> tuple[list[Row], int | None]:
    """Requests, newest first: of the ``limit`` newest user messages before a seq (0 for all), and what was recorded
    since the first of them; and the seq before which there are more."""
    events = _user_messages(session, before, limit)
    first = events[0].seq if len(events) == limit else 0
    traces = [trace for trace in _traces(session, first) if not before or trace.seq < before]
    recorded = {trace.seq for trace in traces}
    asked = [_of_trace(session, trace) for trace in traces]
    asked += [_of_event(event) for event in events if event.seq not in recorded]
    asked.sort(key=lambda each: (each.seq, each.at), reverse=True)
    return [_row(session, each, budget) for each in asked], first or None


def find(session: SessionReader, seq: int, trace: str | None) -> Asked:
    """One request: by its trace, or the newest one after a message. Raises NotFound."""
    if trace:
        return _of_trace(session, session.traces.get(trace))
    kept = next((each for each in _traces(session, seq) if each.seq == seq), None)
    return _of_trace(session, kept) if kept else _of_event(session.get_event(f"{session.id}:{seq}"))


def _user_messages(session: SessionReader, before: int, limit: int) -> list[Event]:
    """The newest ones before a seq, oldest first."""
    found: list[Event] = []
    while len(found) < limit:
        events = session.get_events(before=before or None, limit=_PAGE)
        found = [event for event in events if event.role == "user"] + found
        if len(events) < _PAGE:
            break
        before = events[0].seq
    return found[-limit:]


def _traces(session: SessionReader, first: int) -> Iterator[Trace]:
    """Newest first, down to those after the message ``first``."""
    last = None
    while True:
        page = session.traces.list(limit=_PAGE, before=last)
        yield from (trace for trace in page if trace.seq >= first)
        if len(page) < _PAGE or page[-1].seq < first:
            return
        last = page[-1].id


def _of_event(event: Event) -> Asked:
    return Asked(seq=event.seq, at=event.ts, question=text_of(event.content))


def _of_trace(session: SessionReader, trace: Trace) -> Asked:
    question = trace.query or ""
    if not question:
        try:
            question = text_of(session.get_event(f"{session.id}:{trace.seq}").content)
        except NotFound:
            question = ""
    return Asked(seq=trace.seq, at=trace.at, question=question, trace=trace)


def _row(session: SessionReader, asked: Asked, budget: int) -> Row:
    try:
        return Row(asked=asked, shot=asked.shot(session, budget))
    except BudgetExceeded as error:
        return Row(asked=asked, refused=str(error))


# ── what a form asks for
# ──────────────────────────────────────────────────────────────────────────────────────


def budget_of(form: Mapping[str, str]) -> int | None:
    """The budget asked for; None for a field that was left empty. Raises InvalidInput."""
    given = form.get("budget", "").strip()
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 12 and 0 < int(given) <= MOST):
        raise InvalidInput(
            f"The budget is {given!r:.40}; it must be a whole number of tokens from 1 to {MOST:,}."
        )
    return int(given)


def policy_wanted(then: Policy, form: Mapping[str, str]) -> Policy | None:
    """The policy of ``then`` with the settings asked for; None where that is the same. Raises InvalidInput."""
    given = {name: form[name].strip() for name in LEVERS if form.get(name, "").strip()}
    try:
        values = {name: type(getattr(then, name))(value) for name, value in given.items()}
    except ValueError as error:
        raise InvalidInput(f"A setting is no number: {error}.") from error
    policy = replace(then, **values)
    return None if policy == then else policy
