"""From a question and the index of one memory to ranked results, each with the parts of its score.

1. BM25 of the question's terms (``bm25``, ``question``) and of words from its best hits (``feedback``), and what
   neighbours lend.
2. With vectors: both scores in standard deviations, added (``meaning``).
3. Factors from what is known of each document, and for the best ones from their texts (``boosts``).
4. Out: what is like a better result, what is below a threshold, what is over the limit.

Nothing here reads or writes: the ``Index`` answers from what its caller has at hand.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wellkept.policy import bm25, boosts, feedback, meaning, question, words
from wellkept.policy.bm25 import Postings
from wellkept.policy.boosts import Age
from wellkept.policy.corpus import Doc, Index, Window
from wellkept.policy.meaning import Meaning
from wellkept.policy.question import Question
from wellkept.policy.words import Term
from wellkept.records import Record

SHORTLIST = 30
"""So many texts are read to put the best in order; more when more results are asked for."""

CLIP = 2000
"""Characters read of each of them."""

ALIKE = 0.9
"""Two texts that share this part of their tokens say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish(Record):
    """What a caller may set beside the question.

    Attributes:
        limit: results at most.
        threshold: least ``relevance`` of a result; 0 for all that share a term with the question.
        similarity: least calibrated similarity of what shares no term with it, nor has a neighbour that does.
        window: the time that the question speaks of; what was said then is favoured.
        age: how age counts; None for not at all.
    """

    limit: int = 8
    threshold: float = 0.0
    similarity: float = 0.7
    window: Window | None = None
    age: Age | None = None


@dataclass(frozen=True, slots=True)
class Found(Record):
    """A result.

    Attributes:
        score: puts the results of one question in order; not comparable between questions.
        relevance: from 0 to 1: the share of the question's weight that it and its neighbours hold, or its
            calibrated similarity, whichever is more.
        parts: ``text``, ``feedback``, ``neighbours`` and ``meaning``, which were added, and by the name of their
            reason the factors that then changed the sum.
        around: keys of the messages right before and after it.
    """

    key: int
    score: float
    relevance: float
    parts: Mapping[str, float]
    around: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped(Record):
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


@dataclass(frozen=True, slots=True)
class _Pool:
    """All documents in question; what was looked up for them; what each gets, by the name of the part."""

    docs: Mapping[int, Doc]
    postings: Mapping[Term, Postings]
    added: Mapping[Term, float]
    parts: Mapping[str, Mapping[int, float]]

    def parts_of(self, key: int) -> dict[str, float]:
        return {name: scores[key] for name, scores in self.parts.items() if key in scores}


def rank(text: str, index: Index, meant: Meaning | None = None, wish: Wish | None = None) -> Ranking:
    """What ``index`` holds for the question ``text``, best first; empty when there is nothing.

    ``meant`` brings vector scores; without it the text decides alone.
    """
    wish = wish or Wish()
    asked = question.read(text, index.speakers)
    pool = _gather(asked, index, meant)
    factors = {key: boosts.known(doc, asked, wish.window, wish.age) for key, doc in pool.docs.items()}
    scores = {key: _score(pool.parts_of(key), factors[key]) for key in pool.docs}
    best = heapq.nlargest(max(SHORTLIST, 2 * wish.limit), scores, key=lambda key: (scores[key], -key))
    texts = {key: content[:CLIP] for key, content in index.texts(best).items()}
    worth = _worth(asked, pool.postings, index.documents)
    candidates = []
    for key, content in texts.items():
        reasons = factors[key] | boosts.read(content, asked, worth)
        parts = pool.parts_of(key)
        around = tuple(near for near in (key - 1, key + 1) if near in pool.docs)
        relevance = max(_held(key, worth, pool.postings), meant.similarity(key) if meant else 0.0)
        candidates.append(Found(key, _score(parts, reasons), relevance, parts | reasons, around))
    candidates.sort(key=lambda found: (-found.score, found.key))
    return _choose(candidates, texts, wish, tuple(term.text for term in pool.added))


