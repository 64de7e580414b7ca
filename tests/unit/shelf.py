"""What ranking reads, held in memory: an index over texts, and their cosines."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import takewhile

from wellkept.policy.recall.corpus import Doc, Postings
from wellkept.policy.recall.meaning import Meaning
from wellkept.policy.text import words
from wellkept.policy.text.words import Term


class Shelf:
    """An ``Index`` that is filled text by text. Not safe for writing in one thread while another reads."""

    def __init__(self) -> None:
        self._docs: dict[int, Doc] = {}
        self._texts: dict[int, str] = {}
        self._postings: dict[str, dict[int, int]] = {}
        self._order: list[str] = []
        self._length = 0
        self.speakers: set[str] = set()

    def put(
        self, key: int, text: str, *, role: str = "user", ts: int = 0, speaker: str | None = None
    ) -> None:
        """Adds a text under a new ``key`` (see ``Index`` for how keys are made); ``ts`` in ms since 1970."""
        tokens = words.index_tokens(text)
        self._docs[key] = Doc(length=len(tokens), role=role, ts=ts, speaker=speaker)
        self._texts[key] = text
        self._length += len(tokens)
        if speaker is not None:
            self.speakers.add(speaker)
        for token, count in Counter(tokens).items():
            self._postings.setdefault(token, {})[key] = count
        self._order = []

    @property
    def documents(self) -> int:
        return len(self._docs)

    @property
    def average(self) -> float:
        return self._length / (len(self._docs) or 1)

    def postings(self, terms: Collection[Term]) -> Mapping[Term, Postings]:
        return {term: self._started(term.text) if term.prefix else self._of(term.text) for term in terms}

    def docs(self, keys: Iterable[int]) -> Mapping[int, Doc]:
        return self._docs

    def texts(self, keys: Collection[int]) -> Mapping[int, str]:
        return {key: self._texts[key] for key in keys if key in self._texts}

    def _of(self, token: str) -> Postings:
        return self._postings.get(token, {})

    def _started(self, start: str) -> Postings:
        """The postings of all tokens that begin with ``start``, added up."""
        self._order = self._order or sorted(self._postings)
        total: Counter[int] = Counter()
        later = (self._order[place] for place in range(bisect_left(self._order, start), len(self._order)))
        for token in takewhile(lambda token: token.startswith(start), later):
            total.update(self._postings[token])
        return total


def meaning_of(cosines: Mapping[int, float], calibration: tuple[float, float] = (0.0, 1.0)) -> Meaning:
    """The ``Meaning`` of the cosines of all documents of a memory."""
    count = len(cosines) or 1
    mean = math.fsum(cosines.values()) / count
    variance = math.fsum((cosine - mean) ** 2 for cosine in cosines.values()) / count
    return Meaning(cosines=cosines, mean=mean, deviation=math.sqrt(variance), calibration=calibration)
