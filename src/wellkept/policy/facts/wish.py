"""A wish that something be forgotten, read from a message's words: an order or a request to the assistant.

Not a question ("did you forget …?"), not denied ("I won't forget …"), and nobody else's ("he wants to delete …"). A
model is asked too, but its word alone never removes anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wellkept.policy.facts.claims import Claim
from wellkept.policy.text import lazy
from wellkept.records import Record
from wellkept_flash import rules

# The verbs, and where sentences end.
_FORGET = lazy.compile(
    r"\b(?:forget|delete|erase|remove)\b(?!\s+to\b)|\b(?:do not|don['’]t|never|stop) remember(?:ing)?\b"
    r"|忘了|忘掉|忘记|删了|删掉|删除|抹掉|清除|(?:别|不要|不用)(?:再)?(?:记住|记着|记得|记)(?!错)"
    r"|\bi (?:do not|don['’]t) want you to (?:remember|keep|store)\b"
    r"|我不(?:想|希望|要)让?[你您](?:再|继续)?(?:记得|记住|记着|保留)|删一下"
    r"|[.!?;\n。！？；]",
    re.IGNORECASE,
)
# What the speaker would like to be so: "I'd like my address deleted", 我希望我的地址能被删除.
_GONE = r"(?:(?:deleted|forgotten|erased)(?: from (?:your |the )?memory)?|removed from (?:your |the )?memory)"
_BEGINNING = r"(?:^|(?<=[。！？；，,\n]))"
_MINE = r"我的[^，。,.！!？?；;\n]{1,30}?"
_DELETED = r"(?:删除|删掉|删了|忘掉|忘了|忘记|抹掉|清除)"
_LIKED = lazy.compile(
    rf"(?:^|(?<=[.!?;,\n] )|(?<=\n))\W{{0,5}}(?:please |and |also |then )*"
    rf"(?:(?:i(?:['’]d| would) (?:like|prefer|want|love)|i (?:want|need|wish))(?: to have)?|(?:please|can you|could you)?"
    rf" ?(?:have|get)|(?:can|could|may) i have) (?P<have>(?:my|our|that i|what i)\b[^.,;!?\n]{{1,80}}?) (?:to be )?{_GONE}"
    rf"(?=\W{{0,9}}(?:please|now|entirely|completely|immediately)?\W{{0,9}}(?:[.!?\n]|$))"
    rf"|(?:^|(?<=[.!?;,\n] )|(?<=\n))\W{{0,5}}(?:please )?(?P<should>my\b[^.,;!?\n]{{1,80}}?)"
    rf" (?:should|must|can|could) (?:please |now )*be {_GONE}(?=\W{{0,9}}(?:please|now)?\W{{0,9}}(?:[.!?\n]|$))"
    rf"|{_BEGINNING}我?(?:希望|想要?|要求)(?P<hoped>{_MINE})(?:[能也都]|可以)*被?{_DELETED}"
    rf"|{_BEGINNING}(?P<may>{_MINE})(?:可以|应该)(?:[都也]|全部)*被?{_DELETED}(?=[吧了啦]{{0,3}}\W{{0,9}}$)",
    re.IGNORECASE,
)
_END = lazy.compile(r"[.!?;\n。！？；]")
# Characters of a sentence that are looked at before and behind the verb.
_NEAR = 300
# What may stand before the verb in its clause.
_ASKED_FOR = lazy.compile(
    r"(?:.*[,，:：-])?\W*(?:(?:(?:please|pls|kindly|just|so|and|but|then|now|also|ok|okay|no|yes|hey|hi|actually|again|wait"
    r"|on second thought|if (?:you can|possible)|(?:can|could|would|will) you|(?:it would be (?:nice|great|good) if )?you"
    r" (?:can|could|should|must|may|have to|need to|had better)|i(?:['’]d| would)? (?:want|need|like) you to"
    r"|i (?:ask|told) you to|let['’]?s|completely|totally|simply|immediately)\b\W*)*"
    r"|(?:请|麻烦|拜托|帮我|给我|替我|[你您]|那|就|都|也|快|赶紧|彻底|全部|可以|可不可以|[能可]不能|能否|可否|能|还是|算了|现在"
    r"|(?:我(?:想|要)|我?希望)(?:让|请)?[你您]|得|应该|直接|\s)*(?:(?:把|将)[^，,]+)?)",
    re.IGNORECASE,
)
# In Chinese, what is to be forgotten may stand first: 那个密码请彻底忘掉.
_FRONTED_ORDER = lazy.compile(r"(?:请|麻烦|帮我|给我|拜托)(?:[你您]|彻底|都|全部|也|就|一起|马上)*$")
_DENIED = lazy.compile(
    r"(?:别|不|勿|没|没有|不要|不会|不能|不可以?|不准|不许|不想|难|never|not|n['’]t)\s*$", re.IGNORECASE
)
# 忘了 alone also says that the speaker did not think of something: 忘了带伞, 忘了告诉你.
_OMITTED = lazy.compile(
    r"^(?:带|拿|买|吃|喝|关|锁|做|说|问|告诉|跟|和你|给|去|打|发|写|交|充|提|介绍|讲|还|密码)"
)
_REPROACH = lazy.compile(r"(?:^|[，,])\W*[你您]都?$")
_ASKING = lazy.compile(r"(?:[?？]|[吗么]\s*[。.!！]?)\s*$")
_REQUEST = lazy.compile(
    r"\b(?:can|could|would|will) you\b|请|麻烦|拜托|帮我|可以|[能可]不[能可]|[能可]否|(?:^|[，,])\W*[你您]?能"
    r"|(?:好吗|行吗|好不好|行不行|可以吗|please|ok|okay)\W*$",
    re.IGNORECASE,
)
_TAKEN = lazy.compile(r"(?:把|将)(?P<what>[^，。,.]{1,60}?)(?:这件事|这事|的事|都|给|也|从记忆里)*$")
_LAST = lazy.compile(
    r"\b(?:what|that|everything|anything) (?:that )?(?:i|i['’]ve|i have) (?:just )?(?:said|told|mentioned)\b"
    r"|\bmy (?:last|previous) \w+"
    r"|^(?:that|it|this)(?: please)?\W*$|刚才|刚刚|刚说|上一[句条]|上面(?:那|这)?[句条]|^[了吧\s]*$",
    re.IGNORECASE,
)
_FRONTED = lazy.compile(r"^.*[,，](?=[^,，]+$)|(?:请|都|给我|可以|帮我|麻烦你?|就|也|彻底|全部)+$")
# Where the speaker goes on to something else in the same sentence.
_GOES_ON = lazy.compile(
    r"[,，]\s*(?:(?:and|but|because|since|as|so|now|actually|但是?|而且|因为|其实|现在|另外|不过)\s*)*"
    r"(?:(?:i|we)\b|我(?!的|们的|说)|咱|俺)",
    re.IGNORECASE,
)
_FILLER = frozenset(
    """
    that this the about fact thing things what which who i my me we our us you your to of in on and please all every
    everything anything for memory memories from any it have has had was were remember know so again
    的 了 这 那 件 事 情 关 于 我 你 我们 请 把 吧 所 有 切 掉 给 说 过 是 都 记 录 忆 里 中 也 和 告 诉 个 条 句
    """.split()  # noqa: SIM905
)


FEW = 3


@dataclass(frozen=True, slots=True)
class Wish(Record):
    """What a message wants forgotten.

    Attributes:
        text: what, in the message's words.
        last: it is what was said just before, whatever that was.
        begin, end: where in the message the wish stands.
    """

    text: str
    last: bool
    begin: int
    end: int


def wishes(message: str) -> list[Wish]:
    """What ``message`` wants forgotten; empty when it asks for nothing of the kind ("don't forget", 别忘了)."""
    found = [_liked(match) for match in _LIKED.finditer(message)]
    sentence = 0
    for match in _FORGET.finditer(message):
        if _END.fullmatch(match[0]):
            sentence = match.end()
            continue
        begin, far = max(sentence, match.start() - _NEAR), min(len(message), match.end() + _NEAR)
        stop = _END.search(message, match.end(), far)
        end = stop.end() if stop else far
        if not _is_asked_for(message[begin : match.start()], match[0], message[match.end() : end]):
            continue
        if on := _GOES_ON.search(message, match.end(), end):
            end = on.start()
        before = message[begin : match.start()]
        after = _END.split(message[match.end() : end], maxsplit=1)[0]
        taken = _TAKEN.search(before)
        named = "" if after.lstrip("了吧 ").startswith((",", "，")) else after
        text = (taken["what"] if taken else named).strip(" ,，:：了吧")
        fronted = not text and not taken
        if fronted:
            text = _FRONTED.sub("", before).strip(" ,，:：")
        last = _LAST.search(text) is not None
        clause = 0 if fronted else max(before.rfind(","), before.rfind("，")) + 1
        found.append(Wish(text, last, 0 if last else begin + clause, end))
    return sorted(found, key=lambda wish: wish.begin)


def _liked(match: re.Match[str]) -> Wish:
    return Wish(next(filter(None, match.groups())), False, match.start(), match.end())


def _is_asked_for(before: str, verb: str, after: str) -> bool:
    """Whether the sentence asks the assistant to do it."""
    if _ASKING.search(after) and not _REQUEST.search(before + verb + after):
        return False
    if _DENIED.search(before):
        return False
    if verb in ("忘了", "忘记") and (
        _OMITTED.search(after) or _REPROACH.search(before) and "吧" not in after
    ):
        return False
    return bool(_ASKED_FOR.fullmatch(before) or _FRONTED_ORDER.search(before))


def takes_most(taken: int, known: int) -> bool:
    """Whether so many of the known facts are too many to go without a second question: more than half, and not just
    a few."""
    return taken > FEW and 2 * taken > known


def without_wishes(message: str) -> str:
    """``message`` with what it wants forgotten, and how it says so, left blank."""
    for wish in reversed(wishes(message)):
        message = f"{message[: wish.begin]}\n{message[wish.end :]}"
    return message


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
