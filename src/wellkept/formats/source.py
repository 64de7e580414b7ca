"""From bytes to text, piece by piece, whatever the encoding and however large the file.

Bytes that are no text in the file's encoding become U+DCFF, which no valid text holds: the damage stays where
it is and is reported with its line (``sound``), while the rest of the file is still read.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TypeAlias

from wellkept.errors import InvalidInput
from wellkept.formats.items import BadLine, Entry, Item, SessionStart

File: TypeAlias = str | PathLike[str] | IO[str] | IO[bytes]

PIECE = 1 << 16
DAMAGE = "\udcff"
ENCODING_HINT = "it holds bytes that are not valid in the file's encoding: save the file as UTF-8"
TOO_DEEP = "it is nested too deeply: write it with fewer levels"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ARCHIVES = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3", "a database"),
)


def _mark_damage(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return DAMAGE, error.end


codecs.register_error("wellkept.mark", _mark_damage)


@contextmanager
def opened(file: File) -> Iterator[Iterator[str]]:
    """The text of a path or of an open stream, in pieces. A path is closed again, a stream is left open.

    Raises:
        InvalidInput: the path cannot be read, or holds an archive or a database.
    """
    if not isinstance(file, (str, PathLike)):
        yield _pieces(file)
        return
    with _open(file) as stream:
        yield _pieces(stream)


def _open(path: str | PathLike[str]) -> IO[bytes]:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}; name a file to import") from error


def _pieces(stream: IO[str] | IO[bytes]) -> Iterator[str]:
    first = stream.read(PIECE)
    if isinstance(first, str):
        yield first.removeprefix("\ufeff")
        yield from iter(lambda: str(stream.read(PIECE)), "")
        return
    decoder = codecs.getincrementaldecoder(_encoding(first))("wellkept.mark")
    piece = first
    while piece:
        yield decoder.decode(piece)
        piece = stream.read(PIECE)  # type: ignore[assignment]
    yield decoder.decode(b"", final=True)


def _encoding(head: bytes) -> str:
    for magic, name in _ARCHIVES:
        if head.startswith(magic):
            raise InvalidInput(f"this is {name}, not text: import the JSON file that is in it")
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    # Every format begins with an ASCII bracket, so the place of the zero byte tells the byte order.
    return {b"\0": "utf-16-be"}.get(head[:1], "utf-16-le" if head[1:2] == b"\0" else "utf-8")


def lines(pieces: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers from 1. Only LF and CRLF end a line."""
    number, rest = 0, []
    for piece in pieces:
        head, *whole = piece.split("\n")
        rest.append(head)
        for following in whole:
            number += 1
            yield from _line(number, rest)
            rest = [following]
    yield from _line(number + 1, rest)


def _line(number: int, parts: list[str]) -> Iterator[tuple[int, str]]:
    text = "".join(parts).strip("\r \t\ufeff")
    if text:
        yield number, text


def sound(items: Iterable[Item]) -> Iterator[Item]:
    """``items``, with a ``BadLine`` in place of each one that no UTF-8 file or database could hold."""
    return map(_checked, items)


def _checked(item: Item) -> Item:
    try:
        json.dumps(item.to_dict(), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        return BadLine(line=item.line, reason=_unsound(item, error.object[error.start]))
    except RecursionError:
        return BadLine(line=item.line, reason=TOO_DEEP)
    return item


def _unsound(item: Item, character: str) -> str:
    what = {SessionStart: "the session's title or id", Entry: "the message"}.get(type(item), "the line")
    if character == DAMAGE:
        return f"{what} is damaged; {ENCODING_HINT}"
    return f"{what} holds half of a surrogate pair (U+{ord(character):04X}), which is no text: repair it"
