"""What is new goes to the model whole, whatever the budget made of it in a context."""

from __future__ import annotations

from collections.abc import Sequence

from wellkept.policy.context.repair import repair
from wellkept.records import Draft, Event, ToolResult, blocks_of


def ends_with(shown: Sequence[Event], said: Sequence[Draft]) -> bool:
    """Whether the last of the events of a context are just these messages."""
    last = shown[max(0, len(shown) - len(said)) :]
    return [(event.role, event.content) for event in last] == [(draft.role, draft.content) for draft in said]


def latest(stored: Sequence[Event], most: int) -> Sequence[Event]:
    """What was said since the last answer, ``most`` messages of it, out of the end of a session; results with the calls that
    they answer."""
    answers = [place for place, event in enumerate(stored) if event.role == "assistant"]
    after = answers[-1] + 1 if answers else 0
    said = stored[max(after, len(stored) - most) :]
    return stored[after - 1 :] if answers and any(map(_tells_results, said)) else said


def _tells_results(event: Event) -> bool:
    return any(isinstance(block, ToolResult) for block in blocks_of(event.content))


def uncut(shown: Sequence[Event], said: Sequence[Event]) -> Sequence[Event]:
    """The events of a context with ``said``, the newest of the session, whole where they were cut or left out."""
    if not said or list(said) == list(shown[-len(said) :]):
        return shown
    return repair([*(event for event in shown if event.seq < said[0].seq), *said])
