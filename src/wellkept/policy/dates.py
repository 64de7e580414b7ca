"""Dates and times of a text as moments: what 上周三, "two weeks ago" or "3/22 at 2pm" means on a given day.

``datewords`` finds the words; here neighbours become one phrase (明天 + 下午 + 三点半) and a phrase becomes the
half-open interval of time that it names, in the time zone of the person who said it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from functools import lru_cache
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from wellkept.errors import InvalidInput
from wellkept.policy.datewords import MONTHS, Word, words
from wellkept.records import Record

Prefer: TypeAlias = Literal["past", "future"]
Days: TypeAlias = tuple[date, date, str]


@dataclass(frozen=True, slots=True)
class Phrase(Record):
    """Neighbouring words that name one moment: ``date`` and ``clock`` in the notation of ``datewords``, or ""."""

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
        granularity: "minute", "hour", "part" (of a day), "day", "week", "month", "season", "year" or "range".
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

_GAP = re.compile(r"(?:\s*(?:的|t|at|on|in the|,|，|\(|（|\)|）)?\s*){1,2}", re.IGNORECASE)


def phrases(text: str) -> Iterator[Phrase]:
    """The date and time phrases of ``text``, in order and without overlap."""
    group: list[Word] = []
    for word in words(text):
        if group and not _joins(group, word, text[group[-1].end : word.start]):
            yield _phrase(group)
            group = []
        group.append(word)
    if group:
        yield _phrase(group)


def _joins(group: list[Word], word: Word, gap: str) -> bool:
    kinds = {other.kind for other in group}
    return word.kind not in kinds and len(gap) <= 8 and _GAP.fullmatch(gap) is not None


def _phrase(group: list[Word]) -> Phrase:
    by_kind = {word.kind: word.value for word in group}
    day, _, part = (by_kind.get("date") or by_kind.get("weekday") or "").partition("T")
    part = by_kind.get("part") or (f"T{part}" if part else "")
    clock = half_of_day(by_kind["clock"], part) if "clock" in by_kind else part
    return Phrase(group[0].start, group[-1].end, day, clock, tuple(group))


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


# ── phrases to moments ───────────────────────────────────────────────────────────────────────────────

_PARTS = {"night": (0, 5), "morning": (5, 12), "noon": (11, 13), "afternoon": (12, 18), "evening": (18, 24)}
_PARTS |= {"late": (22, 29)}
_SEASONS = {"spring": (3, 3), "summer": (6, 3), "autumn": (9, 3), "winter": (12, 3)}
_SEASONS |= {"summerbreak": (7, 2), "winterbreak": (1, 2)}
_SEASONS |= {name: (number, 1) for number, name in enumerate(MONTHS, 1)}
_THIRDS = {
    "week": {"start": (0, 3), "mid": (2, 4), "end": (4, 7)},
    "month": {"start": (0, 10), "mid": (10, 20), "end": (20, 31)},
    "year": {"start": (0, 90), "mid": (150, 212), "end": (304, 366)},
}


def resolve(
    value: str, reference: datetime, zone: str, *, prefer: Prefer = "past"
) -> tuple[datetime, datetime, str]:
    """The interval that ``value`` (notation of ``datewords``) names, and its granularity.

    Args:
        reference: when it was said; aware.
        zone: IANA name of the time zone of who said it.
        prefer: where a year or week is left open ("in March", 周三), the last such time or the coming one.

    Raises:
        InvalidInput: ``reference`` is naive or ``zone`` unknown.
        OverflowError: the moment lies outside the years 1 to 9999.
    """
    now = _local(reference, zone)
    day, _, clock = value.partition("T")
    try:
        if match := re.fullmatch(r"(hour|minute)([+-]\d+)", day):
            return _around(now, match[1], int(match[2]))
        if match := re.fullmatch(r"(past|ahead):(\d+)(\w+)", day):
            return _stretch(now, match[1], int(match[2]), match[3])
        first, last, granularity = _days(day or "day+0", now.date(), prefer)
        if clock:
            return _within(first, clock, now.tzinfo)
        return _midnight(first, now), _midnight(last, now), granularity
    except ValueError as error:
        raise OverflowError(f"{value} lies outside the calendar: {error}") from error


def _local(reference: datetime, zone: str) -> datetime:
    if reference.tzinfo is None:
        raise InvalidInput("reference must be an aware datetime: give it a tzinfo")
    return reference.astimezone(_zone(zone))


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise InvalidInput(
            f"time zone {name!r} is unknown: use an IANA name such as Asia/Shanghai"
        ) from error


def _midnight(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time(), now.tzinfo)


def _around(now: datetime, unit: str, steps: int) -> tuple[datetime, datetime, str]:
    start = now.replace(second=0, microsecond=0, minute=0 if unit == "hour" else now.minute)
    start += timedelta(**{f"{unit}s": steps})
    return start, start + timedelta(**{f"{unit}s": 1}), unit


def _stretch(now: datetime, direction: str, count: int, unit: str) -> tuple[datetime, datetime, str]:
    sign = -1 if direction == "past" else 1
    if unit in ("month", "year"):
        other = _midnight(_add_months(now.date(), sign * count * (12 if unit == "year" else 1)), now)
    elif unit in ("hour", "minute"):
        other = now + sign * timedelta(**{f"{unit}s": count})
    else:
        other = _midnight(now.date() + sign * timedelta(days=count * (7 if unit == "week" else 1)), now)
    return (other, now, "range") if sign < 0 else (now, other, "range")


def _within(day: date, clock: str, zone: object) -> tuple[datetime, datetime, str]:
    midnight = datetime.combine(day, time())
    local = zone if isinstance(zone, ZoneInfo) else None
    if clock in _PARTS:
        low, high = (midnight + timedelta(hours=hours) for hours in _PARTS[clock])
        return low.replace(tzinfo=local), high.replace(tzinfo=local), "part"
    match = re.fullmatch(r"(\d+):(\d\d)(Z|[+-]\d\d:?\d\d)?", clock)
    if match is None:
        raise ValueError(f"no time: {clock}")
    hour = int(match[1])
    if len(match[1]) == 1 and 1 <= hour <= 6:
        hour += 12  # "at 3" of waking people is in the afternoon
    start = midnight + timedelta(hours=hour, minutes=int(match[2]))
    start = start.replace(tzinfo=_offset(match[3]) if match[3] else local).astimezone(local)
    unit = "minute" if int(match[2]) else "hour"
    return start, start + timedelta(**{f"{unit}s": 1}), unit


def _offset(text: str) -> timezone:
    if text == "Z":
        return timezone.utc
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


# ── days of the calendar ─────────────────────────────────────────────────────────────────────────────


def _days(value: str, today: date, prefer: Prefer) -> Days:
    base, _, part = value.partition("/")
    days = _base(base, today, prefer)
    return _narrow(days, part) if part else days


def _base(base: str, today: date, prefer: Prefer) -> Days:
    if match := re.fullmatch(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", base):
        return _calendar(int(match[1]), match[2], match[3])
    if match := re.fullmatch(r"(day|week|month|year)([+-]\d+)", base):
        return _shifted(match[1], int(match[2]), today)
    if match := re.fullmatch(r"(wd|[a-z]+?)(\d?)([+-]\d)?", base):
        candidates = list(_weekdays(int(match[2]), today) if match[1] == "wd" else _named(match[1], today))
        return _choose(candidates, today, match[3] or prefer)
    return _choose(list(_yearless(base, today)), today, prefer)


def _calendar(year: int, month: str | None, day: str | None) -> Days:
    first = date(year, int(month or 1), int(day or 1))
    if day:
        return first, first + timedelta(days=1), "day"
    return first, _add_months(first, 1 if month else 12), "month" if month else "year"


def _add_months(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    first = date(year, month + 1, 1)
    length = ((first + timedelta(days=31)).replace(day=1) - first).days
    return first.replace(day=min(day.day, length))


def _shifted(unit: str, steps: int, today: date) -> Days:
    if unit == "day":
        first = today + timedelta(days=steps)
        return first, first + timedelta(days=1), unit
    if unit == "week":
        first = today - timedelta(days=today.weekday()) + timedelta(weeks=steps)
        return first, first + timedelta(weeks=1), unit
    if unit == "month":
        first = _add_months(today.replace(day=1), steps)
        return first, _add_months(first, 1), unit
    return date(today.year + steps, 1, 1), date(today.year + steps + 1, 1, 1), unit


def _weekdays(number: int, today: date) -> Iterator[Days]:
    this = today - timedelta(days=today.isoweekday() - number)
    for weeks in (-1, 0, 1):
        day = this + timedelta(weeks=weeks)
        yield day, day + timedelta(days=1), "day"


def _named(name: str, today: date) -> Iterator[Days]:
    if name == "weekend":
        for weeks in (-1, 0, 1):
            yield _narrow(_shifted("week", weeks, today), "weekend")
        return
    for year in (-2, -1, 0, 1, 2):
        yield _narrow(_shifted("year", year, today), name)


def _yearless(base: str, today: date) -> Iterator[Days]:
    if base.startswith("---"):
        months = (_add_months(today.replace(day=1), step) for step in (-2, -1, 0, 1, 2))
        options: Iterable[tuple[int, str, str]] = ((m.year, str(m.month), base[3:]) for m in months)
    else:
        options = ((today.year + step, base[2:4], base[5:]) for step in range(-8, 9))
    for year, month, day in options:
        try:
            yield _calendar(year, month, day)
        except ValueError:
            continue  # a year without 29 February, a month without a 31st


def _choose(candidates: list[Days], today: date, which: str) -> Days:
    """``which``: the last begun ("past") or the next not over ("future"); with a sign, today's own never counts."""
    if which == "past":
        return [days for days in candidates if days[0] <= today][-1]
    if which == "future":
        return next(days for days in candidates if days[1] > today)
    if which == "-1":
        return [days for days in candidates if days[1] <= today][-1]
    if which == "+1":
        return next(days for days in candidates if days[0] > today)
    return min(candidates, key=lambda days: abs((days[0] - today).days))


