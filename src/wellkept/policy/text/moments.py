"""The calendar behind ``datewords``: from its notation to the interval of time that is meant."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from wellkept.errors import InvalidInput
from wellkept.policy.text.datewords import MONTHS

Prefer: TypeAlias = Literal["past", "future"]
Days: TypeAlias = tuple[date, date, str]

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
    now = local_time(reference, zone)
    day, _, clock = value.partition("T")
    try:
        if match := re.fullmatch(r"(hour|minute)([+-]\d+)", day):
            return _around(now, match[1], int(match[2]))
        if match := re.fullmatch(r"(past|ahead):(\d+)(\w+)", day):
            return _stretch(now, match[1], int(match[2]), match[3])
        first, last, granularity = _days(day or "day+0", now.date(), prefer)
        if clock:
            return at_clock(first, clock, now.tzinfo)
        return _midnight(first, now), _midnight(last, now), granularity
    except ValueError as error:
        raise OverflowError(f"{value} lies outside the calendar: {error}") from error


def local_time(reference: datetime, zone: str) -> datetime:
    """``reference`` as clocks in ``zone`` show it; InvalidInput for a naive one or an unknown zone."""
    if reference.tzinfo is None:
        raise InvalidInput("reference must be an aware datetime: give it a tzinfo")
    return reference.astimezone(zone_of(zone))


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """The time zone of this IANA name; InvalidInput where there is none."""
    if name == "UTC":
        return timezone.utc  # also where the system has no time zone data
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise InvalidInput(
            f"time zone {name!r} is unknown: use an IANA name such as Asia/Shanghai; "
            "a system without time zone data needs: pip install tzdata"
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


def at_clock(day: date, clock: str, zone: tzinfo | None) -> tuple[datetime, datetime, str]:
    """The interval of a ``clock`` (notation without its T) on ``day`` in ``zone``."""
    midnight = datetime.combine(day, time())
    if clock in _PARTS:
        low, high = (midnight + timedelta(hours=hours) for hours in _PARTS[clock])
        return low.replace(tzinfo=zone), high.replace(tzinfo=zone), "part"
    match = re.fullmatch(r"(\d+):(\d\d)(Z|[+-]\d\d:?\d\d)?", clock)
    if match is None:
        raise ValueError(f"no time: {clock}")
    hour = int(match[1])
    if len(match[1]) == 1 and 1 <= hour <= 6:
        hour += 12  # "at 3" of waking people is in the afternoon
    start = midnight + timedelta(hours=hour, minutes=int(match[2]))
    start = start.replace(tzinfo=_offset(match[3]) if match[3] else zone).astimezone(zone)
    unit = "minute" if int(match[2]) else "hour"
    return start, start + timedelta(**{f"{unit}s": 1}), unit


def _offset(text: str) -> timezone:
    if text == "Z":
        return timezone.utc
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


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
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


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
        # Not every year has a 29 February, nor every month a 31st.
        if not day or int(day) <= monthrange(year, int(month))[1]:
            yield _calendar(year, month, day)


def _choose(candidates: list[Days], today: date, which: str) -> Days:
    """The last begun ("past") or the next not over ("future"); with a sign, today's own does not count."""
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
        opens, length = _SEASONS[part]
        start = date(first.year, opens, 1)
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
