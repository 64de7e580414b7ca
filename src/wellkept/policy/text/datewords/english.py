"""Date and time words of English."""

from __future__ import annotations

import re

from wellkept.policy.text import numbers
from wellkept.policy.text.datewords.rules import MONTHS, YEAR, Match, Rules, clock, day_of

rules = Rules(r"(?<!\w)(?:{})", re.IGNORECASE)

_MONTH = r"""(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?
    |oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"""
_MONTH_KEYS = "|".join(MONTHS)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\b"
_LONG_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
_SEASON = r"(?:spring|summer|autumn|fall|winter)\b"
_DAY = r"(?:the\s)?(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_THEN_YEAR = rf"(?:-(?P<dashed>\d{{4}})|(?:,?\s+(?:of\s+)?(?P<year>{YEAR})\b)?)"
_PART = r"(?P<part>early|mid|middle\sof|late|(?:the\s)?(?:end|beginning|start)\sof)[\s-]"
_STEP = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "following": 1, "coming": 1}


def _month(name: str) -> str:
    return f"{MONTHS.index(name[:3].lower()) + 1:02d}"


def _weekday(name: str) -> int:
    return _WEEKDAYS.index(name[:3].lower()) + 1


def _season(name: str) -> str:
    return name.lower().replace("fall", "autumn")


def _part(word: str | None) -> str:
    if not word:
        return ""
    first = word.lower().removeprefix("the ")[0]
    return {"l": "/end", "m": "/mid"}.get(first) or ("/end" if "end" in word.lower() else "/start")


# ── months and years ─────────────────────────────────────────────────────────────────────────────────


@rules.add(_MONTH_KEYS, rf"(?P<month>{_MONTH})[\s-]{_DAY}(?![\d:%]|\s?[ap]\.?m){_THEN_YEAR}")
def _month_day(match: Match) -> str | None:
    return day_of(match["dashed"] or match["year"], _month(match["month"]), match["day"])


@rules.add(_MONTH_KEYS, rf"{_DAY}[\s-](?:of\s)?(?P<month>{_MONTH}){_THEN_YEAR}")
def _day_month(match: Match) -> str | None:
    return day_of(match["dashed"] or match["year"], _month(match["month"]), match["day"])


@rules.add(
    _MONTH_KEYS,
    rf"""(?:{_PART}
      |(?P<lead>(?P<sure>in|since|during|until|till|of|by|before|after)\s|(?:from|to|through|around|between|and)\s))?
    (?P<month>{_MONTH})(?!\s?\d{{1,2}}\b)(?:,?\s+(?:of\s+)?(?P<year>{YEAR})\b)?""",
)
def _month_alone(match: Match) -> str | None:
    name, sure = match["month"], bool(match["year"] or match["part"] or match["sure"])
    ambiguous = name.lower() in ("may", "march", "mar") or len(name) == 3 or name.islower()
    if not sure and ambiguous and (name.islower() or not match["lead"]):
        return None
    value = day_of(match["year"], _month(name))
    return value and value + _part(match["part"])


@rules.add(
    "last|next|this|past|coming",
    rf"(?P<which>last|next|this(?:\spast|\scoming)?|past|coming)\s(?P<month>(?!mar\b|may\b){_MONTH})",
)
def _near_month(match: Match) -> str | None:
    return f"{match['month'][:3].lower()}{_STEP[match['which'].lower().split()[-1]]:+d}"


@rules.add(
    "in |since |of |by |until |from |during |before |after |year |early |mid|late |end |start ",
    rf"""(?:{_PART}|(?P<lead>(?:in|since|by|until|from|during|before|after|year|of)\s))
    (?P<year>(?:19|20)\d\d)(?![\d,.:/-]\d|\d|%|\s?[a-z€$年])""",
)
def _year(match: Match) -> str | None:
    return match["year"] + _part(match["part"])


@rules.add(
    "spring|summer|autumn|fall|winter",
    rf"""(?P<season>{_SEASON})\s(?:of\s|in\s)?(?P<year>{YEAR})\b
    |(?P<lead>in\s(?:the\s)?)(?P<bare>spring|summer|autumn|winter)\b""",
)
def _season_of_year(match: Match) -> str | None:
    season = _season(match["season"] or match["bare"])
    return f"{match['year']}/{season}" if match["year"] else season


@rules.add("the ", r"(?P<lead>(?:on|by|until|before|since)\s)the\s(?P<day>[0-3]?\d)(?:st|nd|rd|th)\b(?!\sof)")
def _day_of_month(match: Match) -> str | None:
    return f"---{int(match['day']):02d}" if 1 <= int(match["day"]) <= 31 else None


_FEASTS = {
    "new year's day": "01-01", "valentine's day": "02-14", "halloween": "10-31", "christmas eve": "12-24",
    "christmas": "12-25", "new year's eve": "12-31",
}  # fmt: skip
_FEAST = "|".join(_FEASTS).replace(" ", r"\s").replace("'", "['’]")


@rules.add("new year|valentine|halloween|christmas", rf"(?P<feast>{_FEAST})\b(?:,?\s(?P<year>{YEAR})\b)?")
def _feast(match: Match) -> str | None:
    return day_of(match["year"], *_FEASTS[match["feast"].lower().replace("’", "'")].split("-"))


# ── near days ────────────────────────────────────────────────────────────────────────────────────────

_NEAR_DAYS = {
    "day before yesterday": "day-2", "day after tomorrow": "day+2", "yesterday": "day-1", "tomorrow": "day+1",
    "today": "day+0", "tonight": "day+0Tevening", "last night": "day-1Tevening", "this": "day+0",
}  # fmt: skip


