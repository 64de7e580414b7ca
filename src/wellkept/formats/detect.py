"""Tell by its first values which format a text has, and say why it is none of the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from wellkept.errors import InvalidInput
from wellkept.formats import bench, chatgpt, claude, claude_code, wellkept
from wellkept.formats.items import BadLine, Item
from wellkept.formats.messages import ANTHROPIC, OPENAI
from wellkept.formats.values import values
from wellkept.records import Record


class Reader(Protocol):
    """What each format's module offers."""

    NAME: str

    def misfit(self, value: Any, /) -> str:
        """Why ``value`` does not stand in a file of this format; empty when it does."""

    def read(self, pieces: Iterable[str], /) -> Iterator[Item]:
        """The items of a text that comes in pieces."""


# The first that fits is taken, so the more particular ones stand first.
_READERS: tuple[Reader, ...] = (wellkept, chatgpt, claude, claude_code, bench, OPENAI, ANTHROPIC)
READERS: Mapping[str, Reader] = {reader.NAME: reader for reader in _READERS}

_LOOK_AT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection(Record):
    """Which format a file has.

    Attributes:
        format: its name.
        against: for each format that it has not, why not.
    """

    format: str
    against: Mapping[str, str]


def detect_in(pieces: Iterable[str], format: str = "auto") -> Detection:
    """The format of a text, or the check that it has the one that is asked for.

    Raises:
        InvalidInput: it is empty or does not fit; the message lists what was tried and why it is not that.
    """
    wanted = _wanted(format)
    head = _head(pieces)
    misfits = {name: _misfit(reader, head) for name, reader in READERS.items()}
    against = {name: why for name, why in misfits.items() if why}
    fitting = [name for name in wanted if name not in against]
    if fitting:
        return Detection(format=fitting[0], against=against)
    tried = "; ".join(f"{name}: {against[name]}" for name in wanted)
    others = [name for name in READERS if name not in against]
    hint = f"it looks like {others[0]}" if others else "check that it is the right file"
    raise InvalidInput(f"this file has no format that was tried ({tried}); {hint}")


def _wanted(format: str) -> tuple[str, ...]:
    if format == "auto":
        return tuple(READERS)
    if format not in READERS:
        raise InvalidInput(f"there is no format {format!r}; there are auto, {', '.join(READERS)}")
    return (format,)


def _head(pieces: Iterable[str]) -> list[Any]:
    head = [value for _, value in itertools.islice(values(pieces), _LOOK_AT)]
    good = [value for value in head if not isinstance(value, BadLine)]
    if not head:
        raise InvalidInput("the file is empty: there is nothing to import")
    if not good:
        raise InvalidInput(f"this is no JSON and no JSON Lines: {head[0].reason}")
    return good


def _misfit(reader: Reader, head: list[Any]) -> str:
    reasons = [reader.misfit(value) for value in head]
    return "" if "" in reasons else reasons[0]
