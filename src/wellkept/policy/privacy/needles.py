"""What is to be forgotten, found however it is written: in other letter case, width and script, with accents or
without, with signs inside that nobody sees. Words match as words; where a script has no blanks, any part matches."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from wellkept.policy.content import MARK
from wellkept.policy.text import lazy
from wellkept.policy.text.words import SPACED, index_tokens, query_terms, simplify

_UNSEEN = lazy.compile(
    r"[\u0300-\u036f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)
_BLANKS = lazy.compile(r"\s+")
_SPACED = lazy.compile(SPACED)
_LETTERS = lazy.compile(f"{SPACED}+")
_STRUCTURE = frozenset(("type", "text", "content", "id", "name", "arguments"))  # of blocks
_WORDS = lazy.compile(r"[^\s,.;:!?，。；：！？、]+")


class Needle:
    """A text that is looked for.

    Args:
        text: a word, a phrase or a whole statement.
        inflected: other endings of its words count, too ("peanut" for "peanuts").
    """

    __slots__ = ("_begins", "_ends", "_plain", "_starts", "_stems", "text")

    def __init__(self, text: str, *, inflected: bool = False) -> None:
        self.text = text
        self._plain = plain = folded(text).strip()
        self._begins, self._ends = _is_spaced(plain[:1]), _is_spaced(plain[-1:])
        words_only = all(re.match(SPACED, word) for word in re.findall(r"\w", plain))
        self._stems = _stems(plain) if inflected and words_only else []
        # A stem is its word up to the last two letters ("die" of "dying"), so that most texts need not be stemmed.
        self._starts = [stem[: max(1, len(stem) - 2)] for stem in self._stems]

    def stands_in(self, text: str) -> bool:
        """Whether ``text`` holds it."""
        if not self._plain:
            return False
        plain = folded(text)
        return self._is_written_in(plain) or (bool(self._stems) and self._is_inflected_in(plain))

    def _is_written_in(self, plain: str) -> bool:
        """Whether it stands there as it is, and is no part of longer words."""
        at = plain.find(self._plain)
        while at >= 0:
            end = at + len(self._plain)
            before, after = plain[at - 1 : at] if at else "", plain[end : end + 1]
            if not (self._begins and _is_spaced(before)) and not (self._ends and _is_spaced(after)):
                return True
            at = plain.find(self._plain, at + 1)
        return False

    def _is_inflected_in(self, plain: str) -> bool:
        if not plain.isascii():
            return _runs(self._stems, _stems(plain))
        if not all(start in plain for start in self._starts):
            return False
        words, size = _LETTERS.findall(plain), len(self._stems)
        return any(
            word.startswith(self._starts[0]) and _stems(" ".join(words[at : at + size])) == self._stems
            for at, word in enumerate(words)
        )

    def is_in(self, value: object) -> bool:
        """Whether a stored value holds it: plain text, or JSON, whose strings are looked into one by one and as one."""
        return isinstance(value, str) and any(map(self.stands_in, strings(value)))


def query(text: str) -> Needle | None:
    """What somebody asked to be forgotten; None when ``text`` names nothing in particular."""
    return Needle(text, inflected=True) if any(not term.stop for term in query_terms(text)) else None


def parts(text: str) -> list[Needle]:
    """The telling words of a query of several, each by itself; none of a single word."""
    words = [word for word in _WORDS.findall(text) if any(not term.stop for term in query_terms(word))]
    return [Needle(word, inflected=True) for word in words] if len(words) > 1 else []


@lru_cache(maxsize=32)
def folded(text: str) -> str:
    """``text`` without the differences that do not count."""
    if text.isascii():
        return _BLANKS.sub(" ", text.lower())
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return _BLANKS.sub(" ", simplify(unicodedata.normalize("NFC", _UNSEEN.sub("", plain))))


def strings(value: str) -> list[str]:
    """The texts in a stored value; of several, their union last, because one text may be spread over them."""
    body = value[1:] if value[:1] == MARK else value
    if body[:1] not in ("{", "[", '"'):
        return [value]
    try:
        found = list(_leaves(json.loads(body)))
    except (ValueError, RecursionError):
        return [value]
    return [*found, "".join(found)] if len(found) > 1 else found


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _STRUCTURE:
                yield key
            if key != "type":
                yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def _stems(plain: str) -> list[str]:
    """The words of a folded text without their endings; not their parts, so that "13" is not in "A13"."""
    return [stem for word in _LETTERS.findall(plain) for stem in _stem(word)]


@lru_cache(maxsize=16_384)
def _stem(word: str) -> list[str]:
    return index_tokens(word)[:1]


def _is_spaced(character: str) -> bool:
    return _SPACED.match(character) is not None


def _runs(wanted: Sequence[str], there: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(there[at : at + size]) == list(wanted) for at in range(len(there) - size + 1))
