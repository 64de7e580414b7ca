"""Events written as the providers' messages: OpenAI's chat shape and Anthropic's.

A block that one shape cannot say becomes a note there, such as ``[document]``; foreign thinking is left out.
Both functions write what they are given; ``repair`` first makes a history that a provider accepts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, NoReturn, TypeAlias

from wellkept.policy.context.repair import safe_id
from wellkept.records import (
    Block,
    Content,
    Draft,
    Event,
    Image,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    blocks_of,
    text_of,
)

Shape: TypeAlias = Literal["openai", "anthropic"]
Json: TypeAlias = dict[str, Any]

_UNNAMEABLE = re.compile(r"[\s<|\\/>]+")  # what OpenAI refuses in a name
OPENAI_PARTS = frozenset({"text", "image_url", "input_audio", "file", "refusal", "video_url", "audio_url"})


def to_openai(events: Iterable[Event | Draft], system: str = "") -> list[Json]:
    """Messages in OpenAI's chat shape, ``system`` first if there is any."""
    messages: list[Json] = [{"role": "system", "content": system}] if system else []
    for event in events:
        if isinstance(event.content, str) and not event.metadata and not event.speaker:
            messages.append({"role": event.role, "content": event.content})
        else:
            messages += _openai_messages(event)
    return messages


def to_anthropic(
    events: Iterable[Event | Draft], system: str = "", boundary: int = 0, *, cache: bool = False
) -> Json:
    """``{"system": …, "messages": […]}`` in Anthropic's shape, to be passed on as arguments.

    Neighbours of one role become one message, since roles must alternate; system events become fenced user
    text. With ``cache`` the system text is two blocks, parted at character ``boundary``, and the first one is
    marked for the provider's prompt cache.
    """
    messages: list[Json] = []
    for event in events:
        message = _anthropic_message(event)
        if message is None:
            continue
        if messages and messages[-1]["role"] == message["role"]:
            merged = _listed(messages[-1]["content"]) + _listed(message["content"])
            messages[-1] = {**messages[-1], **message, "content": merged}
        else:
            messages.append(message)
    return {"system": _cached(system, boundary) if cache else system, "messages": messages}


# ── OpenAI ──────────────────────────────────────────────────────────────────────────────────────────────────


def _openai_messages(event: Event | Draft) -> list[Json]:
    """The messages of one event: one a tool result, and one for all else."""
    notes = _notes(event, "openai")
    fields = deepcopy(dict(notes.get("fields", {})))
    results = [block for block in blocks_of(event.content) if isinstance(block, ToolResult)]
    messages = [_openai_result(block, fields) for block in results]
    content = event.content
    if results:
        content = tuple(block for block in blocks_of(content) if not isinstance(block, ToolResult))
        fields = {}
        if not content:
            return messages
    message = _openai_chat(event, content, notes.get("form"))
    return messages if message is None else [*messages, {**message, **fields}]


def _openai_result(result: ToolResult, fields: Json) -> Json:
    content: Any = result.content
    if not isinstance(content, str):
        content = [_openai_part(part, "tool", "openai") for part in content if not isinstance(part, Thinking)]
    return {"role": "tool", "tool_call_id": result.id, "content": content or "", **fields}


def _openai_chat(event: Event | Draft, content: Content, form: str | None) -> Json | None:
    role = "user" if event.role == "tool" and not isinstance(content, str) else event.role
    message: Json = {"role": role, "content": openai_form(content, role, _origin(event))}
    if event.speaker:
        message["name"] = _UNNAMEABLE.sub("_", event.speaker)[:64]
    if isinstance(content, str):
        return message
    if form == "list":
        message["content"] = _openai_parts(content, role, _origin(event))
    elif form == "absent" and message["content"] is None:
        del message["content"]
    _set_fields(message, content)
    lost = content and message.get("content") is None and len(message) == 2 and "content" in message
    return None if lost else message


def _set_fields(message: Json, content: Sequence[Block]) -> None:
    """What OpenAI says beside the content: calls, reasoning, a refusal."""
    for block in content:
        if isinstance(block, ToolCall):
            message.setdefault("tool_calls", []).append(_openai_call(block))
        elif (field := _field(block, message["role"])) is not None:
            message[field] = block.text  # type: ignore[union-attr]


def openai_form(content: Content, role: str, origin: str | None = None) -> str | list[Json] | None:
    """``content`` as OpenAI usually writes it: text, a list of parts, or None beside calls alone."""
    if isinstance(content, str):
        return content
    parts = _openai_parts(content, role, origin)
    if not parts:
        return None
    alone = all(isinstance(block, (Text, Image, Other)) and _field(block, role) is None for block in content)
    return parts if alone or len(parts) > 1 or parts[0].keys() != {"type", "text"} else parts[0]["text"]


def _openai_parts(content: Content, role: str, origin: str | None) -> list[Json]:
    inline = [
        b for b in blocks_of(content) if isinstance(b, (Text, Image, Other)) and _field(b, role) is None
    ]
    return [_openai_part(block, role, origin) for block in inline if not _is_hidden(block)]


def _openai_part(block: Block, role: str, origin: str | None) -> Json:
    if isinstance(block, Text):
        extra = _own(block, "openai")
        extra.pop("field", None)
        key = "refusal" if extra.get("type") == "refusal" else "text"
        return {"type": "text", key: block.text, **extra}
    if isinstance(block, Image):
        if block.raw is not None and block.raw.get("type") == "image_url":
            return deepcopy(dict(block.raw))
        url = _url_of(block)
        return {"type": "image_url", "image_url": {"url": url}} if url and role == "user" else _note("image")
    if isinstance(block, Other) and _home(block, origin) == "openai":
        return deepcopy(dict(block.raw))
    return _note(block.raw.get("type", "block") if isinstance(block, Other) else block.type)


