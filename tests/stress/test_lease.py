"""Workers in processes of their own: one that is killed, one that is stopped and goes on, and one that takes its time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.stress.extractor import FACT, SAID
from wellkept import Memory
from wellkept.core import system_clock
from wellkept.lease import LEASE_MS
from wellkept.store.jobs import SILENT
from wellkept.testing import FakeClock, FakeModel

ROOT = Path(__file__).resolve().parents[2]
NOTHING = '{"intent": "none", "memories": []}'

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs POSIX signals")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A store with one message to extract from."""
    path = str(tmp_path / "chat.db")
    with Memory(path, worker=False, model=FakeModel(NOTHING)) as memory:
        memory.session(namespace="acme", user="alice").add_message("user", SAID)
    return path


@contextmanager
def thinking(path: str, *, renewing: float = 60.0) -> Iterator[subprocess.Popen[str]]:
    """A worker whose model has been asked and does not answer yet, and which gives a sign of life every so many seconds."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.stress.thinker", path, str(renewing)]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        try:
            assert worker.stdout and worker.stdout.readline() == "asked\n"
            yield worker
        finally:
            worker.kill()


class Other:
    """Another worker on the store, with an hour more on its clock and a model that finds nothing."""

    def __init__(self, path: str) -> None:
        self.clock = FakeClock(system_clock())
        self.clock.advance(hours=1)
        self.model = FakeModel(NOTHING)
        self.memory = Memory(path, worker=False, model=self.model, clock=self.clock)

    def look(self) -> int:
        """How many jobs it ran; a lease later than the last time."""
        self.clock.advance(seconds=LEASE_MS / 1000)
        return self.memory.run_jobs()

    def job(self) -> tuple[str, int, str | None]:
        [job] = self.memory.jobs.list()
        return job.state, job.attempts, job.last_error

    def facts(self) -> list[str]:
        return [fact.text for fact in self.memory.user("alice", namespace="acme").get_all()]


def test_the_job_of_a_killed_worker_is_taken_at_the_second_look(path: str) -> None:
    with thinking(path) as worker:
        worker.kill()
        worker.wait()
    other = Other(path)
    with other.memory:
        assert (other.look(), other.job()) == (0, ("running", 1, SILENT))
        assert (other.look(), other.job()) == (1, ("done", 2, None))
        assert other.look() == 0
        assert len(other.model.calls) == 1


def test_a_stopped_worker_that_goes_on_stores_nothing(path: str) -> None:
    with thinking(path) as worker:
        other = Other(path)
        with other.memory:
            worker.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, worker.pid, os.WSTOPPED | os.WNOWAIT)
            assert [other.look() for _ in range(2)] == [0, 1]
            worker.send_signal(signal.SIGCONT)
            assert worker.communicate("go on\n", timeout=60) == ("1\n", None)
            assert worker.returncode == 0
            assert other.job() == ("done", 2, None)
            assert other.facts() == []
            [spent] = other.memory.spend(namespace="acme")
            assert spent["calls"] == 2, "both asked a model, and both calls have their price"


def test_a_worker_goes_on_that_was_stopped_and_has_lost_its_job_to_nobody_yet(path: str) -> None:
    with thinking(path) as worker:
        other = Other(path)
        with other.memory:
            worker.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, worker.pid, os.WSTOPPED | os.WNOWAIT)
            assert (other.look(), other.job()) == (0, ("running", 1, SILENT))
            worker.send_signal(signal.SIGCONT)
            assert worker.communicate("go on\n", timeout=60) == ("1\n", None)
            assert other.job() == ("done", 1, None)
            assert other.facts() == [FACT]


def test_a_job_is_not_taken_from_a_worker_that_lives_however_long_it_takes(path: str) -> None:
    with thinking(path, renewing=0.02) as worker:
        other = Other(path)
        with other.memory:
            for _ in range(5):
                assert (other.look(), other.job()) == (0, ("running", 1, SILENT))
                while other.job() == ("running", 1, SILENT):
                    assert worker.poll() is None
            assert worker.communicate("go on\n", timeout=60) == ("1\n", None)
            assert other.look() == 0
            assert other.job() == ("done", 1, None)
            assert (other.facts(), other.model.calls) == ([FACT], [])
