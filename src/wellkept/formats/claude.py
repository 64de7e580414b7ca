"""``conversations.json`` from the data export of claude.ai: an array of conversations with ``chat_messages``.

An answer that calls tools holds the calls and their results in one message there; here it becomes the
assistant's events and the tools' events between them, in the same order. Where messages name their
parents, the branch of the last message is read and the messages of others are counted in a note.
Anthropic publishes no description of the format; this follows exports of 2024 to 2026.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.formats.fields import list_of, moment, optional, required, shown
from wellkept.formats.items import Entry, Item, Note, SessionStart, import_key
from wellkept.formats.values import each, values
from wellkept.records import Block, Content, Draft, Image, Other, Role, Text, Thinking, ToolCall, ToolResult

NAME = "claude"

_ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def misfit(value: Any) -> str:
    """Why ``value`` is no conversation of such an export; empty when it is one."""
    if isinstance(value, dict) and isinstance(value.get("chat_messages"), list):
        return ""
    return 'no conversation with "chat_messages"'


def read(pieces: Iterable[str]) -> Iterator[Item]:
    """The conversations, one after the other."""
    return each(values(pieces), _conversation)


def _conversation(line: int, data: Any) -> Iterator[Item]:
    problem = misfit(data)
    if problem:
        raise InvalidInput(f"{problem}: {shown(data)}")
    session = required(data, "uuid", str)
    title = optional(data, "name", str) or ""
    yield SessionStart(
        external_id=session,
        title=title,
        created_at=moment(data.get("created_at")),
        metadata={"source": NAME},
        line=line,
    )
    everything = data["chat_messages"]
    branch = _branch(everything, data.get("current_leaf_message_uuid"))
    yield from each(
        ((line, message) for message in branch), lambda line, message: _message(line, session, message)
    )
    if len(branch) < len(everything):
        count = len(everything) - len(branch)
        yield Note(line=line, text=f"{title or session!r}: messages on other branches left out: {count}")


def _branch(messages: Sequence[Any], leaf: Any) -> Sequence[Any]:
    """The messages from the first to ``leaf``, or to the last; all of them where one names no parent."""
    if not messages or not all(map(_names_parent, messages)):
        return messages
    by_id = {message["uuid"]: message for message in messages}
    name = leaf if isinstance(leaf, str) and leaf in by_id else messages[-1]["uuid"]
    path: dict[str, Any] = {}
    while name in by_id and name not in path:
        path[name] = by_id[name]
        name = path[name]["parent_message_uuid"]
    return list(reversed(path.values()))


def _names_parent(message: Any) -> bool:
    return isinstance(message, dict) and all(
        isinstance(message.get(name), str) for name in ("uuid", "parent_message_uuid")
    )


def _message(line: int, session: str, data: Any) -> Iterator[Item]:
    if not isinstance(data, dict):
        raise InvalidInput(f"a message must be an object, not {shown(data)}")
    native = required(data, "uuid", str)
    sender = required(data, "sender", str)
    if sender not in _ROLES:
        raise InvalidInput(f"message {native}: 'sender' must be human or assistant, not {sender!r}")
    blocks = list(_blocks(native, data))
    if not blocks:
        yield Note(line=line, text=f"message {native} of {session!r} is empty and was left out")
    parts = itertools.groupby(blocks, lambda block: isinstance(block, ToolResult))
    for number, (is_result, part) in enumerate(parts):
        draft = Draft(
            role="tool" if is_result else _ROLES[sender],
            content=_plain(tuple(part)),
            ts=moment(data.get("created_at")),
            metadata={"source_id": native},
            idempotency_key=import_key(NAME, session, f"{native}/{number}" if number else native),
        )
        yield Entry(session=session, draft=draft, line=line)


def _plain(blocks: tuple[Block, ...]) -> Content:
    only = blocks[0] if len(blocks) == 1 else None
    return only.text if isinstance(only, Text) else blocks


def _blocks(native: str, data: Mapping[str, Any]) -> Iterator[Block]:
    """All blocks of a message: its content (older exports have only ``text``), then what was attached."""
    listed = optional(data, "content", list)
    if listed:
        calls: list[str] = []
        for number, block in enumerate(listed):
            yield from _block(f"{native}/{number}", block, calls)
    elif data.get("text"):
        yield Text(required(data, "text", str))
    yield from map(_attachment, list_of(data, "attachments", dict))
    yield from map(_file, list_of(data, "files", dict))


def _block(place: str, data: Any, calls: list[str]) -> Iterator[Block]:
    """The block, if it says something. ``calls``: the calls without a result so far; ids may be absent."""
    if not isinstance(data, dict):
        raise InvalidInput(f"a block must be an object, not {shown(data)}")
    kind = required(data, "type", str)
    if kind == "text":
        if data.get("text"):
            yield Text(required(data, "text", str))
    elif kind == "thinking":
        yield Thinking(optional(data, "thinking", str) or "", optional(data, "signature", str))
    elif kind == "tool_use":
        calls.append(optional(data, "id", str) or place)
        arguments = json.dumps(data.get("input") or {}, ensure_ascii=False)
        yield ToolCall(calls[-1], required(data, "name", str), arguments)
    elif kind == "tool_result":
        yield _tool_result(place, data, calls)
    else:
        yield Other(dict(data))


def _tool_result(place: str, data: Mapping[str, Any], calls: list[str]) -> Block:
    call = optional(data, "tool_use_id", str) or (calls[0] if calls else place)
    if call in calls:
        calls.remove(call)
    content = data.get("content")
    if isinstance(content, list):
        found = [
            block for number, part in enumerate(content) for block in _block(f"{place}/{number}", part, [])
        ]
        content = _plain(tuple(found))
    elif not isinstance(content, str):
        content = "" if content is None else json.dumps(content, ensure_ascii=False)
    return ToolResult(call, content, optional(data, "is_error", bool))


def _attachment(data: Mapping[str, Any]) -> Block:
    """A pasted or uploaded text, with its name as the first line."""
    name = optional(data, "file_name", str) or "attachment"
    return Text(f"[{name}]\n{optional(data, 'extracted_content', str) or ''}".rstrip("\n"))


def _file(data: Mapping[str, Any]) -> Block:
    name = optional(data, "file_uuid", str) or required(data, "file_name", str)
    return Image(name, dict(data))
