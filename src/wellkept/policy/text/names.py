"""Names of persons and places in text, found by form: titles, surnames, capitals, suffixes.

It is tuned to overlook rather than to invent: a Chinese name without a title or a word like 我叫 is not
found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from wellkept.policy.text import lazy
from wellkept.records import Record


@dataclass(frozen=True, slots=True)
class Name(Record):
    """A name in a text."""

    start: int
    end: int
    kind: Literal["name", "place"]


_HAN = "\u4e00-\u9fff"
_SURNAME = (
    "(?:欧阳|上官|司马|诸葛"
    "|[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金贾夏韦付方邹熊白孟秦邱侯江尹薛"
    "張劉陳楊黃趙吳孫馬羅鄭謝許韓馮鄧蕭葉蘇呂盧鍾譚陸範賈韋鄒])"
)
_TITLE = (
    "老师|老師|先生|女士|小姐|太太|医生|醫生|大夫|教授|经理|經理|总监|主任|律师|律師|同学|同學"
    "|阿姨|叔叔|师傅|師傅|博士|警官|护士|護士|奶奶|爷爷|哥|姐|总(?![是共之结体有会能要])"
)
_FUNCTION = (
    "我你您他她它咱在到去从從于於住往回离離的是了不有和跟与與把被要想会會能就都也很这這那来來过"
    "過给給对對为為让讓请請找见見看说說叫用没沒吗嗎呢吧啊如果先再补補参參可以但因所又还還只才将將已"
)
_CHINESE_NAME = lazy.compile(
    rf"(?<![{_HAN}])[小老阿]{_SURNAME}(?![{_HAN}]?[时時候])"
    rf"|(?<=[和跟给給找叫让讓请請对對，。、是见見])[小老阿]{_SURNAME}"
    rf"|{_SURNAME}[^\W\d_a-zA-Z{_FUNCTION}]{{0,2}}?(?:{_TITLE})"
    rf"|(?:我叫|名叫|名字叫|名字是|取名叫?|叫做)(?P<named>[{_HAN}·]{{2,4}}|[A-Z][A-Za-z]+)"
    rf"|《(?P<title>[^《》\n]{{1,40}})》|[「“](?P<quoted>[^\W_]{{1,12}})[」”]"
)
CITIES = (
    "北京|上海|天津|重庆|广州|深圳|杭州|南京|苏州|成都|武汉|西安|长沙|郑州|青岛|济南|大连|沈阳"
    "|哈尔滨|长春|厦门|福州|宁波|合肥|昆明|贵阳|南宁|海口|三亚|拉萨|兰州|西宁|银川|乌鲁木齐"
    "|呼和浩特|太原|石家庄|南昌|无锡|珠海|香港|澳门|台北|高雄|台中|台湾|臺北|臺灣"
    "|四川|云南|浙江|江苏|广东|山东|河南|河北|湖南|湖北|福建|新疆|西藏|日本|韩国|美国|英国|法国"
    "|德国|泰国|新加坡|加拿大|澳大利亚|东京|京都|大阪|首尔|纽约|伦敦|巴黎|洛杉矶|旧金山|曼谷"
)
_PLACE_SUFFIX = (
    "大道|广场|廣場|公园|公園|机场|機場|火车站|火車站|高铁站|地铁站|车站|車站|医院|醫院|学校"
    "|學校|大学|大學|中学|小学|幼儿园|博物馆|博物館|图书馆|圖書館|体育馆|酒店|宾馆|餐厅|餐廳"
    "|饭店|咖啡馆|咖啡厅|咖啡店|商场|超市|银行|大厦|大廈|小区|动物园|植物园"
)
_SHORT_SUFFIX = "省|市|区|區|县|縣|镇|鎮|村|街|路|巷|岛|島|湖|山"
_INNER = rf"[^\W\d_a-zA-Z{_FUNCTION}]"
_CHINESE_PLACE = lazy.compile(
    rf"(?:{CITIES})(?:{_INNER}{{0,6}}?(?:{_PLACE_SUFFIX}|{_SHORT_SUFFIX})){{0,4}}(?:\d+号)?"
    rf"|(?:(?<=[{_FUNCTION}])|(?<![{_HAN}]))(?!一|城市|都市|走路|马路|道路|地区|时区|社区)"
    rf"(?:{_INNER}{{1,8}}?(?:{_PLACE_SUFFIX})|{_INNER}{{2,5}}?(?:{_SHORT_SUFFIX})(?:\d+号"
    rf"|[一二三四五六七八九十]+号)?)"
)
_CAPITALISED = r"[A-Z][\w'’-]{0,30}[a-z][\w'’-]{0,30}"
_LATIN = lazy.compile(
    rf"(?P<place>\b(?:in|at|from|near|to|visit|visited|visiting) (?:the )?)?(?<![\w@./-])"
    rf"(?P<name>{_CAPITALISED}(?: (?:of |de |van )?{_CAPITALISED}| [A-Z]\.(?= [A-Z]))*)(?![\w@/]|\.\w)",
    re.ASCII,
)
_LATIN_PLACE = lazy.compile(
    r"\b(?:Street|St|Road|Rd|Avenue|Ave|Airport|Hospital|Park|University|College|Museum|Station"
    r"|City|Hotel|Beach|Lake"
    r"|Mountain|Island|School|Restaurant|Cafe|Library|Square|Bridge)$"
)
_CODE = lazy.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HEADING = lazy.compile(r"(?:^|\n)[\s#*>|\d.+-]{1,11}$")
_PERSON_AFTER_TO = lazy.compile(r"\b(?:to|from) $")
_SENTENCE_START = lazy.compile(r"(?:^|[.!?:;\n。！？：；…\"“”「」()（）*#>|—-]|\b[A-Z][a-z]+:)\s*$")
_STOP = (
    "a an and as at but by do does did for from had has have he her here hey hi hello his how "
    "i i'm i've i'd i'll i’m i’ve "
    "if in is it its it's let let's like dr prof mr mrs ms my no not of oh ok okay on or our "
    "she so some sure thank thanks that the "
    "their them then there these they this those to was we well were what when where which who "
    "why will with wow yes yeah "
    "you your january february march april may june july august september october november "
    "december jan feb mar apr jun "
    "jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon "
    "tue wed thu fri sat sun "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays can could would should "
    "please good great just also "
    "user assistant system tool"
)
_NO_NAMES = frozenset(_STOP.split())


def find(text: str) -> Iterator[Name]:
    """The names and places of ``text``: Chinese ones first, then Latin ones, each in order."""
    if "```" in text:
        text = _CODE.sub(lambda block: " " * len(block[0]), text)
    if not text.isascii():
        for match in _CHINESE_NAME.finditer(text):
            group = match.lastgroup or 0
            yield Name(match.start(group), match.end(group), "name")
        for match in _CHINESE_PLACE.finditer(text):
            yield Name(match.start(), match.end(), "place")
    for match in _LATIN.finditer(text):
        if name := _latin(text, match):
            yield name


def _latin(text: str, match: re.Match[str]) -> Name | None:
    start, end = match.span("name")
    words = text[start:end].split(" ")
    while words and words[0].lower() in _NO_NAMES:
        start += len(words.pop(0)) + 1
    while words and words[-1].lower().removesuffix("'s").removesuffix("’s") in _NO_NAMES:
        end -= len(words.pop()) + 1
    if not words or _opens_sentence(text, start, end, len(words)) or _is_heading(text, start, end):
        return None
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    place = bool(match["place"]) and not _PERSON_AFTER_TO.search(match["place"])
    return Name(start, end, "place" if place or _LATIN_PLACE.search(text, start, end) else "name")


def _opens_sentence(text: str, start: int, end: int, words: int) -> bool:
    """Whether this is one capitalised word where any word is; before Chinese it is a name even so."""
    if words > 1 or (end < len(text) and "\u4e00" <= text[end] <= "\u9fff"):
        return False
    return _SENTENCE_START.search(text[max(0, start - 12) : start]) is not None


def _is_heading(text: str, start: int, end: int) -> bool:
    """Whether the words are a whole heading or label of Markdown: "## Next Steps", "- **Total Cost**: …"."""
    return text[end : end + 1] in ("", "\n", ":", "*", "|") and bool(
        _HEADING.search(text[max(0, start - 12) : start])
    )
