"""The days that a statement names, as seen from when it was said.

A day that its words leave open ("July 12", 周三) is the next one or the last one as the tense says. When nothing
tells, when it comes again and again, or when it may be counted from another day than that of speaking ("on June 19;
five days later"), it stays as it was said.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from itertools import groupby
from typing import Literal

from wellkept.errors import InvalidInput
from wellkept.policy.text import dates, lazy
from wellkept.policy.text.dates import Phrase, Prefer
from wellkept.records import Record

_AGAIN = lazy.compile(
    r"每|生日|纪念日|节|出生|\b(?:every|each|annual(?:ly)?|yearly|birthday|born|anniversary|always|usually)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bweekends\b",
    re.IGNORECASE,
)
_AHEAD = lazy.compile(
    r"(?<![不主重需想])[要会將将](?![过计议员])|打算|准备|计划|预计|截止|到期|安排在|别忘|记得"
    r"|\b(?:will|shall|going to|gonna|plan(?:s|ning)?|about to|upcoming|due|deadline|scheduled"
    r"|need to|must|ha(?:s|ve) to|remember to|don['’]t forget)\b|['’]ll\b",
    re.IGNORECASE,
)
_BEHIND = lazy.compile(
    r"(?<![为除忘好算罢行对到得不])了(?!解|不起)|(?<![不通超经难透])过(?![敏来去期年节程生于度几两])"
    r"|曾|刚(?!好)|已经?|当时|\b(?:was|were|did|went|ago|met|came|saw|took|made|gave|built|bought|told|said|flew|drove|ran|began"
    r"|spent|won|lost|sent|kept|thought|wrote|ate|knew|became|brought|sold|paid|had(?! better\b))\b"
    r"|(?<!['’]ve )(?<!['’]s )(?<!\bhave )\bgot\b"
    r"|(?<!\bam )(?<!\bis )(?<!\bare )(?<!['’]m )(?<!['’]re )(?<!['’]s )(?<!\bbe )(?<!\bget )"
    r"\b(?!(?:speed|breed|bleed|indeed|exceed|proceed|succeed|hundred|sacred|naked)\b)\w{3,}ed\b",
    re.IGNORECASE,
)
# Open: which year, month or week is meant is not said.
_OPEN = re.compile(r"-|(?!(?:day|week|month|year|hour|minute)[+-]|past:|ahead:)[a-z]+\d?(?!.*[+-]\d)")
# Of a month or week that another date may have named: 12日, 周五, 月底.
_PART = re.compile(r"---|wd\d$|weekend$")
_SENTENCE_END = lazy.compile(r"[。！？!?\n]|\.(?=\s)")
_CLAUSE_END = lazy.compile(r"[，,；;](?!\d)|\b(?:and|but)\b")
_NOTHING_ELSE = lazy.compile(r"\W*(?:on|in|by|at|for|the|from|在|到)?\W*", re.IGNORECASE)
_RECURS = lazy.compile(r"(?:每[个個一]?|\b(?:every|each)(?: other| second)?)\s*$", re.IGNORECASE)
_LATER = lazy.compile(r"\b(?:later|earlier|following|previous)\b|^the next \w+$", re.IGNORECASE)
_COUNTED = lazy.compile(r"[后後前]$|^in\b", re.IGNORECASE)
_AHEAD_BY_COUNT = lazy.compile(r"[后後]$|^in\b", re.IGNORECASE)
# What may stand in a sentence before 三天后 and leave it counted from the day of speaking: who, and how surely.
_ONLY_WHO = lazy.compile(
    r"(?:但是?|那么?|所以)?(?:[我咱你您他她]的?|用户的?)?"
    r"(?:们|妈妈|爸爸|父母|老婆|老公|儿子|女儿|孩子|小孩|朋友|同事|老板|家人|本人|自己)?"
    r"(?:就|也|还|都|要|会|将|是|大概|大约|可能|应该|打算|准备|计划|预计|约|在|于|从|再过)*"
)
_WHOLE = re.compile(r"\d{4}")
_NEAR = 200  # characters to each side of a phrase that are looked at


@dataclass(frozen=True, slots=True)
class Day(Record):
    """A day that a text names.

    Attributes:
        phrase: the words.
        day: the day or days in digits ("2026-03-11", "2026-03"); None where they leave it open.
        elsewhere: whether it may be counted from another day than that of speaking, or comes again and again.
    """

    phrase: Phrase
    day: str | None
    elsewhere: bool = False


def tense(text: str) -> Prefer | None:
    """Whether a statement tells of something to come or past; None when its words do not say, or it recurs."""
    if _AGAIN.search(text):
        return None
    if _AHEAD.search(text):
        return "future"
    return "past" if _BEHIND.search(text) else None


def find(text: str, at: datetime, zone: str, heard: str = "") -> Iterator[Day]:
    """The days that ``text``, said at ``at`` in ``zone``, names. The end of a range is seen from its beginning.

    ``heard``: the message that ``text`` was drawn from. What is counted from elsewhere there stays open here.
    """
    told = _counted_elsewhere(heard, at, zone) if heard else ()
    for each in _found(text, at, zone):
        yield Day(each.phrase, None, True) if each.phrase.date in told else each


@lru_cache(maxsize=64)
def _counted_elsewhere(text: str, at: datetime, zone: str) -> frozenset[str]:
    return frozenset(each.phrase.date for each in _found(text, at, zone) if each.elsewhere)


def meant(sentence: str, place: int, at: datetime, zone: str) -> str | None:
    """The day of the phrase at ``place`` in ``sentence``, as ``find`` tells it, whatever was said before the sentence."""
    for each in _found(sentence, at, zone):
        if each.phrase.start <= place < each.phrase.end:
            return None if _COUNTED.search(_surface(sentence, each.phrase)) else each.day
    return None


# ── where a phrase stands ────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a text: its place, the days it names but those near the day of speaking, what comes before it, and
    whether it tells of something that comes again."""

    start: int
    end: int
    named: frozenset[str]
    follows: Literal["", "words", "dates"]
    recurs: bool


