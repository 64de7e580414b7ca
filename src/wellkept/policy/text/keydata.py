"""Key data of a text, listed in code: what a summary must not lose and a fact must not invent.

Times, dates, numbers, amounts, names, places, ids, constraints and to-dos, each with a value that is the
same however it is written: 五岁, 5岁 and "five years" are ``5 year``; 6月30日 and "June 30" are ``--06-30``
(see ``datewords``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal, TypeAlias

from wellkept.policy.text import dates, lazy, names, numbers
from wellkept.records import Record

Kind: TypeAlias = Literal["time", "date", "number", "amount", "name", "place", "id", "constraint", "todo"]
KINDS: tuple[Kind, ...] = ("time", "date", "number", "amount", "name", "place", "id", "constraint", "todo")
HARD: frozenset[Kind] = frozenset(("time", "date", "number", "amount"))


@dataclass(frozen=True, slots=True)
class KeyDatum(Record):
    """One key datum: ``text`` as written at ``start`` to ``end``, ``value`` as compared.

    ``said`` is the day it was said on, as the caller wrote it, where it stands apart from its text.
    """

    kind: Kind
    text: str
    value: str
    start: int
    end: int
    said: str = ""


Span: TypeAlias = tuple[Kind, int, int, str]


def extract(
    text: str,
    *,
    reference: datetime | None = None,
    zone: str = "UTC",
    prefer: dates.Prefer = "past",
) -> tuple[KeyDatum, ...]:
    """The key data of ``text`` in order of their place.

    No digit is overlooked, nor any Chinese numeral outside ``numbers.NOT_NUMBERS`` and the articles 一 and
    "one"; a digit of a date, a time or an id is no number as well. Takes time linear in the text.

    Args:
        reference: when it was said (aware). With it, relative dates become absolute ones.
        zone: IANA time zone of who said it; used with ``reference`` only.
        prefer: with ``reference``, whether an open date (周三, "in March") is the last or the coming one.

    Raises:
        InvalidInput: ``reference`` is naive or ``zone`` unknown.
    """
    folded = numbers.half_width(text)
    day_of = partial(_absolute, reference=reference, zone=zone, prefer=prefer) if reference else str
    fixed = _apart([*_dates(folded, day_of), *_ids(folded)])
    spans = [*fixed, *_quantities(_blanked(folded, fixed)), *_clauses(text)]
    spans += _apart(list(_names(_blanked(text, fixed))))
    spans.sort(key=lambda span: (span[1], span[2], span[0]))
    return tuple(
        KeyDatum(kind, text[start:end], value or fold(folded[start:end]), start, end)
        for kind, start, end, value in spans
    )


def fold(text: str) -> str:
    """``text`` without case, spaces and punctuation, for comparing words."""
    return re.sub(r"[\W_]+", "", numbers.half_width(text).casefold())


def _apart(spans: list[Span]) -> list[Span]:
    """``spans`` without those that overlap an earlier or longer one; of equals the first given stays."""
    spans.sort(key=lambda span: (span[1], -span[2]))
    kept: list[Span] = []
    for span in spans:
        if not kept or span[1] >= kept[-1][2]:
            kept.append(span)
    return kept


def _blanked(text: str, spans: list[Span]) -> str:
    """``text`` with ``spans`` (in order and apart) made unreadable, so that no other kind is found there."""
    pieces, end = [], 0
    for _, start, stop, _ in spans:
        pieces += [text[end:start], "\0" * (stop - start)]
        end = stop
    return "".join([*pieces, text[end:]])


# ── the kinds ────────────────────────────────────────────────────────────────────────────────────────

_ID = lazy.compile(
    r"(?P<url>https?://[^\s<>\"'，。；、）)」》\u4e00-\u9fff]+)"
    r"|(?P<mail>(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9][\w-]{0,62}(?:\.[A-Za-z][\w-]{0,62})+)"
    r"|(?P<phone>(?<![\d.])(?:\+86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}(?!\d)|(?<!\d)0\d{2,3}-\d{7,8}(?!\d)"
    r"|\+\d{1,3}(?:[ -]\d{2,4}){2,4}(?!\d)|(?<!\d)\(?\d{3}\)?[ -]\d{3}-\d{4}(?!\d))"
    r"|(?P<code>`(?=[^`\n]{0,80}[A-Za-z])[^`\n]{1,80}`|(?<!\w)[A-Za-z]\w*_\w+|(?<!\w)[a-z]+[A-Z]\w+|(?<![\w/.])[\w/.-]{1,80}"
    r"\.(?:py|js|ts|md|txt|json|csv|pdf|docx?|xlsx?|html|css|java|go|rs|sh|ya?ml|toml|sql|png|jpg|zip)(?!\w))"
    r"|(?P<version>(?<![\w.])v?\d{1,9}(?:\.\d{1,9}){2,6}(?:-[\w.]{1,40})?"
    r"|(?<!\w)v\d{1,9}(?:\.\d{1,9})?(?!\w))"
    r"|(?P<hex>(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])"
    r"|(?<!\w)(?=[0-9]{0,40}[a-f])(?=[a-f]{0,40}[0-9])[0-9a-f]{7,64}(?!\w))"
    r"|(?P<order>(?<![A-Za-z0-9_-])[A-Za-z]{1,12}[-#]?\d[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*|#\d+(?!\w)"
    r"|(?<![\d-])\d{1,9}(?:-\d{1,9}){2,6}(?![\d-])|(?<![A-Za-z0-9])\d{2,}[A-Z]+\d[A-Z0-9]*)",
    re.ASCII,
)
_CURRENCY = lazy.compile(r"(?:US|HK|NT|RMB|CNY|USD|EUR|GBP|HKD)\$?\d+", re.ASCII)


def _ids(text: str) -> Iterator[Span]:
    for match in _ID.finditer(text):
        start = match.start()
        written = match[0].rstrip(".,;:!?")
        if _CURRENCY.fullmatch(written):
            continue
        value = written.lower()
        if match["phone"]:
            value = re.sub(r"\D", "", written.removeprefix("+86"))
        yield "id", start, start + len(written), value


def _dates(text: str, day_of: Callable[[str], str]) -> Iterator[Span]:
    for phrase in dates.phrases(text):
        timed = any(word.kind == "clock" for word in phrase.words)
        times = [word for word in phrase.words if timed and word.kind in ("clock", "part")]
        days = [word for word in phrase.words if word not in times]
        if phrase.date:
            end = days[-1].end if times else phrase.end
            yield "date", days[0].start, end, day_of(phrase.date)
        if times:
            yield "time", times[0].start, times[-1].end, phrase.clock


def _absolute(value: str, *, reference: datetime, zone: str, prefer: dates.Prefer) -> str:
    try:
        return dates.absolute(value, reference, zone, prefer=prefer)
    except OverflowError:
        return value  # "9999 years ago" stays as it was said


def _quantities(text: str) -> Iterator[Span]:
    for item in numbers.find(text):
        if item.article:
            continue
        kind: Kind = "amount" if item.unit else "number"
        yield kind, item.start, item.end, f"{item.value} {item.unit}".rstrip()


def _names(text: str) -> Iterator[Span]:
    for item in names.find(text):
        yield item.kind, item.start, item.end, ""


_CONSTRAINT = lazy.compile(
    r"必须|必須|不能|不要(?!紧|緊)|不可以|不可|禁止|严禁|嚴禁|至少|最多|最少|不超过|不超過|不得(?!不)|千万"
    r"|(?<![区特个分级类告])别(?![的人墅])|不吃|不喝|过敏|過敏|忌口|忌|只能|不许|不許|务必|務必|一定要|不准|不含"
    r"|\b(?:must(?:n['’]t)?|never|at most|at least|allerg(?:ic|y|ies)|no (?:more|less|later) than|not allowed"
    r"|forbidden|prohibited|required|only (?:if|when|after|before)|should(?: not|n['’]t)|avoid|without"
    r"|(?:do not|don['’]t|does not|doesn['’]t|cannot|can['’]t)"
    r"(?! (?:know|think|worry|wait|believe|remember|mind|even)))\b",
    re.IGNORECASE,
)
_TODO = lazy.compile(
    r"记得|記得|待办|待辦|需要|打算|计划|計劃|准备|準備|提醒|别忘|別忘|得去|约了|約了|预约|預約|截止"
    r"|(?<![不只主重需想还還正快首概摘])要(?![是不么麼紧緊求素点點])"
    r"|\b(?:to-?do|need(?:s|ed)? to|ha(?:ve|s) to|remind|remember to|do(?: not|n['’]t) forget|going to"
    r"|plan(?:s|ning)? to|gotta|deadline|due|appointment|scheduled?|by tomorrow|by the end"
    r"|by (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_CUES: tuple[tuple[Kind, re.Pattern[str]], ...] = (("constraint", _CONSTRAINT), ("todo", _TODO))
_CLAUSE_BREAK = lazy.compile(r"[，。！？；!?;\n]|[,.](?=\s|$)|\b(?:but|because)\b")
_CLAUSE = 80
_LETTER = r"[A-Za-z0-9\u00c0-\u024f]"
_WORD_CUT = lazy.compile(rf"(?<={_LETTER}){_LETTER}+\W*")
_CUT_WORD = lazy.compile(rf"\W*{_LETTER}+\Z")


def _clauses(text: str) -> Iterator[Span]:
    for kind, cue in _CUES:
        end = 0
        for match in cue.finditer(text):
            if match.start() < end:
                continue
            start, end = _clause(text, match, end)
            yield kind, start, end, ""


def _clause(text: str, cue: re.Match[str], after: int) -> tuple[int, int]:
    """The clause around ``cue``, at most ``_CLAUSE`` characters to each side and whole words, behind ``after``."""
    start = max(after, cue.start() - _CLAUSE)
    if cut := _WORD_CUT.match(text, start, cue.start()):
        start = cut.end()
    for stop in _CLAUSE_BREAK.finditer(text, start, cue.start()):
        start = stop.end()
    limit = min(len(text), cue.end() + _CLAUSE)
    stop_after = _CLAUSE_BREAK.search(text, cue.end(), limit)
    end = stop_after.start() if stop_after else limit
    if (
        end == limit
        and re.match(_LETTER, text[limit : limit + 1])
        and (cut := _CUT_WORD.search(text, cue.end(), limit))
    ):
        end = cut.start()
    written = text[start:end]
    return start + len(written) - len(written.lstrip()), start + len(written.rstrip())


# ── comparing ────────────────────────────────────────────────────────────────────────────────────────


def missing(
    items: Iterable[KeyDatum], text: str, *, reference: datetime | None = None, zone: str = "UTC"
) -> tuple[KeyDatum, ...]:
    """Those of ``items`` that ``text`` does not say, by value; equal values are returned once.

    "5 year" is said by 五岁 and by a 5 without unit, a plain 5 by a 5 of anything; 3:30 by 15:30; "June 30"
    by 2024年6月30日, but not the other way round.
    Constraints and to-dos are said when three fifths of their words are.

    Raises:
        InvalidInput: ``reference`` is naive or ``zone`` unknown.
    """
    said = _Said(text, extract(text, reference=reference, zone=zone))
    unique = {(item.kind, item.value): item for item in reversed(list(items))}
    return tuple(item for item in reversed(unique.values()) if not said.has(item))


def teller(text: str) -> Callable[[KeyDatum], bool]:
    """What answers, for many items, whether ``text`` says one, as ``missing`` compares."""
    return _Said(text, extract(text)).has


class _Said:
    """What a text says, prepared for many questions."""

    def __init__(self, text: str, items: Iterable[KeyDatum]) -> None:
        self.values: dict[str, set[str]] = {}
        for item in items:
            self.values.setdefault(item.kind, set()).add(item.value)
        self.folded = fold(text)
        self.grams = grams(text)
        self.units: dict[str, set[str]] = {}
        for value in (*self.values.get("number", ()), *self.values.get("amount", ())):
            number, _, unit = value.partition(" ")
            self.units.setdefault(number, set()).add(unit)
        self.days = {_yearless(value) for value in self.values.get("date", ())}

    def has(self, item: KeyDatum) -> bool:
        tests: dict[str, Callable[[KeyDatum], bool]] = {
            "number": self._quantity, "amount": self._quantity, "date": self._date, "time": self._time,
            "constraint": self._clause, "todo": self._clause,
        }  # fmt: skip
        return item.value in self.values.get(item.kind, ()) or tests.get(item.kind, self._words)(item)

    def _quantity(self, item: KeyDatum) -> bool:
        number, _, unit = item.value.partition(" ")
        units = self.units.get(number, set())
        return unit in units or "" in units or (bool(units) and not unit)

    def _date(self, item: KeyDatum) -> bool:
        day = _yearless(item.value)
        if day not in self.days:
            return False
        return day == item.value or day in self.values["date"]

    def _time(self, item: KeyDatum) -> bool:
        return any(_same_time(item.value, other) for other in self.values.get("time", ()))

    def _words(self, item: KeyDatum) -> bool:
        return fold(item.text) in self.folded

    def _clause(self, item: KeyDatum) -> bool:
        wanted = grams(item.text)
        return not wanted or len(wanted & self.grams) >= 0.6 * len(wanted)


def grams(text: str) -> set[str]:
    """Latin words and pairs of Chinese signs of ``text``, for measuring how much of it another text says."""
    lower = numbers.half_width(text).lower()
    runs = re.findall(r"[\u4e00-\u9fff]+", lower)
    pairs = {run[place : place + 2] for run in runs for place in range(max(1, len(run) - 1))}
    return pairs | set(re.findall(r"[a-z0-9]{2,}", lower))


def _yearless(value: str) -> str:
    """``value`` without its year, so that 2024-06-30 says June 30."""
    match = re.fullmatch(r"(?:\d{4}|year[+-]\d+)[-/](\d\d(?:-\d\d)?)", value)
    return f"--{match[1]}" if match else value


def _same_time(one: str, other: str) -> bool:
    left, right = (re.fullmatch(r"T(\d+):(\d\d)", value) for value in (one, other))
    if not left or not right or left[2] != right[2]:
        return one == other
    hours = int(left[1]) - int(right[1])
    vague = len(left[1]) == 1 or len(right[1]) == 1
    return hours == 0 or (vague and hours % 12 == 0)
