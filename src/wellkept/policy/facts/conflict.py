"""What a new claim does to those that stand: nothing, take the place of one, or ask.

A model only proposes. Which fact gives way is decided here, from the words of both claims and of the message
they came from; sharing a label or a key is never enough. In doubt both stay, and a person is asked.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from wellkept.policy.facts.claims import Claim
from wellkept.policy.facts.gist import gist, parsed
from wellkept.policy.facts.topics import Topic, american, bare, keyed, tells, topic
from wellkept.policy.text import lazy
from wellkept.records import Record
from wellkept_flash import rules, words

HANDLES_VERSION = 4
"""Raised when a claim gets other handles than before: what an index holds of it must be made anew then."""

MAX_WORDS = 32
"""Words of a claim by which finer and vaguer ones are found; what begins alike for longer is a document."""

_CLAUSES = lazy.compile(
    r"(?:[;!?\n，。；！？：、]|(?<!\d)[,.:]|[,.:](?!\d))+|\bbut\b|\b(?:and|while|so|because)\b(?= (?:i|my|we|our|he|she|they)\b)"
    r"|但是?|不过(?![敏年夜生节])|而是|所以|因为|因此",
    re.IGNORECASE,
)
# What one statement adds to another in the same text.
_ADDED = lazy.compile(
    r"[,;!\n，。；！、]+(?!\d)|\.(?!\w)|\b(?:and|but|also|while|plus|who|with)\b|并且?|而且|且|还|同时|也|但是?|不过",
    re.IGNORECASE,
)
_PLACE = re.compile(r"^\S{1,12}[区市县路街省镇号村楼室]$")
_CORRECTION = lazy.compile(
    r"\b(actually|now|nowadays|instead|rather|no longer|not any ?more|correction|wrong|mistaken|meant?|changed?|switch(ed)?|"
    r"prefer|turned|moved?|again|back)\b|现在|如今|其实|改|换|不再|不是|而是|说错|不对|更正|纠正|又|还是|搬|变|满",
    re.IGNORECASE,
)
_AGE = re.compile(r"岁|\byears?[ -]old\b", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/年]|\d[月号日]")
# What is said beside something else, not in its place.
_BESIDE = lazy.compile(
    r"\b(?:also|another|too|as well|second|additionally|part[- ]time|on weekends|side)\b"
    r"|也|还(?!是)|另外|另一|兼职|副业|第二|同时|周末",
    re.IGNORECASE,
)
# What was so once; a count of what one has; another predicate in the rest of a statement.
_ONCE = lazy.compile(r"\bused to\b|\bformer(?:ly)?\b|以前|曾经?|从前|过去|之前", re.IGNORECASE)
_COUNT = lazy.compile(r"(?:\b(?:have|has|owns?|got)|[有养]了?)\s?\d+(?! ?(?:year|岁|day|天))")
_PREDICATE = lazy.compile(
    r"对.+过敏|喜欢|讨厌|[爱有养会吃喝怕不没是]|\d岁"
    r"|\b(?:allerg\w*|likes?|loves?|hates?|dislikes?|has|have|owns?|speaks?|plays?|eats?|drinks?|no|not|never)\b"
)


@dataclass(frozen=True, slots=True)
class Decision(Record):
    """What is to be done with a claim, by place in the list of those that stand.

    Attributes:
        same: the one that says it already, or None when the claim is new.
        replaces: those that it takes the place of.
        doubts: those that it may replace; to be asked about.
    """

    same: int | None = None
    replaces: tuple[int, ...] = ()
    doubts: tuple[int, ...] = ()


def decide(new: Claim, olds: Sequence[Claim], *, correction: bool = False, source: str = "") -> Decision:
    """How ``new`` stands to the claims ``olds``.

    Args:
        correction: the model takes the message for a correction. It adds nothing to what the words say; it
            only lets a doubt be raised.
        source: the message that ``new`` came from.
    """
    verdicts = [_relation(new.text, old.text) for old in olds]
    stand = [
        _standing(new, old, verdict, correction, source) for old, verdict in zip(olds, verdicts, strict=True)
    ]
    replaces = [at for at, place in enumerate(stand) if place == "replaces"]
    same = next((at for at, verdict in enumerate(verdicts) if verdict == rules.SAME), None)
    if same is None and not replaces:
        same = next((at for at, verdict in enumerate(verdicts) if verdict == rules.BROADER), None)
    if same is not None:
        return Decision(same, tuple(replaces))
    likely = [at for at, place in enumerate(stand) if place == "likely"]
    doubts = [at for at, place in enumerate(stand) if place == "asks"]
    if len(likely) == 1 and not replaces and not doubts:
        replaces = likely
    else:
        doubts = sorted([*likely, *doubts])
    return Decision(replaces=tuple(replaces), doubts=tuple(doubts))


def _standing(new: Claim, old: Claim, verdict: str, correction: bool, source: str) -> str:
    """What ``old`` has to do: "replaces" when ``new`` takes its place, "likely" when it does unless another one
    would fit as well, "asks" when a person must say, "" when both can stand."""
    if verdict == rules.NARROWER:
        return "replaces"
    if verdict == rules.CONFLICT:
        found = _excludes(new, old, correction, source)
    elif verdict == rules.DIFFERENT:
        found = _opposes(new, old)
    else:
        return ""
    return found or _succeeds(new, old, correction, source)


class Handles(NamedTuple):
    """Numbers by which a store finds the claims that ``decide`` could find related to one; others may share them.

    Attributes:
        stored: those that a claim is stored under.
        sought: those of which a related claim is stored under at least one.
    """

    stored: frozenset[int]
    sought: frozenset[int]


def handles(claim: Claim) -> Handles:
    """The handles of a claim.

    Of two claims that are the same, finer or opposite, either both have the same words, numbers aside, or one goes
    on at a joint of it where the other ends (``rules.relation``); two that are kept apart by their key or topic share
    that.
    """
    told = topic(_predicate(claim))
    return _handles(
        claim.text,
        _normal(claim.subject),
        _key(claim.attribute),
        (told.name, told.holder) if told else None,
    )


@lru_cache(maxsize=256)
def _handles(text: str, subject: str, attribute: str, told: tuple[str, str] | None) -> Handles:
    statement = parsed(text)
    stems = [
        "0" if token.kind == words.NUMBER else stem
        for token, stem in zip(statement.core, statement.stems(), strict=True)
    ]
    joints = [size for size in statement.joints() if size <= MAX_WORDS]
    shared = [_handle("key", subject, attribute)] if attribute else []
    shared += [_handle("topic", subject, *told)] if told else []
    shared += [_handle("gist", *gist(text).words), _handle("whole", *stems)]
    starts = [_handle("start", *stems[:size]) for size in joints]
    wholes = [_handle("whole", *stems[:size]) for size in joints]
    return Handles(frozenset([*shared, *starts]), frozenset([*shared, _handle("start", *stems), *wholes]))


def fingerprint(text: str) -> bytes:
    """``rules.fingerprint`` of a claim's text, as 16 bytes."""
    return hashlib.sha256(parsed(text).normal.encode()).digest()[:16]


