"""Repair a history for sending: what is stored may be cut anywhere, what is sent must be whole.

Nothing here changes an event; where something must differ, a changed copy takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from wellkept.records import (
    Block,
    Content,
    Draft,
    Event,
    Image,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    blocks_of,
)

Message = TypeVar("Message", bound=Event | Draft)

#: Stands where a tool gave no answer.
PLACEHOLDER = "(no result was recorded)"
#: Said for the user where a history begins with the assistant.
OPENING = "(The conversation continues from here.)"
#: Stands for a user message without words.
EMPTY = "(empty message)"

_LONGEST_ID = 40  # OpenAI refuses longer call ids
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")


def repair(events: Iterable[Message], *, placeholder: str = PLACEHOLDER) -> list[Message]:
    """``events`` so that what ``to_openai`` and ``to_anthropic`` make of them keeps the providers' rules.

    Each tool call is followed by its result (``placeholder`` if there is none), results without a call are
    left out, call ids are unique, nothing is empty, and the user speaks first. Events that are new here
    (placeholders, the opening) count the bytes of their text as ``tokens``, which no tokenizer exceeds.
    """
    kept = list(events)
    if not all(map(_is_plain, kept)):
        kept = list(_paired(kept, placeholder))
    return _closed(_opened(kept))


def safe_id(name: str) -> str:
    """``name`` with the characters that Anthropic allows in ids and tool names; others become ``_``."""
    return _UNSAFE.sub("_", name) or "_"


def _is_plain(event: Event | Draft) -> bool:
    return (
        isinstance(event.content, str)
        and event.role != "tool"
        and not event.content.isspace()
        and event.content != ""
        and not (event.metadata and "message" in event.metadata)
    )


# ── calls and results ───────────────────────────────────────────────────────────────────────────────────────

_Place = tuple[int, int]  # a block: index of its event, index inside it


def _paired(events: Sequence[Message], placeholder: str) -> Iterator[Message]:
    answers = _answers(events)
    ids = _Ids()
    for index, event in enumerate(events):
        names = {
            (index, at): ids.fresh(block.id)
            for at, block in enumerate(blocks_of(event.content))
            if isinstance(block, ToolCall) and event.role == "assistant"
        }
        cleaned = _cleaned(event, {at: name for (_, at), name in names.items()})
        if cleaned is not None:
            yield cleaned
        yield from _results(
            events, event, [(name, answers.get(place)) for place, name in names.items()], placeholder
        )


def _answers(events: Sequence[Event | Draft]) -> dict[_Place, _Place]:
    """Place of the result for each call that has one. A call id used again closes the earlier call."""
    waiting: dict[str, _Place] = {}
    found: dict[_Place, _Place] = {}
    for index, event in enumerate(events):
        if isinstance(event.content, str):
            continue
        for at, block in enumerate(event.content):
            if isinstance(block, ToolCall) and event.role == "assistant":
                waiting[block.id] = (index, at)
            elif isinstance(block, ToolResult) and block.id in waiting:
                found[waiting.pop(block.id)] = (index, at)
    return found


class _Ids:
    """Gives each call an id of its own, the same one each time the same history is repaired."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._last: dict[str, int] = {}

    def fresh(self, wanted: str) -> str:
        name, count = wanted[:_LONGEST_ID], self._last.get(wanted, 1)
        while safe_id(name) in self._used:
            count += 1
            suffix = f"_{count}"
            name = wanted[: _LONGEST_ID - len(suffix)] + suffix
        self._last[wanted] = count
        self._used.add(safe_id(name))
        return name


def _results(
    events: Sequence[Message], caller: Message, wanted: Iterable[tuple[str, _Place | None]], placeholder: str
) -> Iterator[Message]:
    """Tool events that answer ``wanted`` calls; results that came in one event stay in one."""
    groups: dict[int | None, list[Block]] = {}
    for name, place in wanted:
        source = None if place is None else place[0]
        groups.setdefault(source, []).append(_answer(events, name, place, placeholder))
    for source, blocks in groups.items():
        if source is None:
            yield _new(caller, "tool", tuple(blocks), placeholder * len(blocks))
        else:
            yield _changed(events[source], "tool", tuple(blocks))


def _answer(events: Sequence[Event | Draft], name: str, place: _Place | None, placeholder: str) -> ToolResult:
    if place is None:
        return ToolResult(name, placeholder)
    result = blocks_of(events[place[0]].content)[place[1]]
    assert isinstance(result, ToolResult)
    content = result.content
    if not isinstance(content, str):
        content = _without_thinking(tuple(_sendable(content, {})))
    cleaned = _unmarked(result)
    assert isinstance(cleaned, ToolResult)
    return replace(cleaned, id=name, content=content)


# ── empty and unsendable blocks ─────────────────────────────────────────────────────────────────────────────


