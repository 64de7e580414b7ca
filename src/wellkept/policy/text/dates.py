"""Dates and times of a text as moments: what 上周三, "two weeks ago" or "3/22 at 2pm" means on a given day.

``datewords`` finds the words; here neighbours become one phrase (明天 + 下午 + 三点半) and a phrase becomes
the half-open interval of time that it names, in the time zone of the person who said it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo

from wellkept.policy.text import lazy
from wellkept.policy.text.datewords import Word, words
from wellkept.policy.text.moments import Prefer, absolute, at_clock, local_time, resolve, zone_of
from wellkept.records import Record

__all__ = [
    "Phrase",
    "Prefer",
    "Span",
    "absolute",
    "connects",
    "find",
    "half_of_day",
    "parse",
    "phrases",
    "resolve",
]


@dataclass(frozen=True, slots=True)
class Phrase(Record):
    """Neighbouring words that name one moment; ``date`` and ``clock`` in the notation of ``datewords``."""

    start: int
    end: int
    date: str
    clock: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Span(Record):
    """A moment that a text names.

    Attributes:
        start, end: where it stands in the text, in characters.
        kind: "date", "time" (of the day of reference), "datetime", or "range" (of two moments, or open).
        since, until: the interval, half-open and aware; None where a range is open ("before March").
        granularity: "minute", "hour", "part" (of a day), "day", "week", "month", "season", "year",
            "weekend" or "range".
        value: the words in the notation of ``datewords``.
    """

    start: int
    end: int
    kind: str
    since: datetime | None
    until: datetime | None
    granularity: str
    value: str


# ── words to phrases ─────────────────────────────────────────────────────────────────────────────────

_GAP = lazy.compile(r"(?:\s*(?:的|t|at|on|in the|,|，|\(|（|\)|）)?\s*){1,2}", re.IGNORECASE)


def phrases(text: str) -> Iterator[Phrase]:
    """The date and time phrases of ``text``, in order and without overlap."""
    group: list[Word] = []
    for word in words(text):
        if group and not _joins(group, word, text[group[-1].end : word.start]):
            yield _phrase(text, group)
            group = []
        group.append(word)
    if group:
        yield _phrase(text, group)


def _joins(group: list[Word], word: Word, gap: str) -> bool:
    kinds = {other.kind for other in group}
    return word.kind not in kinds and len(gap) <= 8 and _GAP.fullmatch(gap) is not None


def _phrase(text: str, group: list[Word]) -> Phrase:
    by_kind = {word.kind: word.value for word in group}
    day, _, part = (by_kind.get("date") or by_kind.get("weekday") or "").partition("T")
    part = by_kind.get("part") or (f"T{part}" if part else "")
    clock = half_of_day(by_kind["clock"], part) if "clock" in by_kind else part
    start, end = group[0].start, group[-1].end
    if text[end : end + 1] in (")", "）") and re.search(r"[(（][^)）]*$", text[start:end]):
        end += 1
    return Phrase(start, end, day, clock, tuple(group))


def half_of_day(clock: str, part: str) -> str:
    """``clock`` in 24 hours where ``part`` says which half is meant: ("T3:30", "Tafternoon") is "T15:30"."""
    match = re.fullmatch(r"T(\d):(\d\d)|T(1[0-2]):(\d\d)", clock)
    if not match or not part:
        return clock
    hour, minute = int(match[1] or match[3]), match[2] or match[4]
    if part == "Tafternoon" or (part == "Tnoon" and hour < 10) or (part == "Tevening" and hour < 12):
        hour = hour % 12 + 12
    elif part == "Tlate" and 9 <= hour < 12:
        hour += 12
    elif hour == 12 and part in ("Tevening", "Tlate"):
        hour = 24
    elif hour == 12 and part in ("Tmorning", "Tnight"):
        hour = 0
    return f"T{hour:02d}:{minute}"


# ── what callers ask ─────────────────────────────────────────────────────────────────────────────────

_TO = lazy.compile(r"\s*(?:到|至|~|～|-|–|—|to|until|till|through|and)\s*", re.IGNORECASE)
_BETWEEN = lazy.compile(r"\bbetween\s*$", re.IGNORECASE)
# What makes a range open: in front of the date (English, 自从), or behind it (Chinese).
_SINCE = (
    lazy.compile(r"\bsince\s*$|自从?$|从$", re.IGNORECASE),
    lazy.compile(r"\s*(?:以来|以來|开始|開始|起)"),
)
_BEFORE = lazy.compile(r"\bbefore\s*$", re.IGNORECASE), lazy.compile(r"\s*(?:之前|以前)")
_AFTER = lazy.compile(r"\bafter\s*$", re.IGNORECASE), lazy.compile(r"\s*(?:之后|以后|之後|以後)")


def find(text: str, reference: datetime, zone: str, *, prefer: Prefer = "past") -> tuple[Span, ...]:
    """The moments that ``text`` names, in order, as seen from ``reference`` in ``zone``.

    "from March to May" and 三月到五月 are one range; "since", "before" and "after" leave one end open.

    Raises:
        InvalidInput: ``reference`` is naive or ``zone`` unknown.
    """
    local_time(reference, zone)
    spans: list[Span] = []
    for phrase in phrases(text):
        span = _span(phrase, reference, zone, prefer)
        if span is None:
            continue
        if spans and (joined := _range(text, spans[-1], span, phrase, zone)):
            spans[-1] = joined
        else:
            spans.append(span)
    return tuple(_opened(text, span) for span in spans)


def _span(phrase: Phrase, reference: datetime, zone: str, prefer: Prefer) -> Span | None:
    value = phrase.date + phrase.clock
    try:
        since, until, granularity = resolve(value, reference, zone, prefer=prefer)
    except OverflowError:
        return None  # "9999 years ago" names no day
    kind = "datetime" if phrase.date and phrase.clock else "date" if phrase.date else "time"
    return Span(phrase.start, phrase.end, kind, since, until, granularity, value)


def _range(text: str, first: Span, last: Span, phrase: Phrase, zone: str) -> Span | None:
    """Both as one, where the text says "from … to …"; the end is then seen from the beginning."""
    if first.since is None or not _connected(text, first, last):
        return None
    until = last.until
    if until is None or until <= first.since or (first.kind == "datetime" and not phrase.date):
        later = _span(phrase, first.since, zone, "future")
        until = later.until if later else None
    if until is None or until <= first.since:
        return None
    value = f"{first.value}..{last.value}"
    return Span(first.start, last.end, "range", first.since, until, "range", value)


def connects(gap: str) -> bool:
    """Whether ``gap``, between two moments, makes them the ends of a range ("to", 到)."""
    return len(gap) <= 10 and _TO.fullmatch(gap) is not None and gap.strip().lower() != "and"


def _connected(text: str, first: Span, last: Span) -> bool:
    gap = text[first.end : last.start]
    if len(gap) > 10 or not _TO.fullmatch(gap):
        return False
    return gap.strip().lower() != "and" or bool(_BETWEEN.search(text[max(0, first.start - 10) : first.start]))


def _opened(text: str, span: Span) -> Span:
    before, after = text[max(0, span.start - 12) : span.start], text[span.end : span.end + 3]
    if _SINCE[0].search(before) or _SINCE[1].match(after):
        since, until = span.since, None
    elif _BEFORE[0].search(before) or _BEFORE[1].match(after):
        since, until = None, span.since
    elif _AFTER[0].search(before) or _AFTER[1].match(after):
        since, until = span.until, None
    else:
        return span
    return Span(span.start, span.end, "range", since, until, "range", span.value)


_FULL_DATE = lazy.compile(r"\d{4}-\d\d-\d\d")


def parse(text: str, zone: str) -> datetime | None:
    """The moment of a date string such as "1:56 pm on 8 May, 2023", "2023/04/10 (Mon) 14:47" or "2026-03-01".

    Midnight where no time is given; None where ``text`` is no complete date or says more than a date.

    Raises:
        InvalidInput: ``zone`` is unknown.
    """
    local = zone_of(zone)
    try:
        exact = datetime.fromisoformat(re.sub(r"(?<=\d)Z$", "+00:00", text.strip()))
    except ValueError:
        return _parse_words(text, local)
    return exact.replace(tzinfo=local) if exact.tzinfo is None else exact.astimezone(local)


def _parse_words(text: str, zone: tzinfo) -> datetime | None:
    found = list(phrases(text))
    if len(found) != 1 or not _FULL_DATE.fullmatch(found[0].date):
        return None
    phrase = found[0]
    if re.search(r"\w", text[: phrase.start] + text[phrase.end :]):
        return None
    day = date.fromisoformat(phrase.date)
    if not phrase.clock:
        return datetime.combine(day, time(), zone)
    return at_clock(day, phrase.clock[1:], zone)[0]
