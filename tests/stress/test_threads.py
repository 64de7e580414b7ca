"""Many threads, forks, signals and closing: every call ends with its result or with a typed error."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from wellkept import Memory, Policy
from wellkept.errors import StoreError, WellkeptError
from wellkept.store.sqlite.maintenance import doctor

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_eight_threads_write_and_read_one_store(tmp_path: Path, durability: str) -> None:
    path = str(tmp_path / "chat.db")
    problems: list[BaseException] = []
    with Memory(path, policy=Policy(durability=durability), worker=False) as memory:  # type: ignore[arg-type]
        shared = memory.session(namespace="n", user="all")

        def talk(number: int) -> None:
            try:
                own = memory.session(namespace="n", user=f"u{number}")
                for turn in range(25):
                    for session in (own, shared):
                        event = session.add_message("user", f"{number} says {turn} 恐龙")
                        assert session.get_event(event.id) == event
                    assert len(own.get_context().messages) > 0
                assert [event.seq for event in own.get_recent(100)] == list(range(1, 26))
            except BaseException as error:  # noqa: BLE001
                problems.append(error)

        threads = [threading.Thread(target=talk, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        events = shared.get_events(limit=1_000)
        assert [event.seq for event in events] == list(range(1, 201))
        for number in range(8):
            mine = [event.content for event in events if str(event.content).startswith(f"{number} ")]
            assert mine == [f"{number} says {turn} 恐龙" for turn in range(25)]
    assert doctor(path).findings == ()


def test_who_forgets_while_others_forget_gets_a_receipt_all_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    left: list[object] = []
    with Memory(path, policy=Policy(durability="normal"), worker=False) as memory:

        def regret(number: int) -> None:
            user, chat = f"u{number}", memory.session(namespace="n", user=f"u{number}")
            for turn in range(15):
                chat.add_message("user", f"kangaroo{turn} and more")
                try:
                    asked = memory.user(user, namespace="n")
                    left.append(asked.forget(asked.forget(f"kangaroo{turn}")).left)
                except WellkeptError as error:
                    left.append(error)

        threads = [threading.Thread(target=regret, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert left == [{}] * 60


def test_closing_while_others_work_ends_them_with_typed_errors(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    memory = Memory(path, policy=Policy(durability="normal"), worker=False)
    session = memory.session(namespace="n", user="u")
    acknowledged: list[int] = []
    ends: list[BaseException] = []

    def work(verb: str) -> None:
        try:
            while True:
                if verb == "write":
                    acknowledged.append(session.add_message("user", "x").seq)
                else:
                    session.get_recent(5)
        except BaseException as error:  # noqa: BLE001
            ends.append(error)

    threads = [threading.Thread(target=work, args=(verb,)) for verb in ("write", "read", "write", "read")]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    memory.close()
    for thread in threads:
        thread.join(timeout=20)
    assert not any(thread.is_alive() for thread in threads)
    assert len(ends) == 4
    assert all(isinstance(end, StoreError) for end in ends), ends
    with Memory(path, worker=False) as again:
        stored = again.session(namespace="n", user="u", session_id=session.id).get_events(limit=100_000)
    assert set(acknowledged) <= {event.seq for event in stored}
    assert doctor(path).findings == ()


FORK = """
import os, sys
from wellkept import Memory
memory = Memory(sys.argv[1], worker=False)
session = memory.session(namespace="n", user="u", session_id="s", create=True)
session.add_message("user", "before")
children = []
for child in range(4):
    pid = os.fork()
    if pid == 0:
        for number in range(10):
            session.add_message("user", f"child {child} {number}")
        sys.exit(0 if len(session.get_recent(100)) > 10 else 7)
    children.append(pid)
for number in range(10):
    session.add_message("user", f"parent {number}")
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
session.add_message("user", "after")
assert codes == [0] * 4, codes
print(session.info().events)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_memory_can_be_used_on_both_sides_of_a_fork(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("52\n", "", 0)
    assert doctor(str(path)).findings == ()


def test_a_busy_store_says_so_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import apsw

    monkeypatch.setattr("wellkept.store.sqlite.connection.BUSY_SECONDS", 0.2)
    path = str(tmp_path / "chat.db")
    with Memory(path, worker=False) as memory:
        session = memory.session(namespace="n", user="u")
        other = apsw.Connection(path)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(WellkeptError, match="Try again"):
            session.add_message("user", "x")
        assert session.get_recent() == []
        other.execute("ROLLBACK")
        assert session.add_message("user", "x").seq == 1
        other.close()
