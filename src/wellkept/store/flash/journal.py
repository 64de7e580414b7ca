"""The file of what a device's own files cannot hold: one line a transaction.

A line is a CRC-32, a space and a JSON object. It is written, then the device's files are, and only then its newline: a
last line without one says that its transaction may not have reached the files, and what it meant to do to them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from wellkept.errors import SchemaTooNew
from wellkept.store.sqlite.connection import Durability
from wellkept_flash.files import Disk

VERSION = 1


class HostDisk(Disk):
    """A ``wellkept_flash.files.Disk`` that can also take back what was appended last."""

    def truncate(self, path: str, size: int) -> None:
        """Cut the file to ``size`` bytes, if it is longer."""
        disk: Any = self
        if disk.size(path) > size:
            self._truncate(path, size)

    def _truncate(self, path: str, size: int) -> None:
        with open(path, "r+b") as file:
            file.truncate(size)
            file.flush()
            os.fsync(file.fileno())


def disk_of(durability: Durability) -> Any:
    """The disk that keeps what is acknowledged so."""
    return HostDisk(durability == "full")  # type: ignore[no-untyped-call]


@dataclass
class Lines:
    """What a journal holds.

    Attributes:
        done: the lines of transactions that reached the files.
        pending: the last one, if it may not have.
        damaged: lines that cannot be read.
    """

    done: list[Mapping[str, Any]] = field(default_factory=list)
    pending: Mapping[str, Any] | None = None
    damaged: list[bytes] = field(default_factory=list)


class Journal:
    """The journal in the file ``path`` of a ``HostDisk``."""

    def __init__(self, disk: Any, path: str) -> None:
        self._disk = disk
        self._path = path
        self._before = -1

    @property
    def size(self) -> int:
        """Bytes of the file; 0 when there is none."""
        return max(0, int(self._disk.size(self._path)))

    def read(self) -> Lines:
        """All lines; a torn one at the end, which never was a transaction, is cut off."""
        self._disk.settle(self._path)
        data = self._disk.read(self._path) if self.size else b""
        *whole, last = data.split(b"\n")
        found = Lines()
        for raw in whole:
            line = _parsed(raw)
            found.damaged.append(raw) if line is None else found.done.append(line)
        found.pending = _parsed(last) if last else None
        if last and found.pending is None:
            self._disk.truncate(self._path, len(data) - len(last))
        self._before = len(data) - len(last) if found.pending else -1
        return found

    def begin(self, line: Mapping[str, Any]) -> None:
        """Write a line, durable on return; ``settle`` or ``undo`` follows.

        Raises StorageFull, and then nothing of it is there.
        """
        self._before = self.size
        try:
            self._disk.append(self._path, _packed(line))
        except BaseException:
            self.undo()
            raise

    def settle(self) -> None:
        """The transaction of the last line has reached the files. Not synced: without it, the line is looked at again."""
        if self._before >= 0:
            self._disk.append(self._path, b"\n", False)
            self._before = -1

    def undo(self) -> None:
        """Take the last line back."""
        if self._before >= 0:
            self._disk.truncate(self._path, self._before)
            self._before = -1

    def rewrite(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Put ``lines`` in the place of all, all or nothing."""
        self._disk.write(self._path, *(_packed(line) + b"\n" for line in lines))

    def set_aside(self, damaged: Iterable[bytes]) -> None:
        """Keep damaged lines in a file of their own."""
        for raw in damaged:
            self._disk.append(self._path + ".damaged", raw + b"\n")


def header(migrations: Iterable[str]) -> dict[str, Any]:
    """The first line: of which version and with which tables the others are."""
    return {"wellkept": VERSION, "migrations": list(migrations)}


def check_header(lines: Iterator[Mapping[str, Any]], migrations: Iterable[str], path: str) -> None:
    """Raise SchemaTooNew when a newer version wrote the lines."""
    known = set(migrations)
    for line in lines:
        unknown = set(line.get("migrations", ())) - known
        if unknown or line.get("wellkept", VERSION) > VERSION:
            what = ", ".join(sorted(unknown)) or f"version {line['wellkept']}"
            raise SchemaTooNew(
                f"{path} was written by a newer wellkept (it has: {what}). Update wellkept to open it."
            )


def _packed(line: Mapping[str, Any]) -> bytes:
    data = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s" % (crc32(data), data)


def _parsed(raw: bytes) -> Mapping[str, Any] | None:
    checksum, _, data = raw.partition(b" ")
    if checksum != b"%08x" % crc32(data):
        return None
    line: Mapping[str, Any] = json.loads(data)
    return line
