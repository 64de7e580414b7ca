"""The stem of an English word, by Snowball's Porter 2."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def stem(word: str) -> str:
    """The stem of ``word``, which is of the letters a to z."""
    # A new one each time: a stemmer keeps state, and threads would mix.
    found: str = _stemmer()().stemWord(word)
    return found


@cache
def _stemmer() -> Any:
    """The class, from a package of our own on snowballstemmer's folder: theirs loads thirty languages for it."""
    spec = find_spec("snowballstemmer")
    assert spec is not None
    package = ModuleType(f"{__name__}.snowball")
    package.__path__ = list(spec.submodule_search_locations or ())
    sys.modules[package.__name__] = package
    return import_module(f"{package.__name__}.english_stemmer").EnglishStemmer