@rules.add(
    "day|tomorrow|tonight|last night|morning|afternoon|evening",
    r"""(?:the\s)?(?P<day>day\s(?:before\syesterday|after\stomorrow)|yesterday|today|tomorrow|tonight|last\snight
    |this(?=\s(?:morning|afternoon|evening)))\b""",
)
def _near_day(match: Match) -> str | None:
    return _NEAR_DAYS[match["day"].lower()]


@rules.add(
    "last|past|previous|this|next|following|coming",
    rf"""(?:(?P<part>early|late|(?:the\s)?(?:end|beginning|start)\sof)\s)?
    (?P<which>last|past|previous|this|next|following|coming)\s
    (?:(?P<unit>week|month|year)\b(?:\s(?:on\s)?(?P<after>{_LONG_WEEKDAY}))?
      |(?P<weekend>weekend)\b|(?P<weekday>{_WEEKDAY})|(?P<season>{_SEASON}))""",
)
def _near(match: Match) -> str | None:
    step = _STEP[match["which"].lower()]
    if match["weekday"]:
        number = _weekday(match["weekday"])
        return f"wd{number}{step:+d}" if step else f"week+0/{number}"
    if match["weekend"]:
        return f"week{step:+d}/weekend"
    if match["season"]:
        return f"{_season(match['season'])}{step:+d}"
    after = f"/{_weekday(match['after'])}" if match["after"] else _part(match["part"])
    return f"{match['unit'].lower()}{step:+d}{after}"


@rules.add(
    "week",
    rf"""(?:(?P<weekday>{_WEEKDAY})\s(?:of\s)?(?P<which>last|this|next)\sweek
    |(?:the\s)?week(?P<end>end)?\sbefore\slast|(?P<bare>weekends?))\b""",
)
def _week(match: Match) -> str | None:
    if match["weekday"]:
        return f"week{_STEP[match['which'].lower()]:+d}/{_weekday(match['weekday'])}"
    if match["bare"]:
        return "weekend"
    return "week-2/weekend" if match["end"] else "week-2"


@rules.add(
    "day|mon|tue|wed|thu|fri|sat|sun",
    rf"{_LONG_WEEKDAY}|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?=[.,)]|\s+\d)",
    "weekday",
)
def _any_weekday(match: Match) -> str | None:
    return f"wd{_weekday(match[0])}"


_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(numbers.ENGLISH_WORDS)})"
_FEW = {"a": 1, "an": 1, "a couple of": 2, "a few": 3}
_COUNT = rf"(?P<n>an?\scouple\sof|a\sfew|an?|{_NUMBER})"
_UNIT = r"(?:minute|min|hour|day|week|month|year)s?\b"


def _count(word: str) -> int:
    if word.isdecimal():
        return int(word)
    word = " ".join(word.lower().split())
    return _FEW.get(word) or numbers.english(word)


def _unit(word: str) -> str:
    unit = word.lower().removesuffix("s")
    return "minute" if unit == "min" else unit


@rules.add(
    "ago|later|from now|from today|earlier|back|in ",
    rf"""{_COUNT}\s(?P<unit>{_UNIT})\s(?:(?P<ago>ago|earlier|back)|later|from\snow|from\stoday)\b
    |in\s(?:about\s)?(?P<m>an?|{_NUMBER})\s(?P<ahead>{_UNIT})""",
)
def _ago_or_later(match: Match) -> str | None:
    if match["ahead"]:
        return f"{_unit(match['ahead'])}+{_count(match['m'])}"
    return f"{_unit(match['unit'])}{'-' if match['ago'] else '+'}{_count(match['n'])}"


@rules.add(
    "last|past|next",
    rf"""(?P<lead>(?:in|over|during|for|within)\s)?
    (?:the\s(?P<which>last|past|next)\s(?:{_COUNT}\s)?|(?P<short>last|past|next)\s(?P<m>{_NUMBER})\s)
    (?P<unit>{_UNIT})""",
)
def _stretch(match: Match) -> str | None:
    ahead, unit = (match["which"] or match["short"]).lower() == "next", _unit(match["unit"])
    count = match["n"] or match["m"]
    if ahead and not count:
        return f"{unit}+1"
    return f"{'ahead' if ahead else 'past'}:{_count(count or 'a')}{unit}"


# ── times ────────────────────────────────────────────────────────────────────────────────────────────


@rules.add("am|pm|a.m|p.m", r"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])\s?(?P<pm>[ap])(?:m\b|\.m\.?)", "clock")
def _half_day(match: Match) -> str | None:
    return clock(int(match["hour"]), 0, pm=match["pm"])


@rules.add(
    "clock|past|quarter",
    rf"""(?:(?P<quarter>half\spast|quarter\spast|quarter\sto)\s(?P<hour>{_NUMBER})
    |(?P<full>{_NUMBER})(?P<tail>\s?o['’]clock))\b""",
    "clock",
)
def _spoken(match: Match) -> str | None:
    hour, quarter = _count(match["hour"] or match["full"]), (match["quarter"] or "").lower()
    if not 1 <= hour <= 12:
        return None
    if quarter.endswith("to"):
        return clock((hour - 2) % 12 + 1, 45)
    return clock(hour, 30 if quarter.startswith("half") else 15 if quarter else 0)


@rules.add(
    "morning|afternoon|evening|night|noon",
    r"""(?:in\sthe\s|(?<=this\s)|(?<=day\s)|(?<=tomorrow\s))(?P<part>morning|afternoon|evening)\b
    |(?:at\s|(?<=day\s)|(?<=tomorrow\s))(?P<night>night)\b|(?P<noon>noon|midnight)\b""",
    "part",
)
def _part_of_day(match: Match) -> str | None:
    if match["part"]:
        return f"T{match['part'].lower()}"
    return "Tevening" if match["night"] else "T12:00" if match["noon"].lower() == "noon" else "T00:00"
