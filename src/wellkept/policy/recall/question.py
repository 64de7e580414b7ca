"""What a question asks for, read from its words: whom, when, the past, or what the assistant said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from wellkept.policy.recall.corpus import Postings
from wellkept.policy.text import lazy, words
from wellkept.policy.text.remember import remembered
from wellkept.records import Record

_REMEMBERED = 2_000  # characters: each kind of document is asked the same question


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Record):
    """A question, read.

    Attributes:
        terms: what to look up, function words left out as long as anything else is there, with their weights.
        speaker: the one speaker of this memory whom the question names; None for nobody or several.
        about_time: it asks when, on which day or for how long.
        about_past: it asks for an earlier state or moment, so that age must not count against an answer.
        about_assistant: it asks for what the assistant said.
    """

    terms: dict[words.Term, float]
    speaker: str | None
    about_time: bool
    about_past: bool
    about_assistant: bool


def read(text: str, speakers: Iterable[str] = ()) -> Question:
    """``text`` as a ``Question`` to a memory in which ``speakers`` speak."""
    asked = _read(text)
    names = {name: set(words.index_tokens(name)) for name in speakers}
    if not names:
        return asked.question
    tokens = {term.text for term in asked.all_terms}
    named = [name for name, parts in names.items() if parts & tokens]
    said = {part for parts in names.values() for part in parts}
    terms = _weigh([term for term in asked.all_terms if term.text not in said] or asked.all_terms)
    return replace(asked.question, terms=terms, speaker=named[0] if len(named) == 1 else None)


class _Read(NamedTuple):
    """A question to a memory in which nobody has a name, and all of its terms."""

    question: Question
    all_terms: list[words.Term]


@remembered(_REMEMBERED)
def _read(text: str) -> _Read:
    terms = words.query_terms(text)
    plain = _plain(text)
    question = Question(
        terms=_weigh(terms),
        speaker=None,
        about_time=_WHEN.search(plain) is not None,
        about_past=_PAST.search(plain) is not None,
        about_assistant=_ASSISTANT.search(plain) is not None,
    )
    return _Read(question, terms)


def share_asked(sentences: Collection[str]) -> float:
    """How much of a text its sentences with a question mark at the end make up, from 0 to 1."""
    asked = sum([len(sentence) for sentence in sentences if sentence.endswith(("?", "？"))])
    return asked / (sum(map(len, sentences)) or 1)


def tells_time(text: str) -> bool:
    """Whether ``text`` holds a date, a year or a word like yesterday, last week, 上周."""
    return _TIME.search(_plain(text)) is not None


def lone(terms: Collection[words.Term], postings: Mapping[words.Term, Postings]) -> dict[words.Term, float]:
    """The characters of Chinese pairs that hardly any document holds, to look up alone, with their weights.

    They find 画画 by 画画儿 and 跑步 by 跑得快, where no pair is shared. ``postings`` are those of ``terms``.
    """
    held: dict[str, int] = {}
    for term in terms:
        for character in words.characters(term.text):
            held[character] = held.get(character, 0) + len(postings[term])
    rare = (words.Term(character, prefix=True) for character, documents in held.items() if documents <= _FEW)
    return dict.fromkeys(islice((term for term in rare if term not in terms), _MAX_CHARACTERS), _LONE)


def counted(
    terms: Mapping[words.Term, float], postings: Mapping[words.Term, Postings]
) -> dict[words.Term, float]:
    """Those of ``terms`` that tell how much of the question a document holds: all but emoji that none does.

    A word that nobody used was asked for and is missing; an emoji that nobody used was put there for show.
    """
    return {term: weight for term, weight in terms.items() if postings[term] or not words.is_emoji(term.text)}


def _plain(text: str) -> str:
    """``text`` as the patterns below are written: they are searched for much faster than if they ignored case."""
    return words.simplify(text.lower())


def _weigh(terms: list[words.Term]) -> dict[words.Term, float]:
    """Terms with weights: half for an emoji, and for a pair with a function word in it."""
    telling = [term for term in terms if not term.stop] or terms
    return {
        term: _HALF if words.is_loose(term.text) or words.is_emoji(term.text) else 1.0 for term in telling
    }


_HALF = 0.5
_LONE = 0.25
_FEW = 2
_MAX_CHARACTERS = 48

_WHEN = lazy.compile(
    r"\bwhen\b|\b(?:what|which) (?:date|day|month|year|time)\b"
    r"|\bhow (?:long|many (?:days|weeks|months|years))\b"
    r"|什么时候|何时|几时|哪天|哪年|几月|几号|多久|いつ|언제"
)
_PAST = lazy.compile(
    r"\b(?:when|first|original(?:ly)?|initial(?:ly)?|before|earlier|previous(?:ly)?|used to|ago|old"
    r"|last (?:year|month|spring|summer|autumn|fall|winter))\b"
    r"|一开始|原本|原来|原先|当初|以前|之前|先前|最初|起初|最早|第一次|旧|过去|从前|前后|变化|什么时候|何时"
)
_ASSISTANT = lazy.compile(
    r"\byou (?:\w+ ){0,2}?"
    r"(?:recommend|suggest|told|said|mention|gave|provid|explain|list|advis|wrote|describ)"
    r"|\b(?:our|previous|last|earlier) (?:\w+ )?(?:conversation|chat|discussion)\b|\bremind me\b"
    r"|你.{0,4}(?:推荐|建议|说过|告诉|提到|讲过|给我)"
)
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME = lazy.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|since|recently|(?:week(?:end)?|month|year|day)s?"
    rf"|this (?:morning|spring|summer|fall|autumn|winter)|{_MONTHS}|{_DAYS}|\d{{4}}|\d+(?:st|nd|rd|th))\b"
    r"|[昨今明前后]天|[上下这]个?(?:周|月|星期|礼拜)|[去今明前]年|\d[年月日号]|月底|星期|周末"
)
