"""Date and time words of Chinese, simplified and traditional."""

from __future__ import annotations

from wellkept.policy.text.datewords.rules import YEAR, Match, Rules, clock, day_of, integer

rules = Rules()

_N = r"(?:\d{1,4}|[零〇一二三四五六七八九十两兩百廿卅]{1,5})"
_DAY = r"(?:[0-3]?\d|[廿卅]?[一二三四五六七八九十]{1,3})"
_WEEK = r"(?:周|週|星期|[礼禮]拜)"
_WEEK_KEYS = "周|週|星期|礼拜|禮拜"
_ANY_YEAR = rf"""(?:(?<!\d)(?P<year>{YEAR})\s?年
    |(?P<near>[去今明后後本]年|(?<!\w)前年|(?<=[，。,是在到])前年))的?"""

_PARTS = {"初": "start", "上": "start", "中": "mid", "底": "end", "末": "end", "下": "end"}
_NEAR_YEARS = {"前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2, "後": 2}
_NEAR_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "後": 2, "大后": 3, "大後": 3}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_SEASONS |= {"暑": "summerbreak", "寒": "winterbreak"}
_FEASTS = {
    "元旦": "01-01", "情人节": "02-14", "劳动节": "05-01", "五一": "05-01", "儿童节": "06-01",
    "六一": "06-01", "国庆": "10-01", "國慶": "10-01", "双十一": "11-11", "平安夜": "12-24",
    "圣诞": "12-25", "聖誕": "12-25",
}  # fmt: skip


def _year(match: Match) -> str | None:
    if match["year"]:
        return str(integer(match["year"]))
    return f"year{_NEAR_YEARS[match['near'][0]]:+d}" if match["near"] else None


@rules.add(
    "月",
    rf"""(?:{_ANY_YEAR}|(?<![\d.个個几]))\s?(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月份?
    (?:\s?(?P<day>{_DAY})(?:\s?[日号號]|(?=[^\w个個月天年周岁]|$))|的?(?P<part>初|[上中下]旬|底|末))?""",
)
def _month(match: Match) -> str | None:
    day = integer(match["day"]) if match["day"] else None
    value = day_of(_year(match), integer(match["month"]), day)
    return f"{value}/{_PARTS[match['part'][0]]}" if value and match["part"] else value


@rules.add(
    "年",
    rf"""{_ANY_YEAR}(?:(?P<season>[春夏秋冬][天季日]?|[暑寒]假)|(?P<part>初|底|末|中(?![国國学學])))?
    (?!\s?\d+\s?月)""",
)
def _year_or_part_of_it(match: Match) -> str | None:
    if match["season"]:
        return f"{_year(match)}/{_SEASONS[match['season'][0]]}"
    return f"{_year(match)}/{_PARTS[match['part']]}" if match["part"] else _year(match)


@rules.add(
    "号|號|日",
    rf"""(?<![月\d.年街路巷弄道楼樓院]){_DAY}
    (?:[号號](?![楼樓线線门門院馆館厅码碼])|日(?![本元子]))""",
)
def _day_of_month(match: Match) -> str | None:
    day = integer(match[0][:-1])
    return f"---{day:02d}" if 1 <= day <= 31 else None


@rules.add(
    "天|日|早|晚|夜",
    r"(?P<day>大?[前后後](?=天)|[昨今明](?=[天日晚早夜])|前(?=晚))(?:[天日]|(?=[晚早夜]))",
)
def _near_day(match: Match) -> str | None:
    return f"day{_NEAR_DAYS[match['day']]:+d}"


def _steps(word: str) -> int:
    return word.count("下") - word.count("上")


def _weekday_number(day: str) -> int:
    return "一二三四五六日".index(day.replace("天", "日")) + 1


@rules.add(
    _WEEK_KEYS,
    rf"(?P<which>(?:上{{1,3}}|下{{1,3}})[个個]?|[这這][个個]?|本){_WEEK}(?P<day>[一二三四五六日天末])?",
)
def _near_week(match: Match) -> str | None:
    week, day = f"week{_steps(match['which']):+d}", match["day"]
    if not day:
        return week
    return f"{week}/weekend" if day == "末" else f"{week}/{_weekday_number(day)}"


@rules.add(
    _WEEK_KEYS,
    rf"(?<![\d一二两三四五六七八九十个個上下这這本]){_WEEK}(?P<day>[一二三四五六日天])(?![周岁])",
    "weekday",
)
def _weekday(match: Match) -> str | None:
    return f"wd{_weekday_number(match['day'])}"


@rules.add("末", r"(?<![上下这這本个個])[周週]末")
def _weekend(_: Match) -> str | None:
    return "weekend"


