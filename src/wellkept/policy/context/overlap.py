"""What of a message list is new to a session: callers may send one message, a window, or all of it every time."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeAlias

from wellkept.records import Block, Draft, Event, Image, Other, ToolCall, ToolResult, blocks_of, text_of

_MARGIN = 64

Item: TypeAlias = Event | Draft


class _Run(NamedTuple):
    """A run that both lists share: ``size`` items up to places ``stored`` and ``sent`` (not included)."""

    size: int
    stored: int
    sent: int


def reach(sent: int) -> int:
    """How many events of a session's end it takes to tell what of ``sent`` messages is new: retries and edits of a list
    are seen through, and a single message is compared with the last event alone."""
    return sent + _MARGIN if sent > 1 else 1


def fresh_from(stored: Sequence[Item], sent: Sequence[Item]) -> int:
    """The place in ``sent`` where what is new begins; its length when nothing is.

    ``stored`` is the end of the session. What stands in ``sent`` before the last run that both share is taken
    for older than the run. A single message is new unless the session ends with it: people repeat themselves.
    """
    old, new = [_mark(item) for item in stored], [_mark(item) for item in sent]
    tail = _tail_run(old, new)
    if tail is not None and _is_whole(tail):
        return tail.sent
    runs = [run for run in _runs(old, new) if _says_something(run, stored, sent)]
    return max(runs, default=_Run(0, 0, 0)).sent


def new_part(stored: Sequence[Item], sent: Sequence[Item]) -> tuple[int, int]:
    """The places in the messages of a request to a model where what is new begins and where it ends.

    ``stored``: at least the newest ``reach(len(sent))`` of the session. Behind the end stands how the caller begins the
    answer, if that is what a last message of the assistant does: one with which the session does not end anyway.
    """
    begins = [item.role for item in sent[-1:]] == ["assistant"] and not fresh_from(stored[-1:], sent[-1:])
    end = len(sent) - begins
    return fresh_from(stored[-reach(end) :], sent[:end]), end


def _tail_run(old: Sequence[Hashable], new: Sequence[Hashable]) -> _Run | None:
    """The longest run that ends where the session ends."""
    runs = (_Run(_common(old, new, place), len(old), place) for place in range(1, len(new) + 1))
    return max((run for run in runs if run.size), default=None)


def _common(old: Sequence[Hashable], new: Sequence[Hashable], place: int) -> int:
    size = 0
    while size < min(place, len(old)) and old[-1 - size] == new[place - 1 - size]:
        size += 1
    return size


def _is_whole(run: _Run) -> bool:
    """Whether the run reaches back to the beginning of a list, so that nothing contradicts it."""
    return run.size in (run.sent, run.stored)


def _runs(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[_Run]:
    """Every longest common run, by the usual table of common suffixes."""
    runs, above = [], [0] * (len(new) + 1)
    for row, mark in enumerate(old, 1):
        sizes = [0] * (len(new) + 1)
        for column, other in enumerate(new, 1):
            if mark == other:
                sizes[column] = above[column - 1] + 1
                runs.append(_Run(sizes[column], row, column))
        above = sizes
    return runs


def _says_something(run: _Run, stored: Sequence[Item], sent: Sequence[Item]) -> bool:
    """A run that takes in the last message too is one only if the session ends there, or with an answer that
    is asked for again."""
    if run.sent < len(sent) or run.stored == len(stored):
        return True
    answered = all(item.role in ("assistant", "tool") for item in stored[run.stored :])
    return run.size == run.sent > 1 and answered


# ── when two messages are the same
# ──────────────────────────────────────────────────────────────────────────


def _mark(item: Item) -> Hashable:
    """What a message says, without what differs when it is sent back: form, thinking, white space at its ends."""
    blocks = [_block_mark(block) for block in blocks_of(item.content)]
    return item.role, text_of(item.content).strip(), tuple(mark for mark in blocks if mark is not None)


def _block_mark(block: Block) -> Hashable:
    if isinstance(block, ToolCall):
        return block.type, block.id, block.name, _canonical(block.arguments)
    if isinstance(block, ToolResult):
        return block.type, block.id, text_of(block.content).strip()
    if isinstance(block, Image):
        return block.type, block.ref
    if isinstance(block, Other):
        return block.type, json.dumps(block.raw, sort_keys=True)
    return None


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
