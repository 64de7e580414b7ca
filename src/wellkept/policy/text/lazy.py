"""Regular expressions that are compiled when they are first used: some hundred of them would delay every import."""

from __future__ import annotations

import re
from typing import cast

_METHODS = (
    "search",
    "match",
    "fullmatch",
    "split",
    "findall",
    "finditer",
    "sub",
    "subn",
    "pattern",
    "flags",
    "groupindex",
)


class _Lazy:
    """Becomes the compiled pattern at the first look at one of its methods; from then on they are its own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> object:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(self, name)


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``; an error in the pattern shows at its first use."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