def _openai_call(call: ToolCall) -> Json:
    extra = _own(call, "openai")
    kind = extra.get("type", "function")
    body = {
        "name": call.name,
        "input" if kind == "custom" else "arguments": call.arguments,
        **extra.pop(kind, {}),
    }
    return {"id": call.id, "type": kind, kind: body, **extra}


def _field(block: Block, role: str) -> str | None:
    """The field of OpenAI's assistant message that ``block`` came from, if it was not in the content."""
    if role != "assistant" or not isinstance(block, (Text, Thinking)):
        return None
    return _own(block, "openai").get("field")


def _url_of(image: Image) -> str | None:
    """A URL for OpenAI, made of the image's own data if need be; None for a file of another provider."""
    source = (image.raw or {}).get("source", {})
    if source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return image.ref if image.ref.startswith(("http://", "https://", "data:")) else None


# ── Anthropic ───────────────────────────────────────────────────────────────────────────────────────────────


def _anthropic_message(event: Event | Draft) -> Json | None:
    role = "assistant" if event.role == "assistant" else "user"
    if event.role == "system":
        return {"role": role, "content": f"<system>\n{text_of(event.content)}\n</system>"}
    if isinstance(event.content, str):
        content: Any = event.content
    else:
        origin = _origin(event)
        written = (_anthropic_block(block, role, origin) for block in event.content)
        content = [block for block in written if block is not None]
        if event.content and not content:
            return None
    fields = _notes(event, "anthropic").get("fields", {}) if event.metadata else {}
    return {"role": role, "content": content, **deepcopy(dict(fields))}


def _anthropic_block(block: Block, role: str, origin: str | None) -> Json | None:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text, **_own(block, "anthropic")}
    if isinstance(block, Thinking):
        return _anthropic_thinking(block)
    if isinstance(block, ToolCall):
        call = {"type": "tool_use", "id": safe_id(block.id), "name": safe_id(block.name)}
        return {**call, "input": arguments_object(block.arguments), **_own(block, "anthropic")}
    if isinstance(block, ToolResult):
        return _anthropic_result(block, origin)
    if isinstance(block, Image):
        return _anthropic_image(block, role)
    if _home(block, origin) == "anthropic":
        return deepcopy(dict(block.raw))
    return _note(block.raw.get("type", "block"))


def _anthropic_thinking(block: Thinking) -> Json | None:
    """Thinking that Anthropic signed; it takes no other."""
    if block.signature is None:
        return None
    return {
        "type": "thinking",
        "thinking": block.text,
        "signature": block.signature,
        **_own(block, "anthropic"),
    }


def _anthropic_result(result: ToolResult, origin: str | None) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": safe_id(result.id)}
    if isinstance(result.content, str):
        block["content"] = result.content
    elif result.content:
        parts = (_anthropic_block(part, "user", origin) for part in result.content)
        block["content"] = [part for part in parts if part is not None]
    if result.is_error is not None:
        block["is_error"] = result.is_error
    return {**block, **_own(result, "anthropic")}


def _anthropic_image(image: Image, role: str) -> Json:
    if image.raw is not None and image.raw.get("type") == "image":
        return deepcopy(dict(image.raw))
    url = (image.raw or {}).get("image_url", {}).get("url", image.ref)
    if role != "user":
        return _note("image")
    if url.startswith(("http://", "https://")):
        return {"type": "image", "source": {"type": "url", "url": url}}
    head, mark, data = url.partition(";base64,")
    if not (mark and head.startswith("data:")):
        return _note("image")
    return {"type": "image", "source": {"type": "base64", "media_type": head[5:], "data": data}}


def arguments_object(text: str) -> Json:
    """A call's arguments as the object that Anthropic wants; what is none stands under the key ``arguments``."""
    try:
        value = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": text}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _listed(content: str | list[Json]) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _cached(system: str, boundary: int) -> list[Json]:
    stable = {"type": "text", "text": system[:boundary], "cache_control": {"type": "ephemeral"}}
    moving = {"type": "text", "text": system[boundary:]}
    return [block for block in (stable, moving) if block["text"]]


# ── both ────────────────────────────────────────────────────────────────────────────────────────────────────


def _notes(event: Event | Draft, shape: Shape) -> Mapping[str, Any]:
    """What ``parse`` noted of a message of this shape."""
    noted = (event.metadata or {}).get("message")
    return noted if isinstance(noted, Mapping) and noted.get("shape") == shape else {}


def _origin(event: Event | Draft) -> str | None:
    noted = (event.metadata or {}).get("message")
    return noted.get("shape") if isinstance(noted, Mapping) else None


def _home(block: Other, origin: str | None) -> str:
    """The shape that knows ``block``; without another sign Anthropic, whose set of blocks is the open one."""
    if block.raw.get("type") in OPENAI_PARTS:
        return "openai"
    return origin or "anthropic"


def _own(block: Text | Thinking | ToolCall | ToolResult, shape: Shape) -> Json:
    extra = (block.extra or {}).get(shape)
    return deepcopy(dict(extra)) if extra else {}


def _is_hidden(block: Block) -> bool:
    return isinstance(block, Other) and block.raw.get("type") == "redacted_thinking"


def _note(kind: str) -> Json:
    return {"type": "text", "text": f"[{kind}]"}