def _cleaned(event: Message, names: Mapping[int, str]) -> Message | None:
    """``event`` without what cannot be sent there, calls under the ids ``names``; None if nothing is left."""
    kept: Content
    if isinstance(event.content, str):
        kept = event.content if event.content.strip() and event.role != "tool" else ()
    else:
        blocks = tuple(_sendable(event.content, names))
        kept = _not_thinking_last(blocks) if event.role == "assistant" else _without_thinking(blocks)
    if kept:
        return _changed(event, "user" if event.role == "tool" else event.role, kept)
    if event.role == "user" and not any(isinstance(block, ToolResult) for block in blocks_of(event.content)):
        return _new(event, "user", EMPTY, EMPTY)
    return None


def _not_thinking_last(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Anthropic takes no assistant message that ends in thinking."""
    while blocks and _is_thought(blocks[-1]):
        blocks = blocks[:-1]
    return blocks


def _without_thinking(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if not _is_thought(block))


def _sendable(blocks: Sequence[Block], names: Mapping[int, str]) -> Iterator[Block]:
    for at, block in enumerate(blocks):
        if isinstance(block, ToolResult) or (isinstance(block, Text) and not block.text.strip()):
            continue
        if isinstance(block, ToolCall):
            if at in names:
                yield _unmarked(block if block.id == names[at] else replace(block, id=names[at]))
        else:
            yield _unmarked(block)


def _is_thought(block: Block) -> bool:
    return isinstance(block, Thinking) or (
        isinstance(block, Other) and block.raw.get("type") == "redacted_thinking"
    )


def _unmarked(block: Block) -> Block:
    """``block`` without its cache mark: marks belong to one request, and Anthropic allows four in all."""
    if isinstance(block, (Image, Other)):
        if block.raw and "cache_control" in block.raw:
            return replace(block, raw=_without(block.raw, "cache_control"))
        return block
    marked = (block.extra or {}).get("anthropic", {})
    if "cache_control" in marked:
        extra = {**(block.extra or {}), "anthropic": _without(marked, "cache_control")}
        return replace(block, extra=extra)
    return block


def _without(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


# ── copies ──────────────────────────────────────────────────────────────────────────────────────────────────


def _changed(event: Message, role: Role, content: Content) -> Message:
    """``event`` with this role and content: itself if nothing differs."""
    metadata = _sendable_metadata(event, role, content)
    if role == event.role and content == event.content and metadata is event.metadata:
        return event
    return replace(event, role=role, content=content, metadata=metadata or {})


def _sendable_metadata(event: Event | Draft, role: Role, content: Content) -> Mapping[str, Any] | None:
    """The metadata of ``event`` without fields that a provider refuses: foreign ones and empty ones."""
    message = (event.metadata or {}).get("message")
    if not isinstance(message, Mapping):
        return event.metadata
    assert event.metadata is not None
    if role != event.role or message.get("shape") != "openai":
        return _without(event.metadata, "message")
    fields = {
        name: value for name, value in message.get("fields", {}).items() if value not in (None, [], {}, "")
    }
    has_parts = any(isinstance(block, (Text, Image, Other)) for block in blocks_of(content))
    cleaned = {**message, "fields": fields} if has_parts else {"shape": "openai", "fields": fields}
    return event.metadata if cleaned == message else {**event.metadata, "message": cleaned}


def _new(near: Message, role: Role, content: Content, said: str) -> Message:
    """An event that was never stored, placed where ``near`` is."""
    fresh = replace(near, role=role, content=content, metadata={}, speaker=None)
    if isinstance(fresh, Event):
        return replace(fresh, tokens=len(said.encode()))
    return fresh


# ── both ends ───────────────────────────────────────────────────────────────────────────────────────────────


def _opened(events: list[Message]) -> list[Message]:
    """``events`` with the user speaking first."""
    for index, event in enumerate(events):
        if event.role == "user":
            break
        if event.role != "system":
            return [*events[:index], opening(event), *events[index:]]
    return events


def unanswered(events: Iterable[Event], new: Iterable[Draft]) -> Iterator[Event]:
    """``events``, which were repaired, without the placeholders of results that come among the ``new`` messages."""
    come = {block.id for draft in new for block in blocks_of(draft.content) if isinstance(block, ToolResult)}
    for event in events:
        kept = tuple(block for block in blocks_of(event.content) if not _is_placeholder(block, come))
        if event.role != "tool" or len(kept) == len(event.content):
            yield event
        elif kept:
            yield replace(event, content=kept)


def _is_placeholder(block: Block, ids: Collection[str]) -> bool:
    return isinstance(block, ToolResult) and block.id in ids and block.content == PLACEHOLDER


def opening(near: Message) -> Message:
    """What is said for the user where nobody's words are shown: no provider takes a request without a message."""
    return _new(near, "user", OPENING, OPENING)


def _closed(events: list[Message]) -> list[Message]:
    """``events`` without white space at the end of a last assistant message, which Anthropic refuses."""
    if not events or events[-1].role != "assistant":
        return events
    last = events[-1]
    if isinstance(last.content, str):
        content: Content = last.content.rstrip()
    elif isinstance(final := last.content[-1], Text):
        content = (*last.content[:-1], replace(final, text=final.text.rstrip()))
    else:
        return events
    return [*events[:-1], last if content == last.content else replace(last, content=content)]