def _gather(asked: Question, index: Index, meant: Meaning | None) -> _Pool:
    postings = index.postings(asked.terms)
    docs = dict(index.docs(_reach(postings)))
    own = _scores(asked.terms, postings, docs, index)
    added = _feedback(asked, own, docs, index)
    more = index.postings(added)
    docs.update(index.docs(_reach(more) - docs.keys()))
    fed = _scores(added, more, docs, index)
    both = {key: own.get(key, 0.0) + fed.get(key, 0.0) for key in own.keys() | fed.keys()}
    lent = {key: score for key, score in bm25.lend(both).items() if key in docs}
    text = {key: both.get(key, 0.0) + lent.get(key, 0.0) for key in both.keys() | lent.keys()}
    scale = 1 / meaning.deviation(text, index.documents)
    parts = {"text": _times(own, scale), "feedback": _times(fed, scale), "neighbours": _times(lent, scale)}
    if meant is not None:
        close = meant.standing()
        docs.update(index.docs(close.keys() - docs.keys()))
        parts["meaning"] = _times({key: score for key, score in close.items() if key in docs}, meaning.WEIGHT)
    return _Pool(docs, postings, added, parts)


def _reach(postings: Mapping[Term, Postings]) -> set[int]:
    """All keys with a term, and those to which they lend."""
    keys = {key for found in postings.values() for key in found}
    return {key + step for step in (-2, -1, 0, 1, 2) for key in keys}


def _scores(
    weights: Mapping[Term, float], postings: Mapping[Term, Postings], docs: Mapping[int, Doc], index: Index
) -> dict[int, float]:
    lengths = {key: doc.length for key, doc in docs.items()}
    return bm25.scores(weights, postings, lengths, documents=index.documents, average=index.average)


def _feedback(
    asked: Question, own: Mapping[int, float], docs: Mapping[int, Doc], index: Index
) -> dict[Term, float]:
    """Only from what people said: a long answer of the assistant would lead away."""
    said = (key for key in own if docs[key].role != "assistant")
    best = heapq.nlargest(feedback.DOCUMENTS, said, key=lambda key: (own[key], -key))
    texts = index.texts(best)
    hits = [(texts[key], own[key]) for key in best if key in texts]
    return feedback.terms(hits, {term.text for term in asked.terms}, index.frequencies, index.documents)


def _times(scores: Mapping[int, float], factor: float) -> dict[int, float]:
    return {key: score * factor for key, score in scores.items()}


def _score(parts: Mapping[str, float], factors: Mapping[str, float]) -> float:
    return sum(parts.values()) * math.prod(factors.values())


def _worth(asked: Question, postings: Mapping[Term, Postings], documents: int) -> dict[Term, float]:
    """The share of each term in what the question says; rare terms have more of it."""
    weights = {
        term: weight * bm25.idf(documents, len(postings.get(term, ()))) for term, weight in asked.terms.items()
    }
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()}


def _held(key: int, worth: Mapping[Term, float], postings: Mapping[Term, Postings]) -> float:
    """The share of the question that the message ``key`` and the ones beside it hold."""
    return sum(
        share for term, share in worth.items() if any(near in postings.get(term, ()) for near in (key - 1, key, key + 1))
    )


def _choose(candidates: list[Found], texts: Mapping[int, str], wish: Wish, added: tuple[str, ...]) -> Ranking:
    """``candidates`` in their order, parted into results and the dropped."""
    found: list[Found] = []
    dropped: list[Dropped] = []
    kept: list[tuple[int, frozenset[str]]] = []
    for candidate in candidates:
        tokens = frozenset(words.index_tokens(texts[candidate.key]))
        reason = _too_weak(candidate, wish) or _repeats(tokens, kept)
        if reason is None and len(found) == wish.limit:
            reason = f"over the limit of {wish.limit}"
        if reason is None:
            found.append(candidate)
            kept.append((candidate.key, tokens))
        else:
            dropped.append(Dropped(key=candidate.key, score=candidate.score, reason=reason))
    return Ranking(found=tuple(found), dropped=tuple(dropped), added=added)


def _too_weak(candidate: Found, wish: Wish) -> str | None:
    if candidate.relevance < wish.threshold:
        return f"relevance {candidate.relevance:.2f} is below the threshold {wish.threshold:.2f}"
    lonely = not candidate.parts.keys() & {"text", "feedback", "neighbours"}
    if lonely and candidate.relevance < wish.similarity:
        return f"shares no word, and its similarity {candidate.relevance:.2f} is below {wish.similarity:.2f}"
    return None


def _repeats(tokens: frozenset[str], kept: Iterable[tuple[int, frozenset[str]]]) -> str | None:
    for key, others in kept:
        if len(tokens & others) >= ALIKE * (len(tokens | others) or 1):
            return f"says the same as {key}"
    return None
