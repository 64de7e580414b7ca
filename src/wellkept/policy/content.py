"""Content as text for a store: plain text stays itself, blocks become JSON behind a mark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from wellkept.errors import InvalidInput, StoreCorrupt
from wellkept.records import Block, Content, Image, Other, Text, Thinking, ToolCall, ToolResult

# RFC 7464 puts it before each JSON text. Plain text that happens to start with it becomes a JSON string.
MARK = "\x1e"

_KINDS: dict[str, type[Block]] = {
    "text": Text,
    "thinking": Thinking,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "image": Image,
    "other": Other,
}
_FIELDS = {kind: tuple(f.name for f in fields(cls)) for kind, cls in _KINDS.items()}


def dumps(content: Content) -> str:
    """``content`` as one string that ``loads`` reads back: plain text as it is, blocks as marked JSON.

    Raises:
        InvalidInput: a lone surrogate, or a value inside a block that JSON cannot hold.
    """
    if isinstance(content, str):
        stored = content if content[:1] != MARK else MARK + json_text(content)
    else:
        stored = MARK + json_text([_as_dict(block) for block in content])
    if not stored.isascii():
        _check_encodable(stored)
    return stored


def loads(stored: str) -> Content:
    """The content that ``dumps`` wrote.

    Raises:
        StoreCorrupt: ``stored`` has the mark of blocks and is none of ours.
    """
    if stored[:1] != MARK:
        return stored
    try:
        value = json.loads(stored[1:])
        return value if isinstance(value, str) else _as_blocks(value)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreCorrupt(f"an event's content cannot be read ({error}); run 'wellkept doctor'") from error


def json_text(value: Any) -> str:
    """``value`` as JSON with its characters as they are.

    Raises:
        InvalidInput: JSON has no form for it (bytes, objects, NaN, circles, bottomless nesting).
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"content must be plain JSON data: {error}") from error


def _check_encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"content holds a lone surrogate (U+{ord(text[error.start]):04X}), which no encoding can store; "
            "decode the source with errors='replace' first"
        ) from error


def _as_dict(block: Block) -> dict[str, Any]:
    data = {name: getattr(block, name) for name in _FIELDS[block.type]}
    if isinstance(block, ToolResult) and not isinstance(block.content, str):
        data["content"] = [_as_dict(part) for part in block.content]
    return {name: value for name, value in data.items() if value is not None}


def _as_blocks(items: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    return tuple(_as_block(item) for item in items)


def _as_block(item: Mapping[str, Any]) -> Block:
    data = dict(item)
    if data["type"] == "tool_result" and not isinstance(data["content"], str):
        data["content"] = _as_blocks(data["content"])
    return _KINDS[data["type"]](**data)
