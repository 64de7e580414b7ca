"""From a question and the index of one memory to ranked results, each with the parts of its score.

1. BM25 of the question's terms (``bm25``, ``question``) and of words from its best hits (``feedback``), and
   what neighbours lend.
2. With vectors: both scores in standard deviations, added (``meaning``).
3. Factors from what is known of each document, and for the best ones from their texts (``boosts``).
4. Out: what is below a threshold, what says the same as a better one, what is over the limit (``results``).

Nothing here reads or writes: the ``Index`` answers from what its caller has at hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, islice

from wellkept.policy.recall import bm25, boosts, feedback, meaning, question, reading, results
from wellkept.policy.recall.corpus import Doc, Index, Postings
from wellkept.policy.recall.meaning import Meaning
from wellkept.policy.recall.question import Question
from wellkept.policy.recall.results import Found, Ranking, Wish
from wellkept.policy.text.words import Term

SHORTLIST = 12
"""So many texts are read to put the best in order, and half as many of what only says again what others do; half as many
again as results if more than eight are asked for."""

CLIP = 1000
"""Characters read of each of them."""

_LONGLIST = 3  # times the shortlist: factors can turn an order over only so far
_HEARD = 32  # hits at most that are looked through for what people said


@dataclass(frozen=True, slots=True)
class _Pool:
    """All documents in question, what was looked up for them, and what each gets.

    ``held`` tells of each term of the question which share of it that is, and where it stands. ``text`` is what
    its own words give a document, those of the question (``asked``) and those of feedback (``added``); ``lenders`` are
    those that neighbours get some of. Beside ``meant``, ``scale`` brings all that to standard deviations, as that is.
    """

    docs: Mapping[int, Doc]
    held: Mapping[Term, tuple[float, Postings]]
    added: Mapping[Term, float]
    asked: Mapping[int, float]
    text: Mapping[int, float]
    lenders: Mapping[int, float]
    meant: Mapping[int, float]
    sums: Mapping[int, float]
    scale: float

    def best(self, count: int) -> list[int]:
        """The keys of the documents with the ``count`` best sums."""
        # So many of any documents set a bar for the best ones, and the lenders are likely to be among those.
        sums = sorted([self.sums[key] for key in self.lenders], reverse=True)
        least = sums[count - 1] if len(sums) >= count else -math.inf
        return _best(
            {key: score for key, score in self.sums.items() if score >= least and key in self.docs}, count
        )

    def parts(self, key: int) -> dict[str, float]:
        own, text = self.asked.get(key, 0.0), self.text.get(key, 0.0)
        words = (("text", own), ("feedback", text - own), ("neighbours", bm25.lent(self.lenders, key)))
        parts = {name: part * self.scale for name, part in words if part}
        return parts if key not in self.meant else {**parts, "meaning": self.meant[key]}


def rank(text: str, index: Index, meant: Meaning | None = None, wish: Wish | None = None) -> Ranking:
    """What ``index`` holds for the question ``text``, best first; empty when there is nothing.

    ``meant`` brings vector scores; without it the text decides alone.
    """
    wish = wish or Wish()
    asked = question.read(text, index.speakers)
    least = SHORTLIST // 2 if wish.alone else SHORTLIST
    shortlist = max(least, wish.limit * 3 // 2)
    pool = _gather(asked, index, meant, alone=wish.alone)
    factors = {
        key: boosts.known(pool.docs[key], asked, wish.window) for key in pool.best(_LONGLIST * shortlist)
    }
    known = {key: pool.sums[key] * math.prod(its.values()) for key, its in factors.items()}
    texts = {key: text[:CLIP] for key, text in index.texts(_best(known, shortlist)).items()}
    read = {key: reading.read(text) for key, text in texts.items()}
    tokens = {key: its.tokens for key, its in read.items()}
    worth = {term.text: share for term, (share, _) in pool.held.items() if not term.prefix}
    for key, its in read.items():
        factors[key] |= boosts.read(texts[key], its, asked, worth)
    if wish.age is not None and wish.window is None and not asked.about_past:
        for key, factor in boosts.outdated(tokens, pool.docs, wish.age).items():
            factors[key]["age"] = factor
    found = [_found(key, pool, factors[key], meant) for key in texts]
    found.sort(key=lambda candidate: (-candidate.score, candidate.key))
    kept, dropped = results.choose(found, tokens, wish)
    return Ranking(found=tuple(kept), dropped=tuple(dropped), added=tuple([term.text for term in pool.added]))


def _best(scores: Mapping[int, float], count: int) -> list[int]:
    """The keys of the ``count`` best scores, equal ones by key."""
    if count < len(scores):
        least = sorted(scores.values(), reverse=True)[count]
        scores = {key: score for key, score in scores.items() if score >= least}
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)[:count]


def _gather(asked: Question, index: Index, meant: Meaning | None, *, alone: bool) -> _Pool:
    postings = index.postings(asked.terms)
    lone = question.lone(asked.terms, postings)
    terms, postings = {**asked.terms, **lone}, {**postings, **index.postings(lone)}
    own = _scores(terms, postings, index)
    worth = {} if alone else _feedback(asked, own, index)
    more = index.postings([Term(token) for token in worth])
    added = feedback.terms(worth, more, index.documents)
    text = _scores(added, more, index, own)
    lenders = {} if alone else bm25.lenders(text)
    sums = bm25.with_neighbours(text, lenders)
    close = meant.standing() if meant is not None else {}
    docs = index.docs(chain(sums, close))
    close = {key: meaning.WEIGHT * score for key, score in close.items() if key in docs}
    scale = 1.0
    if close:
        sums = {key: score for key, score in sums.items() if key in docs}
        scale = 1 / meaning.deviation(sums.values(), index.documents)
        sums = _sum({key: score * scale for key, score in sums.items()}, close)
    held = _held(terms, postings, index.documents)
    return _Pool(docs, held, added, own, text, lenders, close, sums, scale)


def _scores(
    weights: Mapping[Term, float],
    postings: Mapping[Term, Postings],
    index: Index,
    others: Mapping[int, float] | None = None,
) -> dict[int, float]:
    """What the terms give each document, added to what ``others`` do."""
    docs = index.docs(chain.from_iterable(postings.values()))
    return bm25.scores(
        weights, postings, docs, others or {}, documents=index.documents, average=index.average
    )


def _sum(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    total = dict(first)
    for key, score in second.items():
        total[key] = total.get(key, 0.0) + score
    return total


def _feedback(asked: Question, own: Mapping[int, float], index: Index) -> dict[str, float]:
    """Only from what people said: a long answer of the assistant would lead away."""
    docs = index.docs(own.keys())
    said = (key for key in _best(own, _HEARD) if docs[key].role != "assistant")
    best = list(islice(said, feedback.DOCUMENTS))
    texts = index.texts(best)
    hits = [(texts[key], own[key]) for key in best if key in texts]
    return feedback.candidates(hits, {term.text for term in asked.terms})


def _found(key: int, pool: _Pool, factors: Mapping[str, float], meant: Meaning | None) -> Found:
    parts = pool.parts(key)
    before, after = key - 1, key + 1
    shares = sum([s for s, its in pool.held.values() if key in its or before in its or after in its])
    return Found(
        key=key,
        score=sum(parts.values()) * math.prod(factors.values()),
        # What holds every part of the question passes a threshold of 1, however the parts were rounded.
        relevance=min(1.0, max(round(shares, 9), meant.similarity(key) if meant else 0.0)),
        parts={**parts, **factors},
        around=tuple([near for near in (before, after) if near in pool.docs]),
    )


def _held(
    terms: Mapping[Term, float], postings: Mapping[Term, Postings], documents: int
) -> dict[Term, tuple[float, Postings]]:
    """The share of each term in what the question says, of which rare terms have more, and where it stands."""
    counted = question.counted(terms, postings)
    weights = {term: weight * bm25.idf(documents, len(postings[term])) for term, weight in counted.items()}
    total = sum(weights.values())
    return {term: (weight / total, postings[term]) for term, weight in weights.items()}