def _narrow(days: Days, part: str) -> Days:
    first, last, unit = days
    if part in _SEASONS:
        month, length = _SEASONS[part]
        start = date(first.year, month, 1)
        return start, _add_months(start, length), "season" if length > 1 else "month"
    if part == "weekend":
        return first + timedelta(days=5), last, "weekend"
    if unit in _THIRDS and part in _THIRDS[unit]:
        low, high = _THIRDS[unit][part]
        return first + timedelta(days=low), min(first + timedelta(days=high), last), "part"
    if unit == "week":
        first += timedelta(days=int(part) - 1)
        return first, first + timedelta(days=1), "day"
    month, _, day = part.partition("-") if unit == "year" else (str(first.month), "", part)
    return _calendar(first.year, month, day)


# ── what callers ask ─────────────────────────────────────────────────────────────────────────────────

_TO = re.compile(r"\s*(?:到|至|~|～|-|–|—|to|until|till|through|and)\s*", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|ever since)\s*$|自从?$|从$", re.IGNORECASE)
_SINCE_AFTER = re.compile(r"\s*(?:以来|以來|开始|開始|起)")
_BEFORE = re.compile(r"\bbefore\s*$", re.IGNORECASE)
_BEFORE_AFTER = re.compile(r"\s*(?:之前|以前)")
_AFTER = re.compile(r"\bafter\s*$", re.IGNORECASE)
_AFTER_AFTER = re.compile(r"\s*(?:之后|以后|之後|以後)")


