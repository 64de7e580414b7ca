"""kill -9 between a model's reply and the store: the fact is there exactly once, and its job is done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stress.extractor import FACT, SAID, reply
from wellkept import Memory
from wellkept.core import system_clock
from wellkept.lease import LEASE_MS
from wellkept.store.sqlite.maintenance import doctor
from wellkept.testing import FakeClock, FakeModel

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")


@pytest.mark.parametrize(("moment", "asked_again"), [("before", 1), ("inside", 1), ("after", 0)])
def test_a_fact_is_stored_exactly_once(tmp_path: Path, moment: str, asked_again: int) -> None:
    path = str(tmp_path / "chat.db")
    with Memory(path, worker=False, model=FakeModel(reply)) as memory:
        memory.session(namespace="acme", user="alice").add_message("user", SAID)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.stress.extractor", path, moment]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    assert doctor(path).healthy

    model, clock = FakeModel(reply), FakeClock(system_clock())
    clock.advance(hours=1)
    with Memory(path, worker=False, model=model, clock=clock) as memory:
        for _ in range(3):
            clock.advance(seconds=LEASE_MS / 1000)
            memory.run_jobs()
        alice = memory.user("alice", namespace="acme")
        assert [fact.text for fact in alice.get_all()] == [FACT]
        assert [change.action for change in alice.changes()] == ["store"]
        assert [job.state for job in memory.jobs.list()] == ["done"]
        assert len(model.calls) == asked_again
        [spent] = memory.spend(namespace="acme")
        assert (spent["kind"], spent["calls"]) == ("extract", 1), "what a killed process spent is not known"
