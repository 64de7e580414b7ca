"""What a person writes around other people's words: quotation marks, tags, fences, rules and quoted lines.

A mark that nothing closes encloses nothing. Where the next closing mark stands is looked up once for all the marks
before it, so that the work follows the length of the text, however many are left open.
"""

from __future__ import annotations

import re

from wellkept.policy.facts.pasted import without_pasted
from wellkept.policy.text import lazy

# Opening, what ends the search for the closing mark (a line end closes nothing), and the least length between.
_MARKS = (
    (lazy.compile(r"[“\"「『‘](?=\s*(?:我|I\b))"), lazy.compile(r"[”\"」』’\n]"), 0),
    (lazy.compile(r"(?<!\w)'(?=I\b)"), lazy.compile(r"'(?!\w)|\n"), 0),
    (lazy.compile("“"), lazy.compile("”"), 12),
    (lazy.compile('"'), lazy.compile(r"[\"\n]"), 12),
    (lazy.compile("「"), lazy.compile("」"), 6),
    (lazy.compile("『"), lazy.compile("』"), 6),
    (lazy.compile("《"), lazy.compile("》"), 0),
)
_OPENING = lazy.compile(
    r"(?P<pasted>```.*?(?:```|\Z)|^[^\S\n]*>.*?$|^-{3,}$.*?(?:^-{3,}$|\Z)|^={3,}$.*?(?:^={3,}$|\Z))"
    r"|<(?P<tag>\w+)(?!\w)[^<>]*>|[“\"「『‘《]|(?<!\w)'(?=I\b)",
    re.DOTALL | re.MULTILINE,
)
_CLOSING_TAG = lazy.compile(r"</(\w+)>")


def own_words(text: str) -> str:
    """``text`` without what is quoted or pasted in it."""
    ends, kept, after, at = _Ends(text), [], 0, 0
    while opening := _OPENING.search(text, at):
        end = ends.of(opening)
        if end is None:
            at = opening.start() + 1
        else:
            kept.append(text[after : opening.start()])
            after = at = end
    return without_pasted(" \n ".join([*kept, text[after:]]))


class _Ends:
    """Where what is opened in a text ends; asked from its beginning on."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stops: list[re.Match[str] | None] = [stop.search(text) for _, stop, _ in _MARKS]
        self._last_tags = {tag[1]: tag.start() for tag in _CLOSING_TAG.finditer(text)}

    def of(self, opening: re.Match[str]) -> int | None:
        """Where it ends, None when nothing closes it."""
        if opening["pasted"]:
            return opening.end()
        if tag := opening["tag"]:
            if self._last_tags.get(tag, -1) < opening.end():
                return None
            return self._text.index(f"</{tag}>", opening.end()) + len(f"</{tag}>")
        begin = opening.start() + 1
        for kind, (mark, _, least) in enumerate(_MARKS):
            if mark.match(self._text, opening.start()):
                stop = self._stop(kind, begin)
                if stop is not None and stop[0] != "\n" and stop.start() - begin >= least:
                    return stop.end()
        return None

    def _stop(self, kind: int, begin: int) -> re.Match[str] | None:
        known = self._stops[kind]
        if known is not None and known.start() < begin:
            known = self._stops[kind] = _MARKS[kind][1].search(self._text, begin)
        return known
