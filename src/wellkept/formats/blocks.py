"""Message content as plain JSON data and back, without loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.formats.fields import optional, required, shown
from wellkept.records import Block, Content, Image, Other, Text, Thinking, ToolCall, ToolResult


def dump(content: Content) -> str | list[dict[str, Any]]:
    """``content`` as JSON data: a string, or a list of objects with ``type``; absent fields are left out."""
    if isinstance(content, str):
        return content
    return [_dump_block(block) for block in content]


def load(data: Any) -> Content:
    """The content that ``dump`` wrote. A block of an unknown type becomes an ``Other``.

    Raises:
        InvalidInput: it is neither a string nor a list of blocks; the message names the field.
    """
    if isinstance(data, str):
        return data
    if not isinstance(data, list):
        raise InvalidInput(f"'content' must be text or a list of blocks, not {shown(data)}")
    return tuple(_load_block(block) for block in data)


def _dump_block(block: Block) -> dict[str, Any]:
    data = {name: value for name, value in block.to_dict().items() if value is not None}
    if isinstance(block, ToolResult):
        data["content"] = dump(block.content)
    return {"type": data.pop("type"), **data}


def _load_block(data: Any) -> Block:
    if not isinstance(data, Mapping):
        raise InvalidInput(f"a block must be an object, not {shown(data)}")
    load_kind = _LOADERS.get(required(data, "type", str))
    return Other(dict(data)) if load_kind is None else load_kind(data)


def _text(data: Mapping[str, Any]) -> Block:
    return Text(required(data, "text", str), optional(data, "extra", dict))


def _thinking(data: Mapping[str, Any]) -> Block:
    return Thinking(
        required(data, "text", str), optional(data, "signature", str), optional(data, "extra", dict)
    )


def _tool_call(data: Mapping[str, Any]) -> Block:
    return ToolCall(
        required(data, "id", str),
        required(data, "name", str),
        required(data, "arguments", str),
        optional(data, "extra", dict),
    )


def _tool_result(data: Mapping[str, Any]) -> Block:
    return ToolResult(
        required(data, "id", str),
        load(data.get("content")),
        optional(data, "is_error", bool),
        optional(data, "extra", dict),
    )


def _image(data: Mapping[str, Any]) -> Block:
    return Image(required(data, "ref", str), optional(data, "raw", dict))


def _other(data: Mapping[str, Any]) -> Block:
    return Other(required(data, "raw", dict))


_LOADERS = {
    "text": _text,
    "thinking": _thinking,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "image": _image,
    "other": _other,
}
