"""One context as a picture: its tiers as bars, its text in coloured pieces, what was left out and why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wellkept.context import Context
from wellkept.policy.context.assemble import NOTE
from wellkept.records import Candidate, Record, plain
from wellkept.store.traces import Trace

TIERS = ("profile", "facts", "summary", "news", "recall", "bridge", "window")
FRAME = "frame"
"""What no tier takes: the note before the memory, and the borders that providers add."""
_FENCE = re.compile(r'<memory tier="(\w+)".*?</memory>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Bar(Record):
    """A piece of a stacked bar, in percent of its whole width."""

    tier: str
    tokens: int
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Piece(Record):
    """A piece of the exact text, and whether the other shot does without it."""

    tier: str
    text: str
    only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot(Record):
    """What a model was given for one request, or would be."""

    budget: int
    tokens: int
    parts: Mapping[str, int]
    system: str
    boundary: int
    messages: Sequence[Mapping[str, Any]]
    candidates: Sequence[Candidate]
    lines: Mapping[str, str]

    @property
    def tiers(self) -> dict[str, int]:
        """Tokens by tier, in the order of the bar."""
        known = {tier: self.parts[tier] for tier in TIERS if self.parts.get(tier)}
        rest = self.tokens - sum(known.values())
        return {**known, FRAME: rest} if rest > 0 else known

    def bars(self, most: int) -> list[Bar]:
        """The stacked bar, where the whole width stands for ``most`` tokens."""
        bars, left = [], 0.0
        for tier, tokens in self.tiers.items():
            width = 100 * tokens / max(1, most)
            bars.append(Bar(tier, tokens, round(left, 3), round(width, 3)))
            left += width
        return bars

    @property
    def stable(self) -> list[Piece]:
        """The part of the system text that stays the same from request to request."""
        return _pieces(self.system[: self.boundary])

    @property
    def passing(self) -> list[Piece]:
        """The part of the system text that belongs to this request only."""
        return _pieces(self.system[self.boundary :])

    @property
    def said(self) -> list[tuple[str, str]]:
        """The messages: role and exact content, as JSON where it is more than text."""
        return [(str(message["role"]), _content(message)) for message in self.messages]

    @property
    def dropped(self) -> list[Candidate]:
        """What could have been in it and is not."""
        return [candidate for candidate in self.candidates if not candidate.kept]

    @property
    def texts(self) -> set[str]:
        """Every piece and message of it, to compare with another shot."""
        return {piece.text for piece in (*self.stable, *self.passing)} | {text for _, text in self.said}


def of_trace(trace: Trace) -> Shot:
    """What was recorded."""
    lines = {str(each["id"]): str(each["line"]) for each in trace.recalled}
    return Shot(
        budget=trace.budget, tokens=trace.tokens, parts=trace.parts, system=trace.system, boundary=trace.boundary,
        messages=trace.messages, candidates=trace.candidates, lines=lines,
    )  # fmt: skip


def of_context(context: Context, budget: int) -> Shot:
    """What was made just now."""
    lines = {each.id: each.line for each in context.recalled}
    return Shot(
        budget=budget, tokens=context.tokens, parts=context.parts, system=context.system, boundary=context.boundary,
        messages=context.messages, candidates=context.trace, lines=lines,
    )  # fmt: skip


def _pieces(text: str) -> list[Piece]:
    """``text`` parted at its memory fences, which nothing remembered can imitate."""
    pieces, end = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [*_plain(text[end : fence.start()]), Piece(fence[1], fence[0])]
        end = fence.end()
    return [piece for piece in [*pieces, *_plain(text[end:])] if piece.text]


def _plain(text: str) -> list[Piece]:
    """Text outside of any fence: the note before the memory, and the profile under its headings."""
    note = NOTE if text.startswith(NOTE) else ""
    return [Piece(FRAME, note), Piece("profile", text[len(note) :].strip("\n"))]


def _content(message: Mapping[str, Any]) -> str:
    if isinstance(message.get("content"), str) and set(message) <= {"role", "content", "name"}:
        return str(message["content"])
    rest = {name: value for name, value in message.items() if name != "role"}
    return json.dumps(plain(rest), ensure_ascii=False, indent=2)
