"""Why did it say that? The traces of contexts, and how a context of then comes out under another policy or budget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from wellkept import context as contexts
from wellkept.context import Context, Recalled
from wellkept.core import Core
from wellkept.errors import NotFound
from wellkept.ids import new_id
from wellkept.policy.checks import check_limit
from wellkept.records import Policy, Record, Scope, plain
from wellkept.store.protocol import SessionRef, Tables
from wellkept.store.traces import Trace
from wellkept.tiers import Moment


def traced(
    core: Core, ref: SessionRef, query: str | None, budget: int | None, *, seen: int | None = None
) -> Context:
    """The context of a session now, with a trace where the policy (or a trace file) asks for one."""
    if not core.tracer.on:
        return contexts.build(core, ref, query=query, budget=budget, seen=seen)
    made = contexts.build(core, ref, query=query, budget=budget, seen=seen)
    context = replace(made, trace_id=new_id("trace"))
    at = core.clock()
    core.tracer.take(ref, context.erasures, lambda: _trace(core, ref, context, at, query, budget))
    core.notify()
    return context


def _trace(
    core: Core, ref: SessionRef, context: Context, at: datetime, query: str | None, budget: int | None
) -> Trace:
    return Trace(
        id=context.trace_id or "",
        session_id=ref.id,
        at=at,
        seq=context.seq,
        version=context.version,
        policy=plain(core.policy),
        query=query,
        budget=core.policy.context_budget if budget is None else budget,
        system=context.system,
        boundary=context.boundary,
        messages=context.messages,
        tokens=context.tokens,
        parts=context.parts,
        candidates=context.trace,
        recalled=plain(context.recalled),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(Record):
    """An old context, and the one that comes out of the same moment now.

    Attributes:
        before: the trace of then.
        after: the context rebuilt from the events, summaries and profile of that moment.
        difference: a unified diff of their texts; empty when they are the same, byte for byte.
        tokens: tokens by tier, before and after; "total" for the whole.
    """

    before: Trace
    after: Context
    difference: str
    tokens: Mapping[str, tuple[int, int]]

    def to_dict(self) -> dict[str, Any]:
        """This replay as plain JSON-ready data."""
        return {
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "difference": self.difference,
            "tokens": plain(self.tokens),
        }


class TraceList:
    """The traces of a user, or of one conversation."""

    def __init__(self, core: Core, scope: Scope, ref: SessionRef | None = None) -> None:
        self._core = core
        self._scope = scope
        self._ref = ref

    def list(self, *, limit: int = 20, before: str | None = None) -> list[Trace]:
        """The newest ``limit`` traces, newest first; ``before``: the id that the previous page ended with.

        Traces are written in the background: ``Memory.run_jobs`` writes those that wait. Raises NotFound for a
        ``before`` that is not there.
        """
        most = check_limit(limit)

        def page(tables: Tables) -> list[Trace]:
            if before is not None:
                self._find(tables, before)
            return tables.traces.list(self._scope, self._ref, limit=most, before=before)

        return self._core.store.read(page)

    def get(self, id: str) -> Trace:
        """One trace. Raises NotFound for an id that is not this user's (or not this conversation's)."""
        trace, _ = self._core.store.read(lambda tables: self._find(tables, id))
        return trace

    def replay(self, id: str, *, policy: Policy | None = None, budget: int | None = None) -> Replay:
        """The context of a trace, rebuilt from what the store held at that moment.

        Args:
            policy: another policy, under which recall searches again; that of then if not given, with what recall gave.
            budget: another budget in tokens; that of then if not given.

        Raises:
            NotFound: there is no such trace.
            BudgetExceeded: the newest user message of then does not fit into ``budget``.
            InvalidInput: a budget below 1.

        What was taken away since then (popped turns, erased facts) does not come back: it shows as a difference.
        """
        before, ref = self._core.store.read(lambda tables: self._find(tables, id))
        core = replace(self._core, policy=policy or policy_of(before.policy))
        after = contexts.build(
            core,
            ref,
            query=before.query,
            budget=before.budget if budget is None else budget,
            then=Moment(seq=before.seq, version=before.version, at=before.at),
            recalled=None if policy else [_recalled(each) for each in before.recalled],
        )
        return Replay(
            before=before, after=after, difference=_diff(before, after), tokens=_tokens(before, after)
        )

    def _find(self, tables: Tables, id: str) -> tuple[Trace, SessionRef]:
        trace = tables.traces.get(self._scope, id)
        ref = tables.sessions.find(self._scope, trace.session_id) if trace else None
        if trace is None or ref is None or self._ref not in (None, ref):
            raise NotFound(
                f"No trace {id!r} here. Policy.debug_trace says how many are kept, and run_jobs writes those that wait."
            )
        return trace, ref


def _recalled(values: Mapping[str, Any]) -> Recalled:
    return Recalled(**{**values, "events": tuple(values["events"])})


def policy_of(values: Mapping[str, Any]) -> Policy:
    """The policy of a trace; what it does not say (an older version wrote it) is as it is by default."""
    known = {field.name for field in fields(Policy)}
    kept: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name in known
    }
    return Policy(**kept)


def _diff(before: Trace, after: Context) -> str:
    import difflib

    old, new = _lines(before.system, before.messages), _lines(after.system, after.messages)
    return "\n".join(difflib.unified_diff(old, new, "then", "replayed", lineterm="", n=1))


def _lines(system: str, messages: Any) -> list[str]:
    """A context as lines: the system text, then each message as JSON."""
    return [*system.splitlines(), *(json.dumps(plain(message), ensure_ascii=False) for message in messages)]


def _tokens(before: Trace, after: Context) -> dict[str, tuple[int, int]]:
    tiers = dict.fromkeys([*before.parts, *after.parts])
    by_tier = {tier: (before.parts.get(tier, 0), after.parts.get(tier, 0)) for tier in tiers}
    return {**by_tier, "total": (before.tokens, after.tokens)}
