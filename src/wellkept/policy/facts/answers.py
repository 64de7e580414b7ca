"""What a model was asked for facts answered: a tolerant reader for an untrusted text.

Thinking, code fences and prose around the JSON are passed over, broken escapes and trailing commas mended.
What the JSON holds is taken field by field: anything of the wrong shape is left out and counted, never
guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from wellkept.policy.facts.claims import USER, Claim
from wellkept.policy.text import lazy
from wellkept.records import Record

Intent: TypeAlias = Literal["none", "forget", "replace"]

MOST = 64
"""Memories looked at in one answer; a model that gives hundreds is out of order."""

MAX_FIELD = 2_000

_STRINGS = {"type": "array", "items": {"type": "string"}}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "intent": {"type": "string", "enum": ["none", "forget", "replace"]},
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "subject": {"type": "string"},
                    "attribute": {"type": "string"},
                    "content": {"type": "string"},
                    "labels": _STRINGS,
                    "keywords": _STRINGS,
                    "quote": {"type": "string"},
                    "valid_from": {"type": ["string", "null"]},
                    "valid_to": {"type": ["string", "null"]},
                },
                "required": ["subject", "attribute", "content", "labels", "keywords", "quote"],
            },
        },
    },
    "required": ["intent", "memories"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Claim):
    """A claim as a model gave it, with dates in its own words."""

    valid_from: str = ""
    valid_to: str = ""


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """An answer that could be read. ``unusable``: elements that had no readable content."""

    intent: Intent
    proposals: tuple[Proposal, ...]
    unusable: int = 0


class Unreadable(ValueError):
    """The answer holds no JSON of the kind that was asked for; the text says what is wrong with it."""


_THINKING = lazy.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_BAD_ESCAPE = lazy.compile(r'\\(?:u(?![0-9a-fA-F]{4})|(?!["\\/bfnrtu]))')
_TRAILING = lazy.compile(r",(?=\s*[}\]])")


def read(text: str) -> Answer:
    """The answer in ``text``. Raises Unreadable."""
    values = list(_values(_THINKING.sub("", text)))
    for value in values:
        if isinstance(value, Mapping) and isinstance(value.get("memories"), list):
            return _answer(value.get("intent"), value["memories"])
    for value in values:
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            return _answer("none", value)
    raise Unreadable('no JSON object with a list "memories" was found')


def _values(text: str) -> Iterator[Any]:
    """Each JSON value in ``text`` that begins with a bracket, from the left."""
    decoder = json.JSONDecoder(strict=False)
    mended = _TRAILING.sub("", _BAD_ESCAPE.sub(r"\\\\", text))
    for source in dict.fromkeys((text, mended)):
        at = 0
        for match in re.finditer(r"[{\[]", source):
            if match.start() < at:
                continue
            try:
                value, at = decoder.raw_decode(source, match.start())
            except (ValueError, RecursionError):
                continue
            yield value


def _answer(intent: object, items: Sequence[Any]) -> Answer:
    found = [_proposal(item) for item in items[:MOST]]
    kept = tuple(item for item in found if item is not None)
    named: Intent = intent if intent in ("forget", "replace") else "none"
    return Answer(named, kept, len(items) - len(kept))


def _proposal(item: Any) -> Proposal | None:
    if not isinstance(item, Mapping) or not _string(item.get("content")):
        return None
    return Proposal(
        text=_string(item["content"]),
        subject=_string(item.get("subject")) or USER,
        attribute=_string(item.get("attribute")),
        labels=_strings(item.get("labels") or item.get("tags")),
        keywords=_strings(item.get("keywords")),
        quote=_string(item.get("quote")),
        valid_from=_string(item.get("valid_from")),
        valid_to=_string(item.get("valid_to")),
    )


def _string(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_FIELD:
        return ""
    return value.encode(errors="ignore").decode().strip()


def _strings(value: object) -> tuple[str, ...]:
    items = (
        re.split(r"[,，;；]", value) if isinstance(value, str) else value if isinstance(value, list) else []
    )
    return tuple(filter(None, map(_string, items[:16])))
