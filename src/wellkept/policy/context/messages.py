"""Messages in the providers' shapes and our content blocks, without loss either way.

``parse`` reads one message in OpenAI's chat shape or in Anthropic's; ``to_openai`` and ``to_anthropic`` write
them. What a shape says beyond our blocks is kept: a block's own fields in ``extra[shape]``, a message's in
``metadata["message"]``. They come back in the shape that they came from and stay out of the other one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

from wellkept.errors import InvalidInput
from wellkept.policy.content import dumps, json_text, loads
from wellkept.policy.context.repair import repair
from wellkept.policy.context.wire import OPENAI_PARTS, Shape, openai_form, to_anthropic, to_openai
from wellkept.records import (
    ROLES,
    Block,
    Content,
    Draft,
    Image,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    blocks_of,
)

__all__ = ["Shape", "dumps", "loads", "parse", "repair", "to_anthropic", "to_openai"]

Data: TypeAlias = Mapping[str, Any]

_OPENAI_FIELDS = {"tool_calls", "tool_call_id", "refusal", "function_call", "reasoning_content", "reasoning"}
_REASONING = ("reasoning_content", "reasoning")  # DeepSeek's name, vLLM's and OpenRouter's


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def parse(message: Data, *, shape: Shape | None = None) -> Draft:
    """The event that ``message`` (OpenAI's chat shape or Anthropic's) stands for.

    ``shape`` settles the question for a message that could be either; else its fields and blocks tell.
    SDK objects are taken as well.

    Raises:
        InvalidInput: the message has no shape of either provider; the text names the field.
    """
    message = _mapping(message, "message")
    role = message.get("role")
    if role not in ROLES and role != "developer":
        raise InvalidInput(f"message role must be one of {', '.join(ROLES)} or developer, not {role!r}")
    if (shape or _recognise(message)) == "openai":
        return _from_openai(message, role)
    return _from_anthropic(message, role)


def _recognise(message: Data) -> Shape:
    content = message.get("content")
    if message.get("type") == "message":
        return "anthropic"
    if message["role"] in ("tool", "developer") or not isinstance(content, (list, tuple)):
        return "openai"
    if not _OPENAI_FIELDS.isdisjoint(message):
        return "openai"
    return "anthropic" if any(map(_looks_anthropic, content)) else "openai"


def _looks_anthropic(part: object) -> bool:
    part = _mapping(part, "content")
    kind = _text(part, "type", "type of a content part")
    return kind not in OPENAI_PARTS or "cache_control" in part or "citations" in part


def _from_openai(message: Data, role: str) -> Draft:
    fields = {k: v for k, v in message.items() if k not in ("role", "content")}
    notes: dict[str, Any] = {}
    if role == "tool":
        content: Content = (_openai_result(message, fields),)
    elif message.get("content") is None and role != "assistant":
        raise InvalidInput(f"content of a {role} message must be text or a list of parts, not missing")
    else:
        content, notes = _openai_content(message, fields)
    speaker = fields.pop("name", None) if role != "tool" and _is_name(fields.get("name")) else None
    if role == "developer":
        role, fields = "system", {"role": role, **fields}
    return _draft(role, content, "openai", {**notes, **({"fields": fields} if fields else {})}, speaker)


def _from_anthropic(message: Data, role: str) -> Draft:
    fields = {k: v for k, v in message.items() if k not in ("role", "content")}
    raw = message.get("content")
    content: Content = raw if isinstance(raw, str) else tuple(map(_anthropic_block, _parts(raw)))
    kinds = {block.type for block in blocks_of(content)}
    if "tool_call" in kinds and role != "assistant":
        raise InvalidInput(f"a tool_use block belongs in an assistant message, not in one of role {role}")
    if "tool_result" in kinds:
        if role != "user":
            raise InvalidInput(f"a tool_result block belongs in a user message, not in one of role {role}")
        role = "tool"
    return _draft(role, content, "anthropic", {"fields": fields} if fields else {})


def _draft(role: Any, content: Content, shape: Shape, notes: Data, speaker: str | None = None) -> Draft:
    """A draft whose metadata says the shape, where the content alone does not."""
    _check_ids(content)
    open_kinds = any(isinstance(block, Other) for block in blocks_of(content))
    metadata = {"message": {"shape": shape, **notes}} if notes or open_kinds else None
    return Draft(role=role, content=content, speaker=speaker, metadata=deepcopy(metadata))


def _openai_content(message: Data, fields: dict[str, Any]) -> tuple[Content, dict[str, Any]]:
    """Content of a chat message and notes on its form; takes what became blocks out of ``fields``."""
    raw = message.get("content")
    before = _field_blocks(message, fields, _REASONING)
    after = _field_blocks(message, fields, ("refusal",))
    after += [_openai_call(call) for call in _calls(message, fields)]
    if isinstance(raw, str) and not before and not after:
        return raw, {}
    inline = (
        [] if raw is None else [Text(raw)] if isinstance(raw, str) else list(map(_openai_part, _parts(raw)))
    )
    content = (*before, *inline, *after)
    if raw is None and "content" not in message:
        return content, {"form": "absent"}
    as_list = not isinstance(raw, str) and raw is not None
    return content, {"form": "list"} if as_list and not isinstance(
        openai_form(content, message["role"]), list
    ) else {}


def _field_blocks(message: Data, fields: dict[str, Any], names: Sequence[str]) -> list[Block]:
    """Words that an assistant said beside the content, taken out of ``fields``."""
    found = [name for name in names if message["role"] == "assistant" and _is_name(message.get(name))]
    return [_field_block(name, fields.pop(name)) for name in found]


def _field_block(name: str, text: str) -> Block:
    extra = {"openai": {"field": name}}
    return Text(text, extra) if name == "refusal" else Thinking(text, extra=extra)


def _calls(message: Data, fields: dict[str, Any]) -> Sequence[Any]:
    calls = message.get("tool_calls")
    if not calls and (calls is None or isinstance(calls, (list, tuple))):
        return ()
    if message["role"] != "assistant":
        raise InvalidInput(f"tool_calls belong in an assistant message, not in one of role {message['role']}")
    if not isinstance(calls, (list, tuple)):
        raise InvalidInput(f"tool_calls must be a list, not {type(calls).__name__}")
    del fields["tool_calls"]
    return calls


def _openai_call(raw: Any) -> ToolCall:
    call = _mapping(raw, "tool_calls")
    kind = _text({"type": "function", **call}, "type", "type of a tool call")
    body = _mapping(call.get(kind), f"tool_calls[].{kind}")
    argument = "input" if kind == "custom" else "arguments"
    extra = {
        k: deepcopy(v) for k, v in call.items() if k not in ("id", kind) and (k, v) != ("type", "function")
    }
    if rest := {k: deepcopy(v) for k, v in body.items() if k not in ("name", argument)}:
        extra[kind] = rest
    return ToolCall(
        _text(call, "id", "tool_calls[].id"),
        _text(body, "name", f"tool_calls[].{kind}.name"),
        _text(body, argument, f"tool_calls[].{kind}.{argument} (JSON as a string)", empty=True),
        _extra("openai", extra),
    )


def _openai_result(message: Data, fields: dict[str, Any]) -> ToolResult:
    call = _text(message, "tool_call_id", "tool_call_id of a tool message")
    del fields["tool_call_id"]
    raw = message.get("content")
    return ToolResult(call, raw if isinstance(raw, str) else tuple(map(_openai_part, _parts(raw))))


def _openai_part(raw: Any) -> Block:
    part = _mapping(raw, "content")
    kind = _text(part, "type", "type of a content part")
    if kind == "text":
        return Text(
            _text(part, "text", "text of a text part", empty=True), _extra("openai", part, "type", "text")
        )
    if kind == "refusal":
        return Text(_text(part, "refusal", "refusal", empty=True), {"openai": _rest(part, "refusal")})
    if kind == "image_url":
        link = _mapping(part.get("image_url"), "image_url")
        return Image(_reference(_text(link, "url", "image_url.url")), _rest(part))
    return Other(_rest(part))


def _anthropic_block(raw: Any) -> Block:
    part = _mapping(raw, "content")
    kind = _text(part, "type", "type of a content block")
    if kind == "text":
        return Text(
            _text(part, "text", "text of a text block", empty=True), _extra("anthropic", part, "type", "text")
        )
    if kind == "thinking":
        extra = _extra("anthropic", part, "type", "thinking", "signature")
        return Thinking(_text(part, "thinking", "thinking", empty=True), part.get("signature"), extra)
    if kind == "tool_use":
        return _anthropic_call(part)
    if kind == "tool_result":
        return _anthropic_result(part)
    if kind == "image":
        source = _mapping(part.get("source"), "source of an image block")
        return Image(
            _reference(str(source.get("url") or source.get("file_id") or source.get("data"))), _rest(part)
        )
    return Other(_rest(part))


def _anthropic_call(part: Data) -> ToolCall:
    return ToolCall(
        _text(part, "id", "id of a tool_use block"),
        _text(part, "name", "name of a tool_use block"),
        json_text(_mapping(part.get("input"), "input of a tool_use block")),
        _extra("anthropic", part, "type", "id", "name", "input"),
    )


def _anthropic_result(part: Data) -> ToolResult:
    raw = part.get("content")
    explicit = ("content",) if raw is not None and raw != [] else ()  # () stands for no content at all
    return ToolResult(
        _text(part, "tool_use_id", "tool_use_id of a tool_result block"),
        raw if isinstance(raw, str) else tuple(map(_anthropic_block, _parts(raw or ()))),
        part.get("is_error"),
        _extra(
            "anthropic",
            part,
            "type",
            "tool_use_id",
            *explicit,
            *(("is_error",) if part.get("is_error") is not None else ()),
        ),
    )


# ── checks ──────────────────────────────────────────────────────────────────────────────────────────────────


def _mapping(value: Any, what: str) -> Data:
    """``value`` as a mapping; SDK objects dump themselves."""
    if isinstance(value, Mapping):
        return value
    if hasattr(value, "model_dump"):
        dumped: Data = value.model_dump(mode="json", exclude_unset=True)
        return dumped
    raise InvalidInput(f"{what} must be a mapping such as {{'type': …}}, not {type(value).__name__}")


def _parts(raw: Any) -> Sequence[Any]:
    if isinstance(raw, (list, tuple)):
        return raw
    raise InvalidInput(f"content must be text or a list of parts, not {type(raw).__name__}")


def _text(data: Data, key: str, what: str, *, empty: bool = False) -> str:
    value = data.get(key)
    if isinstance(value, str) and (value or empty):
        return value
    raise InvalidInput(f"{what} must be a{'' if empty else ' non-empty'} string, not {value!r:.80}")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _check_ids(content: Content) -> None:
    if isinstance(content, str):
        return
    ids = [(block.type, block.id) for block in content if isinstance(block, (ToolCall, ToolResult))]
    if len(ids) != len(set(ids)):
        double = next(name for kind, name in ids if ids.count((kind, name)) > 1)
        raise InvalidInput(
            f"tool id {double!r} stands twice in one message; each call and each result needs its own"
        )


def _rest(data: Data, *known: str) -> dict[str, Any]:
    return {k: deepcopy(v) for k, v in data.items() if k not in known}


def _extra(shape: Shape, data: Data, *known: str) -> dict[str, Any] | None:
    rest = _rest(data, *known)
    return {shape: rest} if rest else None


def _reference(source: str) -> str:
    """``source`` if it is a URL or an id; for data itself a digest, so that a reference stays short."""
    if source.startswith(("http://", "https://")) or (len(source) <= 100 and not source.startswith("data:")):
        return source
    return "sha256:" + hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()
