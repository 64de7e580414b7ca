"""What a sentence names only to exclude it or to leave it behind: "tea instead of coffee", 从北京搬到上海."""

from __future__ import annotations

import re

from wellkept.policy.text import lazy
from wellkept_flash import rules

_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HE_IS = r"(?:he|she|it|they)(?:['’]s|['’]re| is| are)"

# Corrected in the same breath: a claim that denies takes up the first half, any other the second.
_CORRECTED = lazy.compile(
    rf"(?P<be>\b(?:is|are)|['’]s)(?:n['’]t| not) {_NUMBER}[^,.;]{{0,12}}(?:,? but |, {_HE_IS} )"
    r"|(?P<am>\bi(?: am|['’]m)) not [^,.;]{1,30}(?:,? but |, i(?: am|['’]m) )"
    r"|(?<![是要还])不是[^，,。；！？]{1,20}?[，,]?\s*(?:而是|(?<=[，,])是)",
    re.IGNORECASE,
)
_DENIED = lazy.compile(
    r",\s*(?:and |but |definitely |certainly )?not (?!only|just|merely|to mention|sure|certain)[^,.;!?]+"
    r"|[，,]\s*(?:并|可|绝)?不是[^，,。；！？]+|[，,]?而(?:不是|非)[^，,。；！？]+",
    re.IGNORECASE,
)
_REST = r"[^,.;!?]+?(?=[,.;!?]|\s(?:and|but|because|since|i|we|on|at|every)\b|$)"
_FROM = (
    r"\b(?:mov\w+|relocat\w+|went|gone|switch\w*|chang\w+|transferr\w+|e?migrat\w+|came|come|fled|flew|away|return\w*|back)\b"
    r"[^,.;!?]{0,30}?"
)
_NAME = r"[\w'’-]+(?: [\w'’-]+){0,3}?"
_VERB_OF_PARTING = "卖|送[人给走掉了]|丢|扔|捐|退|还给|借给|辞|砸|摔|弄|输|赔|卸|删"

# What is named to be excluded or left behind, and the words by which a claim says so itself.
_LEFT_OUT = tuple(
    (lazy.compile(pattern, re.IGNORECASE), lazy.compile(said, re.IGNORECASE))
    for pattern, said in (
        (
            r"\b(?:instead of|rather than|in place of|as opposed to|except(?: for)?|apart from|aside from|other than|excluding)"
            rf"\s{_REST}",
            r"\b(?:instead|rather|place|opposed|except|apart|aside|other|excluding)\b",
        ),
        (rf"\b(?:every(?:thing|one|body)|any(?:thing|one|body)|all)(?: \w+){{0,4}}? (?:but|save)\s{_REST}", r"\b(?:but|save)\b"),
        (rf"(?P<keep>\b(?:chose|choose|chosen|prefer\w*|pick\w*) [^,.;!?]{{1,40}}?)\bover\s{_REST}", r"\bover\b"),
        (rf"(?P<keep>{_FROM})\bfrom (?!where\b){_NAME}(?=\s*(?:\b(?:to|into|for|in)\b|[,.;!?]|$))", r"\bfrom\b"),
        (
            r"(?P<keep>\b(?:i|we)(?:['’]ve| have)? (?:just |recently |finally )?)"
            rf"left {_NAME}(?=\s*(?:\b(?:to|for|in|last)\b|[,.;!?]|$))",
            r"\bleft\b|\bleav",
        ),
        (
            r"\bmy (?:[\w'’-]+ ){1,3}?(?=(?:died|passed away|(?:was|got) (?:stolen|sold)|ran away)\b)",
            r"died|passed|stolen|sold|ran",
        ),
        (r"\b\w+-free\b|\b(?:gluten|dairy|lactose|sugar|alcohol|meat) free\b", r"\bfree\b"),
        (r"\b(?:non|anti|ex)-\w+", r"\b(?:non|anti|ex)\b"),
        (
            r"从(?![事来不没此前今业]|小(?!公司|城|镇|村|厂|县))[^，,。；到去]{1,12}?"
            r"(?=离职|辞职|跳槽|搬|跳|转|换|调|迁|移|到|去|回|来)",
            "从|自",
        ),
        (r"(?:离开|辞去|辞掉|退出|搬离|搬出)了?[^，,。；]{1,10}", "离|辞|退|搬"),
        (rf"把[^，,。；]{{1,10}}?(?:都|给|也)?(?={_VERB_OF_PARTING})", f"把|{_VERB_OF_PARTING}|送"),
        (r"[\u4e00-\u9fff]{1,4}(?=(?:卖|丢|扔|捐)[掉]?了|送人了|被偷|走丢|死了|没了|[去过]世)", "卖|丢|扔|捐|送|偷|死|没|世"),
    )
)  # fmt: skip
_NOR = lazy.compile(r"(?<=\w) nor\b", re.IGNORECASE)
_ALSO_NOT = lazy.compile(r"(?<=[\u4e00-\u9fff])也(?=不|没)")


def affirmed(sentence: str, text: str) -> str:
    """``sentence`` without what it names only to exclude it or to leave it behind, unless the claim ``text``
    says that too."""
    sentence = _ALSO_NOT.sub("，也", _NOR.sub(" or", sentence))
    if not rules.Statement(text).negative:
        sentence = _CORRECTED.sub(lambda found: f"{found['be'] or found['am'] or '是'} ", sentence)
        sentence = _DENIED.sub(" ", sentence)
    for pattern, said in _LEFT_OUT:
        if not said.search(text):
            sentence = pattern.sub(_kept, sentence)
    return sentence


def _kept(found: re.Match[str]) -> str:
    return f"{found.groupdict().get('keep') or ''} "