def _handle(*parts: str) -> int:
    return zlib.crc32("\n".join(parts).encode())


def _excludes(new: Claim, old: Claim, correction: bool, source: str) -> str:
    """How two claims stand that cannot both be read as one (``rules.CONFLICT``); see ``_standing``.

    Opposites exclude each other. The same words around other numbers need not ("owns boat 5", "owns boat 6"),
    unless they give an age, or the key or the message says that it is one thing with one value; days can,
    unless the message corrects one.
    """
    if parsed(new.text).negative != parsed(old.text).negative:
        return "replaces"
    corrected = (correction or _CORRECTION.search(source) is not None) and bool(source)
    if corrected:
        return "replaces"
    if _AGE.search(new.text) and _AGE.search(old.text):
        told = topic(_predicate(new))
        return "replaces" if (told and not told.many) or _grown(new, old) else "asks"
    if _COUNT.search(bare(_predicate(new))):
        return "asks"
    return "replaces" if _same_key(new, old) and not _DATE.search(new.text) else ""


def _grown(new: Claim, old: Claim) -> bool:
    """Whether the first number of ``new`` is one more than that of ``old``: ages and school years do that."""
    after, before = (rules.numbers(claim.text)[:1] for claim in (new, old))
    return bool(after and before and all(number[0].isdigit() for number in (after, before))
                and int(after[0]) == int(before[0]) + 1)  # fmt: skip


