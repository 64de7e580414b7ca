"""What a sentence does: it states something, or it only asks, orders or greets.

Only what certainly states nothing is told apart here, clause by clause: a question may follow a statement in one
breath ("I am allergic to peanuts, what can I eat?").
"""

from __future__ import annotations

import re

from wellkept.policy.text import lazy

_SENTENCES = lazy.compile(r"[^.!?;\n。！？；]+(?:\.(?=\d)[^.!?;\n。！？；]+)*[.!?;\n。！？；]*")
_CLAUSES = lazy.compile(
    r"[,，：]\s*(?!\d)|:\s+|\s[-–—]+\s|[—–]+|(?<=[一-鿿])\s+(?=[一-鿿])|(?=(?:因为|毕竟|但是|可是)我)"
    r"|\s+(?=(?:because|since|as|but|given that) (?:i|we|my|our)\b)",
    re.IGNORECASE,
)
_MARK = lazy.compile(r"[?？]\s*$")
_QUESTION = lazy.compile(
    r"[?？]\s*$|[吗呢么]\s*[。.!！]?$|^\s*(?!will is\b)(?:what|which|who|whose|when|where|why|how|do|does|did|is|are|was|were|can"
    r"|could|will|would|should|am|have i|has)\s+(?:i|my|you|the|we|it|there|is|are|do|does|did|to)\b"
    r"|^(?:什么|怎么|为什么|哪|谁|是不是|有没有)",
    re.IGNORECASE,
)
# What makes a clause a question without its mark.
_ASKS = lazy.compile(
    r"^\W*(?:so |and |but |ok |then )?(?:what|which|who|whose|where|why|how|do|does|did|is|are|was|were|can|could|would|should|am"
    r"|have|has|any)\b|什么|怎么|怎样|如何|哪|谁|多少|几[个点时天次]|吗|呢|啥|([能可会要有是好行])[不没]\1|可否|能否",
    re.IGNORECASE,
)
# A question whether what was just said is so.
_TAG = lazy.compile(
    r"\W*(?:(?:is|isn['’]?t|am|are|was) (?:that|it|this|i) (?:right|correct|true|so|wrong|not)?"
    r"|(?:am|do|did|have|was|can)(?:n['’]?t)? (?:i|we)"
    r"|(?:是|对|没错|不是|真的|记得|说得?)?(?:这样|对)?(?:吗|么|吧)|[对是]不[对是]|有没有)\W*",
    re.IGNORECASE,
)
# A question about the other one, after a statement: "I live in Paris, and you?"
_YOU = lazy.compile(
    r"[,，;]\s*(?:(?:那么?)?[你您]们?呢|(?:and |how about |what about )(?:you|yours?))\s*[?？]*$",
    re.IGNORECASE,
)
_ORDER = lazy.compile(
    r"^\W*(?:(?:so|and|ok|okay|well|also|hey|hi|now|then)\W+)?(?:please|kindly|from now on|always|never|you|your|let's"
    r"|pretend|act as|imagine|ignore|disregard|store|save|write|translate|summari[sz]e|tell|show|give|help|explain|list"
    r"|rewrite|rephrase|paraphrase|proofread|polish|correct|edit|improve|shorten"
    r"|find|search|book|order|remind|make|create|draft|fix|check|answer|reply|respond|speak|talk|call yourself|use|stop)\b"
    r"|^\W*(?:(?:那|好|好的|嗯)[，,])?(?:请|麻烦|帮|给我|替我|从现在起|今后|以后(?:请|都|你|用|别|不要)|你|您|翻译|总结"
    r"|[仿改续默]?写|造句|润色|朗读|查(?!理|尔|德)|再?(?:解释|重复|继续)|提醒|告诉|假装|扮演|回答|说话|忽略|无视|保存|存储)",
    re.IGNORECASE,
)
# What begins like an order and is none: it tells something to be known, or a verb is the subject (写代码是我的工作).
_NOT_ORDER = lazy.compile(
    r"^\W*(?:(?:from now on |please )?call me\b|please (?:remember|note|keep in mind)\b"
    r"|(?:never|always) (?:eaten|taken|driven|written|spoken|gone|seen|done|met|known|felt|kept|slept|drunk|flown|worn|thought"
    r"|ate|been|had|was|were|wanted to|\w{2,}(?<!e)ed)\b|you know,? (?:i|my)\b"
    r"|you (?:should |must |may |might |need to |have to |ought to )?(?:also |probably )?"
    r"(?:know|remember|note|realize|be aware)\b.{0,12}\b(?:i|my|we|our)\b"
    r"|(?!what|who|whose|where|when|which|why|how)\w+(?: \w+)? (?:is|are) (?:my|our)\b"
    r"|[你您](?:应该|应当|要|得|可能|需要)?知道|你好"
    r"|(?:请|麻烦|拜托|帮我|给我|替我|[你您]|要|以后|一定|也)*(?:记(?!得)(?:住|着|一下|下|好)?|记得(?!提醒|告诉|叫|给|帮|用))(?=.*[我咱俺])"
    r"|(?!请|帮|麻烦|给|替|告诉|提醒|翻译(?!是))[^，,：:我谁什哪怎]{1,12}是(?:[我咱俺]|本人)(?![^，,]*什么))",
    re.IGNORECASE,
)
# Orders and questions about a text: what follows in the sentence is that text.
_ABOUT_TEXT = lazy.compile(
    r"\b(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|proofread|polish|edit|shorten|imagine|pretend|act as|suppose"
    r"|write|draft|say|repeat|spell|mean|correct (?:this|that|the|my|english|grammar))\b"
    r"|翻译|译成|总结|[仿改续默]?写(?!作)|润色|造句|朗读|念|假装|扮演|想象|重复|什么意思|怎么说|改成",
    re.IGNORECASE,
)
_SUPPOSED = lazy.compile(
    r"^\W*(?:and |but |so )*(?:if|when|whenever|unless|whether|suppose|supposing|assuming|in case)\b"
    r"|^(?:那|但)?(?:如果|要是|假如|假设|假定|倘若|万一)|的话$",
    re.IGNORECASE,
)
# Who speaks of themselves, or names somebody, beside a question or an order; the subject may be left out.
_OF_SOMEBODY = lazy.compile(
    r"\b(?:i|we)\b|^\W*(?:\w+ )?(?:my|our)\b|\b(?:is|are|makes?|gives?) (?:me|mine|my|our)\b"
    r"|^\W*(?:being |speaking )?as (?:an?|some(?:one|body)) "
    r"(?!rule|result|whole|start|side|reminder|joke|test|treat|gift|matter|last|follow|backup)"
    r"|^\W*(?:(?:also|currently|just|still|being) )?(?:allergic|vegan|vegetarian|diabetic|pregnant|married|living|based|born"
    r"|being|never|always)\b|(?-i:^\W*[A-Z]\w+ (?:is|has|was|lives|works|likes|loves|hates)\b)"
    r"|[我咱俺]|本人|^\W*(?!记|用户)[^\W\d]{1,8}是(?!否|不是)|^\W*(?:作为|身为)|^\W*(?:从小|一直|现在|最近|也)?(?:对.{1,12}过敏|不吃|吃素|怀孕|住在|患|刚搬)",
    re.IGNORECASE,
)
_SMALL_TALK = lazy.compile(
    r"\W*(?:(?:hi+|hey|hello|there|all|everyone|good (?:morning|afternoon|evening|night|day)|thanks?|thank you|thx"
    r"|(?:so|very) much|a lot|for (?:your|the|all the) \w+|ok|okay"
    r"|sure|great|cool|nice|perfect|awesome|wow|got it|i see|sounds? (?:good|great)"
    r"|no (?:problem|worries)|you(?:['’]re| are) welcome|(?:good)?bye|see you|later|tomorrow|yes|yeah|yep|no|nope|right|exactly"
    r"|of course|lol|(?:ha)+|how are you|never ?mind|well done|good job|please|that(?:['’]s| is) (?:great|fine|ok|all|it|right)"
    r"|that (?:helps|works|makes sense)|correct|help|(?:as|in) (?:usual|short|general)|by the way|btw|in my opinion"
    r"|i (?:have|had|['’]ve got) (?:a|one|another|some) (?:quick |small )?questions?"
    r"|i(?:['’]m| am| was|['’]d)? ?(?:just )?wonder(?:ing)?"
    r"|i (?:want|need|['’]d like|would like) (?:to (?:ask|know)|(?:your |some )?help))\b\W*)*"
    r"|(?:[你您大家早晚上下中午好安了啊呀呢吧哈嘻嗯哦噢的真太棒\W]|谢谢|多谢|感谢|辛苦|收到|明白|知道|没[事关系问题]+|不客气|再见|拜拜|可以"
    r"|[行对]|是的|没错|不错|厉害|在吗|(?:我)?想(?:请)?问(?:你|您|一下|下)*|我有个?一?个?问题|请问)*",
    re.IGNORECASE,
)

