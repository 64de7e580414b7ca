"""What a statement tells of which there is only one at a time: one home, one employer, one birthday.

Likes, allergies, languages, pets, children and whatever else is not in the table can be many.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from wellkept.policy.facts.gist import parsed
from wellkept.policy.text import lazy
from wellkept.policy.text.names import CITIES
from wellkept.records import Record
from wellkept_flash import words

_TRADE = (
    "员|师|工程|经理|总监|主管|主任|医生|大夫|护士|律师|会计|教授|顾问|助理|编辑|记者|司机|保安|开发|设计|运营|产品|销售"
    "|[画作专]家|财务|测试|研发|前端|后端|算法|市场|行政|人事"
)
_CITY = rf"(?:{CITIES}|[^在]{{1,4}}?[市县省镇村])"
_TOIL = r"(?:工作|上班|打工)"
_NOWHERE = (
    r"家(?!乐|得|具|居)|网上|线上|外面|晚上|夜|白天|早|周|外地|[国海]外|地铁|路上|学(?![校院])|忙|努力"
    rf"|{_CITY}{_TOIL}"
)
_DOING = rf"(?:{_TOIL}|任职|就职|供职|实习|教书|[任执]教|(?:做|当|担任)(?=.{{0,8}}(?:{_TRADE})))"
_AT_WORK = rf"在(?!{_NOWHERE})[^在想]{{1,16}}?{_DOING}"
_NO_FIRM = r"(?!home\b|night|weekends?\b|free\b|least\b|noon|peace|moment|fun\b)"

#: Topics, each with the names that a key gives it and the words that say it: the subject and words without a meaning
#: of their own ("is", "the") are left out, letters small, numbers in figures.
_TABLE: dict[str, tuple[str, str]] = {
    "home": (
        "home residence address city location 住址 居住地 住处 城市 现居地",
        r"(?:(?:live|living)(?: with [a-z ]{1,24}?)?|reside|residing|relocated?|settled?|based) (?:in|to|at|near)\b"
        r"|moved? (?:back )?(?:in|to|back|near)\b(?! with\b)(?!.*\b(?:team|role|job|position|department|project|desk|seat)\b)"
        r"|(?:home |current )?(?:address|residence) (?!book)|home in\b"
        r"|(?:家|现)?(?:居?住(?![院校持嘴])(?:址|处)?|居于|居住)(?:在|于|是)?|搬(?:家)?(?:到|去|回|进|往)|定居(?:在|于)?|移居|家在|现居|在[^在工上班做]{1,8}住(?!院)",
    ),
    "origin": (
        "hometown birthplace origin 家乡 籍贯 老家 出生地",
        r"hometown|home town|birthplace|(?:come |came |originally )?from\b|born in (?!\d)|老家|家乡|籍贯|出生(?:在|于|地)(?!\d)",
    ),
    "name": (
        "name 名字 姓名",
        r"(?:full |real |first )?names?\b|named\b|goes by\b|名叫|(?:名字|姓名)(?:叫|是|改成|改为)?|叫(?!外卖|车|醒|人|做|停|好)",
    ),
    "birthday": (
        "birthday birthdate 生日 出生日期",
        r"birthday|date of birth|born (?:on|(?:in )?(?=\d)|january|february|march|april|may|june|july|august|september|october"
        r"|november|december)|生日|(?:出生(?:于|日期是?)?|生于)(?=\d)|(?=\d{4}年.{0,6}出生)",
    ),
    "age": (
        "age 年龄",
        r"(?:age[ds]? |turned |now )?\d+ (?:years?|yrs?) old\b(?! when)|(?:turned|aged?) \d+|^\d+$"
        r"|(?:年龄|年纪)(?:是)?\d+|满?\d+(?:周?岁)(?!的?时|开始|起|就|那|以|之|前|后|学|入|上|到|才|儿|女|孩|的)",
    ),
    "marriage": (
        "marital marital_status relationship relationship_status 婚姻 婚姻状况 婚姻状态 感情状况",
        r"(?:got |get |getting |newly |happily |recently )*(?:married|single\b(?! parent| child| malt| minded)"
        r"|divorced|widow(?:er|ed)?\b"
        r"|engaged\b(?! in)|separated|unmarried|remarried)"
        r"|(?:ha(?:ve|s) |in )(?:new )?(?:girlfriend|boyfriend|fianc\w+|relationship)|broke up"
        r"|[已未再离新复]婚|结婚(?!纪念|照|证|戒)|订婚|离异|丧偶|单身|分居|分手|恋爱中|有(?:女|男)朋友",
    ),
    "employer": (
        "employer company workplace 公司 单位 雇主 工作单位 就职公司",
        r"(?:ha(?:ve|s) |got )?(?:new )?"
        rf"(?:(?:working|works?|employed)(?: full time)? (?:at|for)|employed by|job (?:at|with)) {_NO_FIRM}"
        rf"|employer\b|{_AT_WORK}|(?:就职|供职|任职)于|入职|跳槽到?|雇主|工作单位|公司是"
        r"|unemployed|retired|laid off|between jobs|(?:quit|left|lost) job"
        r"|失业|待业|退休|(?:从.{1,12})?[离辞]职|被裁",
    ),
    "workplace": ("", rf"在{_CITY}{_TOIL}"),
    "job": (
        "job title position occupation profession role 职位 职业 岗位 职务 工作",
        r"(?:working|works?) as\b|(?:job |current )?(?:job|title|profession|occupation|position|role)\b"
        r"|职[业位务](?:是|为)?|岗位|工作[是为]|升[任为职]",
    ),
    "school": (
        "school university 学校 大学",
        r"(?:studies|study|studying|student|enrolled) at\b"
        r"|在[^在]{1,12}?(?:读书|上学|念书|就读|读研|读博|读大学|读本科)|就读于",
    ),
    "grade": (
        "grade 年级",
        r"(?:in )?\d+(?:st|nd|rd|th)? grader?\b|in grade \d"
        r"|(?:上|读|念|在)(?:小学|初中|高中|大学)?\d年级|(?:上|读|念)[大初高研][1-6]",
    ),
    "phone": (
        "phone phone_number mobile 电话 手机 手机号 电话号码",
        r"(?:new )?(?:mobile |cell )?(?:(?:cell|tele|smart)?phone|mobile|cell)\b(?=.*\d{3}.*\d)|(?:手机|电话)(?=.*\d{5})",
    ),
    "e-mail": ("email e-mail mail 邮箱", r"(?:new )?(?:e ?mail|g?mail)\b(?=.*@)|(?:邮箱|邮件|电邮)(?=.*@)"),
    "height": ("height 身高", r"身高|height\b|\d+ ?(?:cm|centimet\w+) tall"),
    "weight": ("weight 体重", r"体重|weighs? |weight\b"),
    "blood type": ("blood_type 血型", r"血型|blood type"),
}  # fmt: skip
# The first one told of, and of those that begin together the first in the table; its group is its place there.
# None begins inside of an English word.
_NAMES = list(_TABLE)
_TOPIC = lazy.compile("(?<![a-z])(?:" + "|".join(f"({pattern})" for _, pattern in _TABLE.values()) + ")")
_KEYS = {key: name for name, (keys, _) in _TABLE.items() for key in keys.split()}
_FAVOURITE = lazy.compile(r"favou?rite (\w+)|最(?:喜欢|爱|喜爱)的?(.+?)是")
# British and American: favourite colour, favorite color.
_SPELLED = lazy.compile(r"(?<=[a-z][bdilmnpv])(?<!\bfl)our(?=s?\b|ite)")

# A trade is told like anything else that somebody is, and one may have two.
_TRADED = lazy.compile(
    rf"是(?:1?[名位个])?(?=.{{0,10}}(?:{_TRADE})$)(?!.*[会党团队成]员$)|是?1?[名位](?=.{{0,10}}(?:{_TRADE}))"
    r"|(?:(?:senior|junior|retired|school|software|head|registered|freelance) )*(?:nurse|teacher|engineer|doctor|lawyer"
    r"|accountant|designer|developer|programmer|manager|professor|journalist|architect|dentist|electrician|plumber|chef"
    r"|pilot|waiter|waitress|barber|carpenter|mechanic|firefighter|scientist|pharmacist|consultant|analyst)\b"
)
_CALLED = lazy.compile(r"\b(?:is|am|are|['’]s|['’]m) called\b", re.IGNORECASE)
# "was" tells of the past, but not in these.
_FORMS = lazy.compile(
    r"\b(live|reside|relocate|settle|move)s\b|\b(?:was|were) (born|named|promoted|hired|laid)\b"
    r"|\b(?:has|have) (moved|relocated|settled|turned|joined|retired|been|become|lost|left)\b|\b(?:may) (?=\d)"
)
# 住过, 住在…的时候: it was so, at least.
_PAST = lazy.compile(r"^过(?!敏)|的?时候|那[时年天]")
_LINK = lazy.compile(r"^(?: number| address|号码?|地址|日期)*(?:现?在)?(?:[换改变]成|[改变]为|[是为叫])?了?")
_WHEN_WORDS = (
    r"(?:\b(?:currently|now|nowadays|presently|recently|just|already|finally|s|new|own|current)\b"
    r"|现在|目前|如今|现|今年|已经?|刚刚?|最近|终于|后来|去年|上周|上个?月|的|自己|正|又|改|\d{4}(?:-\d\d){0,2}年?)\s*"
)
_WHEN = lazy.compile(_WHEN_WORDS)
_WHEN_AT_END = lazy.compile(rf"(?:^|(?<=\s)|(?<=[一-鿿]))(?:{_WHEN_WORDS})$")
# Those of whom one may have several; a longer name ("younger son") says which.
_MANY = lazy.compile(
    r"(?:sons?|daughters?|child|kids?|bab(?:y|ies)|brothers?|sisters?|friends?|colleagues?|coworkers?|classmates?|neighbou?rs?"
    r"|roommates?|cousins?|aunts?|uncles?|cats?|dogs?|pets?|students?|clients?|nephews?|nieces?)\s*"
    r"|儿子|女儿|孩子|小孩|娃|宝宝|哥哥?|弟弟?|姐姐?|妹妹?|朋友|同事|同学|邻居|室友|[表堂][哥姐弟妹]|叔叔|阿姨|舅舅|姑姑|猫|狗|宠物|学生|客户"
)
_SOME = lazy.compile(r"\b(?:have|has|had|got|owns?|knows?|met|one|another|when|if|like)\b|[有养认让听说为]")


@dataclass(frozen=True, slots=True)
class Topic(Record):
    """What a statement tells of which there is one at a time.

    Attributes:
        name: which it is.
        holder: of whom or what, as far as the words before it say; "" for the subject itself.
        many: there may be several holders that are called so, or several values after all: in doubt, ask.
        rest: the statement behind the words of the topic.
    """

    name: str
    holder: str
    many: bool
    rest: str


def keyed(attribute: str) -> str:
    """The topic that an attribute of a key names; "" for what can be many."""
    return _KEYS.get(attribute.strip().casefold(), "")


@lru_cache(maxsize=4096)
def topic(predicate: str) -> Topic | None:
    """The topic of a statement without its subject, or None when it tells nothing of the kind."""
    statement = bare(predicate)
    if statement.isdigit() and " " not in predicate.strip():
        return None  # "31" alone need not be an age; "is 31" is
    favourite = _FAVOURITE.search(statement)
    if favourite:
        named = f"favourite {american(favourite[1] or favourite[2])}"
        return Topic(named, statement[: favourite.start()].strip(), False, statement[favourite.end() :])
    match, trade = _TOPIC.search(statement), None
    if match is None or match.start():
        trade = _TRADED.match(statement)
    match = trade or match
    if match is None:
        return None
    holder, rest = _holder(statement[: match.start()]), _LINK.sub("", statement[match.end() :], count=1)
    if holder is None or _PAST.search(rest):
        return None
    many = bool(_MANY.fullmatch(holder)) or trade is not None
    return Topic("job" if trade else _NAMES[(match.lastindex or 0) - 1], holder, many, rest)


def american(text: str) -> str:
    """``text`` in small letters, with "color" for "colour"."""
    return _SPELLED.sub("or", text.casefold())


def tells(statement: str) -> bool:
    """Whether any topic is told of in a ``bare`` statement, wherever in it."""
    return not statement.isdigit() and _TOPIC.search(statement) is not None


def _holder(before: str) -> str | None:
    """Whose it is; None when the words before turn the statement into another one ("wants to", "has a friend
    who", "no longer")."""
    if not _is_plain(before):
        return None
    holder = before
    while match := _WHEN.match(holder):
        holder = holder[match.end() :]
    while holder and (match := _WHEN_AT_END.search(holder)):
        holder = holder[: match.start()]
    holder = holder.strip()
    if _SOME.search(holder):
        return None
    return holder.removesuffix("s") if holder.isascii() and not holder.endswith("ss") else holder


def _is_plain(text: str) -> bool:
    turns = (words.NOT, words.LIKE, words.HATE, words.MARK)
    return not any(token.kind in turns for token in words.tokens(text))


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """``text`` folded, without the subject it begins with and the words that say nothing."""
    said = parsed(_CALLED.sub(" named", text)).tokens
    kept = [token.text for token in said if token.kind != words.SKIP]
    while kept and (
        kept[0] in ("的", "users", "s") or words.is_subject(words.Token(kept[0], words.WORD, False))
    ):
        kept = kept[1:]
    spaced = "".join(
        f" {token}" if at and words.is_spaced(kept[at - 1][-1], token[0]) else token
        for at, token in enumerate(kept)
    )
    return _FORMS.sub(lambda match: match[1] or match[2] or match[3] or "5月", spaced)
