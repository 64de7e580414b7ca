"""Words that the question did not use and its best hits do: pseudo-relevance feedback.

After Rocchio (1971) and RM3 (Abdul-Jaleel et al. 2004), with few documents and few words, so that it cannot
drift far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from wellkept.policy.recall import bm25
from wellkept.policy.recall.corpus import Postings
from wellkept.policy.text import words
from wellkept.policy.text.remember import remembered
from wellkept.policy.text.words import Term

DOCUMENTS = 3
"""So many of the best hits are read."""

LOOKED_UP = 16
"""So many words of them are looked up."""

TERMS = 10
"""So many of those are taken."""

WEIGHT = 0.3
"""What the best of these words counts, beside 1 for a word of the question."""

CLIP = 600
"""Characters read of each hit."""


_REMEMBERED = 15_000  # characters, about 1 MB with what is known of them; 4 MB of Chinese
_LONG = 8  # bytes; up to here a longer word is likely to be a rarer one


def candidates(hits: Sequence[tuple[str, float]], known: Collection[str]) -> dict[str, float]:
    """The likeliest words to search for as well, with what each is worth before it is known how rare it is.

    Args:
        hits: text and score of the best hits, best first.
        known: tokens of the question, which are not taken again.
    """
    worth: dict[str, float] = {}
    for text, score in hits:
        counts = _counts(text[:CLIP])
        room = bm25.SATURATION + counts.total() / CLIP
        share = score / hits[0][1]
        for token, count in counts.items():
            worth[token] = worth.get(token, 0.0) + share * count / (count + room)
    likely = {token: value * len(token.encode()[:_LONG]) for token, value in worth.items()}
    best = sorted(sorted(likely), key=likely.__getitem__, reverse=True)
    new = (token for token in best if token not in known and words.is_telling(token))
    return {token: worth[token] for token in islice(new, LOOKED_UP)}


@remembered(_REMEMBERED)
def _counts(text: str) -> Counter[str]:
    """How often each token stands in ``text``."""
    return Counter(words.index_tokens(text))


def terms(worth: Mapping[str, float], postings: Mapping[Term, Postings], documents: int) -> dict[Term, float]:
    """The words of ``candidates`` to search for, with weights up to ``WEIGHT``.

    ``postings`` tells where each of them stands; a word of a single document leads to that document only.
    """
    held = {term: len(its) for term, its in postings.items() if len(its) > 1}
    value = {term: worth[term.text] * bm25.idf(documents, frequency) for term, frequency in held.items()}
    best = sorted(value, key=lambda term: (-value[term], term))[:TERMS]
    return {term: WEIGHT * value[term] / value[best[0]] for term in best}