@rules.add(
    "月",
    rf"""(?P<which>(?:上{{1,3}}|下{{1,3}})[个個]?|[这這][个個]?|本|当|當)月
    (?:的?(?P<part>初|[上中下]旬|底|末)|的?(?P<day>{_DAY})[日号號])?""",
)
def _near_month(match: Match) -> str | None:
    month = f"month{_steps(match['which']):+d}"
    if match["part"]:
        return f"{month}/{_PARTS[match['part'][0]]}"
    return f"{month}/{integer(match['day']):02d}" if match["day"] else month


@rules.add(
    "初|底|末|中",
    r"""(?<![\d个個上下这這本当當去今明后後前十一二三四五六七八九])
    (?P<unit>[月年])(?P<part>初|底|末|中旬?(?![国國学學秋]))""",
)
def _part_of_this(match: Match) -> str | None:
    return f"{'month' if match['unit'] == '月' else 'year'}+0/{_PARTS[match['part'][0]]}"


_UNITS = {"年": "year", "月": "month", "天": "day", "日": "day", "小": "hour", "钟": "hour", "分": "minute"}
_UNITS |= dict.fromkeys("周週星礼禮", "week")
_UNIT = rf"(?P<unit>年|[个個]月|[个個]?{_WEEK}|天|日|[个個]?小[时時]|[个個]钟头|分[钟鐘])"
_HALVES = {"year": "month-6", "month": "day-15", "day": "hour-12", "hour": "minute-30"}


def _unit(match: Match) -> str:
    return _UNITS[match["unit"].lstrip("个個")[0]]


@rules.add(
    "前|后|後",
    rf"""(?:(?P<n>{_N})|(?P<half>半)){_UNIT}
    (?:(?P<ago>之前|以前|前)|之?[后後]|以[后後])(?![面卫衛来來])""",
)
def _ago_or_later(match: Match) -> str | None:
    unit, sign = _unit(match), "-" if match["ago"] else "+"
    if match["half"]:
        return _HALVES[unit].replace("-", sign) if unit in _HALVES else None
    return f"{unit}{sign}{integer(match['n'])}"


@rules.add(
    "过去|過去|最近|近|未来|未來|接下来|接下來",
    rf"(?:(?P<past>[过過]去|最近|近)|未[来來]|接下[来來])的?[这這]?(?P<n>{_N}){_UNIT}",
)
def _stretch(match: Match) -> str | None:
    return f"{'past' if match['past'] else 'ahead'}:{integer(match['n'])}{_unit(match)}"


@rules.add("天|季|假", r"(?:(?<!\w)|(?<=[个個的是在，。,]))(?P<season>[春夏秋冬][天季]|[暑寒]假)")
def _season(match: Match) -> str | None:
    return _SEASONS[match["season"][0]]


@rules.add("|".join(_FEASTS), rf"(?:{_ANY_YEAR})?(?P<feast>{'|'.join(_FEASTS)})[节節]?")
def _feast(match: Match) -> str | None:
    return day_of(_year(match), *_FEASTS[match["feast"]].split("-"))


@rules.add(
    "点|點|时|時",
    r"""(?<![\d.第])
    (?:(?P<one>一)(?=[点點](?:[半整钟鐘]|[一二三四五六七八九十\d]+[分刻]))   # 一点 alone is "a little"
      |(?<=[上午晚晨夜早间間])(?P<first>一)
      |(?P<hour>[012]?\d|二?十[一二三四]?|[二三四五六七八九两兩]))
    (?:[点點](?P<half>半)
      |[点點时時](?P<quarter>[一三123])刻
      |[点點时時](?P<minute>[0-5]?\d|[一二三四五]?十[一二三四五六七八九]?|[一二三四五六七八九])分
      |[点點](?P<bare>[0-5]\d(?![\d年月%块元])|[一二三四五]?十[一二三四五六七八九]?(?![月年块元]))
      |[点點](?:整|[钟鐘])?(?![儿心评評赞贊建击擊])
      |时(?![间候刻代])|時(?![間候刻代]))""",
    "clock",
)
def _clock(match: Match) -> str | None:
    hour, written = integer(match["hour"] or "一"), match["minute"] or match["bare"]
    if written:
        return clock(hour, integer(written))
    return clock(hour, 30 if match["half"] else 15 * integer(match["quarter"]) if match["quarter"] else 0)


_PARTS_OF_DAY = {
    "凌晨": "night", "半夜": "night", "深夜": "late", "清晨": "morning", "早晨": "morning", "早上": "morning",
    "上午": "morning", "中午": "noon", "正午": "noon", "下午": "afternoon", "傍晚": "evening",
    "晚上": "evening", "夜里": "evening", "夜裡": "evening", "晚间": "evening", "晚間": "evening",
    "早": "morning", "晚": "evening", "夜": "evening",
}  # fmt: skip
_LONG_PARTS = "|".join(word for word in _PARTS_OF_DAY if len(word) == 2)


@rules.add("午|晚|晨|夜|早", rf"{_LONG_PARTS}|(?<=[今昨明前])[早晚夜]", "part")
def _part_of_day(match: Match) -> str | None:
    return f"T{_PARTS_OF_DAY[match[0]]}"
