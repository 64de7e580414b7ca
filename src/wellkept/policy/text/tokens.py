"""How many tokens a text takes: an estimate that needs nothing, an exact count where the extra is installed.

A counter is any callable from text to a count (``wellkept.models.protocol.Tokenizer``). ``estimated`` on it
says whether the policy's margin is to be added; a plain function of the application is taken to be exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from wellkept.errors import InvalidInput, MissingExtra
from wellkept.records import Text, ToolCall, ToolResult, text_of

# Longer texts go whole into no context: the byte length, which no tokenizer exceeds, is enough for them.
LONG = 262_144

MESSAGE_TOKENS = 4  # what providers add to a message for its role and its borders

_PIECES = re.compile(r" ?[A-Za-z]{1,7}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|\s+|.")
# A break that is a piece of its own, whatever stands on both sides.
_BREAK = re.compile(r"\n(?=\S)(?<=\S\n)")
_PER_PIECE = 1.2
_PER_THREE_BYTES = 1.1
_PER_ASTRAL = 2.2


class Estimate:
    """Counts without any vocabulary; meant to be too high rather than too low.

    Pieces of ASCII (seven letters, three digits, two signs) count 1.2 each; everything else counts by its
    UTF-8 length, 1.1 for the three bytes of a Chinese character; emoji, which some tokenizers cut into bytes,
    count 2.2 more.
    """

    estimated = True

    def __call__(self, text: str, /) -> int:
        """Tokens of ``text``, no fewer than GPT-4o, DeepSeek or Qwen count in clean prose or JSON."""
        if text.isascii():
            return _ascii(text)
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > LONG:
            return size
        ascii_part = text.encode("ascii", "ignore").decode("ascii")
        astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
        other = (size - len(ascii_part)) * _PER_THREE_BYTES / 3 + astral * _PER_ASTRAL
        return min(size, int(other + 1) + _ascii(ascii_part))


def _ascii(text: str) -> int:
    if len(text) > LONG:
        return len(text)
    lines = _BREAK.split(text)
    pieces = sum(map(_pieces, lines)) + len(lines) - 1
    return min(len(text), int(pieces * _PER_PIECE) + 1)


def _pieces(line: str) -> int:
    # Most lines of a context stood in the last one.
    return _remembered(line) if len(line) <= _SHORT else _cut(line)


def _cut(line: str) -> int:
    return _PIECES.subn("", line)[1]


_SHORT = 1_024
_remembered = lru_cache(maxsize=512)(_cut)


estimate = Estimate()


class Exact:
    """Counts with the vocabulary of one model family, offline."""

    estimated = False

    def __init__(self, tokenizer: Any) -> None:
        self._encode = tokenizer.encode_ordinary

    def __call__(self, text: str, /) -> int:
        """Tokens of ``text``; a lone surrogate counts as the replacement character."""
        return len(self._encode(text.encode("utf-8", "replace").decode("utf-8")))


def exact(vocabulary: str = "o200k_base") -> Exact:
    """The exact counter of a ``vocabulary`` of splintr-rs: ``o200k_base``, ``cl100k_base``, ``qwen3`` …

    Raises:
        MissingExtra: the extra ``tokens`` is not installed.
        InvalidInput: there is no such vocabulary.
    """
    try:
        splintr = import_module("splintr")
    except ImportError as error:
        raise MissingExtra("tokens", "counting tokens exactly") from error
    try:
        return Exact(splintr.Tokenizer.from_pretrained(vocabulary))
    except ValueError as error:
        raise InvalidInput(f"vocabulary {vocabulary!r} cannot be used: {error}") from error


def event_tokens(content: str | tuple[object, ...], speaker: str | None, count: Callable[[str], int]) -> int:
    """Tokens that a message with this content takes in a context."""
    blocks = (Text(content),) if isinstance(content, str) else content
    words = sum(_block_tokens(block, count) for block in blocks)
    return words + MESSAGE_TOKENS + (count(f"{speaker}: ") if speaker else 0)


def _block_tokens(block: object, count: Callable[[str], int]) -> int:
    if isinstance(block, Text):
        return count(block.text)
    if isinstance(block, ToolCall):
        return count(block.name) + count(block.arguments) + count(block.id) + 8
    if isinstance(block, ToolResult):
        return count(text_of(block.content)) + count(block.id) + 8
    return count(str(block))


def is_estimated(counter: object) -> bool:
    """Whether the policy's margin belongs on top of what ``counter`` says."""
    return bool(getattr(counter, "estimated", False))
