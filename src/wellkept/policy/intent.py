"""What a message asks for, read from its words: to forget something, or to behave in some way; or it only
asks.

A model is asked too, but its word alone never removes anything (``forget_phrases``) and never makes an order
or a question a fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wellkept.policy import lazy
from wellkept.policy.claims import Claim
from wellkept.records import Record
from wellkept_flash import rules

_FORGET = lazy.compile(
    r"\b(?<!don't )(?<!don’t )(?<!do not )(?<!never )(?<!i )(?<!i'll )(?:forget|delete|erase|remove)\b(?!\s+to\b)"
    r"|\b(?:do not|don['’]t|stop) remember(?:ing)?\b"
    r"|(?<![别不勿难我])(?:忘了|忘掉|忘记|删了|删掉|删除|抹掉|清除)|(?:别|不要|不用)(?:再)?(?:记住|记着|记得|记)(?!错)",
    re.IGNORECASE,
)
_END = lazy.compile(r"[.!?;\n。！？；]")
_TAKEN = lazy.compile(r"(?:把|将)(?P<what>[^，。,.]{1,60}?)(?:这件事|这事|的事|都|给|也|从记忆里)*$")
_LAST = lazy.compile(
    r"\b(?:what|that|everything|anything) (?:that )?(?:i|i['’]ve|i have) (?:just )?(?:said|told|mentioned)\b"
    r"|\bmy (?:last|previous) \w+"
    r"|^(?:that|it|this)(?: please)?\W*$|刚才|刚刚|刚说|上一[句条]|上面(?:那|这)?[句条]|^[了吧\s]*$",
    re.IGNORECASE,
)
# In Chinese, what is to be forgotten may stand first: 那个密码请彻底忘掉.
_FRONTED = lazy.compile(r"^.*[,，](?=[^,，]+$)|(?:请|都|给我|可以|帮我|麻烦你?|就|也|彻底|全部)+$")
_FILLER = frozenset(
    """
    that this the about fact thing things what which who i my me we our you your to of in on and please all every
    everything anything for memory memories from any it have has had was were remember know so again
    的 了 这 那 件 事 情 关 于 我 你 我们 请 把 吧 所 有 切 掉 给 说 过 是 都 记 录 忆 里 中 也 和 告 诉 个 条 句
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Phrase(Record):
    """What a message wants forgotten. ``last``: what was said just before, whatever it was."""

    text: str
    last: bool


def forget_phrases(message: str) -> list[Phrase]:
    """What ``message`` wants forgotten, in its own words; empty when it asks for nothing of the kind ("don't
    forget", 别忘了)."""
    found = []
    for match in _FORGET.finditer(message):
        before = _END.split(message[: match.start()])[-1]
        after = _END.split(message[match.end() :], maxsplit=1)[0]
        taken = _TAKEN.search(before)
        named = "" if after.lstrip("了吧 ").startswith((",", "，")) else after
        text = (taken["what"] if taken else named).strip(" ,，:：了吧")
        if not text and not taken:
            text = _FRONTED.sub("", before).strip(" ,，:：")
        found.append(Phrase(text, last=_LAST.search(text) is not None))
    return found


def named_by(phrase: str, claims: Sequence[Claim]) -> list[int]:
    """Which ``claims`` the words of ``phrase`` name: those that hold all its content words and do not say the
    opposite.

    None for a phrase without content words: what could mean everything names nothing.
    """
    wanted = _content(phrase)
    if not wanted:
        return []
    statement = rules.Statement(phrase)
    turned = statement.turns or statement.stances
    return [
        at
        for at, claim in enumerate(claims)
        if wanted <= _words(claim)
        and not (turned and statement.negative != rules.Statement(claim.text).negative)
    ]


def _content(text: str) -> set[str]:
    return {stem for stem in rules.Statement(text).stems() if stem not in _FILLER}


def _words(claim: Claim) -> set[str]:
    parts = [claim.text, claim.quote, claim.attribute, *claim.labels, *claim.keywords]
    return {stem for part in parts for stem in rules.Statement(part).stems()}


# ── sentences that state nothing ─────────────────────────────────────────────────────────────────────────────

_SENTENCES = lazy.compile(r"[^.!?;\n。！？；]+(?:\.(?=\d)[^.!?;\n。！？；]+)*[.!?;\n。！？；]*")
_QUESTION = lazy.compile(
    r"[?？]\s*$|[吗呢么]\s*[。.!！]?$|^\s*(?:what|which|who|whose|when|where|why|how|do|does|did|is|are|was|were|can|could"
    r"|will|would|should|am|have i|has)\s+(?:i|my|you|the|we|it|there|is|are|do|does|did|to)\b"
    r"|^(?:什么|怎么|为什么|哪|谁|是不是|有没有)",
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
    r"|[仿改续默]?写|造句|润色|朗读|查|提醒|告诉|假装|扮演|回答|说话|忽略|无视|保存|存储)",
    re.IGNORECASE,
)
_NOT_ORDER = lazy.compile(
    r"^\W*(?:(?:from now on |please )?call me\b|please (?:remember|note|keep in mind)\b"
    r"|never (?:ate|been|had|was|liked)|you know,? (?:i|my)\b|你知道|你好)",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of ``text`` with their end marks."""
    return [part.strip() for part in _SENTENCES.findall(text) if part.strip()]


def states(sentence: str) -> bool:
    """Whether ``sentence`` says that something is so; False for a question, a request or an order to the
    assistant."""
    sentence = _YOU.sub("", sentence)
    if _NOT_ORDER.search(sentence):
        return True
    return not (_QUESTION.search(sentence) or _ORDER.search(sentence))
