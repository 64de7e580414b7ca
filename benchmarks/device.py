"""Measures the device store: power cuts, kills, fuzz, wear and speed. The tests run samples of the same
sweeps.

    python benchmarks/device.py cuts     # every cut, littlefs and FAT, needs MicroPython (about 5 minutes)
    python benchmarks/device.py memory   # the same under Memory("flash:DIR") (about 10 minutes)
    python benchmarks/device.py kills    # every file call (about 2 minutes)
    python benchmarks/device.py fuzz --rounds 10000
    python benchmarks/device.py wear
    python benchmarks/device.py speed
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import pytest  # noqa: E402

from tests.device import test_flash_power, test_flash_sessions  # noqa: E402
from tests.integration import test_flash_images  # noqa: E402
from wellkept_flash.files import Disk  # noqa: E402
from wellkept_flash.longterm import LongTerm  # noqa: E402
from wellkept_flash.session import Session  # noqa: E402


def cuts() -> None:
    """Cut the power after every operation of the block device, under both file systems, in every mode."""
    for kind in ("littlefs", "fat"):
        # littlefs erases the blocks it chose itself; only FAT overwrites in place.
        for mode in ("clean", "half", "unsynced") + (("sector",) if kind == "fat" else ()):
            command = [
                str(test_flash_power.MICROPYTHON),
                "-X",
                "heapsize=64m",
                "tests/device/power.py",
                "src",
            ]
            done = subprocess.run(
                [*command, kind, mode, "1", "0"], cwd=ROOT, capture_output=True, text=True, check=True
            )
            result = json.loads(done.stdout.splitlines()[-1])
            print(
                f"| {kind} | {mode} | {result['cuts']} | {result['failed']} | {result['unmountable']} |",
                flush=True,
            )
            for problem in result["bad"][:3]:
                print("   ", problem)


def memory() -> None:
    """The same under ``Memory("flash:DIR")``."""
    for kind in ("littlefs", "fat"):
        for mode in ("clean", "half", "unsynced"):
            with tempfile.TemporaryDirectory() as folder:
                cuts = test_flash_images.sweep(
                    Path(folder), pytest.MonkeyPatch(), kind, mode, step=1, first=0
                )
            print(f"| {kind} | {mode} | {cuts} | 0 |", flush=True)


def kills() -> None:
    """Kill the process before every file call, and in the middle of every write."""
    for torn in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            calls = test_flash_power.sweep(Path(folder), torn, first=0, step=1)
        print(f"| {'torn' if torn else 'between'} | {calls} | 0 |", flush=True)


def fuzz(rounds: int) -> None:
    """Random bytes at random places of all files."""
    with tempfile.TemporaryDirectory() as folder:
        test_flash_sessions.fuzzed_directory(Path(folder))
        test_flash_sessions.fuzz(Path(folder), rounds, seed=11)
    print(f"fuzz: {rounds} rounds, no healthy record lost or changed, no untyped exception")


def wear() -> None:
    """Bytes written through the file layer for one memory, at several sizes, and for a flush of the
    caches."""
    for count in (10, 60, 100, 127):
        with tempfile.TemporaryDirectory() as folder:
            disk = Disk(sync=False)
            memory = LongTerm(disk, folder, lambda: 1_750_000_000)
            memory.begin()
            for number in range(count):
                memory.store(f"Box {number} in the garage holds {number * 7} old books", f"box{number},books")
            before = disk.written
            memory.store("The user is allergic to peanuts", "health", "peanuts")
            stored = disk.written - before
            before = disk.written
            memory.flush()
            print(f"| {count} | {stored} | {disk.written - before} |")


def speed(appends: int = 2000) -> None:
    """Durable appends one by one in turns with the floor: the same line appended to an open file, flushed and synced."""
    floors, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Disk(), folder, "s")
        line = b'{"role":"user","content":"' + b"x" * 100 + b'"}\n'
        with open(f"{folder}/floor", "ab") as floor:
            for _ in range(appends):
                start = time.perf_counter()
                floor.write(line)
                floor.flush()
                os.fsync(floor.fileno())
                middle = time.perf_counter()
                session.user("x" * 100)
                end = time.perf_counter()
                floors.append((middle - start) * 1e6)
                ours.append((end - middle) * 1e6)
    for name, place in (("lower quartile", 0), ("median", 1)):
        plain, mine = (statistics.quantiles(times)[place] for times in (floors, ours))
        print(f"{name}: floor {plain:.0f} µs, append {mine:.0f} µs, ratio of speeds {plain / mine:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["cuts", "memory", "kills", "fuzz", "wear", "speed"])
    parser.add_argument("--rounds", type=int, default=10_000)
    chosen = parser.parse_args()
    if chosen.what == "fuzz":
        fuzz(chosen.rounds)
    else:
        {"cuts": cuts, "memory": memory, "kills": kills, "wear": wear, "speed": speed}[chosen.what]()


if __name__ == "__main__":
    main()
