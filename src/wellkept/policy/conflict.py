"""What a new claim does to those that stand: nothing, take the place of one, or ask.

A model only proposes. Which fact gives way is decided here, from the words of both claims and of the message
they came from; sharing a label or a key is never enough. In doubt both stay, and a person is asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from wellkept.policy import lazy
from wellkept.policy.claims import Claim
from wellkept.records import Record
from wellkept_flash import rules, words

MAX_WORDS = 32
"""Words of a claim by which finer and vaguer ones are found; what begins alike for longer is a document."""

# A letter to every tokenizer, at the start of no word.
_MARK = "ː"
_CLAUSES = lazy.compile(
    r"[,;.!?:\n，。；！？：、]+|\bbut\b|\b(?:and|while)\b(?= (?:i|my|we|our|he|she|they)\b)|但是?|不过|而是",
    re.IGNORECASE,
)
# What one statement adds to another in the same text.
_ADDED = lazy.compile(
    r"[,;.!\n，。；！、]+(?!\d)|\b(?:and|but|also|while|plus|who|with)\b|并且?|而且|且|还|同时|也|但是?|不过",
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
# A subject has one of these at a time. Each is known by the words that its statement begins with, the subject left out.
_SINGLE = {
    "home": lazy.compile(
        r"(?:live|living|reside|moved?|relocated) (?:in|to|at|near|back)\b|住|搬|家住|家在|定居|现住|现居"
    ),
    "name": lazy.compile(r"(?:name|named|called)\b|first name|叫|名叫|名字|姓名"),
    "work": lazy.compile(r"(?:job|profession|occupation|employer)\b|(?:职业|工作)[是为]"),
    "birthday": lazy.compile(r"(?:birthday|born)\b|生日|出生"),
}
_FAVOURITE = lazy.compile(r"favou?rite (\w+)|最(?:喜欢|爱|喜爱)的?(.+?)是")


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
    verdicts = [rules.relation(new.text, old.text) for old in olds]
    replaces = [
        at
        for at, verdict in enumerate(verdicts)
        if verdict == rules.NARROWER
        or (verdict == rules.CONFLICT and _excludes(new, olds[at], correction, source))
    ]
    same = next((at for at, verdict in enumerate(verdicts) if verdict == rules.SAME), None)
    if same is None and not replaces:
        same = next((at for at, verdict in enumerate(verdicts) if verdict == rules.BROADER), None)
    if same is not None or replaces:
        return Decision(same, tuple(replaces))
    likely = [at for at, old in enumerate(olds) if _takes_the_place(new, old, correction, source)]
    sure = [at for at in likely if not _says_more(olds[at], new)]
    if len(sure) == 1 and (len(likely) == 1 or _single_valued(new)):
        return Decision(replaces=tuple(sure), doubts=tuple(at for at in likely if at not in sure))
    doubts = [at for at, old in enumerate(olds) if correction and _same_key(new, old)]
    return Decision(doubts=tuple(dict.fromkeys([*likely, *doubts])))


class Handles(NamedTuple):
    """Index tokens by which a store finds the claims that ``decide`` could find related to one.

    Attributes:
        stored: those that a claim is stored under.
        sought: those of which a related claim is stored under at least one.
    """

    stored: tuple[str, ...]
    sought: tuple[str, ...]


def handles(claim: Claim) -> Handles:
    """The handles of a claim.

    Of two claims that are the same, finer or opposite, one begins with all words of the other, numbers aside
    (``rules.relation``); two that are kept apart by their key or topic share that.
    """
    return _handles(claim.text, _normal(claim.subject), _normal(claim.attribute), _single_valued(claim))


@lru_cache(maxsize=256)
def _handles(text: str, subject: str, attribute: str, topic: str) -> Handles:
    statement = _parsed(text)
    stems = [
        "0" if token.kind == words.NUMBER else stem
        for token, stem in zip(statement.core, statement.stems(), strict=True)
    ]
    sizes = range(1, min(len(stems), MAX_WORDS) + 1)
    shared = [_handle("key", subject, attribute)] if attribute else []
    shared += [_handle("topic", subject, topic)] if topic else []
    whole, starts = _handle("whole", *stems), [_handle("start", *stems[:size]) for size in sizes]
    wholes = [_handle("whole", *stems[:size]) for size in sizes]
    return Handles((*shared, whole, *starts), (*shared, whole, _handle("start", *stems), *wholes))


def fingerprint(text: str) -> bytes:
    """``rules.fingerprint`` of a claim's text, as 16 bytes."""
    return hashlib.sha256(_parsed(text).normal.encode()).digest()[:16]


