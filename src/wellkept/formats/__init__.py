"""Conversations from elsewhere and back: one reader per import format, and a writer of our own.

Readers know no store: they turn a file into items, one after the other, in little memory whatever its size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from wellkept.formats.detect import READERS, Detection, detect_in
from wellkept.formats.items import (
    BadLine,
    Entry,
    Extra,
    Item,
    Note,
    SessionStart,
    entry_of,
    import_key,
    start_of,
)
from wellkept.formats.source import File, opened, sound
from wellkept.formats.wellkept import lines, write

__all__ = [
    "FORMATS",
    "BadLine",
    "Detection",
    "Entry",
    "Extra",
    "File",
    "Item",
    "Note",
    "SessionStart",
    "detect",
    "entry_of",
    "import_key",
    "lines",
    "read",
    "start_of",
    "write",
]

FORMATS: tuple[str, ...] = tuple(READERS)


def read(file: File, format: str = "auto") -> Iterator[Item]:
    """The sessions and messages of a path or an open stream, in order, each message with an idempotency key.

    What cannot be taken over comes as a ``BadLine`` with its line number; what was left out on purpose as a
    ``Note``.

    Args:
        format: one of ``FORMATS``; "auto" looks at the first values.

    Raises:
        InvalidInput: at the first item, when the file cannot be read, is empty, or has no such format; the
            message lists the formats that were tried and why each does not fit.
    """
    with opened(file) as pieces:
        head, rest = itertools.tee(pieces)
        found = detect_in(head, format)
        # What the one half of a tee has read is kept for the other one until the first is gone.
        del head
        yield from sound(READERS[found.format].read(rest))


def detect(file: File) -> Detection:
    """Which format a file has, with the reasons against the others. Of a stream the beginning is consumed.

    Raises:
        InvalidInput: as ``read``.
    """
    with opened(file) as pieces:
        return detect_in(pieces)
