"""``conversations.json`` from ChatGPT's data export: an array of conversations, each a tree of messages.

The branch that ends at ``current_node`` is read, which is what the person last saw; messages of other
branches (edited questions, regenerated answers) and hidden ones are counted in a note. A message to a
tool becomes a tool call with the message's id, what the tool said the result of that call. OpenAI
publishes no description of the format; this follows exports of 2023 to 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.formats.fields import list_of, moment, optional, required, shown
from wellkept.formats.items import Entry, Item, Note, SessionStart, import_key
from wellkept.formats.values import each, values
from wellkept.records import ROLES, Block, Content, Draft, Image, Other, Text, Thinking, ToolCall, ToolResult

NAME = "chatgpt"

# Instructions and memories that ChatGPT adds by itself, and how long it thought.
_HIDDEN_TYPES = ("user_editable_context", "model_editable_context", "reasoning_recap")

# Fields of a content that say how it is written, not what.
_DESCRIBING = {"content_type", "language", "response_format_name"}


def misfit(value: Any) -> str:
    """Why ``value`` is no conversation of such an export; empty when it is one."""
    if isinstance(value, dict) and isinstance(value.get("mapping"), dict):
        return ""
    return 'no conversation with a "mapping" of messages'


def read(pieces: Iterable[str]) -> Iterator[Item]:
    """The conversations, one after the other, each along its current branch."""
    return each(values(pieces), _conversation)


def _conversation(line: int, data: Any) -> Iterator[Item]:
    problem = misfit(data)
    if problem:
        raise InvalidInput(f"{problem}: {shown(data)}")
    session = optional(data, "conversation_id", str) or required(data, "id", str)
    title = optional(data, "title", str) or ""
    nodes = _branch(data["mapping"], data.get("current_node"))
    yield SessionStart(
        external_id=session,
        title=title,
        created_at=moment(data.get("create_time")),
        metadata={"source": NAME},
        line=line,
    )
    branch = _Branch(session, title)
    yield from each(((line, node) for node in nodes), branch.items)
    yield from branch.notes(line, others=sum(map(_says_something, data["mapping"].values())))


def _branch(mapping: Mapping[str, Any], leaf: Any) -> list[Mapping[str, Any]]:
    """The nodes from the root to ``leaf``; without a leaf, to the last node that has no children."""
    if not isinstance(leaf, str) or leaf not in mapping:
        ends = [name for name, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        leaf = ends[-1] if ends else None
    path: dict[str, Mapping[str, Any]] = {}
    while leaf in mapping:
        if leaf in path or not isinstance(mapping[leaf], dict):
            raise InvalidInput(f"the messages form no tree at node {shown(leaf)}")
        path[leaf] = mapping[leaf]
        leaf = optional(mapping[leaf], "parent", str)
    return list(reversed(path.values()))


def _says_something(node: Any) -> bool:
    message = node.get("message") if isinstance(node, dict) else None
    return isinstance(message, dict) and not _is_empty(message.get("content"))


def _is_empty(content: Any) -> bool:
    if not isinstance(content, dict):
        return True
    said = (value for name, value in content.items() if name not in _DESCRIBING)
    return not any(any(value) if isinstance(value, list) else value for value in said)


class _Branch:
    """One pass along a branch: pairs tool messages with their calls and counts what is left out."""

    def __init__(self, session: str, title: str) -> None:
        self._session = session
        self._title = title
        self._calls: dict[str, str] = {}
        self._seen = 0
        self._hidden = 0

    def items(self, line: int, node: Mapping[str, Any]) -> Iterator[Item]:
        if not _says_something(node):
            return
        self._seen += 1
        message = node["message"]
        try:
            if _is_hidden(message):
                self._hidden += 1
            else:
                yield self._entry(line, message)
        except InvalidInput as error:
            name = self._title or self._session
            raise InvalidInput(f"{name!r}, message {shown(message.get('id'))}: {error}") from error

    def notes(self, line: int, others: int) -> Iterator[Note]:
        """What was left out; ``others``: messages in all branches together."""
        name = self._title or self._session
        if self._hidden:
            yield Note(line=line, text=f"{name!r}: hidden messages left out: {self._hidden}")
        if others > self._seen:
            count = others - self._seen
            yield Note(line=line, text=f"{name!r}: messages on other branches left out: {count}")

    def _entry(self, line: int, message: Mapping[str, Any]) -> Entry:
        native = required(message, "id", str)
        author = required(message, "author", dict)
        role = required(author, "role", str)
        if role not in ROLES:
            raise InvalidInput(f"role must be one of {', '.join(ROLES)}, not {role!r}")
        draft = Draft(
            role=role,
            content=self._content(native, role, author, message),
            ts=moment(message.get("create_time")),
            metadata={"source_id": native, **_model(message)},
            idempotency_key=import_key(NAME, self._session, native),
        )
        return Entry(session=self._session, draft=draft, line=line)

    def _content(
        self, native: str, role: str, author: Mapping[str, Any], message: Mapping[str, Any]
    ) -> Content:
        content = message["content"]
        recipient = optional(message, "recipient", str) or "all"
        if role == "assistant" and recipient != "all":
            self._calls[recipient] = native
            return (ToolCall(native, recipient, _text(content)),)
        if role != "tool":
            return _plain(_blocks(content))
        # A tool may answer in several messages; only the first is the result, or its id would stand twice.
        call = self._calls.pop(optional(author, "name", str) or "", native)
        failed = True if content.get("content_type") == "system_error" else None
        return (ToolResult(call, _plain(_blocks(content)), failed),)


def _is_hidden(message: Mapping[str, Any]) -> bool:
    metadata = optional(message, "metadata", dict) or {}
    kind = message["content"].get("content_type")
    return kind in _HIDDEN_TYPES or bool(metadata.get("is_visually_hidden_from_conversation"))


def _model(message: Mapping[str, Any]) -> dict[str, str]:
    slug = optional(optional(message, "metadata", dict) or {}, "model_slug", str)
    return {"model": slug} if slug else {}


def _text(content: Mapping[str, Any]) -> str:
    """The words of a message that is text or code."""
    text = content.get("text") or content.get("result") or content.get("content")
    if isinstance(text, str):
        return text
    return "\n".join(part for part in optional(content, "parts", list) or () if isinstance(part, str))


def _plain(blocks: tuple[Block, ...]) -> Content:
    only = blocks[0] if len(blocks) == 1 else None
    return only.text if isinstance(only, Text) else blocks


def _blocks(content: Mapping[str, Any]) -> tuple[Block, ...]:
    if content.get("thoughts"):
        return tuple(map(_thought, list_of(content, "thoughts", dict)))
    if content.get("parts"):
        return tuple(_part(part) for part in required(content, "parts", list) if part)
    text = _text(content)
    return (Text(text) if text else Other(dict(content)),)


def _thought(thought: Mapping[str, Any]) -> Block:
    return Thinking(
        "\n".join(filter(None, (optional(thought, name, str) for name in ("summary", "content"))))
    )


def _part(part: Any) -> Block:
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, dict):
        raise InvalidInput(f"a part must be text or an object, not {shown(part)}")
    if isinstance(part.get("text"), str):
        return Text(part["text"])
    if part.get("content_type") == "image_asset_pointer":
        return Image(required(part, "asset_pointer", str), dict(part))
    return Other(dict(part))
