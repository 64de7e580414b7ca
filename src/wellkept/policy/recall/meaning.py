"""Vector scores on a scale of their own memory, and their fusion with text scores."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wellkept.records import Record

WEIGHT = 0.8
"""What a standard deviation of the vector score counts beside one of the text score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning(Record):
    """How close documents are to a question by their vectors.

    Attributes:
        cosines: raw cosine by document key: all documents of the memory, or its few hundred nearest.
        mean, deviation: of the raw cosines of all documents of the memory.
        calibration: raw cosine of unrelated texts and of paraphrases, as the embedder tells.
    """

    cosines: Mapping[int, float]
    mean: float
    deviation: float
    calibration: tuple[float, float] = (0.0, 1.0)

    def similarity(self, key: int) -> float:
        """The calibrated closeness of ``key``: 0 for unrelated or unknown, 1 for a paraphrase."""
        low, high = self.calibration
        return min(1.0, max(0.0, (self.cosines.get(key, low) - low) / ((high - low) or 1.0)))

    def standing(self) -> dict[int, float]:
        """By how many deviations each document is closer than the mean, those below it left out."""
        scale = self.deviation or 1.0
        return {
            key: (cosine - self.mean) / scale for key, cosine in self.cosines.items() if cosine > self.mean
        }


def deviation(scores: Collection[float], documents: int) -> float:
    """The standard deviation of text scores over all ``documents``, of which those without a score have 0."""
    mean = math.fsum(scores) / (documents or 1)
    square = math.fsum(map(operator.mul, scores, scores)) / (documents or 1)
    return math.sqrt(max(square - mean * mean, 0.0)) or 1.0
