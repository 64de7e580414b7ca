"""What a rule for date words is, and what the rules of all languages need."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wellkept.policy.text import lazy, numbers
from wellkept.records import Record

Match: TypeAlias = re.Match[str]
Kind: TypeAlias = Literal["date", "weekday", "clock", "part"]
Reading: TypeAlias = Callable[[Match], str | None]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
YEAR = r"(?:(?:19|20)\d\d|[一二][〇零九一二三四五六七八]{3})"
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Rule(Record):
    """``pattern`` is tried where the lower-case text has one of ``keys``; ``value`` is None to refuse.

    A group ``lead`` is context in front of the word.
    """

    keys: tuple[str, ...]
    pattern: re.Pattern[str]
    value: Reading
    kind: Kind


class Rules(list[Rule]):
    """The rules of one language; ``add`` decorates the function that reads a match."""

    def __init__(self, frame: str = "{}", flags: int = 0) -> None:
        super().__init__()
        self._frame = frame
        self._flags = flags | re.VERBOSE

    def add(self, keys: str, pattern: str, kind: Kind = "date") -> Callable[[Reading], Reading]:
        """Make a rule of the function; ``keys`` are parted by "|", ``pattern`` is in verbose syntax."""
        compiled = lazy.compile(self._frame.format(pattern), self._flags)

        def register(value: Reading) -> Reading:
            self.append(Rule(tuple(keys.split("|")), compiled, value, kind))
            return value

        return register


def integer(text: str) -> int:
    """Digits or a Chinese numeral as a number."""
    return int(text) if text.isdecimal() else int(numbers.chinese(text).partition("~")[0])


def day_of(year: str | None, month: int | str, day: int | str | None = None) -> str | None:
    """Year (or none), month and day in the notation; None when no year has such a day."""
    month, number = int(month), int(day or 1)
    if not 1 <= month <= 12 or not 1 <= number <= _LONGEST[month - 1]:
        return None
    lead = "--" if not year else f"{year}-" if year.isdecimal() else f"{year}/"
    return f"{lead}{month:02d}" + (f"-{number:02d}" if day else "")


def clock(hour: int, minute: int, *, pm: str = "", sure: bool = False) -> str | None:
    """A time in the notation; ``pm`` is "a", "p" or "", ``sure`` says that the hour counts from midnight."""
    if pm:
        hour, sure = hour % 12 + (12 if pm in "pP" else 0), True
    if hour > 24 or minute > 59:
        return None
    sure = sure or hour > 12 or hour == 0
    return f"T{hour % 24:02d}:{minute:02d}" if sure else f"T{hour}:{minute:02d}"
