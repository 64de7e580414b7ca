"""A record of a device's session as a draft of an event, and an event as such a record.

The record types and the shapes inside them are the firmware's (ESP-Claw's session store): user, final answer, assistant
message with tool calls, and the list of the results of one round.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from wellkept.errors import InvalidInput
from wellkept.policy.content import json_text
from wellkept.policy.context.messages import Shape, parse
from wellkept.policy.context.wire import to_anthropic, to_openai
from wellkept.records import Content, Draft, Event, Other, Role, ToolCall, ToolResult, blocks_of, text_of
from wellkept_flash import errors
from wellkept_flash.session import record
from wellkept_flash.shape import ANTHROPIC, FINAL, OPENAI, RESULT, TOOL, USER

Backend: TypeAlias = Literal["openai_compatible", "anthropic_compatible"]
SYSTEM_MARK = "[system] "
_ROLES: dict[int, Role] = {USER: "user", FINAL: "assistant", TOOL: "assistant", RESULT: "tool"}
_SHAPES: dict[int, Shape] = {OPENAI: "openai", ANTHROPIC: "anthropic"}


def draft_of(kind: int, style: int, source: str) -> Draft:
    """What the record of type ``kind`` and format ``style`` says, as one draft.

    A message in a shape that is not known is kept as it is, as blocks of the kind ``other``.

    Raises:
        InvalidInput: it is no JSON value.
    """
    try:
        value = _encodable(json.loads(source))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the record is no JSON: {error}") from error
    if kind == RESULT:
        return Draft(role="tool", content=_results(value))
    try:
        draft = parse(value, shape=_SHAPES.get(style))
    except InvalidInput:
        return Draft(role=_ROLES[kind], content=_unknown(value))
    return replace(draft, role=_ROLES[kind])


def _record_of(event: Event | Draft, backend: Backend = "openai_compatible") -> tuple[int, str]:
    """The type and the JSON text of the record that holds ``event``.

    The firmware knows no system messages: they become user messages that begin with ``[system]``.
    """
    if event.role == "tool":
        return RESULT, json_text(
            [_result(block) for block in blocks_of(event.content) if isinstance(block, ToolResult)]
        )
    if event.role == "system":
        return USER, json_text({"role": "user", "content": SYSTEM_MARK + text_of(event.content)})
    kind = USER if event.role == "user" else TOOL if _calls(event.content) else FINAL
    return kind, json_text(_message(event, backend))


def line_of(event: Event | Draft, backend: Backend = "openai_compatible") -> tuple[int, bytes]:
    """The type and the line of the record that holds ``event``; of one that no record can hold as it is, its text."""
    kind, message = _record_of(event, backend)
    try:
        return kind, record(kind, message, None)
    except errors.InvalidInput:
        kind = USER if event.role == "user" else FINAL
        return kind, record(kind, None, text_of(event.content) or f"[{event.role}]")


def _calls(content: Content) -> bool:
    return any(isinstance(block, ToolCall) for block in blocks_of(content))


def _message(event: Event | Draft, backend: Backend) -> Mapping[str, Any]:
    """The event in the provider's shape; one that the shape has nothing for is an empty message."""
    anthropic = backend == "anthropic_compatible"
    messages = to_anthropic([event])["messages"] if anthropic else to_openai([event])
    found: Mapping[str, Any] = messages[0] if messages else {"role": event.role, "content": ""}
    return found


def _result(result: ToolResult) -> dict[str, Any]:
    content = result.content if isinstance(result.content, str) else text_of(result.content)
    return {"role": "tool", "tool_call_id": result.id, "content": content, "is_error": bool(result.is_error)}


def _results(value: Any) -> Content:
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) and isinstance(one.get("tool_call_id"), str) for one in found):
        return _unknown(value)
    return tuple(
        ToolResult(one["tool_call_id"], _words(one.get("content")), True if one.get("is_error") else None)
        for one in found
    )


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "" if content is None else json_text(content)


def _unknown(value: Any) -> Content:
    found = value if isinstance(value, list) else [value]
    return tuple(
        Other(one if isinstance(one, dict) else {"type": "text", "text": _words(one)}) for one in found
    )


def _encodable(value: Any) -> Any:
    """``value`` with lone surrogates, which JSON's escapes allow and no encoding takes, as question marks."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii():
        return value
    return json.loads(text.encode(errors="replace"))
