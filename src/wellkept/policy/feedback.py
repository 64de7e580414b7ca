"""Words that the question did not use and its best hits do: pseudo-relevance feedback.

After Rocchio (1971) and RM3 (Abdul-Jaleel et al. 2004), with few documents and few words, so that it cannot
drift far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from wellkept.policy import bm25, words
from wellkept.policy.words import Term

DOCUMENTS = 3
"""So many of the best hits are read."""

TERMS = 10
"""So many words are taken from them."""

WEIGHT = 0.3
"""What the best of these words counts, beside 1 for a word of the question."""

CLIP = 600
"""Characters read of each hit."""


_LOOKED_UP = 20  # words at most whose frequency is asked for; each costs the store a lookup
_LONG = 8  # bytes; up to here a longer word is likely to be a rarer one


def terms(
    hits: Sequence[tuple[str, float]],
    known: Collection[str],
    frequencies: Callable[[Collection[str]], Mapping[str, int]],
    documents: int,
) -> dict[Term, float]:
    """The words to search for as well, with weights up to ``WEIGHT``.

    Args:
        hits: text and score of the best hits, best first.
        known: tokens of the question, which are not taken again.
        frequencies: tells in how many documents each token occurs.
        documents: how many there are.
    """
    worth: dict[str, float] = {}
    for text, score in hits:
        counts = Counter(words.index_tokens(text[:CLIP]))
        length = sum(counts.values())
        for token, count in counts.items():
            if token not in known and words.is_telling(token):
                share = score / hits[0][1] * count / (count + bm25.SATURATION + length / CLIP)
                worth[token] = worth.get(token, 0.0) + share
    likely = sorted(worth, key=lambda token: (-worth[token] * min(len(token.encode()), _LONG), token))[
        :_LOOKED_UP
    ]
    held = frequencies(likely)
    # A word of a single document leads to that document only.
    value = {
        token: worth[token] * bm25.idf(documents, held[token]) for token in likely if held.get(token, 0) > 1
    }
    best = sorted(value, key=lambda token: (-value[token], token))[:TERMS]
    return {Term(token): WEIGHT * value[token] / value[best[0]] for token in best}
