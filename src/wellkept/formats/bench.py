"""Flat JSON Lines of recall benchmarks: one message a line with its group, session, speaker and date.

    {"id": "…", "group": "…", "session": "…", "turn": 0, "speaker": "…", "role": "user", "date": "…",
     "text": "…", "image": "a caption"}

The group is the user whose memory it is. The id is kept as ``source_id`` in the metadata. Dates are read
in whatever way they are written, as UTC where no zone stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.formats.fields import optional, required, shown
from wellkept.formats.items import Entry, Item, SessionStart, import_key
from wellkept.formats.values import each, json_lines
from wellkept.policy.text import dates
from wellkept.records import ROLES, Draft

NAME = "bench"

_NEEDED = ("id", "group", "session", "text")


def misfit(value: Any) -> str:
    """Why ``value`` is no such line; empty when it is one."""
    absent = [name for name in _NEEDED if not isinstance(value, dict) or name not in value]
    return f"lines without {', '.join(absent)}" if absent else ""


def read(pieces: Iterable[str]) -> Iterator[Item]:
    """The messages; each session starts where its first line stands."""
    begun: set[str] = set()

    def items_of(line: int, data: Any) -> Iterator[Item]:
        problem = misfit(data)
        if problem:
            raise InvalidInput(f"{problem}: {shown(data)}")
        entry = _entry(line, data)
        if entry.session not in begun:
            begun.add(entry.session)
            yield _start(line, data, entry)
        yield entry

    return each(json_lines(pieces), items_of)


def _start(line: int, data: Mapping[str, Any], first: Entry) -> SessionStart:
    return SessionStart(
        external_id=first.session,
        created_at=first.draft.ts,
        metadata={"source": NAME},
        user=required(data, "group", str),
        line=line,
    )


def _entry(line: int, data: Mapping[str, Any]) -> Entry:
    native, session = required(data, "id", str), required(data, "session", str)
    role = optional(data, "role", str) or "user"
    if role not in ROLES:
        raise InvalidInput(f"'role' must be one of {', '.join(ROLES)}, not {role!r}")
    caption = optional(data, "image", str)
    draft = Draft(
        role=role,
        content=required(data, "text", str) + (f"\n[image: {caption}]" if caption else ""),
        ts=_date(optional(data, "date", str)),
        speaker=optional(data, "speaker", str),
        metadata={"source_id": native},
        idempotency_key=import_key(NAME, session, native),
    )
    return Entry(session=session, draft=draft, line=line)


def _date(text: str | None) -> datetime | None:
    found = dates.parse(text, "UTC") if text else None
    if text and found is None:
        raise InvalidInput(f"'date' {text!r} cannot be read; write it as 2026-06-01 09:30")
    return found
