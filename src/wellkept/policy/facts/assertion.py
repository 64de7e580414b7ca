"""Is a thing asserted, or only believed, feared, supposed, told by others, taken back or a joke? From the words around it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wellkept.policy.facts.plainwords import ITSELF
from wellkept.policy.text import lazy

_BEFORE_ZH = (
    "以为|怀疑|(?<![哪不可])怕(?![^，,]{1,2}[，,])|担心|应该(?:是|会)?",  # believed or feared
    "梦见|梦到|做梦|(?:游戏|故事|剧本?|电影|电视剧?|书|梦|歌|诗|段子|新闻)里|小说(?![家，,、和])|歌词|台词",  # made up
    r"(?<![主只重需])要是|假如|假设|假定|设想|倘若|即[使便]|哪怕|就算|一旦|[若等](?=我)|(?<![\d一二三四五六七八九十两几])万一",
    r"(?:[例譬比]如|打个比方)(?=\W{0,2}我)|难道|莫非|(?<![不没])(?<!没在)(?<!不是)开玩笑",
    "恨不得|巴不得",  # wished for
    "听说|据说|有人说|人家说|大家都觉得|(?:觉得|说|骂)我|谣言|网上传",  # told by others
    "(?:建议|要求|让|劝|希望|逼|允许|催)我",  # wanted by others
    "本来|原本|当初|(?:去年|前年|上个?月|上周|昨天|那时候?|当时)(?:都|也)?还",  # no longer so
)
_BEFORE_EN = (
    r"thought(?! (?:you|i['’]d (?:tell|mention|let|share|say)))|suspect(?:s|ed)?|afraid(?! of \w+(?:,| and| but))",
    "dreamt|dreamed|imagined?|pretend(?:s|ed|ing)?|rumou?rs?|(?<!not )joking|wish|as if|since when|who says",
    "once|whether|unless|even if|in case|as soon as|yeah,? right|oh,? sure",
    "perhaps|apparently|supposedly|allegedly|presumably|possibly|probably|seemingly|hypothetically",
    "anything but|far from|(?:every(?:one|body)|all|nobody) (?:but|except)",
    "(?:told|asks?|asked|wants?|wanted|advised|advises|urged|forced|expects?) me to",
    "in (?:the|this|my|a) (?:game|novel|story|book|movie|film|play|dreams?|song|show)",
    "(?:song|lyrics?|poem|saying|quote) (?:goes|go|says|reads)",
    "(?:says?|said|thinks?|suppos(?:e|ing)|assum(?:e|ing)|for (?:example|instance)),? (?:that )?i",
    "(?:claims?|claimed|believes?|suspects?|tells? me|doubts?|den(?:y|ies|ied)|ruled? out) (?:that )?i",
)
_BEFORE = lazy.compile("|".join((*_BEFORE_ZH, rf"\b(?:{'|'.join(_BEFORE_EN)})\b")), re.IGNORECASE)
# What people believe or say of themselves ("I think I", 我觉得我) is asserted.
_OWN_WORD = lazy.compile(
    r"我(?:也|还|就|都|刚才?|是|想|要|得|再|总|真|真的|一直|之前|上次|自己|(?:跟|和|对)你们?|告诉你)*(?:觉得|说)(?=我)"
    r"|(?:跟|和|对|告诉)你们?说(?=我)|(?:来|实|白|得不|如|是|再|单|话)说(?=我)|^\W*(?:总|一直|真)?觉得(?=我)"
    r"|\bi(?: (?:\w+ly|still|also|do|just|already|have|always|ever))* (?:think|thinks|said)\b",
    re.IGNORECASE,
)
# Behind these a sentence turns to what is so.
_TURN = lazy.compile(
    r"其实|事实上|实际上|(?:但是?|不过)(?=我)|\bbut (?=i\b|i['’])|\b(?:actually|in fact|however)\b",
    re.IGNORECASE,
)
# A clause of these words, the first and last ones left out or not, takes back what was said before it.
_OPENING_ZH = (
    "哈|嘻|哦|噢|啊|呃|其实|当然|只是|这|那|都|就|全|纯粹|纯属|刚才|刚刚|以上|上面|前面"
    "|我|是|在|跟|和|给|你们?|说|的|话|啦|至少|有点"
)
_CLOSING_ZH = "的|了|啦|呢|吧|玩|而已|罢了|哈|嘻|你|们|话|道|我|都|时候"
_TAKEN_BACK_ZH = (
    "开个?玩笑|说着?玩|闹着玩|说笑|[骗逗哄]你?|骗人|忽悠你?|别当?真|别(?:相)?信|才怪|当我没说|呵呵|大雾|狗头|滑稽|反话|讽刺",
    "[瞎胡乱][说编扯讲吹]|扯淡|吹牛?|[瞎现]?编|假|谎话|谎言|谣言|不是真|做梦|想象|幻想|假设|打个?比方|举个?例子?",
    "不|不对|不是|没有|说错|搞错|错|我是说|但愿不是|(?:可惜|其实)?(?:这|都)?不是真|(?:不一定|未必).{0,4}|只是怀疑|梦里.*",
    "[想猜]|记不清|(?:不|没)(?:太|大|是很|怎么|敢)?(?:确定|肯定|清楚|把握)|也许|可能|或许|大概|好像|似乎",
)
_ENDING_ZH = (
    "(?:的|了)?话.*|(?:的|了)?吧|就好[了啦]|该多好|多好|对不对|[对是]吧|是吗",
    "[^，。]{0,6}(?:这么)?(?:[说讲猜传查]|告诉我?|听来|看到|觉得|认为|以为|怀疑)的?|(?:听|据)说",
)
_OPENING_EN = (
    r"ha|lol|lmao|well|just|only|i(?:['’]?m)?|i am|i was|totally|all|that['’]?s|this is|it['’]?s|that was|it was|of course"
    r"|obviously|but|or|oh|at least|an?|big|total|completely|\W"
)
_CLOSING_EN = r"ha|lol|lmao|though|anyway|of course|\W"
_TAKEN_BACK_EN = (
    "kidding|joking|joke|jk|j k|not|no|nope|psych|sike|gotcha|as if|sarcasm|s|dream on|(?:you|i) wish",
    "(?:pulling|messing|playing|screwing) (?:with )?you(?:r leg)?|(?:could|may|might) be wrong|not anymore|at least i was",
    "lie|lied|lying|fake|false|untrue|not (?:true|really|real|serious)|ma(?:de|king) (?:that|it|this|all)(?: all)? up",
    "don['’]?t (?:believe|quote) me|hypothetically(?: speaking)?|theoretically|in theory",
    "in (?:the|this|my|a|your) (?:game|novel|story|book|movie|film|play|dreams?|song|show)",
    "maybe(?: not)?|perhaps|possibly|probably|unsure|not (?:sure|certain)|right|correct|i (?:guess|suppose)",
    r"i mean\b.*|(?:no,? )?wait|scratch that|supposedly|allegedly|apparently|that['’]?s what .+",
    "according to .+|(?:says?|said|wrote|writes|replied|claims?|claimed) .+",
    "(?:shout|yell|whisper|answer|exclaim|add|explain)ed (?:the|an?|my|his|her) .+",
    r"(?:(?:my|the|a|some) )?(?!i\b|we\b|as\b)\w+ (?:says?|said|guess(?:es|ed)?|thinks?|thought|claims?|suspects?"
    "|believes?|tells? me|told me)|they say|i (?:heard|was told)",
    "(?:do|don['’]t|am|aren['’]t|isn['’]t|can['’]t|have|haven['’]t) (?:i|it|we)",
    "(?:or )?so (?:they|people|i) (?:say|said|hear|heard|told|was told)",
)
_DOUBTED = (
    r"(?:如果|假如|假设|要是).*[没不](?:有)?[记弄搞]?错.*|除非.*|unless .*"
    r"|if (?:i (?:remember|recall)|.*\b(?:right|correct|true|wrong|counts?)\b).*"
)
_TAKEN_BACK = lazy.compile(
    rf"(?:{_OPENING_ZH})*(?:(?:{'|'.join(_TAKEN_BACK_ZH)})(?:{_CLOSING_ZH})*|{'|'.join(_ENDING_ZH)})\W*"
    rf"|(?:{_OPENING_EN})*\b(?:{'|'.join(_TAKEN_BACK_EN)})(?:{_CLOSING_EN})*|{_DOUBTED}",
    re.IGNORECASE,
)
# What people put before a colon when their own words follow; before any other, somebody else's do.
_OWN_LEAD = lazy.compile(
    r"(?:\W|自我介绍|介绍|我|的|基本|个人|情况|信息|资料|档案|背景|补充|更正|更新|纠正|备注|注意|记住|记|说明|说|关于|对了|顺便"
    r"|另外|还有|结论|简单|总之|这样|如下|一下|一点|下|请|帮|是|你好|大家好|再|想|告诉你|先|提醒"
    r"|\b(?:p\W?s|fyi|update|edit|correction|notes?|about|me|my|i|info|profile|background|situation|details|for|the|record"
    r"|remember|reminder|facts?|also|btw|so|ok|okay|hi|hello|hey|well|context|please|and|a|am|is|are|some|few|one|more"
    r"|things?|here)\b)*",
    re.IGNORECASE,
)

# With these, somebody tells what others said.
_PASSES_ON = lazy.compile(
    r"[说写发问看听读讲]|收到|\b(?:saw|read|got|heard|received|wrote|found|like|love)\b", re.IGNORECASE
)


def is_reserved(before: str, text: str) -> bool:
    """Whether ``before``, what a sentence says up to the words of the claim ``text``, takes from them that they are
    so, and the claim leaves that out."""
    led = _TURN.split(_OWN_WORD.sub(" ", before))[-1]
    folded = text.casefold()
    return any(
        re.sub(r"(?:我|\s(?:that )?i)$", "", found[0].casefold()) not in folded
        for found in _BEFORE.finditer(led)
    )


def is_taken_back(clauses: Iterable[str]) -> bool:
    """Whether one of ``clauses``, which follow a statement, takes it back, doubts it or ascribes it to others."""
    return any(_TAKEN_BACK.fullmatch(clause.strip()) for clause in clauses if clause.strip())


def leads_own_words(lead: str) -> bool:
    """Whether what stands before a colon announces words of the same speaker ("About me")."""
    of_oneself = ITSELF.match(lead) or re.match(r"\W*i\b", lead, re.IGNORECASE)
    return bool(_OWN_LEAD.fullmatch(lead) or (of_oneself and not _PASSES_ON.search(lead)))
