"""The gate: is a claim that a model drew from a message really said there?

Each check is on words, so that it holds for any model: the quote and the keywords stand in the message; every
word of the claim stands in the sentence quoted (or is one of a few that state nothing by themselves); each
number and date is one that code reads there; negation, liking and marks of time are the same; and what stands
before the words used belongs to the claim ("my sister likes dogs" says nothing of the user). What a clause only
excludes or leaves behind, it does not say; its values and roles are the claim's. What is quoted, pasted, asked or
ordered states nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from wellkept.policy.facts.assertion import is_reserved, is_taken_back, leads_own_words
from wellkept.policy.facts.claims import Claim
from wellkept.policy.facts.conflict import clauses
from wellkept.policy.facts.contrast import affirmed
from wellkept.policy.facts.intent import sentences, stated
from wellkept.policy.facts.plainwords import (
    FILLER,
    FIRST,
    FRAME,
    ITSELF,
    KIN,
    OTHERS,
)
from wellkept.policy.facts.quoted import own_words
from wellkept.policy.facts.roles import follows_another, misread
from wellkept.policy.facts.spoken import content, is_said, stem, stems
from wellkept.policy.facts.values import blank, misplaced, whole_dates, without_units
from wellkept.policy.text import dates, days, lazy, numbers
from wellkept.records import Record
from wellkept_flash import rules, words

_WOULD = lazy.compile(r"['’]d(?= (?:like|love|prefer|rather|want|be|have)\b)", re.IGNORECASE)
_SIMPLE_PAST = lazy.compile(
    r"(?:^|,|\b(?:i|we|he|she|they|who)\b)\s*(?:\w+ly |also |just |once |first )?(\w+ed)\b"
)
_NO_SUBJECT = FILLER | {"my", "我的", "mine", "me"}
_NEAR = 64  # characters of a sentence that are looked at before its rest is
_COMMAS = lazy.compile(r"[,;\n，。；、](?!\d)")
# Clauses, of what comes after the words of a claim.
_TAILS = lazy.compile(r"[,;.!?:\n，。；！？：、()（）…~～]+|\s-+\s|—+")

UNQUOTED = "the quote is not in the message"


@dataclass(frozen=True, slots=True)
class Said(Record):
    """A message to be looked at: its text, when it was said, in which zone, and by whom ("" for the user)."""

    text: str
    at: datetime
    zone: str = "UTC"
    speaker: str = ""


def refusal(claim: Claim, said: Said) -> str | None:
    """Why ``claim`` may not be stored as said in ``said``; None when all of it is there."""
    own = own_words(said.text)
    if not claim.quote.strip() or not _within(claim.quote, said.text):
        return UNQUOTED
    if not _within(claim.quote, own):
        return "the quote is from quoted or pasted text"
    for keyword in claim.keywords:
        if not _within(keyword, own):
            return f"the keyword {keyword!r} is not in the message"
    spoken = [sentence for sentence in sentences(own) if _overlaps(claim.quote, sentence)]
    stating = [sentence for sentence in spoken if (part := stated(sentence)) and _overlaps(claim.quote, part)]
    if not stating:
        return "the message asks or orders this, it does not state it"
    following = dict(pairwise(sentences(own)))
    preceding = {after: before for before, after in following.items()}
    stating = [each for each in stating if not follows_another(each, preceding.get(each, ""))]
    if not stating:
        return "it is said of somebody else, of whom the sentence before speaks"
    asserted = [
        stated(sentence)
        for sentence in stating
        if not _unasserted(claim, sentence, following.get(sentence, ""))
    ]
    if not asserted:
        return "the message does not assert it: it is believed, feared, dreamt, supposed or told by others"
    if all(_is_to_come(claim, sentence, said) for sentence in asserted):
        return "the message tells of a day to come, the memory does not"
    said_so = [affirmed(sentence, claim.text) for sentence in asserted]
    return _values(claim, said) or _words(claim, said, said_so)


def _is_to_come(claim: Claim, sentence: str, said: Said) -> bool:
    """Whether the clauses that say it name a later day (明年, "next month"), and the claim names none."""
    if any(days.find(claim.text, said.at, said.zone)):
        return False
    today = dates.absolute("day+0", said.at, said.zone)
    runs = _supporting(content(claim.text), clauses(sentence))
    named = [list(days.find(" , ".join(run), said.at, said.zone)) for run in runs]
    return all(any(each.day and each.day[:10] > today[: len(each.day)] for each in found) for found in named)


def _unasserted(claim: Claim, sentence: str, following: str) -> bool:
    """Whether the words around what the claim takes from the sentence say that this is only a belief, a dream,
    hearsay, a joke or the like, and the claim leaves that out."""
    end = _end_of_words(claim, sentence)
    before = sentence[:end]
    lead, colon, _ = before.rpartition("：" if "：" in before else ": ")
    if colon and not leads_own_words(lead) and not _is_named(claim, lead):
        return True
    after = [*_TAILS.split(sentence[end:]), *clauses(following)[:1]]
    return is_reserved(before, claim.text) or is_taken_back(after)


def _end_of_words(claim: Claim, sentence: str) -> int:
    """Where in the sentence the last of the words ends that the claim takes from it."""
    there = [stem(token.text) for token in words.tokens(sentence)]
    row = _in_a_row(sentence)
    first = row[: max(row.find(_in_a_row(claim.quote)), 0)].count("\n")
    places = (
        next((at for at in range(first, len(there)) if is_said(want, {there[at]})), first)
        for want in content(blank(claim.text))
    )
    last = max((first, *places))
    end = _reaching(sentence, last + 1)
    while (
        0 < end < len(sentence)
        and sentence[end].isascii()
        and (sentence[end].isalpha() or sentence[end] == "'")
    ):
        end += 1
    return end


def _reaching(sentence: str, count: int) -> int:
    """The least length at which ``sentence`` has ``count`` words. Words do not reach over commas, so that only the
    part in which it has them is read more than once."""
    begin, end, known = 0, 0, 0
    for end in [*(comma.end() for comma in _COMMAS.finditer(sentence)), len(sentence)]:
        more = len(words.tokens(sentence[begin:end]))
        if known + more >= count:
            break
        begin, known = end, known + more

    def reaches(size: int) -> bool:
        return known + len(words.tokens(sentence[begin:size])) >= count

    enough = begin + _NEAR
    while enough < end and not reaches(enough):
        enough += enough - begin
    return begin + bisect_left(range(begin, min(enough, end)), True, key=reaches)


def _is_named(claim: Claim, lead: str) -> bool:
    """Whether the claim takes up what stands before a colon, as in a form ("Name: Tom")."""
    said_of_nobody = FRAME - {"name", "名", "字"}
    return not (set(stems(lead)) - said_of_nobody).isdisjoint(stems(claim.text))


def _values(claim: Claim, said: Said) -> str | None:
    """Numbers and dates of the claim that are not those of the quote."""
    known_days = days.known(claim.quote, said.at, said.zone, said.text)
    for each in days.find(claim.text, said.at, said.zone, said.text):
        if not known_days & {each.day, each.phrase.date}:
            return f"the date {claim.text[each.phrase.start : each.phrase.end]!r} is not what the quote says"
    known = {(item.value, item.unit) for item in numbers.find(blank(claim.quote))}
    bare = {value for value, _ in known}
    for item in numbers.find(blank(claim.text)):
        same = (
            (item.value, item.unit) in known
            or (item.value in bare and not item.unit)
            or (item.value, "") in known
        )
        if not same and not item.article:
            return f"the number {claim.text[item.start : item.end]!r} is not in the quote"
    return None


def _words(claim: Claim, said: Said, stated: Sequence[str]) -> str | None:
    """Words of the claim that the stated sentences do not hold, and turns of meaning that differ."""
    speaker = set(stems(said.speaker))
    wanted = [word for word in content(without_units(blank(claim.text), claim.quote)) if word not in speaker]
    if not wanted and not rules.numbers(claim.text):
        return "it says nothing"
    reasons = [_reason(claim, wanted, sentence, said) for sentence in stated]
    joined = " , ".join(stated)
    return (
        None if None in reasons else (_reason(claim, wanted, joined, said) if len(stated) > 1 else reasons[0])
    )


def _reason(claim: Claim, wanted: Sequence[str], sentence: str, said: Said) -> str | None:
    spoken = set(stems(sentence))
    missing = [word for word in wanted if not is_said(word, spoken)]
    if missing:
        return f"the message does not say {missing[0]!r}"
    sentence, first = whole_dates(sentence), None
    for run in _supporting(wanted, clauses(sentence)):
        reason = misplaced(claim.text, run, sentence, said.at, said.zone) or _turned(
            claim, wanted, [blank(part, " ") for part in run], sentence
        )
        if reason is None:
            return None
        first = first or reason
    return first


def _turned(claim: Claim, wanted: Sequence[str], parts: Sequence[str], sentence: str) -> str | None:
    """Whether these clauses say what the claim says: as much, no less certain, and of the same subject."""
    said, stated = (_WOULD.sub(" would", text) for text in (" , ".join(parts), claim.text))
    support, fact = rules.Statement(said), rules.Statement(stated)
    if support.negative != fact.negative:
        return "the message says the opposite"
    if fact.stances and not support.stances:
        return "the message does not say that it is liked or disliked"
    if set(support.marks) - set(fact.marks):
        return f"the message says so only with {sorted(set(support.marks) - set(fact.marks))[0]!r}"
    if any(verb not in words.fold(stated) and stem(verb) in stems(stated) for verb in _past(said)):
        return "the message tells of the past"
    before = sentence[: sentence.find(parts[0])] if parts[0] in sentence else ""
    return _whose(claim, wanted, parts, before) or misread(claim.text, wanted, parts, before)


def _past(said: str) -> list[str]:
    """The regular English verbs that stand in the simple past."""
    verbs = [found[1] for found in _SIMPLE_PAST.finditer(words.fold(said))]
    return [verb for verb in verbs if stem(verb) != verb]


def _supporting(wanted: Sequence[str], parts: Sequence[str]) -> list[list[str]]:
    """The shortest runs of clauses that hold all that is wanted; all of them together when none does."""
    spoken = [set(stems(part)) for part in parts]
    said = [[word for word in set(wanted) if is_said(word, there)] for there in spoken]
    missing, held, start, runs = len(set(wanted)), Counter[str](), 0, []
    for end, here in enumerate(said, start=1):
        missing -= sum(not held[word] for word in here)
        held.update(here)
        while start < end and not missing:
            runs.append((end - start, start))
            held.subtract(said[start])
            missing += sum(not held[word] for word in said[start])
            start += 1
    shortest = min(runs, default=(len(parts), 0))[0]
    found = [list(parts[start : start + size]) for size, start in runs if size == shortest]
    return found or [list(parts)]


def _whose(claim: Claim, wanted: Sequence[str], parts: Sequence[str], before: str) -> str | None:
    """Whether the words before the first one used are about somebody whom the claim does not name."""
    named = set(stems(claim.text))
    for kin in KIN.finditer(before + parts[0]):
        inside = all(word in named for word in stems(kin[1]))
        if not inside and not ITSELF.match(parts[0]) and not _turns_back(parts[0], kin[1]):
            return f"it is said of {kin[1]!r}"
    lead = _lead(parts[0], wanted)
    strange = [word for word in lead if word not in named and (word in OTHERS or word not in FILLER | FRAME)]
    if strange and not _is_object(claim, strange):
        return f"it is said of {strange[0]!r}"
    return None


def _lead(part: str, wanted: Sequence[str]) -> list[str]:
    """The words of a clause behind its last "I" and before the first one that is wanted."""
    lead: list[str] = []
    for token in words.tokens(part):
        word = stem(token.text)
        if token.kind == words.NUMBER or any(is_said(want, {word}) for want in wanted):
            break
        if token.text in FIRST:
            lead = []
        elif token.kind == words.WORD and token.text not in _NO_SUBJECT:
            lead.append(word)
    return lead


def _turns_back(part: str, kin: str) -> bool:
    """Whether the clause has a subject of its own behind the kin word's clause."""
    return kin not in part and re.match(r"\W*(?:i|i'm|i’m|my)\b", part, re.IGNORECASE) is not None


