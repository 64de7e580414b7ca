"""What ranking finds out of a text."""

from __future__ import annotations

from typing import NamedTuple

from wellkept.policy.recall import question
from wellkept.policy.text import words
from wellkept.policy.text.remember import remembered

_REMEMBERED = 50_000  # characters, about 2 MB with what is known of them; 7 MB of Chinese


class Reading(NamedTuple):
    """A text that was read.

    Attributes:
        tokens: what it says.
        sentences: what each of its sentences says.
        asking: how much of it asks, from 0 to 1.
    """

    tokens: frozenset[str]
    sentences: tuple[frozenset[str], ...]
    asking: float


@remembered(_REMEMBERED)
def read(text: str) -> Reading:
    """``text`` as a ``Reading``. The texts of a talk are found again and again."""
    sentences = {sentence: frozenset(words.index_tokens(sentence)) for sentence in words.sentences(text)}
    said = tuple(sentences.values())
    tokens = said[0] if len(said) == 1 else frozenset[str]().union(*said)
    return Reading(tokens, said, question.share_asked(sentences))
