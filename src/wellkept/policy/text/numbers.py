"""Quantities in text, Chinese and English: digits, numerals, number words, with the unit they count.

五岁, 5岁, ５岁 and "five years" are the same quantity, and so are ¥1,200, 1200元 and "一千二百块". Values are
decimal strings of any length, never floats: nothing is rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wellkept.policy.text import lazy
from wellkept.records import Record

_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xFFE5: 0xA5}

_UNITS: dict[str, str] = {
    "year": "岁|歲|周岁|年|years old|year-old|years-old|years|year|yrs|yr",
    "month": "个月|個月|月|months|month|mos",
    "week": "个星期|個星期|个礼拜|星期|礼拜|禮拜|周|週|weeks|week|wks",
    "day": "天|日|days|day",
    "hour": "个小时|個小時|个钟头|小时|小時|钟头|hours|hour|hrs|hr|h",
    "minute": "分钟|分鐘|minutes|minute|mins|min",
    "second": "秒钟|秒|seconds|secs|sec",
    "CNY": "元人民币|人民币|块钱|塊錢|元|块|塊|圆|RMB|CNY|yuan|¥",
    "USD": "美元|美金|美刀|刀|dollars|dollar|USD|bucks|$",
    "EUR": "欧元|歐元|euros|euro|EUR|€",
    "GBP": "英镑|英鎊|GBP|quid|£",
    "JPY": "日元|日圆|円|yen|JPY",
    "HKD": "港币|港元|港幣|HKD",
    "TWD": "新台币|新台幣|台币|台幣|TWD",
    "kg": "公斤|千克|kilograms|kilogram|kilos|kilo|kg",
    "jin": "市斤|斤",
    "g": "毫克|mg|克|grams|gram|g",
    "t": "吨|噸|tonnes|tons|ton",
    "lb": "磅|pounds|pound|lbs|lb",
    "km": "公里|千米|kilometers|kilometres|kilometer|kilometre|km",
    "cm": "厘米|公分|centimeters|centimetres|cm",
    "mm": "毫米|mm",
    "m": "米|公尺|meters|metres|meter|metre|m",
    "mile": "英里|miles|mile|mi",
    "foot": "英尺|feet|foot|ft",
    "inch": "英寸|inches|inch",
    "m2": "平方米|平米|平|㎡|square meters|square metres|sqm",
    "ml": "毫升|ml|mL",
    "l": "升|liters|litres|liter|litre|L",
    "degree": "摄氏度|度|℃|°C|°F|°|degrees|degree",
    "%": "%|percent|per cent|个百分点",
    "GB": "GB|GiB|gigabytes",
    "MB": "MB|MiB|megabytes",
    "KB": "KB|kB",
    "TB": "TB",
    "kcal": "千卡|大卡|卡路里|calories|kcal",
}
_UNIT_OF = {spelling: unit for unit, words in _UNITS.items() for spelling in words.split("|")}
_UNIT_OF |= {"毫克": "mg", "mg": "mg"}
_COUNTERS = (
    "个|個|只|隻|位|次|本|张|張|件|台|辆|輛|间|間|瓶|杯|人|名|条|條|家|顆|颗|套|份|遍|场|場|层"
    "|樓|楼|号楼|口|代|种|種"
    "|届|首|篇|句|页|頁|步|倍|折|票|年级|年級|分|盒|袋|包|碗|顿|頓|门|門|把|对|對|双|雙|群|盘"
    "|盤|部|支|枝|根|封|匹|头|頭|座"
)
_NOT_WORD = r"(?![A-Za-z])"

_DIGITS = dict(zip("零〇一二三四五六七八九", (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_DIGITS |= dict(zip("两兩壹贰貳叁參肆伍陆陸柒捌玖", (2, 2, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9), strict=True))
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_TENS = {"廿": "二十", "卅": "三十"}
NUMERALS = "".join([*_DIGITS, *_SMALL, *_LARGE, *_TENS])

# Words in which a numeral counts nothing.
NOT_NUMBERS = (
    "(?<=[唯统統同之])一|一起|一样|一樣|一些|一直|一定|一般|一切|一下|一边|一邊|一旦|一向|一致"
    "|一律|一共|一时|一時|一会|一會|一方面|一路|一带"
    "|一点儿|一点点|一點點|万一|萬一|千万别|千万不|千万要|十分(?!钟|鐘|之)|三明治|四川|四处|四周"
    "|五官|八卦|百度|百货|百合|百姓|千里|千方百计|万分|万能|万事|萬事|十足|零食|零钱|零錢|零件"
    "|零售|两边|兩邊|三里屯|一一"
)

_ONES = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    "|seventeen|eighteen|nineteen"
)
_TENFOLD = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ENGLISH = {word: value for value, word in enumerate(_ONES.split("|"))}
_ENGLISH |= {word: 10 * value for value, word in enumerate(_TENFOLD.split("|"), 2)}
_SCALES = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9}
ENGLISH_WORDS = tuple(word for word in _ENGLISH if word != "zero")
_MULTIPLIERS = {"百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8, "k": 3, "K": 3, "w": 4, "W": 4, "M": 6}
_MULTIPLIERS |= {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "bn": 9}


def _alternation(words: list[str]) -> str:
    """A regex of ``words``, longest first; Latin ones end at a word boundary."""
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(
        re.escape(word) + (_NOT_WORD if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )


_WORD = "|".join(sorted([*_ENGLISH, *_SCALES], key=len, reverse=True))
_HAN = f"[{NUMERALS}]"
_UNIT = _alternation([*_UNIT_OF, *_COUNTERS.split("|")])
_SCALE = _alternation(list(_MULTIPLIERS))
_NUMBER = lazy.compile(
    rf"(?:(?P<tall>[一二两三123]米(?:{_HAN}{{1,2}}|\d{{1,2}})(?!{_HAN}|\d|分))|(?={_HAN})(?:(?P<skip>{NOT_NUMBERS})"
    rf"|(?P<fraction>{_HAN}{{1,24}}分之{_HAN}{{1,24}}(?:[点點]{_HAN}{{1,24}})?)"
    rf"|(?P<han>{_HAN}{{1,24}}(?:[点點](?={_HAN}+(?!{_HAN}|分|刻|钟|鐘)){_HAN}{{1,24}})?))"
    r"|(?:(?<!\w)(?P<minus>[-−])(?=\d))?(?P<sign>(?:US|HK|NT)?\$|[¥€£]|\b(?:RMB|CNY|USD|EUR|GBP"
    r"|HKD)[ \t\xa0]?(?=\d))?[ \t\xa0]?"
    rf"(?P<arabic>\d+(?:,\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)(?:[ \t\xa0]?(?P<scale>{_SCALE}))?"
    rf"|\b(?=[a-zA-Z])(?i:(?P<english>(?:{_WORD})(?:(?:[ \t-]| and )(?:{_WORD}))*(?:(?<=[dn])s)?\b)))"
    rf"(?:[多几幾来餘余]?[ \t\xa0]?-?(?P<unit>{_UNIT}))?"
)
_CURRENCY = {"US$": "USD", "HK$": "HKD", "NT$": "TWD", "RMB": "CNY"}


@dataclass(frozen=True, slots=True)
class Quantity(Record):
    """A number of a text: ``value`` in decimal digits, ``unit`` in one spelling ("" for a plain count).

    ``article`` marks a lone 一 or "one" that counts no unit of measure: often no more than "a".
    """

    start: int
    end: int
    value: str
    unit: str = ""
    article: bool = False


def half_width(text: str) -> str:
    """``text`` with full-width digits, letters and signs as ASCII; offsets stay as they are."""
    return text if text.isascii() else text.translate(_HALF_WIDTH)


def find(text: str) -> Iterator[Quantity]:
    """The quantities of ``text`` in order. Every run of digits is in one; takes time linear in the text."""
    for match in _NUMBER.finditer(half_width(text)):
        if match["skip"] is None and (quantity := _quantity(match)):
            yield quantity


def _quantity(match: re.Match[str]) -> Quantity | None:
    unit = _UNIT_OF.get(match["unit"] or "", "")
    if sign := (match["sign"] or "").strip():
        unit = _CURRENCY.get(sign) or _UNIT_OF[sign]
    value, unit = _value(match, unit)
    value = f"-{value}" if match["minus"] else value
    lone = match["han"] or match["english"] or ""
    if not unit and not match["unit"] and lone and lone in "百千万萬亿億零":
        return None
    article = not unit and lone.lower() in ("一", "one")
    start, end = match.span()
    lead = len(match[0]) - len(match[0].lstrip())
    return Quantity(start + lead, end, value, unit, article)


def _value(match: re.Match[str], unit: str) -> tuple[str, str]:
    if match["tall"]:
        whole, _, rest = match["tall"].partition("米")
        return "".join(str(_DIGITS.get(sign, sign)) for sign in whole + rest.ljust(2, "0")), "cm"
    if match["fraction"]:
        return _fraction(match["fraction"])
    if match["arabic"]:
        return _shift(match["arabic"].replace(",", ""), _MULTIPLIERS.get(match["scale"] or "", 0)), unit
    if match["han"]:
        return chinese(match["han"]), unit
    return str(english(match["english"])), unit


def _shift(digits: str, places: int) -> str:
    """``digits`` times ten to the ``places``, without leading or trailing zeros that say nothing."""
    whole, _, rest = digits.partition(".")
    rest = rest.ljust(places, "0")
    whole, rest = (whole + rest[:places]).lstrip("0") or "0", rest[places:].rstrip("0")
    return f"{whole}.{rest}" if rest else whole


def _fraction(text: str) -> tuple[str, str]:
    below, _, above = text.partition("分之")
    if below == "百":
        return chinese(above), "%"
    return f"{chinese(above)}/{chinese(below)}", ""


def chinese(text: str) -> str:
    """The value of a Chinese numeral (三千五, 两百, 廿八, 一万二, 三点五, 二〇二四) in decimal digits."""
    for short, long in _TENS.items():
        text = text.replace(short, long)
    whole, _, rest = text.replace("點", "点").partition("点")
    if rest:
        return _shift(f"{chinese(whole)}.{''.join(str(_DIGITS.get(sign, 0)) for sign in rest)}", 0)
    if all(sign in _DIGITS for sign in whole):
        return _approximate(whole) or "".join(str(_DIGITS[sign]) for sign in whole).lstrip("0") or "0"
    return _approximate(whole) or str(_grouped(whole))


def _approximate(text: str) -> str | None:
    """五六 is "5~6" and 二三十 "20~30": neighbours that are no digits of one number."""
    if len(text) not in (2, 3) or any(sign not in _DIGITS for sign in text[:2]):
        return None
    low, high = _DIGITS[text[0]], _DIGITS[text[1]]
    scale = 1 if len(text) == 2 else (_SMALL | _LARGE).get(text[2], 0)
    return f"{low * scale}~{high * scale}" if scale and low and high == low + 1 else None


def _grouped(text: str) -> int:
    total = section = digit = 0
    scale = 1
    for sign in text:
        if sign in _DIGITS:
            digit = digit * 10 + _DIGITS[sign]
            scale = 1 if sign in "零〇" else scale
        elif sign in _SMALL:
            scale = _SMALL[sign]
            section, digit = section + (digit or 1) * scale, 0
        else:
            scale, part = _LARGE[sign], section + digit
            total = (total + part) * scale if 0 < total < scale else total + (part or 1) * scale
            section = digit = 0
    # 三千五 is 3500 and 一万二 is 12000: a last digit without a unit counts tenths of the one before.
    return total + section + digit * (scale // 10 if scale >= 100 and digit < 10 else 1)


def english(text: str) -> int:
    """The value of English number words such as "twenty-one" or "two hundred and five"."""
    total = current = 0
    for word in re.findall("[a-z]+", text.lower()):
        name = word if word in _ENGLISH or word in _SCALES else word.removesuffix("s")
        if name in _ENGLISH:
            current += _ENGLISH[name]
        elif name in ("hundred", "dozen"):
            current = (current or 1) * _SCALES[name]
        elif name in _SCALES:
            total, current = total + (current or 1) * _SCALES[name], 0
    return total + current
