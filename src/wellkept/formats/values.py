"""From text in pieces to JSON values with their line numbers: JSON Lines, one array, or one object.

Of JSON Lines and of an array one value at a time is held in memory; a single object over several lines is
read whole.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from wellkept.errors import InvalidInput
from wellkept.formats.items import BadLine, Item
from wellkept.formats.source import DAMAGE, ENCODING_HINT, TOO_DEEP, lines

Numbered: TypeAlias = Iterator[tuple[int, Any]]
"""Line numbers with their values; a ``BadLine`` where no value could be read."""

_BLANK = " \t\r\n\ufeff"
_PEEK = 1 << 18
# A value that is only cut by the end of the buffer fails at most this far from it: the longest token that is
# no string is "-Infinity", the longest escape a surrogate pair.
_MARGIN = 16


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def decode(text: str) -> Any:
    """The JSON value of ``text``. NaN and Infinity are refused, because no other JSON reader takes them back.

    Raises:
        InvalidInput: it is no JSON; the message says where and what was found.
    """
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(_why(error, text)) from None


def _why(error: Exception, text: str) -> str:
    hint = f"; {ENCODING_HINT}" if DAMAGE in text else ""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if not isinstance(error, json.JSONDecodeError):
        return f"no valid JSON: {error}{hint}"
    cut = "; it looks cut off" if _unterminated(error) or error.pos >= len(text.rstrip()) else ""
    return f"no valid JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}{cut}{hint}"


def _may_be_cut(error: json.JSONDecodeError) -> bool:
    return _unterminated(error) or error.pos >= len(error.doc) - _MARGIN


def _unterminated(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated")


def values(pieces: Iterable[str]) -> Numbered:
    """The values of a text, in whichever of the three ways it is written."""
    rest = iter(pieces)
    head = list(_up_to(_PEEK, rest))
    first, second = _first_lines(head)
    pieces = itertools.chain(head, rest)
    if first.startswith("[") and not (first.endswith("]") and second):
        return elements(pieces)
    if first.startswith("{") and not first.endswith("}") and second and not second.startswith("{"):
        return _whole(pieces)
    return json_lines(pieces)


def _first_lines(pieces: Iterable[str]) -> tuple[str, str]:
    found = (text for _, text in lines(pieces))
    return next(found, ""), next(found, "")


def _up_to(limit: int, pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        yield piece
        limit -= len(piece)
        if limit <= 0:
            return


def json_lines(pieces: Iterable[str]) -> Numbered:
    """The value of each line."""
    for number, text in lines(pieces):
        yield number, _value(number, text)


def _value(number: int, text: str) -> Any:
    try:
        return decode(text)
    except InvalidInput as error:
        return BadLine(line=number, reason=str(error))


def _whole(pieces: Iterable[str]) -> Numbered:
    yield 1, _value(1, "".join(pieces).strip(_BLANK))


def elements(pieces: Iterable[str]) -> Numbered:
    """The elements of the array that the text is. After one that is damaged nothing more can be read."""
    buffer = _Buffer(pieces)
    buffer.skip("[")
    try:
        while buffer.peek() not in ("]", ""):
            yield buffer.line, buffer.value()
            if buffer.peek() == ",":
                buffer.skip(",")
            elif buffer.peek() != "]":
                break
        if buffer.peek() != "]":
            raise InvalidInput("the list does not end: it looks cut off")
        buffer.skip("]")
        if buffer.peek():
            raise InvalidInput("there is more text after the end of the list")
    except InvalidInput as error:
        yield buffer.line, BadLine(line=buffer.line, reason=f"{error}; nothing after this was read")


class _Buffer:
    """Text that is taken value by value and refilled when a value does not end in it."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self._text = ""
        self._at = 0
        self.line = 1

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self.line += self._text[self._at] == "\n"
                self._at += 1
            if not self._refill(1):
                return ""

    def skip(self, character: str) -> None:
        """Pass over ``character``, which is the next one."""
        self.peek()
        self._at += len(character)

    def value(self) -> Any:
        """The value that begins here."""
        while True:
            value, end, error = self._try()
            # A number near the end of the buffer may go on in the next piece, as the "1" of "1e+" does.
            if error is None and (end + 2 < len(self._text) or not self._refill(1)):
                self.line += self._text.count("\n", self._at, end)
                self._at = end
                return value
            # Twice as much each time: a value of any size is parsed only a few times over.
            if error and not (_may_be_cut(error) and self._refill(len(self._text) - self._at)):
                raise InvalidInput(_why(error, self._text))

    def _try(self) -> tuple[Any, int, json.JSONDecodeError | None]:
        try:
            return *_DECODER.raw_decode(self._text, self._at), None
        except json.JSONDecodeError as error:
            return None, 0, error
        except (ValueError, RecursionError) as error:
            raise InvalidInput(_why(error, self._text)) from None

    def _refill(self, wanted: int) -> bool:
        """Drop what was taken and add at least ``wanted`` characters; False when there are none."""
        parts, got = [self._text[self._at :]], 0
        while got < wanted and (piece := next(self._pieces, "")):
            parts.append(piece)
            got += len(piece)
        if got:
            self._text, self._at = "".join(parts), 0
        return got > 0


def each(numbered: Numbered, items_of: Callable[[int, Any], Iterable[Item]]) -> Iterator[Item]:
    """The items of each value; where ``items_of`` refuses one with ``InvalidInput`` a ``BadLine`` comes."""
    for line, value in numbered:
        if isinstance(value, BadLine):
            yield value
            continue
        try:
            yield from items_of(line, value)
        except InvalidInput as error:
            yield BadLine(line=line, reason=str(error))
        except RecursionError:
            yield BadLine(line=line, reason=TOO_DEEP)
