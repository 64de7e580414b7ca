"""How one text became another, word by word."""

from __future__ import annotations

import difflib
import re
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["same", "gone", "new"]
_WORDS = re.compile(r"\s+|[A-Za-z0-9]+|.", re.DOTALL)
MOST = 20_000
"""Words beyond which the whole text is shown as replaced: comparing takes quadratic time."""


def differences(before: str, after: str) -> list[tuple[Kind, str]]:
    """Pieces of both texts in order; those that are the same or new make up ``after``."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if len(old) + len(new) > MOST:
        return [("gone", before), ("new", after)]
    pieces: list[tuple[Kind, str]] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, other, until in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(new[other:until])))
            continue
        pieces += [("gone", "".join(old[start:end])), ("new", "".join(new[other:until]))]
    return [(kind, text) for kind, text in pieces if text]