def _found(text: str, at: datetime, zone: str) -> Iterator[Day]:
    last: Day | None = None
    for phrase, sentence in _placed(text):
        if last is not None and dates.connects(text[last.phrase.end : phrase.start]):
            last = _end_of_range(phrase, last, at, zone)
        else:
            last = _day(phrase, sentence, text, at, zone)
        yield last


def _placed(text: str) -> Iterator[tuple[Phrase, _Sentence]]:
    """The phrases of ``text`` that name a day, each with its sentence."""
    phrases = [phrase for phrase in dates.phrases(text) if phrase.date]
    if not phrases:
        return
    starts = [phrase.start for phrase in phrases]
    stops = [stop.end() for stop in _SENTENCE_END.finditer(text)]
    edges = [0, *(stop for stop in stops if not _is_inside(stop, phrases, starts)), len(text)]
    dated = -1
    for number, group in groupby(phrases, lambda phrase: bisect_right(edges, phrase.start)):
        same = list(group)
        start = edges[number - 1]
        before: Literal["", "words"] = "words" if text[:start].strip() else ""
        follows: Literal["", "words", "dates"] = "dates" if dated == number - 1 else before
        named = frozenset(phrase.date for phrase in same if phrase.date[:3] != "day")
        recurs = _AGAIN.search(text, start, edges[number]) is not None
        sentence = _Sentence(start, edges[number], named, follows, recurs)
        yield from ((phrase, sentence) for phrase in same)
        dated = number


def _is_inside(stop: int, phrases: Sequence[Phrase], starts: Sequence[int]) -> bool:
    """Whether the full stop is that of an abbreviation in a date ("Sept. 5")."""
    place = bisect_left(starts, stop) - 1
    return place >= 0 and stop <= phrases[place].end


def _day(phrase: Phrase, sentence: _Sentence, text: str, at: datetime, zone: str) -> Day:
    if _is_elsewhere(phrase, sentence, text):
        return Day(phrase, None, True)
    prefer = tense(_clause(text, phrase, sentence))
    if _OPEN.match(phrase.date):
        if prefer is None:
            return Day(phrase, None, sentence.recurs)
    elif prefer == "past" and _AHEAD_BY_COUNT.search(_surface(text, phrase)):
        return Day(phrase, None, True)  # "he built it in two days", 三天后他回来了
    return Day(phrase, _absolute(phrase.date, at, zone, prefer or "past"))


