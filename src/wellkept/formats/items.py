"""What a reader gives, one after the other: sessions, their messages, and what could not be taken over."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from wellkept.records import Draft, Event, Record, SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart(Record):
    """A conversation begins. Its entries follow, possibly mixed with those of other sessions that have begun.

    Attributes:
        external_id: its id where it came from, unique within one (namespace, user); entries name it.
        created_at: aware, or None when the source does not say.
        namespace, user: whose it was, where the source says so; the importing side decides otherwise.
        line: where it stands, counted from 1; no part of equality.
    """

    external_id: str
    title: str = ""
    created_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    namespace: str | None = None
    user: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Record):
    """One message of the session ``session``. Its draft always carries an idempotency key.

    Attributes:
        seq, tokens: place and cached count in the store that exported it; None from other programs.
        line: where it stands, counted from 1; no part of equality.
    """

    session: str
    draft: Draft
    seq: int | None = None
    tokens: int | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra(Record):
    """A line that is neither session nor message: profile, fact, summary, or a kind of a newer version.

    ``data`` is the line as it came, without its ``kind``.
    """

    kind: str
    data: Mapping[str, Any]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Record):
    """Something left out on purpose that a person should hear of, such as a branch that was not followed."""

    text: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine(Record):
    """A line, or a message in it, that cannot be taken over, and why."""

    line: int
    reason: str


Item: TypeAlias = SessionStart | Entry | Extra | Note | BadLine


def import_key(format: str, session: str, native: str | int) -> str:
    """The idempotency key of one imported message: the same file read again gives the same keys.

    ``native`` is the message's own id where there is one, else its place in the session. The ids are hashed
    (SHA-256, 128 bits kept), because they come in any length.
    """
    identity = json.dumps([session, native]).encode("ascii")
    return f"{format}:{hashlib.sha256(identity).hexdigest()[:32]}"


def start_of(info: SessionInfo) -> SessionStart:
    """A stored session as an item to export."""
    return SessionStart(
        external_id=info.id,
        title=info.title,
        created_at=info.created_at,
        metadata=info.metadata,
        namespace=info.namespace,
        user=info.user,
    )


def entry_of(event: Event, idempotency_key: str | None = None) -> Entry:
    """A stored event as an item to export. ``idempotency_key``: the one that it was stored under, if any."""
    draft = Draft(
        role=event.role,
        content=event.content,
        ts=event.ts,
        speaker=event.speaker,
        metadata=event.metadata,
        idempotency_key=idempotency_key,
    )
    return Entry(session=event.session_id, draft=draft, seq=event.seq, tokens=event.tokens)
