"""Our own export: JSON Lines, one object a line, told apart by ``kind``. What is read is what was written.

    {"kind": "header", "format": "wellkept", "version": "1.0"}
    {"kind": "session", "id": "…", "namespace": "…", "user": "…", "title": "…", "created_at": ms,
     "metadata": {…}}
    {"kind": "event", "session": "…", "seq": 1, "role": "user", "ts": ms, "content": "…" or [blocks],
     "speaker": "…", "metadata": {…}, "idempotency_key": "…", "tokens": 7}
    {"kind": "end", "sessions": 1, "events": 1}

Times are milliseconds since 1970, UTC. Absent and null are the same. Other kinds (profile, fact and what belongs
to it, see ``formats.facts``) may stand anywhere after the header. A reader takes every file of its own major version:
kinds that it does not know are handed on as ``Extra``, fields that it does not know are reported as a ``Note``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import IO, Any, get_args

from wellkept.errors import InvalidInput
from wellkept.formats import blocks
from wellkept.formats.fields import optional, required, shown
from wellkept.formats.items import BadLine, Entry, Extra, Item, Note, SessionStart, import_key
from wellkept.formats.source import sound
from wellkept.formats.values import each, json_lines
from wellkept.records import Draft, Role

NAME = "wellkept"
VERSION = "1.0"

_OWN_KINDS = {"header", "session", "event", "end"}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SESSION_FIELDS = {"kind", "id", "namespace", "user", "title", "created_at", "metadata"}
_EVENT_FIELDS = {
    "kind",
    "session",
    "seq",
    "role",
    "ts",
    "content",
    "speaker",
    "metadata",
    "idempotency_key",
    "tokens",
}


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────


def write(items: Iterable[Item], stream: IO[str]) -> None:
    """Write ``items`` as one export; see ``lines``.

    Args:
        stream: open for text; UTF-8 with ``newline=""`` keeps the bytes the same on every system.
    """
    for line in lines(items):
        stream.write(line)


def lines(items: Iterable[Item]) -> Iterator[str]:
    """The lines of one export of ``items``, as they are read. Notes are not written; times are cut to milliseconds.

    Raises:
        InvalidInput: a ``BadLine`` among the items, or text that UTF-8 cannot hold.
    """
    counts = {"session": 0, "event": 0}
    yield _line({"kind": "header", "format": NAME, "version": VERSION})
    for item in sound(items):
        data = _data_of(item)
        if data is not None:
            counts[data["kind"]] = counts.get(data["kind"], 0) + 1
            yield _line(data)
    yield _line({"kind": "end", "sessions": counts["session"], "events": counts["event"]})


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"


def _data_of(item: Item) -> dict[str, Any] | None:
    if isinstance(item, SessionStart):
        return _session_data(item)
    if isinstance(item, Entry):
        return _event_data(item)
    if isinstance(item, Extra):
        return _extra_data(item)
    if isinstance(item, BadLine):
        raise InvalidInput(f"line {item.line} was not readable and cannot be exported: {item.reason}")
    return None


def _extra_data(extra: Extra) -> dict[str, Any]:
    if extra.kind in _OWN_KINDS or "kind" in extra.data:
        raise InvalidInput(f"an extra line of kind {extra.kind!r} would be read as something else: rename it")
    return {"kind": extra.kind, **extra.data}


def _session_data(start: SessionStart) -> dict[str, Any]:
    data = {
        "kind": "session",
        "id": start.external_id,
        "namespace": start.namespace,
        "user": start.user,
        "title": start.title or None,
        "created_at": _to_ms(start.created_at),
        "metadata": start.metadata or None,
    }
    return _present(data)


def _event_data(entry: Entry) -> dict[str, Any]:
    draft = entry.draft
    made_up = entry.seq is not None and draft.idempotency_key == import_key(NAME, entry.session, entry.seq)
    data = {
        "kind": "event",
        "session": entry.session,
        "seq": entry.seq,
        "role": draft.role,
        "ts": _to_ms(draft.ts),
        "content": blocks.dump(draft.content),
        "speaker": draft.speaker,
        "metadata": draft.metadata,
        "idempotency_key": None if made_up else draft.idempotency_key,
        "tokens": entry.tokens,
    }
    return _present(data)


def _present(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None}


def _to_ms(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // timedelta(milliseconds=1)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def misfit(value: Any) -> str:
    """Why ``value`` is no header, session or event of this format; empty when it is."""
    if isinstance(value, dict) and (_is_header(value) or value.get("kind") in ("session", "event")):
        return ""
    return 'no header ({"kind": "header", "format": "wellkept", …}) and no line with a known "kind"'


def read(pieces: Iterable[str]) -> Iterator[Item]:
    """The items of an export. An event without an idempotency key gets one from its session and seq.

    Without a header the rest is read all the same, after a ``BadLine``.

    Raises:
        InvalidInput: the header is of another major version.
    """
    values = json_lines(pieces)
    line, first = next(values, (1, None))
    if isinstance(first, dict) and _is_header(first):
        _check_version(first)
        return _Reader().read(values)
    missing = BadLine(
        line=line, reason="the header is missing or damaged: the export may be of a newer version"
    )
    again = values if isinstance(first, BadLine) else itertools.chain([(line, first)], values)
    return itertools.chain([missing], _Reader().read(again))


def _is_header(data: Mapping[str, Any]) -> bool:
    return data.get("kind") == "header" and data.get("format") == NAME


def _check_version(header: Mapping[str, Any]) -> None:
    version = required(header, "version", str)
    if version.split(".")[0] != VERSION.split(".")[0]:
        raise InvalidInput(
            f"this export has version {version}, this wellkept reads {VERSION}: update wellkept to import it"
        )


class _Reader:
    """What is remembered from line to line: which sessions have begun, how many events came."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._events = 0
        self._ended = False

    def read(self, values: Iterator[tuple[int, Any]]) -> Iterator[Item]:
        yield from each(values, self._items)
        if not self._ended:
            yield Note(text="there is no end line: the export may have been cut off, compare the counts")

    def _items(self, line: int, data: Any) -> Iterator[Item]:
        if not isinstance(data, dict):
            raise InvalidInput(f"a line must be an object, not {shown(data)}")
        kind = required(data, "kind", str)
        if kind == "session":
            yield _session(line, data)
            self._sessions.add(data["id"])
            yield from _unknown(line, data, _SESSION_FIELDS)
        elif kind == "event":
            self._events += 1
            yield self._event(line, data)
            yield from _unknown(line, data, _EVENT_FIELDS)
        elif kind == "end":
            self._end(data)
        elif kind == "header":
            raise InvalidInput("a second export begins here: import one export at a time")
        else:
            rest = {name: value for name, value in data.items() if name != "kind"}
            yield Extra(kind=kind, data=rest, line=line)

    def _event(self, line: int, data: Mapping[str, Any]) -> Entry:
        session = required(data, "session", str)
        if session not in self._sessions:
            raise InvalidInput(f"session {session!r} has no session line before this event")
        return _entry(line, session, data)

    def _end(self, data: Mapping[str, Any]) -> None:
        self._ended = True
        found = (len(self._sessions), self._events)
        expected = (required(data, "sessions", int), required(data, "events", int))
        if found != expected:
            raise InvalidInput(
                f"lines are missing or doubled: (sessions, events) should be {expected}, found {found}"
            )