NOTHING = "nothing to ask: the message only asks, orders or greets"


def sentences(text: str) -> list[str]:
    """The sentences of ``text`` with their end marks."""
    return [part.strip() for part in _SENTENCES.findall(text) if part.strip()]


def states(sentence: str) -> bool:
    """Whether ``sentence``, or a clause of it, says that something is so; False for a question, a request or an order
    to the assistant."""
    return bool(_statements(_YOU.sub("", sentence)))


def stated(sentence: str) -> str:
    """What ``sentence`` says to be so, without the questions and orders in it; "" when it says nothing, or when all of
    it is put in question ("I live in Oslo, or Bergen?")."""
    sentence = _YOU.sub("", sentence)
    parts = _statements(sentence)
    if parts == [sentence] or not _MARK.search(sentence):
        return ", ".join(parts)
    stating = set(parts)
    rest = [part for part in _clauses(sentence) if _MARK.sub("", part) not in stating]
    asking = any(_ASKS.search(part) and not _TAG.fullmatch(part) for part in rest)
    return ", ".join(parts) if asking else ""


def is_small_talk(sentence: str) -> bool:
    """Whether ``sentence`` is a greeting, thanks or the like."""
    return _SMALL_TALK.fullmatch(sentence) is not None


def _clauses(sentence: str) -> list[str]:
    return [part.strip() for part in _CLAUSES.split(sentence) if part and part.strip()]


def _statements(sentence: str) -> list[str]:
    """The whole sentence, when it does nothing but state; else the clauses of it that speak of somebody and neither
    ask nor order."""
    if not (_QUESTION.search(sentence) or _is_order(sentence)):
        return [sentence]
    found: list[str] = []
    asked, before = False, ""
    for part in _clauses(sentence):
        # The mark at the end belongs to the question, wherever in the sentence that stands.
        part = _MARK.sub("", part) if asked and not _ASKS.search(part) else part
        asks = _ASKS.search(part) is not None
        if asks or _QUESTION.search(part) or _is_order(part):
            asked = asked or asks
            if _ABOUT_TEXT.search(part):
                break
        elif not (_SUPPOSED.search(part) or is_small_talk(part)) and (
            _OF_SOMEBODY.search(part) or (found and found[-1] == before)
        ):
            found.append(part)
        before = part
    return found


def _is_order(text: str) -> bool:
    return bool(_ORDER.search(text)) and not _NOT_ORDER.search(text)
