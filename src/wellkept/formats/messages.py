"""Message lists in OpenAI's and in Anthropic's shape: an array, an object that holds one, or JSON Lines.

A conversation is an object with ``messages`` (as in fine-tuning files and recorded requests) or a list of
messages; bare messages, one a line or an element, are one conversation together. Its id is the object's
own ``id`` where it has one, else a hash of the conversation, or of the first four messages when they come
bare, so that a log that has grown goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.formats.fields import shown
from wellkept.formats.items import BadLine, Entry, Item, SessionStart, import_key
from wellkept.formats.source import TOO_DEEP
from wellkept.formats.values import Numbered, each, values
from wellkept.policy.context.messages import parse

_ID_FIELDS = ("id", "conversation_id", "session_id")
_OWN_FIELDS = {*_ID_FIELDS, "title", "messages", "system"}
_IDENTIFYING = 4

_OPENAI_ROLES = {"system", "developer", "tool", "function"}
_OPENAI_FIELDS = {"tool_calls", "tool_call_id", "function_call", "refusal"}
_ANTHROPIC_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")


class MessageLists:
    """The reader of one of the two shapes; both read alike, they differ in what they accept as theirs."""

    def __init__(self, name: str) -> None:
        self.NAME = name

    def misfit(self, value: Any) -> str:
        """Why ``value`` is no message or conversation in this shape; empty when it is."""
        messages = _messages_of(value)
        if not messages or not all(map(_is_message, messages)):
            return 'no message ({"role": …, "content": …}) and no object with "messages"'
        shapes = {shape for message in messages if (shape := _shape(message))}
        if isinstance(value, dict) and "system" in value:
            shapes.add("anthropic")
        return "" if not shapes or self.NAME in shapes else f"its messages have {shapes.pop()}'s shape"

    def read(self, pieces: Iterable[str]) -> Iterator[Item]:
        """The conversations and their messages; each message in whichever of the two shapes it has."""
        numbered = values(pieces)
        head = list(itertools.islice(numbered, _IDENTIFYING))
        bare = _Bare(self.NAME, _digest([value for _, value in head if not isinstance(value, BadLine)]))

        def items_of(line: int, value: Any) -> Iterable[Item]:
            if isinstance(value, dict) and "messages" not in value:
                return bare.items(line, value)
            return _conversation(self.NAME, line, value)

        return each(itertools.chain(head, numbered), items_of)


OPENAI = MessageLists("openai")
ANTHROPIC = MessageLists("anthropic")


def _messages_of(value: Any) -> Sequence[Any]:
    found = value.get("messages", [value]) if isinstance(value, dict) else value
    return found if isinstance(found, list) else ()


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    return "content" in value or "tool_calls" in value


def _shape(message: Mapping[str, Any]) -> str:
    """Which provider's shape a message must have; empty when it may be either's."""
    if message["role"] in _OPENAI_ROLES or not _OPENAI_FIELDS.isdisjoint(message):
        return "openai"
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    kinds = (block.get("type") for block in blocks if isinstance(block, dict))
    return "anthropic" if any(kind in _ANTHROPIC_BLOCKS for kind in kinds) else ""


def _digest(value: Any) -> str:
    try:
        text = json.dumps(value, sort_keys=True)
    except RecursionError:
        raise InvalidInput(TOO_DEEP) from None
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


class _Bare:
    """Messages that stand by themselves: all are one conversation."""

    def __init__(self, format: str, session: str) -> None:
        self._format = format
        self._session = session
        self._place = 0

    def items(self, line: int, message: Mapping[str, Any]) -> Iterator[Item]:
        if self._place == 0:
            yield SessionStart(external_id=self._session, metadata={"source": self._format}, line=line)
        self._place += 1
        yield _entry(self._format, self._session, self._place, line, message)


def _conversation(format: str, line: int, value: Any) -> Iterator[Item]:
    fields = value if isinstance(value, dict) else {"messages": value}
    messages = fields["messages"]
    if not isinstance(messages, list):
        raise InvalidInput(f"a conversation must be a list of messages, not {shown(messages)}")
    own = (fields[name] for name in _ID_FIELDS if isinstance(fields.get(name), str) and fields[name])
    session = next(own, "") or _digest(value)
    title = fields.get("title")
    rest = {name: field for name, field in fields.items() if name not in _OWN_FIELDS}
    yield SessionStart(
        external_id=session,
        title=title if isinstance(title, str) else "",
        metadata={"source": format, **({"request": rest} if rest else {})},
        line=line,
    )
    if fields.get("system"):
        messages = [{"role": "system", "content": fields["system"]}, *messages]
    places = enumerate(messages, start=1)
    yield from each(_numbered(line, places), lambda line, at: [_entry(format, session, at[0], line, at[1])])


def _numbered(line: int, found: Iterable[Any]) -> Numbered:
    return ((line, value) for value in found)


def _entry(format: str, session: str, place: int, line: int, message: Any) -> Entry:
    if not isinstance(message, dict):
        raise InvalidInput(f"message {place} must be an object with a role, not {shown(message)}")
    try:
        draft = parse(message)
    except InvalidInput as error:
        raise InvalidInput(f"message {place}: {error}") from error
    key = import_key(format, session, place)
    return Entry(session=session, draft=dataclasses.replace(draft, idempotency_key=key), line=line)
