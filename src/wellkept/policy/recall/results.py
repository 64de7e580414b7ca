"""Which candidates become results: not the weak, nothing twice, no more than wished for; and why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from wellkept.policy.recall.boosts import Age
from wellkept.policy.recall.corpus import Window
from wellkept.records import Record

ALIKE = 0.9
"""Two texts that share this part of their tokens say the same."""

_OF_WORDS = ("text", "feedback", "neighbours")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish(Record):
    """What a caller may set beside the question.

    Attributes:
        limit: results at most.
        threshold: least ``relevance`` of a result; 0 for all that have to do with the question.
        similarity: least calibrated similarity of what shares no word with it, nor has a neighbour that does.
        window: the time that the question speaks of; what was said then is favoured.
        age: how age counts; None for not at all.
        alone: each document counts for its own words alone: none lends to its neighbours, and no words are added to the
            question's.
    """

    limit: int = 8
    threshold: float = 0.0
    similarity: float = 0.7
    window: Window | None = None
    age: Age | None = None
    alone: bool = False


class Found(NamedTuple):
    """A result.

    Attributes:
        score: puts the results of one question in order; not comparable between questions.
        relevance: from 0 to 1: the share of the question's weight that it and its neighbours hold, or its
            calibrated similarity, whichever is more.
        parts: ``text``, ``feedback``, ``neighbours`` and ``meaning``, which were added, and by the name of
            their reason the factors that then changed the sum.
        around: keys of the messages right before and after it.
        same: keys of candidates that say the same and were dropped for it.
    """

    key: int
    score: float
    relevance: float
    parts: Mapping[str, float]
    around: tuple[int, ...] = ()
    same: tuple[int, ...] = ()


class Dropped(NamedTuple):
    """A candidate that is no result, and why."""

    key: int
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Record):
    """Results, best first; what was dropped; the words that were added to the question's own."""

    found: tuple[Found, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    added: tuple[str, ...] = ()


def choose(
    candidates: Iterable[Found], tokens: Mapping[int, frozenset[str]], wish: Wish
) -> tuple[list[Found], list[Dropped]]:
    """Parts candidates, best first, into results and the dropped; ``tokens`` are those of their texts."""
    kept: dict[int, Found] = {}
    dropped: list[Dropped] = []
    for candidate in candidates:
        reason = _too_weak(candidate, wish)
        twin = None if reason else _twin(candidate.key, kept, tokens)
        if twin is not None:
            kept[twin] = kept[twin]._replace(same=(*kept[twin].same, candidate.key))
            reason = f"says the same as {twin}"
        elif reason is None and len(kept) >= wish.limit:
            reason = f"over the limit of {wish.limit}"
        if reason is None:
            kept[candidate.key] = candidate
        else:
            dropped.append(Dropped(candidate.key, candidate.score, reason))
    return list(kept.values()), dropped


def _too_weak(candidate: Found, wish: Wish) -> str | None:
    if candidate.relevance < wish.threshold:
        return f"relevance {candidate.relevance:.2f} is below the threshold {wish.threshold:.2f}"
    if candidate.relevance < wish.similarity and candidate.parts.keys().isdisjoint(_OF_WORDS):
        return f"shares no word, and its similarity {candidate.relevance:.2f} is below {wish.similarity:.2f}"
    return None


def _twin(key: int, kept: Iterable[int], tokens: Mapping[int, frozenset[str]]) -> int | None:
    mine = tokens[key]
    size = len(mine)
    least, most = ALIKE * size, size / ALIKE
    for other in kept:
        its = tokens[other]
        if least <= len(its) <= most:
            shared = len(mine & its)
            if shared >= ALIKE * (size + len(its) - shared):
                return other
    return None