def _is_object(claim: Claim, strange: Sequence[str]) -> bool:
    """In Chinese what is known of comes first ("花生我过敏"); nothing of the kind is taken for granted: only a
    named subject may."""
    return bool(claim.subject) and all(word in set(stems(claim.subject)) for word in strange)


# ── words ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _within(part: str, text: str) -> bool:
    """Whether the words of ``part`` stand side by side in ``text``, whatever their case, width and
    endings."""
    wanted = _in_a_row(part)
    return wanted != _in_a_row("") and wanted in _in_a_row(text)


@lru_cache(maxsize=1024)
def _in_a_row(text: str) -> str:
    """The stems of all words of ``text``, each between line ends, so that a run of words is a part of it."""
    return "\n".join(["", *(stem(token.text) for token in words.tokens(text)), ""])


def _overlaps(quote: str, sentence: str) -> bool:
    return _within(quote, sentence) or _within(sentence, quote)


# ── dates ────────────────────────────────────────────────────────────────────────────────────────────────────


def dated(text: str, said: Said) -> str:
    """``text`` with each relative date ("next Wednesday", 下周三) made absolute, as seen from when it was said.

    A day that its words leave open ("June 3") stays as it is, unless the tense tells which is meant.
    """
    return days.dated(text, said.at, said.zone, said.text)


def since(value: str, claim: Claim, said: Said) -> datetime | None:
    """The moment of a date that a model gave, when the quote names that day; None for any other."""
    return days.moment(value, claim.quote, said.at, said.zone, said.text)
