"""Factors on the score of a document, each with the name of its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from wellkept.policy.recall import question
from wellkept.policy.recall.corpus import Doc, Window
from wellkept.policy.recall.question import Question
from wellkept.policy.recall.reading import Reading
from wellkept.records import Record

NAMED_SPEAKER = 2.0
"""For what the one speaker said whom the question names."""

ASSISTANT = 0.4
"""For what the assistant said, unless the question asks for that: its long answers echo the user's words."""

IN_WINDOW = 1.5
"""For what was said in the time that the question speaks of, falling to 1 in ``AROUND_DAYS`` around it."""

AROUND_DAYS = 7.0

TELLS_TIME = 1.3
"""For a text with time words when the question asks for a time."""

ASKING = 0.2
"""Taken from a text that is all questions; in proportion from one that is so in part."""

SENTENCE = 0.6
"""Added to a text that has all of the question in one sentence; in proportion where it has a part."""

_DAY = 86_400_000


ALIKE = 0.5
"""A newer text that shares this part of the shorter one's tokens speaks of the same thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Age(Record):
    """How age counts: from 1 for what is new, day by day down to ``discount`` for what is ``days`` old and older."""

    now: datetime
    discount: float = 0.7
    days: float = 30.0

    def factor(self, ts: int) -> float:
        """The factor of what was said at ``ts`` (ms); 1 for the future."""
        past = (self.now.timestamp() * 1000 - ts) // _DAY / (self.days or 1)
        return 1 - (1 - self.discount) * min(1.0, max(0.0, past))


def known(doc: Doc, asked: Question, window: Window | None) -> dict[str, float]:
    """The factors that need no text."""
    factors: dict[str, float] = {}
    if asked.speaker is not None and doc.speaker == asked.speaker:
        factors["speaker"] = NAMED_SPEAKER
    if doc.role == "assistant" and not asked.about_assistant:
        factors["role"] = ASSISTANT
    if window is not None:
        factors["date"] = _near(doc.ts, window)
    return factors


def outdated(tokens: Mapping[int, frozenset[str]], docs: Mapping[int, Doc], age: Age) -> dict[int, float]:
    """The factor of each text that a newer one of ``tokens`` is like, by as much as age parts the two.

    Old memories do not give way to new ones for their age alone, only to those that may have replaced them.
    """
    worth = {key: age.factor(docs[key].ts) for key in tokens}
    newest = sorted(worth, key=worth.__getitem__, reverse=True)
    factors: dict[int, float] = {}
    for place, key in enumerate(newest):
        mine = tokens[key]
        for other in newest[:place]:
            if worth[key] == worth[other]:
                break
            if len(mine & tokens[other]) >= ALIKE * min(len(mine), len(tokens[other])):
                factors[key] = worth[key] / worth[other]
                break
    return factors


def read(text: str, its: Reading, asked: Question, worth: Mapping[str, float]) -> dict[str, float]:
    """The factors that need the text, ``its`` being what was read of it.

    ``worth`` is the weight of each token of the question, all together at most 1.
    """
    shared = [(token, share) for token, share in worth.items() if token in its.tokens]
    best = max(
        [sum([share for token, share in shared if token in said]) for said in its.sentences], default=0.0
    )
    factors = {"sentence": 1 + SENTENCE * best, "asking": 1 - ASKING * its.asking}
    if asked.about_time and question.tells_time(text):
        factors["time"] = TELLS_TIME
    return factors


def _near(ts: int, window: Window) -> float:
    start, end = window.start.timestamp() * 1000, window.end.timestamp() * 1000
    away = max(start - ts, ts - end, 0.0) / _DAY
    return 1 + (IN_WINDOW - 1) * max(0.0, 1 - away / AROUND_DAYS)
