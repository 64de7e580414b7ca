"""Session files of Claude Code: JSON Lines, one of the conversation's steps a line.

Messages are taken in the order of the file, which is the order in which they were said. Lines of one
answer (it is written block by block, under one message id) become one event. Left out and counted in
notes: sidechains (the model talking with its own helpers), what the program itself put into the user's
mouth (``isMeta``, summaries of a compaction), and lines that are no messages. Where a prompt starts again
from an earlier message, a note says so; both branches are kept. Anthropic publishes no description of the
format; this follows versions 1.0 to 2.1.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.formats.fields import moment, optional, required, shown
from wellkept.formats.items import Entry, Item, Note, SessionStart, import_key
from wellkept.formats.values import Numbered, each, json_lines
from wellkept.policy.context.messages import parse
from wellkept.records import blocks_of

NAME = "claude-code"

_MESSAGES = ("user", "assistant")
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_NOT_SAID = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")


def misfit(value: Any) -> str:
    """Why ``value`` is no message of a session file; empty when it is one."""
    if isinstance(value, dict) and value.get("type") in _MESSAGES and "uuid" in value and "message" in value:
        return ""
    return 'no line with a type, a "uuid" and a "message"'


def read(pieces: Iterable[str]) -> Iterator[Item]:
    """The messages of a session file."""
    return _Reader().read(json_lines(pieces))


class _Reader:
    """Remembers from line to line: the sessions begun, the answer being put together, what was left out."""

    def __init__(self) -> None:
        self._title = ""
        self._sessions: set[str] = set()
        self._prompted: set[str] = set()
        self._pending: Entry | None = None
        self._pending_id: str | None = None
        self._left_out: Counter[str] = Counter()

    def read(self, numbered: Numbered) -> Iterator[Item]:
        yield from each(numbered, self._items)
        yield from self._flush()
        for what, count in sorted(self._left_out.items()):
            yield Note(text=f"lines left out, {what}: {count}")

    def _items(self, line: int, data: Any) -> Iterator[Item]:
        if not isinstance(data, dict):
            raise InvalidInput(f"a line must be an object, not {shown(data)}")
        kind = required(data, "type", str)
        reason = _why_left_out(kind, data)
        if kind in _TITLES:
            self._title = optional(data, _TITLES[kind], str) or self._title
        elif reason:
            self._left_out[reason] += 1
        else:
            yield from self._message(line, data)

    def _message(self, line: int, data: Mapping[str, Any]) -> Iterator[Item]:
        entry = _entry(line, data)
        answer = optional(data["message"], "id", str) if entry.draft.role == "assistant" else None
        if self._pending and answer is not None and answer == self._pending_id:
            self._pending = _joined(self._pending, entry)
            return
        yield from self._flush()
        yield from self._start(line, entry)
        yield from self._restart(line, entry, data.get("parentUuid"))
        self._pending, self._pending_id = entry, answer

    def _flush(self) -> Iterator[Entry]:
        if self._pending:
            yield self._pending
        self._pending = None

    def _start(self, line: int, entry: Entry) -> Iterator[SessionStart]:
        if entry.session not in self._sessions:
            self._sessions.add(entry.session)
            yield SessionStart(
                external_id=entry.session,
                title=self._title,
                created_at=entry.draft.ts,
                metadata={"source": NAME},
                line=line,
            )

    def _restart(self, line: int, entry: Entry, parent: Any) -> Iterator[Note]:
        if entry.draft.role != "user" or not isinstance(parent, str):
            return
        if parent in self._prompted:
            yield Note(
                line=line, text="a prompt starts again from an earlier message; both branches are kept"
            )
        self._prompted.add(parent)


def _why_left_out(kind: str, data: Mapping[str, Any]) -> str:
    if kind not in _MESSAGES:
        return f"type {kind}"
    if data.get("isSidechain"):
        return "sidechains"
    return "written by the program itself" if any(data.get(name) for name in _NOT_SAID) else ""


def _entry(line: int, data: Mapping[str, Any]) -> Entry:
    native = required(data, "uuid", str)
    session = required(data, "sessionId", str)
    message = required(data, "message", dict)
    # The provider's accounting (usage, stop reason) is no part of what was said.
    said = {name: message[name] for name in ("role", "content") if name in message}
    draft = parse(said, shape="anthropic")
    model = optional(message, "model", str)
    draft = dataclasses.replace(
        draft,
        ts=moment(data.get("timestamp")),
        metadata={**(draft.metadata or {}), "source_id": native, **({"model": model} if model else {})},
        idempotency_key=import_key(NAME, session, native),
    )
    return Entry(session=session, draft=draft, line=line)


def _joined(first: Entry, more: Entry) -> Entry:
    content = (*blocks_of(first.draft.content), *blocks_of(more.draft.content))
    return dataclasses.replace(first, draft=dataclasses.replace(first.draft, content=content))
