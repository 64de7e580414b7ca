"""Which background work there is, and when a summary or an extraction is due: all that an append has to know of it.

The work itself (``summarize.py``, ``facts/extract.py``, ``embedding.py``, ``facts/forget.py``) is imported when the first
job is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from wellkept.records import Event, Policy, Scope
    from wellkept.store.protocol import SessionRef, Tables
    from wellkept.store.summaries import Uncovered

SUMMARIZE, EXTRACT, EMBED, ERASE = KINDS = ("summarize", "extract", "embed", "erase")


def is_due(uncovered: Uncovered, policy: Policy) -> bool:
    """Whether what has left the window is enough to be summarised: so many events, or so large a part of the budget."""
    return (
        uncovered.events >= policy.summarize_every
        or uncovered.tokens > policy.summary_trigger * policy.context_budget
    )


def put_if_due(tables: Tables, ref: SessionRef, policy: Policy, now: int) -> bool:
    """Put a job into the outbox when a summary is due; call it in the transaction that appends a user's message."""
    once = str(ref.key)
    if tables.jobs.waits(ref, SUMMARIZE, once) or not is_due(
        tables.summaries.uncovered(ref, policy.recent_window_size), policy
    ):
        return False
    return tables.jobs.put(ref.scope, SUMMARIZE, ref=ref, at=now, once=once) is not None


def put_extraction(
    tables: Tables, ref: SessionRef, policy: Policy, events: Sequence[Event], now: int
) -> bool:
    """Put extraction of what a user said into the outbox, in the transaction that appends it; whether a job was added.

    It is due when the conversation has been silent for a while, or at once when enough has been said.
    """
    once = str(ref.key)
    said = any(event.role == "user" for event in events)
    enough = said and tables.facts.unread(ref, most=policy.extract_every) >= policy.extract_every
    due = now if enough else now + int(policy.extract_idle * 1000)
    if said and tables.jobs.put(ref.scope, EXTRACT, ref=ref, at=now, due=due, once=once) is not None:
        return True
    tables.jobs.postpone(ref, EXTRACT, once, at=now, due=due)
    return False


def extract_now(tables: Tables, ref: SessionRef, now: int) -> bool:
    """Make extraction due now in a session that has something new; whether it has."""
    if not tables.facts.unread(ref, most=1):
        return False
    tables.jobs.put(ref.scope, EXTRACT, ref=ref, at=now, once=str(ref.key))
    tables.jobs.hasten(EXTRACT, at=now, ref=ref)
    return True


def extract_all(tables: Tables, scope: Scope, now: int) -> int:
    """Make extraction due now in each session of a user that has something new; in how many that was."""
    refs = [tables.sessions.find(scope, info.id) for info in tables.sessions.list(scope, limit=1 << 31)]
    return sum(extract_now(tables, ref, now) for ref in refs if ref is not None)


def held_back(tables: Tables, ref: SessionRef) -> datetime | None:
    """Until when extraction from a session waits because the namespace has spent its tokens; None if it does not."""
    return tables.jobs.held_back(ref, EXTRACT, str(ref.key))
