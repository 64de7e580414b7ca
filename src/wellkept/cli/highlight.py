"""Marks the words of a question in a text, by the tokens that the index sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.text import Text

from wellkept.cli.output import clean
from wellkept.policy.text.words import index_tokens, query_terms

_RUN = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_PIECE = re.compile(rf"[{_RUN}]+|[^\s{_RUN}]+")
_STYLE = "bold reverse"


def marked(text: str, query: str) -> Text:
    """``text``, cleaned, with what a search for ``query`` looks for in it set off."""
    shown = Text(clean(text))
    for start, end in _spans(shown.plain, query):
        shown.stylize(_STYLE, start, end)
    return shown


def _spans(text: str, query: str) -> Iterator[tuple[int, int]]:
    terms = [term for term in query_terms(query) if not term.stop]
    wanted = {term.text for term in terms}
    singles = {term.text for term in terms if term.prefix}
    for piece in _PIECE.finditer(text):
        if not re.match(f"[{_RUN}]", piece[0]):
            if wanted.intersection(index_tokens(piece[0])):
                yield piece.span()
            continue
        for place in range(piece.start(), piece.end()):
            pair = index_tokens(text[place : min(place + 2, piece.end())])
            if wanted.intersection(pair[:1]):
                yield place, place + len(pair[0])
            elif pair and pair[0][0] in singles:
                yield place, place + 1
