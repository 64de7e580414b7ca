"""Who does what to whom, and of whom is it said? By the order of the words and by the clauses before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from wellkept.policy.facts.plainwords import FIRST, ITSELF, KIN, KIN_EN
from wellkept.policy.facts.spoken import is_said, stem, stems
from wellkept.policy.text import lazy
from wellkept_flash import words

_I = FIRST - {"our"} | {"me"}
_USER = frozenset(("user", "用户"))
_OWN = lazy.compile(
    r"\b(?:i|we)\b|我|咱|俺|\bmy (?:name|job|age|home|hometown|hobb\w+|work|life)\b", re.IGNORECASE
)
# Somebody else, as the subject at the beginning of a clause.
_OTHER = lazy.compile(
    r"^\W*(?:(?:and|so|then|now|but|today|yesterday)\W+)*(?:(?:he|she|they|it)\b|(?:my|our|the|his|her)\s+(?P<who>[a-z'’-]+)"
    r"|(?-i:[A-Z][a-z]+)\s+(?:(?:is|was|has|had|will|just|came|called|went|\w+ed|\w{3,}s)\b))"
    r"|^\W*(?:他|她|它|小[\u4e00-\u9fff](?!时候?|学)|老[王李张刘陈杨赵黄周吴])",
    re.IGNORECASE,
)
_MY = lazy.compile(r"^\W*(?:(?:and|while|whereas)\s+)?my\s+([a-z'’-]+)", re.IGNORECASE)
_APPOSED = lazy.compile(
    rf"\b(?:my (?P<mine>[a-z'’-]+)(?: [A-Z]\w+)?|an? (?P<kin>{KIN_EN})"
    r"|(?:with|for|met|married|know) (?P<name>(?-i:[A-Z][a-z]+)))\s*[,(-]\s*$",
    re.IGNORECASE,
)
_ARTICLE = lazy.compile(r"^\W*(?:an?|the)\b", re.IGNORECASE)
_OF = lazy.compile(
    r"^\W*of\b(?! (?:course|all|mine|ours|my own|our own|them|us|\d|one|two|three|four|five|six)\b)",
    re.IGNORECASE,
)
_OF_WHAT = lazy.compile(r"^的(?=[\u4e00-\u9fff])(?!话|时候|呢|啊|吗|吧|了|说)")


def misread(text: str, wanted: Sequence[str], run: Sequence[str], before: str) -> str | None:
    """Why the clauses ``run``, behind ``before`` in their sentence, do not say of the same one what the claim ``text``
    says with the words ``wanted``; None when nothing speaks against it."""
    together = KIN.sub(lambda found: found[1], " , ".join(run))
    order = _order(text, wanted)
    said = [stem(token.text) for token in words.tokens(together)]
    places = {word: _places(word, said) for word in order}
    words_in_order = list(dict.fromkeys(order))
    for at, middle in enumerate(words_in_order):
        first = any(_after(places[word], places[middle]) for word in words_in_order[:at])
        if first and any(_after(places[middle], places[word]) for word in words_in_order[at + 1 :]):
            return "the message says it the other way round"
    return (
        _crossed(order, run)
        or _of_another(text, run, before[-200:])
        or (_unfinished(text, order, run) if order else None)
    )


def follows_another(sentence: str, preceding: str) -> bool:
    """Whether a sentence without a subject goes on about somebody of whom the one before it speaks ("My brother is
    visiting. Lives in Oslo.")."""
    if _OWN.search(sentence) or _OTHER.search(sentence):
        return False
    if sentence[:1].isascii():
        first = re.match(r"\W*([a-z]+)", sentence, re.IGNORECASE)
        return bool(first and _is_third(first[1]) and _is_about_another(preceding))
    return _is_about_another(preceding)


def _is_about_another(text: str) -> bool:
    """Whether the subject of ``text`` is somebody else."""
    if KIN.search(text) and not ITSELF.match(text):
        return True
    return bool(_OTHER.search(text)) and not _OWN.match(text.lstrip())


def _is_third(verb: str) -> bool:
    """Whether ``verb`` is in the third person: nobody says "lives" of oneself."""
    return verb.lower() in ("has", "is", "does") or (
        verb.lower().endswith("s") and stem(verb.lower()) != verb.lower()
    )


def _order(text: str, wanted: Sequence[str]) -> list[str]:
    """The words of the claim that tell, with "I" in the place of the user as a subject or object."""
    found = []
    for token in words.tokens(KIN.sub(lambda kin: kin[1], text.replace("用户", "我"))):
        if token.text in _USER or token.text in _I:
            found.append("i")
        elif stem(token.text) in wanted:
            found.append(stem(token.text))
    return found


def _places(word: str, said: Sequence[str]) -> list[int]:
    if word == "i":
        return [at for at, other in enumerate(said) if other in _I]
    return [at for at, other in enumerate(said) if is_said(word, {other})]


def _after(first: Sequence[int], second: Sequence[int]) -> bool:
    return bool(first and second) and min(first) > max(second)


def _crossed(order: Sequence[str], run: Sequence[str]) -> str | None:
    """Of two words side by side in a claim about the user, the later is not to come from an earlier clause that has a
    subject of its own ("I am from Rome but live in Oslo")."""
    if len(run) < 2 or order[:1] != ["i"]:
        return None
    spoken = [set(stems(part)) for part in run]
    for one, other in pairwise(order[1:]):
        ones = [at for at, part in enumerate(spoken) if is_said(one, part)]
        others = [at for at, part in enumerate(spoken) if is_said(other, part)]
        if _after(ones, others) and any(_OWN.search(run[at]) for at in others):
            return "the message says this of another"
    return None


def _of_another(text: str, run: Sequence[str], before: str) -> str | None:
    """Whom a clause is about that has another subject than the claim names, or stands beside somebody's name."""
    named = set(stems(text))
    for part in run[1:]:
        mine = _MY.match(part)
        if mine and stem(mine[1].lower()) not in named:
            return f"it is said of {mine[1]!r}"
    beside = _APPOSED.search(before)
    if beside and _ARTICLE.match(run[0]):
        who = beside["mine"] or beside["kin"] or beside["name"]
        if stem(who.lower()) not in named:
            return f"it is said of {who!r}"
    last = re.split(r"[,;]", before.strip(" ,;"))[-1]
    verb = re.match(r"\W*([a-z]+)", run[0], re.IGNORECASE)
    other = _OTHER.search(last)
    if verb and other and _is_third(verb[1]) and not _OWN.search(run[0]):
        who = other["who"]
        if not who or stem(who.lower()) not in named:
            return f"it is said of {(who or last.split()[0])!r}"
    return None


def _unfinished(text: str, order: Sequence[str], run: Sequence[str]) -> str | None:
    """Whether the claim stops before "of" or 的: "dying of hunger" is not dying, 医生的儿子 is no 医生."""
    tail = text.rstrip(" .。!！")
    for part in run:
        folded = words.fold(part)
        if tail[-1:].isascii():
            last = re.search(r"[\w'’-]+$", tail)
            at = folded.rfind(last[0].lower()) if last else -1
            if last and at >= 0 and _OF.match(folded[at + len(last[0]) :]):
                return f"the message says more than {last[0]!r}"
        elif "是" in tail and len(tail) > 2:
            at = folded.rfind(tail[-2:])
            if at >= 0 and _OF_WHAT.match(folded[at + 2 :]):
                return f"the message says more than {tail[-2:]!r}"
    return None