def _session(line: int, data: Mapping[str, Any]) -> SessionStart:
    return SessionStart(
        external_id=required(data, "id", str),
        title=optional(data, "title", str) or "",
        created_at=_from_ms(data, "created_at"),
        metadata=optional(data, "metadata", dict) or {},
        namespace=optional(data, "namespace", str),
        user=optional(data, "user", str),
        line=line,
    )


def _entry(line: int, session: str, data: Mapping[str, Any]) -> Entry:
    seq = required(data, "seq", int)
    draft = Draft(
        role=_role(data),
        content=blocks.load(data.get("content")),
        ts=_from_ms(data, "ts"),
        speaker=optional(data, "speaker", str),
        metadata=optional(data, "metadata", dict),
        idempotency_key=optional(data, "idempotency_key", str) or import_key(NAME, session, seq),
    )
    return Entry(session=session, draft=draft, seq=seq, tokens=optional(data, "tokens", int), line=line)


def _role(data: Mapping[str, Any]) -> Role:
    role = required(data, "role", str)
    known: dict[str, Role] = {name: name for name in get_args(Role)}
    if role not in known:
        raise InvalidInput(f"'role' must be one of {', '.join(known)}, not {role!r}")
    return known[role]


def _from_ms(data: Mapping[str, Any], name: str) -> datetime | None:
    ms = optional(data, name, int)
    try:
        return None if ms is None else _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        raise InvalidInput(f"{name!r} is no time: {ms} milliseconds are beyond the year 9999") from None


def _unknown(line: int, data: Mapping[str, Any], known: set[str]) -> Iterator[Note]:
    surplus = sorted(data.keys() - known)
    if surplus:
        yield Note(line=line, text=f"fields of a newer version were left out: {', '.join(surplus)}")