def _end_of_range(phrase: Phrase, begin: Day, at: datetime, zone: str) -> Day:
    if not _OPEN.match(phrase.date):
        return Day(phrase, _absolute(phrase.date, at, zone, "past"))
    start = _start(begin.day)
    return Day(phrase, _absolute(phrase.date, start, zone, "future") if start else None, start is None)


def _is_elsewhere(phrase: Phrase, sentence: _Sentence, text: str) -> bool:
    """Whether the words around ``phrase`` count it from another day, or repeat it, or may do so."""
    if _WHOLE.match(phrase.date):
        return False
    surface = _surface(text, phrase)
    who = text[max(sentence.start, phrase.start - _NEAR) : phrase.start].strip()
    if _RECURS.search(who) or _LATER.search(surface):
        return True
    if _COUNTED.search(surface):
        if sentence.named - {phrase.date}:
            return True
        if surface[-1] in "后後前":
            said_before = sentence.follows == "dates" or (sentence.follows and not who)
            return bool(said_before) or not _ONLY_WHO.fullmatch(who)
        return False
    if _PART.match(phrase.date) or surface[0] in "月年":
        return len({date[:2] for date in sentence.named}) > 1
    return False


def _surface(text: str, phrase: Phrase) -> str:
    """The words of ``phrase`` that name its day, without those of a time."""
    named = [word for word in phrase.words if word.kind not in ("clock", "part")]
    return text[named[0].start : named[-1].end]


def _clause(text: str, phrase: Phrase, sentence: _Sentence) -> str:
    """The clause around ``phrase``; or its sentence, where the clause is nothing but the phrase ("On Friday, …")."""
    first, last = max(sentence.start, phrase.start - _NEAR), min(sentence.end, phrase.end + _NEAR)
    start, end = first, last
    for stop in _CLAUSE_END.finditer(text, first, phrase.start):
        start = stop.end()
    if after := _CLAUSE_END.search(text, phrase.end, last):
        end = after.end()
    alone = _NOTHING_ELSE.fullmatch(text[start : phrase.start] + text[phrase.end : end])
    return text[first:last] if alone else text[start:end]


def _absolute(value: str, at: datetime, zone: str, prefer: Prefer) -> str | None:
    try:
        return dates.absolute(value, at, zone, prefer=prefer)
    except OverflowError:
        return None


def _start(day: str | None) -> datetime | None:
    first = (day or "").partition("/")[0]
    return datetime.fromisoformat(first).replace(hour=12, tzinfo=timezone.utc) if len(first) == 10 else None


def known(text: str, at: datetime, zone: str, heard: str = "") -> set[str]:
    """All ways to name the days of ``text`` in the notation of ``datewords``, with the year and without."""
    found = set()
    for each in find(text, at, zone, heard):
        found.add(each.day or each.phrase.date)
        if _OPEN.match(each.phrase.date):
            found.add(each.phrase.date)
        if each.day and re.fullmatch(r"\d{4}-\d\d-\d\d", each.day):
            found.add(f"-{each.day[4:]}")
    return found


def dated(text: str, at: datetime, zone: str, heard: str = "") -> str:
    """``text`` with each day in digits that its words, and those of ``heard``, do not leave open: 下周三."""
    for each in reversed(list(find(text, at, zone, heard))):
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


def moment(value: str, text: str, at: datetime, zone: str, heard: str = "") -> datetime | None:
    """The moment of the date ``value`` when ``text`` names that day; None for any other, and for one left open."""
    try:
        wanted = dates.parse(value, zone)
    except InvalidInput:
        return None
    left_open = {each.phrase.start for each in find(text, at, zone, heard) if each.day is None}
    spans = dates.find(text, at, zone, prefer=tense(text) or "past")
    return wanted if wanted in {span.since for span in spans if span.start not in left_open} else None