def _handle(*parts: str) -> str:
    return _MARK + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _excludes(new: Claim, old: Claim, correction: bool, source: str) -> bool:
    """Whether two claims that cannot both be read as one (``rules.CONFLICT``) cannot both be true.

    Opposites cannot. The same words around other numbers can ("owns boat 5", "owns boat 6"), unless they give
    an age, or the key or the message says that it is one thing with one value; days can, unless the message
    corrects one.
    """
    if rules.polarity(new.text) != rules.polarity(old.text) or (
        _AGE.search(new.text) and _AGE.search(old.text)
    ):
        return True
    corrected = correction or _CORRECTION.search(source) is not None
    if _DATE.search(new.text) or not _same_key(new, old):
        return corrected and bool(source)
    return True


def same_content(new: Claim, old: Claim) -> bool:
    """Whether two claims tell of the same thing, even if not the same of it: they share most of the shorter
    one's words."""
    a, b = set(_parsed(new.text).stems()), set(_parsed(old.text).stems())
    if a and b and len(a & b) >= 0.6 * min(len(a), len(b)):
        return True
    return rules.relation(new.text, old.text) != rules.DIFFERENT


def _takes_the_place(new: Claim, old: Claim, correction: bool, source: str) -> bool:
    if not _same_key(new, old) and not _single_valued(new):
        return False
    if _normal(new.subject) != _normal(old.subject) or _statement(new).marks != _statement(old).marks:
        return False
    if _single_valued(new) and _single_valued(new) == _single_valued(old):
        return True
    if not _same_key(new, old):
        return False
    return _denied(old, source) or (
        correction and _CORRECTION.search(source) is not None and _same_frame(new, old)
    )


def _says_more(old: Claim, new: Claim) -> bool:
    """Whether ``old`` goes on with something that ``new`` says nothing of: "lives in Berlin and is allergic to
    peanuts". The rest of an address is nothing more."""
    told = set(_parsed(new.text).stems())
    _, *added = _ADDED.split(_predicate(old))
    return any(
        not set(_parsed(part).stems()) <= told
        for part in map(str.strip, added)
        if not (_single_valued(new) == "home" and _PLACE.match(part))
    )


def _single_valued(claim: Claim) -> str:
    """What a claim tells of which there is only one at a time; "" for all else."""
    return _topic(_predicate(claim))


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return str(rules.normal(text))


@lru_cache(maxsize=4096)
def _topic(predicate: str) -> str:
    statement = _bare(predicate)
    favourite = _FAVOURITE.search(statement)
    if favourite:
        return f"favourite {favourite[1] or favourite[2]}"
    return next((name for name, pattern in _SINGLE.items() if pattern.match(statement)), "")


def _bare(text: str) -> str:
    """``text`` folded, without the subject it begins with and the words that say nothing."""
    kept = [token for token in words.tokens(text) if token.kind != words.SKIP]
    while kept and (words.is_subject(kept[0]) or kept[0].text in ("的", "users", "s")):
        kept = kept[1:]
    pieces = [token.text if words.is_han(token.text[0]) else f"{token.text} " for token in kept]
    return re.sub(r"\blives\b", "live", "".join(pieces)).strip()


def _predicate(claim: Claim) -> str:
    """What is said of the subject: the text without the subject's name in front."""
    text = claim.text.strip()
    named = claim.subject and text.casefold().startswith(claim.subject.casefold())
    return text[len(claim.subject) :].lstrip(" :：'’") if named else text


def _statement(claim: Claim) -> rules.Statement:
    return _parsed(_predicate(claim))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> rules.Statement:
    """A parsed text, to be read only; the same few facts are looked at again and again."""
    return rules.Statement(text)


def _same_key(new: Claim, old: Claim) -> bool:
    if not new.attribute or _normal(new.attribute) != _normal(old.attribute):
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
        rules.relation(clause, old.text) == rules.CONFLICT
        and rules.polarity(clause) != rules.polarity(old.text)
        for clause in said
    )


def clauses(text: str) -> list[str]:
    """The parts of ``text`` between commas, full stops and "but"."""
    return [part.strip() for part in _CLAUSES.split(text) if part and part.strip()]
