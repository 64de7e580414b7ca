"""BM25 over the postings of one person's memory, and what a message lends to its neighbours.

Formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from wellkept.policy.recall.corpus import Doc, Postings
from wellkept.policy.text.words import Term

SATURATION = 1.2
"""k1: from about this many occurrences on, another one adds little."""

LENGTH = 0.75
"""b: how much more often a long document must say what a short one says once; 1 is in proportion."""

NEAR = 0.5
FAR = 0.25
"""The part of its score that a message lends to the next one on each side, and to the one after that."""

LENDS = 0.1
"""The part of the best score that a message must have to lend of its own."""


@lru_cache(maxsize=1024)
def idf(documents: int, frequency: int) -> float:
    """How telling a term is that ``frequency`` of ``documents`` hold; above 0 even for one that all hold."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def scores(
    weights: Mapping[Term, float],
    postings: Mapping[Term, Postings],
    docs: Mapping[int, Doc],
    others: Mapping[int, float],
    *,
    documents: int,
    average: float,
) -> dict[int, float]:
    """The BM25 score of each document that holds a term, of those that ``docs`` knows, added to ``others``.

    ``documents`` and ``average`` (length in tokens) are of the whole memory that is searched.
    """
    total = dict(others)
    known, sofar = docs.get, total.get
    fixed, slope = SATURATION * (1 - LENGTH), SATURATION * LENGTH / (average or 1)
    for term, weight in weights.items():
        found = postings[term]
        top = weight * idf(documents, len(found)) * (SATURATION + 1)
        for key, count in found.items():
            doc = known(key)
            if doc is not None:
                total[key] = sofar(key, 0.0) + top * count / (count + fixed + slope * doc.length)
    return total


def lenders(own: Mapping[int, float]) -> dict[int, float]:
    """Those of the scores that are high enough to lend of."""
    least = LENDS * max(own.values(), default=0.0)
    return {key: score for key, score in own.items() if score >= least}


def with_neighbours(own: Mapping[int, float], lenders: Mapping[int, float]) -> dict[int, float]:
    """Own scores and what each key, existing or not, is lent by those one and two away, added."""
    total = dict(own)
    get = total.get
    for key, score in lenders.items():
        near, far = NEAR * score, FAR * score
        before, after = key - 1, key + 1
        total[before] = get(before, 0.0) + near
        total[after] = get(after, 0.0) + near
        before, after = key - 2, key + 2
        total[before] = get(before, 0.0) + far
        total[after] = get(after, 0.0) + far
    return total


def lent(lenders: Mapping[int, float], key: int) -> float:
    """What ``key`` gets from those one and two away: so a question finds its answer."""
    near = lenders.get(key - 1, 0.0) + lenders.get(key + 1, 0.0)
    return NEAR * near + FAR * (lenders.get(key - 2, 0.0) + lenders.get(key + 2, 0.0))