def find(text: str, reference: datetime, zone: str, *, prefer: Prefer = "past") -> tuple[Span, ...]:
    """The moments that ``text`` names, in order, as seen from ``reference`` in ``zone``.

    "from March to May" and 三月到五月 are one range; "since", "before" and "after" leave one end open.

    Raises:
        InvalidInput: ``reference`` is naive or ``zone`` unknown.
    """
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
    gap = text[first.end : last.start]
    if len(gap) > 10 or not _TO.fullmatch(gap) or first.since is None:
        return None
    if gap.strip().lower() == "and" and not re.search(
        r"(?i)\bbetween\s*$", text[max(0, first.start - 10) : first.start]
    ):
        return None
    if last.until is None or last.until <= first.since or (first.kind == "datetime" and not phrase.date):
        value = phrase.date + phrase.clock
        try:
            _, until, _ = resolve(value, first.since, zone, prefer="future")
        except OverflowError:
            return None
    else:
        until = last.until
    value = f"{first.value}..{last.value}"
    return (
        Span(first.start, last.end, "range", first.since, until, "range", value)
        if until > first.since
        else None
    )


def _opened(text: str, span: Span) -> Span:
    before, after = text[max(0, span.start - 12) : span.start], text[span.end : span.end + 3]
    if _SINCE.search(before) or _SINCE_AFTER.match(after):
        since, until = span.since, None
    elif _BEFORE.search(before) or _BEFORE_AFTER.match(after):
        since, until = None, span.since
    elif _AFTER.search(before) or _AFTER_AFTER.match(after):
        since, until = span.until, None
    else:
        return span
    return Span(span.start, span.end, "range", since, until, "range", span.value)


def absolute(value: str, reference: datetime, zone: str, *, prefer: Prefer = "past") -> str:
    """``value`` without reference to another day: "2024-06-30", "2024-06", "2024" or "2024-06-03/2024-06-09".

    Raises:
        InvalidInput: ``reference`` is naive or ``zone`` unknown.
        OverflowError: the moment lies outside the years 1 to 9999.
    """
    since, until, unit = resolve(value, reference, zone, prefer=prefer)
    if unit in ("hour", "minute"):
        return since.strftime("%Y-%m-%dT%H:%M")
    last = (until - timedelta(microseconds=1)).date()
    named = {"day": since.date().isoformat(), "month": f"{since:%Y-%m}", "year": f"{since:%Y}"}
    return named.get(unit) or f"{since.date()}/{last}"


_FULL_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def parse(text: str, zone: str) -> datetime | None:
    """The moment of a date string such as "1:56 pm on 8 May, 2023", "2023/04/10 (Mon) 14:47" or "2026-03-01".

    Midnight where no time is given; None where ``text`` is no complete date or says more than a date.

    Raises:
        InvalidInput: ``zone`` is unknown.
    """
    local = _zone(zone)
    try:
        exact = datetime.fromisoformat(re.sub(r"(?<=\d)Z$", "+00:00", text.strip()))
    except ValueError:
        return _parse_words(text, local)
    return exact.replace(tzinfo=local) if exact.tzinfo is None else exact.astimezone(local)


def _parse_words(text: str, zone: ZoneInfo) -> datetime | None:
    found = list(phrases(text))
    if len(found) != 1 or not _FULL_DATE.fullmatch(found[0].date):
        return None
    phrase = found[0]
    if re.search(r"\w", text[: phrase.start] + text[phrase.end :]):
        return None
    day = date.fromisoformat(phrase.date)
    if not phrase.clock:
        return datetime.combine(day, time(), zone)
    return _within(day, phrase.clock[1:], zone)[0]
