"""Which background work there is, and when a summary is due: all that an append has to know of it.

The work itself (``summarize.py``, ``facts/extract.py``, ``embedding.py``) is imported when the first job is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wellkept.records import Policy
    from wellkept.store.protocol import SessionRef, Tables, Uncovered

SUMMARIZE, EXTRACT, EMBED = KINDS = ("summarize", "extract", "embed")


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
