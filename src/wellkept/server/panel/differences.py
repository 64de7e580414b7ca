"""How one text became another: line by line, and word by word where lines are alike."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["same", "gone", "new"]
Pieces: TypeAlias = Iterator[tuple[Kind, str]]
_WORDS = re.compile(r"\s+|[A-Za-z0-9]+|.", re.DOTALL)
ALIKE = 0.6
"""The part that two texts share at least, to be compared word by word."""
MOST = 4000
"""Words beyond which they are not: comparing takes quadratic time."""


def differences(before: str, after: str) -> list[tuple[Kind, str]]:
    """Pieces of both texts in order; those that are the same or new make up ``after``, the same and gone ``before``."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return [(kind, text) for kind, text in _compared(old, new, _by_word) if text]


def _by_word(before: str, after: str) -> Pieces:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if len(old) + len(new) > MOST or difflib.SequenceMatcher(None, old, new, autojunk=False).ratio() < ALIKE:
        return _replaced(before, after)
    return _compared(old, new, _replaced)


def _compared(old: list[str], new: list[str], changed: Callable[[str, str], Pieces]) -> Pieces:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, other, until in matcher.get_opcodes():
        if tag == "equal":
            yield "same", "".join(new[other:until])
        else:
            yield from changed("".join(old[start:end]), "".join(new[other:until]))


def _replaced(before: str, after: str) -> Pieces:
    yield "gone", before
    yield "new", after
