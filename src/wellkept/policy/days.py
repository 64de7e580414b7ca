"""The days that a statement names, as seen from when it was said.

A day that its words leave open ("July 12", 周三) is the next one or the last one as the tense says; when nothing
tells, or it comes again and again, it stays as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

from wellkept.errors import InvalidInput
from wellkept.policy import dates, lazy
from wellkept.policy.dates import Phrase, Prefer
from wellkept.records import Record

_AGAIN = lazy.compile(
    r"每|生日|纪念日|节|出生|\b(?:every|each|annual(?:ly)?|yearly|birthday|born|anniversary|always|usually)\b",
    re.IGNORECASE,
)
_AHEAD = lazy.compile(
    r"(?<![不主重需想])[要会将](?![过计])|打算|准备|计划|预计|截止|到期|安排在"
    r"|\b(?:will|shall|going to|gonna|plan(?:s|ning)?|about to|upcoming|due|deadline|scheduled"
    r"|need to|must|ha(?:s|ve) to)\b|['’]ll\b",
    re.IGNORECASE,
)
_BEHIND = lazy.compile(
    r"[了过]|曾|刚|已经?|当时|\b(?:was|were|did|had|went|got|ago|\w{3,}ed)\b", re.IGNORECASE
)
# Open: which year, month or week is meant is not said.
_OPEN = re.compile(r"-|(?!(?:day|week|month|year|hour|minute)[+-]|past:|ahead:)[a-z]+\d?(?!.*[+-]\d)")


@dataclass(frozen=True, slots=True)
class Day(Record):
    """A day that a text names.

    Attributes:
        phrase: the words.
        day: the day or days in digits ("2026-03-11", "2026-03"); None where they leave it open.
    """

    phrase: Phrase
    day: str | None


def tense(text: str) -> Prefer | None:
    """Whether a statement tells of something to come or past; None when its words do not say, or it recurs."""
    if _AGAIN.search(text):
        return None
    if _AHEAD.search(text):
        return "future"
    return "past" if _BEHIND.search(text) else None


def find(text: str, at: datetime, zone: str) -> Iterator[Day]:
    """The days that ``text``, said at ``at`` in ``zone``, names. The end of a range is seen from its beginning."""
    last: Day | None = None
    for phrase in dates.phrases(text):
        if phrase.date:
            ends = last is not None and dates.connects(text[last.phrase.end : phrase.start])
            last = Day(phrase, _day(phrase.date, text, at, zone, last if ends else None))
            yield last


def _day(value: str, text: str, at: datetime, zone: str, begin: Day | None) -> str | None:
    prefer: Prefer | None = "past"
    if _OPEN.match(value):
        prefer = tense(text)
        if begin is not None:
            start = _start(begin.day)
            at, prefer = (start, "future") if start else (at, None)
    try:
        return dates.absolute(value, at, zone, prefer=prefer) if prefer else None
    except OverflowError:
        return None


def _start(day: str | None) -> datetime | None:
    first = (day or "").partition("/")[0]
    return datetime.fromisoformat(first).replace(hour=12, tzinfo=timezone.utc) if len(first) == 10 else None


def known(text: str, at: datetime, zone: str) -> set[str]:
    """All ways to name the days of ``text`` in the notation of ``datewords``, with the year and without."""
    found = set()
    for each in find(text, at, zone):
        found.add(each.day or each.phrase.date)
        if _OPEN.match(each.phrase.date):
            found.add(each.phrase.date)
        if each.day and re.fullmatch(r"\d{4}-\d\d-\d\d", each.day):
            found.add(f"-{each.day[4:]}")
    return found


def dated(text: str, at: datetime, zone: str) -> str:
    """``text`` with each day in digits that its words do not leave open: "next Wednesday", 下周三."""
    for each in reversed(list(find(text, at, zone))):
        day, words = each.day, each.phrase.words
        if day is None or day == each.phrase.date:
            continue
        named = [word for word in words if word.kind not in ("clock", "part")]
        before, after = text[: named[0].start].rstrip(), text[named[-1].end :].lstrip()
        if len(day) == 4 and not text[named[0].start].isascii():
            day += "年"
        left = " " if before and before[-1].isascii() else ""
        right = " " if day[-1].isascii() and after[:1].isascii() and after[:1].isalnum() else ""
        text = f"{before}{left}{day}{right}{after}"
    return text


def moment(value: str, text: str, at: datetime, zone: str) -> datetime | None:
    """The moment of the date ``value`` when ``text`` names that day; None for any other, and for one left open."""
    try:
        wanted = dates.parse(value, zone)
    except InvalidInput:
        return None
    prefer = tense(text)
    spans = dates.find(text, at, zone, prefer=prefer or "past")
    named = {span.since for span in spans if prefer or not _OPEN.match(span.value.partition("..")[0])}
    return wanted if wanted in named else None
