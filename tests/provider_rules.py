"""The rules that the providers document for messages, as strict checks that raise ``AssertionError``.

OpenAI: https://platform.openai.com/docs/api-reference/chat/create. Anthropic: https://docs.anthropic.com/en/api/messages
and its pages on tool use, extended thinking and prompt caching.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SAFE = re.compile(r"^[a-zA-Z0-9_-]+$")
OPENAI_PARTS = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
OPENAI_FIELDS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "tool": {"role", "content", "tool_call_id"},
}
ANTHROPIC_BLOCKS = {
    "user": {"text", "image", "document", "search_result", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
ANTHROPIC_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "image": {"type", "source", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}


# ── OpenAI ────────────────────────────────────────────────────────────────────────────────────────────────


def check_openai(messages: Sequence[Mapping[str, Any]]) -> None:
    """Raise unless OpenAI would take ``messages``."""
    json.dumps(messages, allow_nan=False)
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        role = message["role"]
        assert role in OPENAI_PARTS, f"unknown role {role}"
        _check_openai_content(message)
        if role == "tool":
            assert message["tool_call_id"] in waiting, f"result without a call directly before: {message}"
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, f"calls {waiting} have no result before {message}"
        waiting = [_check_openai_call(call) for call in message.get("tool_calls", ())]
        assert seen.isdisjoint(waiting) and len(set(waiting)) == len(waiting), "a call id is used twice"
        seen.update(waiting)
    assert not waiting, f"calls {waiting} have no result at the end"
    said = [message["role"] for message in messages if message["role"] not in ("system", "developer")]
    assert not said or said[0] == "user", "the user must speak first"


def _check_openai_content(message: Mapping[str, Any]) -> None:
    role, content = message["role"], message.get("content")
    assert message.keys() <= OPENAI_FIELDS.get(role, message.keys()), f"unknown field in {message}"
    assert re.fullmatch(r"[^\s<|\\/>]{1,64}", message.get("name", "-")), f"name {message['name']!r}"
    assert "tool_calls" not in message or message["tool_calls"], "tool_calls may not be empty"
    if role != "tool":
        assert "tool_call_id" not in message, "tool_call_id belongs in a tool message"
    if content is None:
        assert role == "assistant" and {"tool_calls", "refusal", "audio", "function_call"} & message.keys()
    elif isinstance(content, str):
        assert content.strip() or role == "tool", f"empty content: {message}"
    else:
        assert isinstance(content, list) and content, "content must be text or parts"
        for part in content:
            assert part["type"] in OPENAI_PARTS[role], f"{part['type']} part in a {role} message"
            assert part["type"] != "text" or part["text"].strip(), "empty text part"
            assert part["type"] != "text" or part.keys() == {"type", "text"}, f"unknown field in {part}"
            assert part["type"] != "image_url" or part["image_url"]["url"].startswith(("http", "data:"))


def _check_openai_call(call: Mapping[str, Any]) -> str:
    assert call["type"] in ("function", "custom")
    body = call[call["type"]]
    assert isinstance(body["name"], str) and body["name"]
    assert isinstance(body["arguments" if call["type"] == "function" else "input"], str)
    assert isinstance(call["id"], str) and 1 <= len(call["id"]) <= 40, f"id {call['id']!r}"
    return call["id"]


# ── Anthropic ─────────────────────────────────────────────────────────────────────────────────────────────


def check_anthropic(payload: Mapping[str, Any]) -> None:
    """Raise unless Anthropic would take ``payload`` (``system`` and ``messages``)."""
    json.dumps(payload, allow_nan=False)
    system, messages = payload["system"], payload["messages"]
    assert isinstance(system, str) or all(block["text"].strip() for block in system), "empty system block"
    roles = [message["role"] for message in messages]
    assert roles == ["user" if at % 2 == 0 else "assistant" for at in range(len(roles))], (
        f"no alternation: {roles}"
    )
    marks = sum("cache_control" in block for block in _all_blocks(payload))
    assert marks <= 4, f"{marks} cache marks; 4 are allowed"
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        assert message.keys() == {"role", "content"}, f"unknown field in {message.keys()}"
        blocks = _blocks(message["content"])
        _check_results(blocks, waiting)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert seen.isdisjoint(waiting) and len(set(waiting)) == len(waiting), "a tool_use id is used twice"
        seen.update(waiting)
        for block in blocks:
            _check_block(block, message["role"])
        if message["role"] == "assistant":
            assert blocks[-1]["type"] not in ("thinking", "redacted_thinking"), "a message ends in thinking"
    assert not waiting, f"calls {waiting} have no result at the end"
    if messages and messages[-1]["role"] == "assistant":
        last = _blocks(messages[-1]["content"])[-1]
        assert last["type"] != "text" or last["text"] == last["text"].rstrip(), "white space at the very end"


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    assert isinstance(blocks, list) and blocks, "empty content"
    return blocks


def _all_blocks(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    contents = [payload["system"], *(message["content"] for message in payload["messages"])]
    for block in (block for content in contents if isinstance(content, list) for block in content):
        yield block
        if isinstance(block.get("content"), list):
            yield from block["content"]


def _check_results(blocks: Sequence[Mapping[str, Any]], waiting: Sequence[str]) -> None:
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert sorted(answered) == sorted(waiting), f"calls {waiting} are answered by results {answered}"
    kinds = [block["type"] == "tool_result" for block in blocks]
    assert kinds == sorted(kinds, reverse=True), "tool results must come first in their message"


def _check_block(block: Mapping[str, Any], role: str) -> None:
    kind = block["type"]
    assert kind in ANTHROPIC_BLOCKS[role], f"{kind} block in a message of the {role}"
    assert block.keys() <= ANTHROPIC_FIELDS.get(kind, block.keys()), f"unknown field in {block}"
    if kind == "text":
        assert block["text"].strip(), "empty text block"
    elif kind == "tool_use":
        assert SAFE.match(block["id"]) and SAFE.match(block["name"]), f"{block['id']!r}, {block['name']!r}"
        assert isinstance(block["input"], dict)
    elif kind == "thinking":
        assert isinstance(block["signature"], str)
    elif kind == "image":
        assert block["source"]["type"] in ("base64", "url", "file")
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        for part in block["content"]:
            assert part["type"] in ("text", "image", "document", "search_result"), (
                f"{part['type']} in a result"
            )
            _check_block(part, "user")
