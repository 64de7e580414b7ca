"""kill -9 at random moments of four writing processes: nothing acknowledged is lost, doubled, halved or reordered.

``WELLKEPT_KILL_ROUNDS=200`` runs the full number of rounds; without it there are a few.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from wellkept import Memory
from wellkept.store.sqlite.maintenance import doctor

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("WELLKEPT_KILL_ROUNDS", "12"))
PROCESSES = 4

Spoken = dict[str, list[tuple[int, str]]]

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")


class Writer:
    """One process of ``writer.py``, speaking into a file."""

    def __init__(self, path: Path, name: str, limit: int = 100_000) -> None:
        self.name = name
        self.spoken = path.with_name(f"{name}.{time.monotonic_ns()}.txt")
        command = [sys.executable, "-m", "tests.stress.writer", str(path), name, str(limit)]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        with self.spoken.open("w") as out:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.PIPE, text=True
            )

    def wait_for_its_first_word(self) -> None:
        until = time.monotonic() + 60
        while not self.spoken.stat().st_size and time.monotonic() < until and self.process.poll() is None:
            time.sleep(0.005)

    def end(self, spoken: Spoken) -> str:
        """Adds what the process acknowledged; its complaint, if it had one."""
        _, complaint = self.process.communicate(timeout=60)
        for line in self.spoken.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                session, first, second, name, number = line.split()
                spoken[session] += [
                    (int(first), f"{name} {number}"),
                    (int(second), f"answer 回答 {name} {number}"),
                ]
        return complaint

    def kill(self, spoken: Spoken) -> str:
        self.process.send_signal(signal.SIGKILL)
        return self.end(spoken)


def check(path: Path, spoken: Spoken) -> None:
    assert doctor(str(path)).findings == ()
    with Memory(str(path), worker=False) as memory:
        for id, acknowledged in spoken.items():
            user = "shared" if id == "shared" else id
            session = memory.session(namespace="n", user=user, session_id=id)
            events = session.get_events(limit=1_000_000)
            seqs = [event.seq for event in events]
            assert seqs == list(range(1, len(events) + 1)), "no gap and no double"
            stored = {event.seq: event.content for event in events}
            assert [stored.get(seq) for seq, _ in acknowledged] == [text for _, text in acknowledged]
            assert len(events) % 2 == 0, "never half of a transaction"
            contents = [event.content for event in events]
            assert len(set(contents)) == len(contents), "nothing twice"
            if id != "shared":
                numbers = [int(str(content).split()[-1]) for content in contents]
                assert numbers == sorted(numbers), "in the order of the calls"


def test_kill_nine_of_four_writers(tmp_path: Path) -> None:
    path = tmp_path / "对话 chat.db"
    spoken: Spoken = defaultdict(list)
    moments = random.Random(ROUNDS)
    writers = [Writer(path, f"w{number}") for number in range(PROCESSES)]
    for round_ in range(ROUNDS):
        victim = round_ % PROCESSES
        writers[victim].wait_for_its_first_word()
        time.sleep(moments.uniform(0, 0.2))
        assert writers[victim].kill(spoken) == ""
        writers[victim] = Writer(path, f"w{victim}")
    assert [writer.kill(spoken) for writer in writers] == [""] * PROCESSES
    assert sum(map(len, spoken.values())) > ROUNDS
    check(path, spoken)


def test_four_processes_write_side_by_side_without_an_error(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    spoken: Spoken = defaultdict(list)
    writers = [Writer(path, f"w{number}", limit=40) for number in range(PROCESSES)]
    assert [writer.end(spoken) for writer in writers] == [""] * PROCESSES
    assert [writer.process.returncode for writer in writers] == [0] * PROCESSES
    assert len(spoken["shared"]) == PROCESSES * 80
    check(path, spoken)
