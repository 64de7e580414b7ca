"""A last look at the bytes of the files: what was erased must not be there, in no free page and in no log."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw

from wellkept.errors import StoreBusy
from wellkept.store.sqlite.connection import BUSY_SECONDS, Connections, typed_errors

CHUNK = 1 << 20
PIECE = 60
MOST_PIECES = 2_000
_BREAKS = re.compile(r'["\\\x00-\x1f]+')
TABLES = """
    SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
    AND name NOT LIKE '%\\_terms\\_%' ESCAPE '\\'
"""
SCHEMA = "SELECT 1 FROM sqlite_schema WHERE instr(lower(sql), lower(?)) LIMIT 1"


def scrub(connections: Connections, texts: Sequence[str] | None) -> int:
    """Empty the log, look for ``texts`` in the files, rewrite the file when they are found outside of rows, or without
    looking when nobody knows them; how many are left then.

    Long texts are looked for piece by piece, because SQLite spreads them over pages; short ones of ASCII letters
    also in small letters, in capitals and capitalized.
    """
    if connections.in_memory:
        return 0
    pieces = list(dict.fromkeys(_pieces(_with_cases(texts or ()))))
    connection = connections.get()
    with typed_errors(connections.path):
        _truncate(connections, connection)
        if texts is not None and not _unexplained(connections, connection, pieces):
            return 0
        # Balancing a B-tree can leave copies in the unused part of a page, which secure_delete does not reach.
        connection.execute("VACUUM")
        _truncate(connections, connection)
        return len(_unexplained(connections, connection, pieces))


def _truncate(connections: Connections, connection: apsw.Connection) -> None:
    deadline = time.monotonic() + BUSY_SECONDS
    while next(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))[0]:
        # SQLite itself waits for readers, but not for somebody else who empties the log just then.
        if time.monotonic() > deadline:
            raise StoreBusy(
                f"The rows are erased, but somebody reads {connections.path}, so that its log still holds them. "
                "A job tries again in a minute and hands out the receipt.",
                path=connections.path,
            )
        time.sleep(0.001)


def _with_cases(texts: Sequence[str]) -> list[str]:
    """``texts``, and after them the short ones in other letter case."""
    short = [text for text in texts if text.isascii() and len(text) <= PIECE]
    cases = (str.lower, str.upper, str.title, str.capitalize)
    return list(dict.fromkeys([*texts, *(case(text) for text in short for case in cases)]))


def _pieces(texts: Sequence[str]) -> Iterator[bytes]:
    count = 0
    for text in texts:
        for part in _BREAKS.split(text):
            for at in range(0, max(1, len(part) - PIECE), PIECE):
                piece = part[at : at + PIECE].encode()
                if len(piece) >= 4 and count < MOST_PIECES:
                    count += 1
                    yield piece


def _unexplained(
    connections: Connections, connection: apsw.Connection, pieces: Sequence[bytes]
) -> list[bytes]:
    found = _in_files(connections.path, pieces) if pieces else ()
    return [piece for piece in found if not _in_rows(connection, piece.decode())]


def _in_files(path: str, pieces: Sequence[bytes]) -> list[bytes]:
    found: set[bytes] = set()
    longest = max(map(len, pieces))
    for file in (Path(path), Path(f"{path}-wal")):
        if not file.exists():
            continue
        with file.open("rb") as stream:
            tail = b""
            while chunk := stream.read(CHUNK):
                window = tail + chunk
                found.update(piece for piece in pieces if piece not in found and piece in window)
                tail = window[-longest:]
    return [piece for piece in pieces if piece in found]


def _in_rows(connection: apsw.Connection, text: str) -> bool:
    """Whether somebody's row holds ``text``, or the schema does, so that its bytes are in the file with good reason."""
    if connection.execute(SCHEMA, (text,)).fetchone():
        return True
    for (table,) in connection.execute(TABLES).fetchall():
        columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        test = " OR ".join(f'instr(lower("{column}"), lower(?1))' for column in columns)
        if connection.execute(f'SELECT 1 FROM "{table}" WHERE {test} LIMIT 1', (text,)).fetchone():
            return True
    return False
