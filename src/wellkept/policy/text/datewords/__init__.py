"""Words for days and times in Chinese and English text, written in one short notation.

The notation follows ISO 8601 where that has a word for it, and is relative where the text is:

====================  ==========================================================================
``2023-05-08``        a day; ``2023-05`` a month; ``2023`` a year
``--05-08``           that day of some year; ``--05`` that month; ``---08`` that day of some month
``day-1``             yesterday; likewise ``week+1``, ``month+0``, ``year-1``, ``hour-2``, ``minute-30``
``week+1/3``          Wednesday of next week; ``week-1/weekend``
``wd3``               a Wednesday; ``wd3-1`` the last one before the day of reference, ``wd3+1`` the next
``summer``            a summer, ``summer-1`` the last that is over; ``weekend``; ``mar-1`` last March
``year-1/summer``     also ``2023/summer``, ``--06/end``, ``month+0/start``, ``year-1/06-30``
``past:3day``         the three days up to now; ``ahead:1week`` the week from now on
``T15:30``            a time; ``T3:30`` where the text does not say which half of the day; ``Tevening``
====================  ==========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wellkept.policy.text import numbers
from wellkept.policy.text.datewords import chinese, digits, english
from wellkept.policy.text.datewords.rules import MONTHS, Kind
from wellkept.records import Record

__all__ = ["MONTHS", "Kind", "Word", "words"]

_RULES = (*chinese.rules, *digits.rules, *english.rules)
_RULES_OF = {
    key: [place for place, rule in enumerate(_RULES) if key in rule.keys]
    for key in frozenset().union(*(rule.keys for rule in _RULES))
}


@dataclass(frozen=True, slots=True)
class Word(Record):
    """One expression of a text and what it means in the notation above."""

    start: int
    end: int
    kind: Kind
    value: str


def words(text: str) -> Iterator[Word]:
    """The date and time words of ``text``, in order, the longest where they overlap."""
    folded = numbers.half_width(text)
    lower = folded.lower()
    # Few texts hold a key, and few rules apply then.
    places = {place for key, of in _RULES_OF.items() if key in lower for place in of}
    found = [
        Word(_start(match), match.end(), rule.kind, value)
        for rule in map(_RULES.__getitem__, sorted(places))
        for match in rule.pattern.finditer(folded)
        if "\n" not in match[0].strip() and (value := rule.value(match))
    ]
    found.sort(key=lambda word: (word.start, -word.end))
    end = 0
    for word in found:
        if word.start >= end:
            yield word
            end = word.end


def _start(match: re.Match[str]) -> int:
    """Where the word begins behind a preposition that its pattern needed to be sure."""
    lead = match.end("lead") if "lead" in match.re.groupindex else -1
    return max(lead, match.start() + len(match[0]) - len(match[0].lstrip()))