def _opposes(new: Claim, old: Claim) -> str:
    """How two claims stand of which one may deny what the other says, in other words ("cannot eat", 吃不了), or
    put it into the past."""
    a, b = gist(new.text), gist(old.text)
    if not a.words or a.words != b.words or _normal(new.subject) != _normal(old.subject):
        return ""
    if a.stances == b.stances and a.marks == b.marks and a.negative != b.negative:
        return "replaces"
    ended = not b.marks and a.negative == b.negative and _ONCE.search(new.text)
    return "asks" if ended and not _ONCE.search(old.text) else ""


def same_content(new: Claim, old: Claim) -> bool:
    """Whether two claims tell of the same thing, even if not the same of it: they share most of the shorter
    one's words."""
    a, b = set(parsed(new.text).stems()), set(parsed(old.text).stems())
    if a and b and len(a & b) >= 0.6 * min(len(a), len(b)):
        return True
    return _relation(new.text, old.text) != rules.DIFFERENT


def _succeeds(new: Claim, old: Claim, correction: bool, source: str) -> str:
    """How two claims stand of which one may be the later value of what the other tells."""
    if _normal(new.subject) != _normal(old.subject) or _marks(new) != _marks(old):
        return ""
    if _BESIDE.search(new.text) or _BESIDE.search(old.text):
        return ""
    corrected = correction and _CORRECTION.search(source) is not None
    told, known = topic(_predicate(new)), topic(_predicate(old))
    if told and known and (told.name, told.holder) == (known.name, known.holder):
        if _says_more(old, known, new):
            return "asks"
        return "asks" if told.many and not (corrected or _grown(new, old)) else "replaces"
    if not _same_key(new, old):
        return ""
    if _denied(old, source) or (corrected and _same_frame(new, old)):
        return "likely"
    single = keyed(new.attribute)
    if single and not source and all(not it or (it.name, it.holder) == (single, "") for it in (told, known)):
        return "likely"
    return "asks" if correction or single else ""


def _marks(claim: Claim) -> list[str]:
    return list(parsed(bare(_predicate(claim))).marks)


def _says_more(old: Claim, told: Topic, new: Claim) -> bool:
    """Whether ``old`` goes on with something that ``new`` says nothing of: "lives in Berlin and is allergic to
    peanuts". The rest of an address is nothing more."""
    if tells(told.rest) or _PREDICATE.search(told.rest):
        return True
    known = set(parsed(new.text).stems())
    _, *added = _ADDED.split(_predicate(old))
    return any(
        not set(parsed(part).stems()) <= known
        for part in map(str.strip, added)
        if not (told.name == "home" and _PLACE.match(part))
    )


def _predicate(claim: Claim) -> str:
    """What is said of the subject: the text without the subject's name in front."""
    text = claim.text.strip()
    named = claim.subject and text.casefold().startswith(claim.subject.casefold())
    return text[len(claim.subject) :].lstrip(" :：'’") if named else text


def _statement(claim: Claim) -> rules.Statement:
    return parsed(_predicate(claim))


def _relation(new: str, old: str) -> str:
    """``rules.relation``, of texts that are compared with many."""
    return str(rules.compare(parsed(new), parsed(old)))


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return str(rules.normal(text))


@lru_cache(maxsize=4096)
def _key(attribute: str) -> str:
    """An attribute, however it is spelt: favorite_color, "Favourite colour"."""
    return _normal(american(attribute.replace("_", " ").replace("-", " ")))


def _same_key(new: Claim, old: Claim) -> bool:
    if not new.attribute or _key(new.attribute) != _key(old.attribute):
        return False
    return bool(_normal(new.subject) == _normal(old.subject))


def _same_frame(new: Claim, old: Claim) -> bool:
    """The same verb and stance around another value: "likes to drink cola", "likes to drink coffee"."""
    a, b = _statement(new), _statement(old)
    if not a.core or not b.core or a.negative != b.negative or bool(a.stances) != bool(b.stances):
        return False
    return bool(a.key()[0] == b.key()[0])


def _denied(old: Claim, source: str) -> bool:
    """Whether a clause of the message says the opposite of ``old``."""
    said = [clause.rstrip("了啦") for clause in clauses(source)]
    return any(
        _relation(clause, old.text) == rules.CONFLICT and parsed(clause).negative != parsed(old.text).negative
        for clause in said
    )


def clauses(text: str) -> list[str]:
    """The parts of ``text`` between commas, full stops and "but"."""
    return [part.strip() for part in _CLAUSES.split(text) if part and part.strip()]
