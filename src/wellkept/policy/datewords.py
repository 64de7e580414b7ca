"""Words for days and times in Chinese and English text, written in one short notation.

The notation follows ISO 8601 where that has a word for it, and is relative where the text is:

====================  ==========================================================================
``2023-05-08``        a day; ``2023-05`` a month; ``2023`` a year
``--05-08``           that day of some year; ``--05`` that month; ``---08`` that day of some month
``day-1``             yesterday; likewise ``week+1``, ``month+0``, ``year-1``, ``hour-2``, ``minute-30``
``week+1/3``          Wednesday of next week; ``week-1/weekend``
``wd3``               a Wednesday; ``wd3-1`` the last one before the day of reference, ``wd3+1`` the next
``year-1/summer``     also ``2023/summer``, ``summer``, ``--06/end``, ``month+0/start``, ``year-1/06-30``
``past:3day``         the three days up to now; ``ahead:1week`` the week from now on
``T15:30``            a time; ``T3:30`` where the text does not say which half of the day; ``Tevening``
====================  ==========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wellkept.policy import numbers
from wellkept.records import Record

Match: TypeAlias = re.Match[str]
Kind: TypeAlias = Literal["date", "weekday", "clock", "part"]


@dataclass(frozen=True, slots=True)
class Word(Record):
    """One expression of a text and what it means in the notation above."""

    start: int
    end: int
    kind: Kind
    value: str


@dataclass(frozen=True, slots=True)
class Rule(Record):
    """``pattern`` is tried where the lower-case text has one of ``keys``; ``value`` refuses with None."""

    keys: tuple[str, ...]
    pattern: re.Pattern[str]
    value: Callable[[Match], str | None]
    kind: Kind = "date"


_RULES: list[Rule] = []

_N = r"(?:\d{1,4}|[零〇一二三四五六七八九十两兩百廿卅]{1,5})"
_DAY = r"(?:[0-3]?\d|[廿卅]?[一二三四五六七八九十]{1,3})"
_YEAR = r"(?:(?:19|20)\d\d|[一二][〇零九一二三四五六七八]{3})"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAYS = "mon tue wed thu fri sat sun"
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\b"
_LONG_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
_UNIT = r"(?:minute|min|hour|day|week|month|year)s?\b"
_SEASONS = {
    "春": "spring",
    "夏": "summer",
    "秋": "autumn",
    "冬": "winter",
    "暑": "summerbreak",
    "寒": "winterbreak",
}
_PARTS = {"初": "start", "上": "start", "中": "mid", "底": "end", "末": "end", "下": "end"}
_YEARS = {"前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2, "後": 2}
_FEASTS = {
    "元旦": "01-01", "情人节": "02-14", "劳动节": "05-01", "五一": "05-01", "儿童节": "06-01", "六一": "06-01",
    "国庆": "10-01", "國慶": "10-01", "双十一": "11-11", "平安夜": "12-24", "圣诞": "12-25", "聖誕": "12-25",
    "new year's day": "01-01", "valentine's day": "02-14", "halloween": "10-31", "christmas eve": "12-24",
    "christmas": "12-25", "new year's eve": "12-31",
}  # fmt: skip
_ENGLISH_N = {"a": 1, "an": 1, "a couple of": 2, "a few": 3, "couple": 2}


def _rule(
    keys: str, pattern: str, kind: Kind = "date", flags: int = 0
) -> Callable[[Callable[[Match], str | None]], Callable[[Match], str | None]]:
    def add(value: Callable[[Match], str | None]) -> Callable[[Match], str | None]:
        _RULES.append(Rule(tuple(keys.split("|")), re.compile(pattern, flags), value, kind))
        return value

    return add


def _english(keys: str, pattern: str, kind: Kind = "date") -> Callable[..., Callable[[Match], str | None]]:
    return _rule(keys, rf"(?<!\w)(?:{pattern})", kind, re.IGNORECASE)


def _int(text: str) -> int:
    return int(text) if text.isdecimal() else int(numbers.chinese(text).partition("~")[0])


def _month(name: str) -> str:
    return f"{MONTHS.index(name[:3].lower()) + 1:02d}"


def _weekday(name: str) -> int:
    return _WEEKDAYS.split().index(name[:3].lower()) + 1


def _date(year: str | None, month: int | str, day: int | str | None = None) -> str | None:
    """Year (or nothing), month and day in the notation; None when there is no such day."""
    month, number = int(month), int(day or 1)
    longest = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= month <= 12 or not 1 <= number <= longest[month - 1]:
        return None
    lead = f"{year}-" if year and year.isdecimal() else f"{year}/" if year else "--"
    return f"{lead}{month:02d}" + (f"-{number:02d}" if day else "")


# ── Chinese ──────────────────────────────────────────────────────────────────────────────────────────


def _chinese_year(match: Match) -> str | None:
    if match["year"]:
        return str(_int(match["year"]))
    return f"year{_YEARS[match['rel'][0]]:+d}" if match["rel"] else None


_ANY_YEAR = (
    rf"(?:(?<!\d)(?P<year>{_YEAR})\s?年|(?P<rel>[去今明后後本]年|(?<!\w)前年|(?<=[，。是在到])前年))的?"
)


@_rule(
    "月",
    rf"(?:{_ANY_YEAR}|(?<![\d.个個几]))\s?(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月份?"
    rf"(?:\s?(?P<day>{_DAY})(?:\s?[日号號]|(?=[^\w个個月天年周岁]|$))|的?(?P<part>初|[上中下]旬|底|末))?",
)
def _chinese_month(match: Match) -> str | None:
    day = _int(match["day"]) if match["day"] else None
    value = _date(_chinese_year(match), _int(match["month"]), day)
    return f"{value}/{_PARTS[match['part'][0]]}" if value and match["part"] else value


@_rule(
    "年",
    rf"{_ANY_YEAR}(?:(?P<season>[春夏秋冬](?:天|季|日)?|[暑寒]假)|(?P<part>初|底|末|中(?![国國学學])))?(?!\s?\d+\s?月)",
)
def _chinese_year_part(match: Match) -> str | None:
    part = _SEASONS[match["season"][0]] if match["season"] else _PARTS[match["part"]] if match["part"] else ""
    return f"{_chinese_year(match)}/{part}" if part else _chinese_year(match)


@_rule(
    "号|號|日", rf"(?<![月\d.年街路巷弄道楼院]){_DAY}(?:[号號](?![楼樓线線门門院馆館厅码碼])|日(?![本元子]))"
)
def _chinese_day(match: Match) -> str | None:
    day = _int(match[0][:-1])
    return f"---{day:02d}" if 1 <= day <= 31 else None


_NEAR_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "後": 2, "大后": 3, "大後": 3}


@_rule(
    "天|日|早|晚|夜", r"(?P<day>大?[前后後](?=天)|[昨今明](?=[天日晚早夜])|前(?=[晚]))(?:[天日]|(?=[晚早夜]))"
)
def _near_day(match: Match) -> str | None:
    return f"day{_NEAR_DAYS[match['day']]:+d}"


def _steps(word: str) -> int:
    return word.count("下") - word.count("上")


@_rule(
    "周|週|星期|礼拜|禮拜",
    r"(?P<which>[上下]{1,3}个?|[上下]個|[这這][个個]?|本)(?:周|週|星期|[礼禮]拜)(?P<day>[一二三四五六日天末])?",
)
def _chinese_week(match: Match) -> str | None:
    week, day = f"week{_steps(match['which']):+d}", match["day"]
    if not day:
        return week
    return f"{week}/weekend" if day == "末" else f"{week}/{_chinese_weekday_number(day)}"


def _chinese_weekday_number(day: str) -> int:
    return "一二三四五六日".index(day.replace("天", "日")) + 1


@_rule(
    "周|週|星期|礼拜|禮拜",
    r"(?<![\d一二两三四五六七八九十个個上下这這本])(?:[周週]|星期|[礼禮]拜)(?P<day>[一二三四五六日天])(?![周岁])",
    "weekday",
)
def _chinese_weekday(match: Match) -> str | None:
    return f"wd{_chinese_weekday_number(match['day'])}"


@_rule("末|weekend", r"(?<![上下这這本个個])[周週]末|\b(?i:(?<!last )(?<!this )(?<!next )weekends?)\b")
def _weekend(_: Match) -> str | None:
    return "weekend"


@_rule(
    "月",
    rf"(?P<which>[上下]{{1,3}}[个個]?|[这這][个個]?|本|当|當)月(?:的?(?P<part>初|[上中下]旬|底|末)|的?(?P<day>{_DAY})[日号號])?",
)
def _chinese_near_month(match: Match) -> str | None:
    month = f"month{_steps(match['which']):+d}"
    if match["part"]:
        return f"{month}/{_PARTS[match['part'][0]]}"
    return f"{month}/{_int(match['day']):02d}" if match["day"] else month


@_rule(
    "初|底|末|中",
    r"(?<![\d个個上下这這本当當去今明后後前十一二三四五六七八九])(?P<unit>[月年])(?P<part>初|底|末|中旬?(?![国國学學秋]))",
)
def _bare_part(match: Match) -> str | None:
    return f"{'month' if match['unit'] == '月' else 'year'}+0/{_PARTS[match['part'][0]]}"


_CHINESE_UNITS = {
    "年": "year",
    "月": "month",
    "星期": "week",
    "礼拜": "week",
    "禮拜": "week",
    "周": "week",
    "週": "week",
}
_CHINESE_UNITS |= {
    "天": "day",
    "日": "day",
    "小时": "hour",
    "小時": "hour",
    "钟头": "hour",
    "分钟": "minute",
    "分鐘": "minute",
}
_CHINESE_UNIT = (
    r"(?P<unit>年|[个個]月|[个個]?星期|[个個]?[礼禮]拜|周|週|天|日|[个個]?小[时時]|[个個]钟头|分[钟鐘])"
)
_HALVES = {"year": "month-6", "month": "day-15", "day": "hour-12", "hour": "minute-30"}


def _chinese_unit(match: Match) -> str:
    return _CHINESE_UNITS[match["unit"].lstrip("个個")]


@_rule(
    "前|后|後",
    rf"(?:(?P<n>{_N})|(?P<half>半)){_CHINESE_UNIT}(?:(?P<ago>之前|以前|前)|之?[后後]|以[后後])(?![面卫衛来來])",
)
def _chinese_ago(match: Match) -> str | None:
    unit = _chinese_unit(match)
    sign = "-" if match["ago"] else "+"
    if match["half"]:
        return _HALVES[unit].replace("-", sign) if unit in _HALVES else None
    return f"{unit}{sign}{_int(match['n'])}"


@_rule(
    "过去|過去|最近|近|未来|未來|接下来|接下來",
    rf"(?:(?P<past>过去|過去|最近|近)|未[来來]|接下[来來])的?这?(?P<n>{_N}){_CHINESE_UNIT}",
)
def _chinese_range(match: Match) -> str | None:
    return f"{'past' if match['past'] else 'ahead'}:{_int(match['n'])}{_chinese_unit(match)}"


@_rule(
    "天|季|假",
    r"(?<!\w)(?P<season>[春夏秋冬](?:天|季)|[暑寒]假)|(?<=[个個今去明年的是在，。])(?P<later>[春夏秋冬](?:天|季)|[暑寒]假)",
)
def _chinese_season(match: Match) -> str | None:
    return _SEASONS[match[0][0]]


@_rule(
    "|".join(_FEASTS),
    rf"(?:{_ANY_YEAR})?(?P<feast>(?i:{'|'.join(_FEASTS)}))[节節]?(?:\s(?P<after>{_YEAR})\b)?",
)
def _feast(match: Match) -> str | None:
    month, day = _FEASTS[match["feast"].lower()].split("-")
    return _date(_chinese_year(match) or match["after"], month, day)


# ── digits ───────────────────────────────────────────────────────────────────────────────────────────


@_rule("-|/|.", r"(?<![\d.\-/])(?P<year>\d{4})([-/.])(?P<month>\d{1,2})(?:\2(?P<day>\d{1,2}))(?!\d|[-/]\d)")
def _iso(match: Match) -> str | None:
    return _date(match["year"], match["month"], match["day"])


@_rule("-", r"(?<![\d.\-/])(?P<year>(?:19|20)\d\d)-(?P<month>0\d|1[0-2])(?![\d-])")
def _iso_month(match: Match) -> str | None:
    return _date(match["year"], match["month"])


@_rule("/|-|.", r"(?<![\d.\-/])(?P<a>\d{1,2})([-/.])(?P<b>\d{1,2})\2(?P<year>(?:19|20)\d\d)(?!\d|[-/.]\d)")
def _american(match: Match) -> str | None:
    return _date(match["year"], match["a"], match["b"]) or _date(match["year"], match["b"], match["a"])


@_rule(
    "/",
    r"(?P<lead>\b(?i:on|by|before|after|since|until|from|due|to)\s)?(?<![\d.\-/$])(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/%]|\.\d)",
)
def _slash(match: Match) -> str | None:
    fraction = int(match["month"]) < int(match["day"]) <= 10
    return None if fraction and not match["lead"] else _date(None, match["month"], match["day"])


# ── English ──────────────────────────────────────────────────────────────────────────────────────────

_MONTH_KEYS = "|".join(MONTHS)
_OPTIONAL_YEAR = rf"(?:,?\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"


@_english(
    _MONTH_KEYS,
    rf"(?P<month>{_MONTH})[\s-](?:the\s)?(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:%]|\s?[ap]m)(?:-(?P<dashed>\d{{4}})|{_OPTIONAL_YEAR})",
)
def _month_day(match: Match) -> str | None:
    return _date(match["dashed"] or match["year"], _month(match["month"]), match["day"])


@_english(
    _MONTH_KEYS,
    rf"(?:the\s)?(?P<day>[0-3]?\d)(?:st|nd|rd|th)?[\s-](?:of\s)?(?P<month>{_MONTH})(?:-(?P<dashed>\d{{4}})|{_OPTIONAL_YEAR})",
)
def _day_month(match: Match) -> str | None:
    return _date(match["dashed"] or match["year"], _month(match["month"]), match["day"])


_FRACTION = (
    r"(?:(?P<part>early|mid|middle\sof|late|(?:the\s)?end\sof|(?:the\s)?(?:beginning|start)\sof)[\s-])"
)
_LEAD = r"(?:in|since|until|till|by|from|to|during|of|through|before|after|around|between|and)\s"


def _part(word: str | None) -> str:
    if not word:
        return ""
    word = word.lower().removeprefix("the ")
    return "/end" if word[0] == "l" or word[:3] == "end" else "/mid" if word[0] == "m" else "/start"


@_english(
    _MONTH_KEYS, rf"(?:{_FRACTION}|(?P<lead>{_LEAD}))?(?P<month>{_MONTH})(?!\s?\d{{1,2}}\b){_OPTIONAL_YEAR}"
)
def _english_month(match: Match) -> str | None:
    name = match["month"]
    certain = match["year"] or match["part"] or match["lead"] or len(name) > 3
    if (
        not certain
        or name.islower()
        or (name == "May" or name == "March")
        and not (match["year"] or match["part"] or match["lead"])
    ):
        return None
    value = _date(match["year"], _month(name))
    return value and value + _part(match["part"])


_STEP = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "following": 1, "coming": 1}


@_english(
    "last|next|this|past|coming",
    rf"(?P<which>last|next|this(?:\spast|\scoming)?|past|coming)\s(?P<month>(?!mar\b|may\b){_MONTH})",
)
def _near_named_month(match: Match) -> str | None:
    return f"{match['month'][:3].lower()}{_STEP[match['which'].lower().split()[-1]]:+d}"


@_english(
    "day|tomorrow|tonight|last night|morning|afternoon|evening",
    r"(?:the\s)?day\s(?:before\syesterday|after\stomorrow)\b|yesterday\b|today\b|tomorrow\b|tonight\b|last\snight\b"
    r"|this\s(?=morning|afternoon|evening)",
)
def _near_english_day(match: Match) -> str | None:
    word = match[0].lower().strip().removeprefix("the ")
    near = {
        "day before yesterday": "day-2",
        "day after tomorrow": "day+2",
        "yesterday": "day-1",
        "tomorrow": "day+1",
    }
    return near.get(word) or {"tonight": "day+0Tevening", "last night": "day-1Tevening"}.get(word, "day+0")


@_english(
    "last|past|previous|this|next|following|coming",
    rf"(?:(?P<part>early|late|(?:the\s)?end\sof|(?:the\s)?(?:beginning|start)\sof)\s)?(?P<which>last|past|previous|this|next|following|coming)\s(?:(?P<unit>week|month|year)\b(?!s)(?:\s(?:on\s)?(?P<after>{_LONG_WEEKDAY}))?|(?P<weekend>weekend)|(?P<weekday>{_WEEKDAY})|(?P<season>spring|summer|autumn|fall|winter)\b)",
)
def _near_english(match: Match) -> str | None:
    step = _STEP[match["which"].lower()]
    if match["weekday"]:
        return f"wd{_weekday(match['weekday'])}{step:+d}" if step else f"week+0/{_weekday(match['weekday'])}"
    if match["weekend"]:
        return f"week{step:+d}/weekend"
    if match["season"]:
        return f"{match['season'].lower().replace('fall', 'autumn')}{step:+d}"
    after = f"/{_weekday(match['after'])}" if match["after"] else _part(match["part"])
    return f"{match['unit'].lower()}{step:+d}{after}"


@_english(
    "week",
    rf"(?:(?P<weekday>{_WEEKDAY})\s(?:of\s)?(?P<which>last|this|next)\sweek|(?:the\s)?week(?P<end>end)?\sbefore\slast)\b",
)
def _weekday_of_week(match: Match) -> str | None:
    if match["weekday"]:
        return f"week{_STEP[match['which'].lower()]:+d}/{_weekday(match['weekday'])}"
    return "week-2/weekend" if match["end"] else "week-2"


@_english(
    "day|mon|tue|wed|thu|fri|sat|sun",
    rf"(?:{_LONG_WEEKDAY}|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?=[.,)]|\s+\d))",
    "weekday",
)
def _english_weekday(match: Match) -> str | None:
    return f"wd{_weekday(match[0])}"


_ENGLISH_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(numbers.ENGLISH_WORDS)})"
_ENGLISH_COUNT = rf"(?P<n>an?|an?\scouple\sof|a\sfew|{_ENGLISH_NUMBER})"


def _count(word: str) -> int:
    if word.isdecimal():
        return int(word)
    word = re.sub(r"\s", " ", word.lower())
    return _ENGLISH_N[word] if word in _ENGLISH_N else numbers.english(word)


def _unit(word: str) -> str:
    return word.lower().removesuffix("s").replace("min", "minute").replace("minuteute", "minute")


@_english(
    "ago|later|from now|earlier|in ",
    rf"(?:{_ENGLISH_COUNT}\s(?P<unit>{_UNIT})\s(?:(?P<ago>ago|earlier|back)|later|from\snow|from\stoday)\b|in\s(?:about\s)?(?P<m>\d{{1,3}}|an?|{'|'.join(numbers.ENGLISH_WORDS)})\s(?P<later>{_UNIT}))",
)
def _english_ago(match: Match) -> str | None:
    if match["later"]:
        return f"{_unit(match['later'])}+{_count(match['m'])}"
    return f"{_unit(match['unit'])}{'-' if match['ago'] else '+'}{_count(match['n'])}"


@_english(
    "last|past|next",
    rf"(?P<lead>(?:in|over|during|for|within)\s)?(?:the\s(?P<which>last|past|next)\s(?:{_ENGLISH_COUNT}\s)?|(?P<short>last|past|next)\s(?P<m>{_ENGLISH_NUMBER})\s)(?P<unit>{_UNIT})",
)
def _english_range(match: Match) -> str | None:
    ahead, unit = (match["which"] or match["short"]).lower() == "next", _unit(match["unit"])
    count = match["n"] or match["m"]
    if ahead and not count:
        return f"{unit}+1"
    return f"{'ahead' if ahead else 'past'}:{_count(count or 'a')}{unit}"


@_english(
    "spring|summer|autumn|fall|winter",
    rf"(?P<season>spring|summer|autumn|fall|winter)\s(?:of\s|in\s)?(?P<year>{_YEAR})\b|(?P<lead>in\s(?:the\s)?)(?P<bare>spring|summer|autumn|winter)\b",
)
def _english_season(match: Match) -> str | None:
    season = (match["season"] or match["bare"]).lower().replace("fall", "autumn")
    return f"{match['year']}/{season}" if match["year"] else season


@_english(
    "in |since |of |by |until |from |before |after |year ",
    rf"(?:{_FRACTION}|(?P<lead>(?:in|since|by|until|from|during|before|after|year|of)\s))(?P<year>(?:19|20)\d\d)(?![\d,.:/-]\d|\d|%|\s?[a-z€$年])",
)
def _english_year(match: Match) -> str | None:
    return match["year"] + _part(match["part"])


@_english("the ", r"(?P<lead>(?:on|by|until|before|since)\s)the\s(?P<day>[0-3]?\d)(?:st|nd|rd|th)\b(?!\sof)")
def _english_day(match: Match) -> str | None:
    return f"---{int(match['day']):02d}" if 1 <= int(match["day"]) <= 31 else None


# ── times ────────────────────────────────────────────────────────────────────────────────────────────


def _clock(hour: int, minute: int, *, pm: str = "", sure: bool = False) -> str | None:
    if pm:
        hour, sure = hour % 12 + (12 if pm[0] in "pP" else 0), True
    if hour > 24 or minute > 59:
        return None
    return f"T{hour % 24:02d}:{minute:02d}" if sure or hour > 12 or hour == 0 else f"T{hour}:{minute:02d}"


@_rule(
    ":",
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d:])(?:\s?(?P<pm>[apAP])\.?[mM]\b\.?)?(?P<zone>Z\b|[+-]\d\d:?\d\d\b)?",
    "clock",
)
def _digital(match: Match) -> str | None:
    value = _clock(
        int(match["hour"]), int(match["minute"]), pm=match["pm"] or "", sure=match["hour"][0] == "0"
    )
    return value and value + (match["zone"] or "")


@_english("am|pm|a.m|p.m", r"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])\s?(?P<pm>[ap])(?:m\b|\.m\.?)", "clock")
def _half_day(match: Match) -> str | None:
    return _clock(int(match["hour"]), 0, pm=match["pm"])


@_english(
    "clock|past|quarter",
    rf"(?:(?P<quarter>half\spast|quarter\spast|quarter\sto)\s)?(?P<hour>1[0-2]|[1-9]|{'|'.join(numbers.ENGLISH_WORDS)})\b(?P<tail>\s?o['’]clock)?",
    "clock",
)
def _spoken(match: Match) -> str | None:
    hour, lead = _count(match["hour"]), (match["quarter"] or "").lower()
    if not (lead or match["tail"]) or hour > 12:
        return None
    if lead.endswith("to"):
        return _clock((hour - 2) % 12 + 1, 45)
    return _clock(hour, 30 if lead.startswith("half") else 15 if lead else 0)


@_rule(
    "点|點|时|時",
    r"(?<![\d.第])(?:(?P<one>一)(?=[点點](?:[半整钟鐘]|[一二三四五六七八九十\d]+[分刻]))|(?<=[上午晚晨夜早间間])(?P<day>一)"
    r"|(?P<hour>[012]?\d|二?十[一二三四]?|[二三四五六七八九两兩]))"
    r"(?:[点點](?P<half>半)|[点點时時](?P<quarter>[一三123])刻|[点點时時](?P<minute>[0-5]?\d|[一二三四五]?十?[一二三四五六七八九]?)分"
    r"|[点點](?P<bare>[0-5]\d(?![\d年月%块元])|[一二三四五]?十[一二三四五六七八九]?(?![月年块元]))|[点點](?:整|[钟鐘])?(?![儿心评評赞贊建击擊])|时(?![间候刻代])|時(?![間候刻代]))",
    "clock",
)
def _chinese_clock(match: Match) -> str | None:
    hour = _int(match["hour"] or "一")
    minute = 30 if match["half"] else 15 * _int(match["quarter"]) if match["quarter"] else 0
    written = match["minute"] or match["bare"]
    return _clock(hour, _int(written) if written else minute)


_CHINESE_PARTS = {
    "凌晨": "night", "半夜": "night", "深夜": "late", "清晨": "morning", "早晨": "morning", "早上": "morning",
    "上午": "morning", "中午": "noon", "正午": "noon", "下午": "afternoon", "傍晚": "evening", "晚上": "evening",
    "夜里": "evening", "夜裡": "evening", "晚间": "evening", "晚間": "evening",
}  # fmt: skip


@_rule("午|晚|晨|夜|早", rf"{'|'.join(_CHINESE_PARTS)}|(?<=[今昨明前])(?:晚|早|夜)", "part")
def _chinese_part(match: Match) -> str | None:
    return f"T{_CHINESE_PARTS.get(match[0]) or ('morning' if match[0] == '早' else 'evening')}"


@_english(
    "morning|afternoon|evening|night|noon",
    r"(?:in\sthe\s|(?<=this\s)|(?<=day\s)|(?<=tomorrow\s))(?P<part>morning|afternoon|evening)\b|(?:at|(?<=day)|(?<=tomorrow))\s(?P<night>night)\b|(?P<noon>(?<!after)noon|midnight)\b",
    "part",
)
def _english_part(match: Match) -> str | None:
    if match["part"]:
        return f"T{match['part'].lower()}"
    return "Tevening" if match["night"] else "T12:00" if match["noon"].lower() == "noon" else "T00:00"


def _start(match: Match) -> int:
    """Where the word begins behind a preposition that its pattern needed to be sure."""
    lead = match.end("lead") if "lead" in match.re.groupindex else -1
    return max(lead, match.start())


def words(text: str) -> Iterator[Word]:
    """The date and time words of ``text``, in order, the longest where they overlap."""
    folded = numbers.half_width(text)
    lower = folded.lower()
    found = [
        Word(_start(match), match.end(), rule.kind, value)
        for rule in _RULES
        if any(key in lower for key in rule.keys)
        for match in rule.pattern.finditer(folded)
        if (value := rule.value(match))
    ]
    found.sort(key=lambda word: (word.start, -word.end))
    end = 0
    for word in found:
        if word.start >= end:
            yield word
            end = word.end
