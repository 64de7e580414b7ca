"""Words that the question did not use and its best hits do: pseudo-relevance feedback.

After Rocchio (1971) and RM3 (Abdul-Jaleel et al. 2004), with few documents and few words, so that it cannot
drift far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from wellkept.policy import bm25, words
from wellkept.policy.corpus import Postings
from wellkept.policy.words import Term

_T = TypeVar("_T", str, Term)

DOCUMENTS = 3
"""So many of the best hits are read."""

LIKELY = 40
"""So many of their words are looked up: each costs as much as a word of the question."""

TERMS = 10
"""So many of those are searched for."""

WEIGHT = 0.3
"""What the best of these words counts, beside 1 for a word of the question."""

CLIP = 600
"""Characters read of each hit."""


def likely(hits: Sequence[tuple[str, float]], known: Collection[str]) -> dict[Term, float]:
    """The words that fill the best hits, at most ``LIKELY``, each with what it is worth.

    Args:
        hits: text and score of the best hits, best first.
        known: tokens of the question, which are not taken again.
    """
    worth: dict[str, float] = {}
    for text, score in hits:
        counts = Counter(words.index_tokens(text[:CLIP]))
        length = sum(counts.values())
        for token, count in counts.items():
            if token not in known and words.is_telling(token):
                share = score / hits[0][1] * count / (count + bm25.SATURATION + length / CLIP)
                worth[token] = worth.get(token, 0.0) + share
    return {Term(token): worth[token] for token in _best(worth)[:LIKELY]}


def terms(
    worth: Mapping[Term, float], postings: Mapping[Term, Postings], documents: int
) -> dict[Term, float]:
    """The words of ``likely`` to search for as well, with weights up to ``WEIGHT``: those that few documents hold."""
    # A word of a single document leads to that document only.
    value = {
        term: share * bm25.idf(documents, len(postings[term]))
        for term, share in worth.items()
        if len(postings[term]) > 1
    }
    best = _best(value)[:TERMS]
    return {term: WEIGHT * value[term] / value[best[0]] for term in best}


def _best(values: Mapping[_T, float]) -> list[_T]:
    """Keys by falling value, equal ones in their own order."""
    return sorted(values, key=lambda key: (-values[key], key))
