"""kill -9 in the middle of an erasure: whoever opens the file next ends it, and hands out the receipt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from wellkept import Memory
from wellkept.facts.forget import PATIENCE_MS

ROOT = Path(__file__).resolve().parents[2]
LATER = timedelta(milliseconds=PATIENCE_MS + 1_000)

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")


def later() -> datetime:
    return datetime.now(timezone.utc) + LATER


def raw(path: Path) -> bytes:
    return path.read_bytes() + Path(f"{path}-wal").read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store in which "marzipan" was being forgotten, when the process was killed."""
    path = tmp_path / "chat.db"
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(namespace="acme", user="alice", session_id="s", create=True)
        chat.add_message("user", "I adore marzipan, really")
        chat.add_message("user", "The weather is fine")
        memory.user("alice", namespace="acme").add("Adores marzipan", infer=False)
    command = [sys.executable, "-m", "tests.stress.eraser", str(path), "marzipan"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as eraser:
        assert eraser.stdout is not None
        assert eraser.stdout.readline() == b"rows are gone\n"
        eraser.send_signal(signal.SIGKILL)
    assert b"marzipan" in raw(path)
    return path


def test_what_was_begun_is_ended_and_has_its_receipt(path: Path) -> None:
    with Memory(str(path), worker=False) as memory:
        assert memory.run_jobs() == 0, "it may still be at work"
        assert [job.state for job in memory.jobs.list(kind="erase")] == ["ready"]
    with Memory(str(path), worker=False, clock=later) as memory:
        assert memory.run_jobs() == 1
        alice = memory.user("alice", namespace="acme")
        [receipt] = alice.receipts()
        assert receipt.resumed and receipt.left == {}
        assert {"events": 1, "facts": 1}.items() <= receipt.removed.items()
        assert receipt.at < later() - LATER
        assert memory.run_jobs() == 0
        assert b"marzipan" not in raw(path)
        chat = memory.session(namespace="acme", user="alice", session_id="s")
        assert [event.content for event in chat.get_recent()] == ["The weather is fine"]


def test_the_worker_of_the_next_process_ends_it_without_being_asked(path: Path) -> None:
    with Memory(str(path), clock=later) as memory:
        alice = memory.user("alice", namespace="acme")
        until = time.monotonic() + 60
        while not alice.receipts() and time.monotonic() < until:
            time.sleep(0.01)
        assert [receipt.resumed for receipt in alice.receipts()] == [True]
        assert b"marzipan" not in raw(path)
