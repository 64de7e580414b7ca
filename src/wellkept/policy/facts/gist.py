"""What a statement is about, whether it says or denies it: so that a denial is known in other words than the claim."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from wellkept.policy.text import lazy
from wellkept.policy.text.words import index_tokens
from wellkept_flash import rules

# Without these an opposite is still one: having, ability, extent, and the verbs that 戒 leaves out.
_LIGHT_WORDS = """
can could able to any some have has had for at with of all get got anymore more ever longer been being currently now
1 只 条 辆 有 能 会 可 以 了 的 过 着 得 个 对 就 都 任 何 再 现 在 抽 吸 喝 用
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
# Between a verb and what comes of it, 不 denies and 得 affirms that it can be: 吃不了, 听得懂.
_RESULT = lazy.compile(
    r"(?<=[\u4e00-\u9fff])(?P<verb>[\u4e00-\u9fff])"
    r"(?:(?P<no>不)(?:[了得动惯起]|(?P<kept>[懂见清到]))|(?<![觉记晓值])得(?:[了动惯起]|(?P<also>[懂见清到])))"
)


class Gist(NamedTuple):
    """The telling words of a statement, sorted, and how it takes them.

    Attributes:
        negative: it denies or dislikes.
        stances: it tells of liking or disliking.
        marks: its words of time and extent.
    """

    words: tuple[str, ...]
    negative: bool
    stances: bool
    marks: tuple[str, ...]


@lru_cache(maxsize=4096)
def parsed(text: str) -> rules.Statement:
    """A parsed text, to be read only; the same few facts are looked at again and again."""
    return rules.Statement(text)


@lru_cache(maxsize=4096)
def gist(text: str) -> Gist:
    """The gist of a statement."""
    plain = _RESULT.sub(
        lambda found: (found["no"] or "") + found["verb"] + (found["kept"] or found["also"] or ""), text
    )
    statement = parsed(plain)
    told = sorted(_root(token.text) for token in statement.core if token.text not in _LIGHT)
    return Gist(tuple(told), statement.negative, bool(statement.stances), tuple(statement.marks))


@lru_cache(maxsize=4096)
def _root(word: str) -> str:
    """What "allergy", "allergies" and "allergic" share."""
    found = index_tokens(word) if word.isascii() and word.isalpha() else []
    return found[0].rstrip("i") if found else word
