"""Power cuts, simulated: what the disk was told is recorded, and at random moments it has kept all that was synced and
any part of what was not.

``WELLKEPT_POWER_CUTS=2000`` tries that many; without it there are a few.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import apsw
import pytest

from wellkept import Memory, Policy
from wellkept.store.sqlite.connection import Connections

CUTS = int(os.environ.get("WELLKEPT_POWER_CUTS", "60"))


@dataclass
class Disk:
    """Everything that happened, in order: writes, truncations and syncs of files, and what was acknowledged."""

    log: list[tuple[str, str, int, bytes]] = field(default_factory=list)

    def told(self, what: str, name: str, place: int = 0, data: bytes = b"") -> None:
        self.log.append((what, os.path.basename(name), place, data))

    def after_cut(self, moment: int, luck: random.Random) -> dict[str, bytes]:
        """The files as they may be found when the power fails at ``moment``."""
        synced: dict[str, int] = {}
        for number, (what, name, _, _) in enumerate(self.log[:moment]):
            if what == "sync":
                synced[name] = number
        files: dict[str, bytearray] = {}
        for number, (what, name, place, data) in enumerate(self.log[:moment]):
            unsure = what != "delete" and number > synced.get(name, -1)
            if what in ("sync", "ack") or (unsure and luck.random() < 0.5):
                continue
            content = files.setdefault(name, bytearray())
            if what == "delete":
                del files[name]
            elif what == "truncate":
                content[:] = content[:place].ljust(place, b"\0")
            else:
                content[:] = content.ljust(place, b"\0")
                content[place : place + len(data)] = data
        return {name: bytes(content) for name, content in files.items()}


class RecordingFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._name = str(name.filename() if isinstance(name, apsw.URIFilename) else name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.told("write", self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.told("truncate", self._name, newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._disk.told("sync", self._name)


class RecordingVFS(apsw.VFS):
    """The system's own file access, written down."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__("recording", "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return RecordingFile(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self._disk.told("delete", filename)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    opened = Connections._open

    def alone(self: Connections) -> apsw.Connection:
        connection = opened(self)
        if (
            "vfs=recording" in self.path
        ):  # a recorded file has no shared memory, which only one connection can do without
            connection.pragma("locking_mode", "exclusive")
        return connection

    monkeypatch.setattr(Connections, "_open", alone)
    disk = Disk()
    vfs = RecordingVFS(disk)
    yield disk
    vfs.unregister()


def talk(disk: Disk, path: Path, durability: Literal["full", "normal"]) -> None:
    """A conversation of some length; a small log, so that it is written back to the file now and then."""
    memory = Memory(f"file:{path}?vfs=recording", policy=Policy(durability=durability), worker=False)
    session = memory.session(namespace="n", user="u", session_id="s", create=True)
    disk.told("ack", "s", 0)
    memory._core.store.write(lambda tables: tables.sessions._db.pragma("wal_autocheckpoint", 60))
    for number in range(1, 61):
        event = session.add_message(
            "user" if number % 2 else "assistant", f"{number} 恐龙 and the budget " * 3
        )
        disk.told("ack", "s", event.seq)
    memory.close()


def found_after(folder: Path, files: dict[str, bytes]) -> list[int]:
    """Places of the events after a restart; the store must open and be sound."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with Memory(str(folder / "chat.db"), worker=False) as memory:
        assert memory.doctor().findings == ()
        session = memory.session(namespace="n", user="u", session_id="s", create=True)
        events = session.get_events(limit=1_000)
        assert [event.content for event in events] == [
            f"{event.seq} 恐龙 and the budget " * 3 for event in events
        ]
        return [event.seq for event in events]


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_no_power_cut_takes_what_was_acknowledged(
    tmp_path: Path, disk: Disk, durability: Literal["full", "normal"]
) -> None:
    talk(disk, tmp_path / "chat.db", durability)
    luck = random.Random(11)
    first = next(number for number, entry in enumerate(disk.log) if entry[0] == "ack")
    lost = 0
    for cut in range(CUTS // 2):
        moment = luck.randrange(first, len(disk.log))
        acknowledged = max(place for what, _, place, _ in disk.log[: moment + 1] if what == "ack")
        found = found_after(tmp_path / f"cut {cut}", disk.after_cut(moment, luck))
        assert found == list(range(1, len(found) + 1)), (
            "in order, without a gap, whatever is missing at the end"
        )
        lost += max(0, acknowledged - len(found))
    assert (lost == 0) == (durability == "full"), (
        "what is documented: the last commits may go, unless each is synced"
    )
