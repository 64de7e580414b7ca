"""The log beside the file stays short, however many are in it, and a commit stands whatever becomes of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import apsw

from wellkept import Memory, Policy
from wellkept.store.sqlite import connection

ROOT = Path(__file__).resolve().parents[2]
WRITER = """
import sys
from wellkept import Memory, Policy
path, name = sys.argv[1:]
with Memory(path, policy=Policy(durability="normal"), worker=False) as memory:
    chat = memory.session(namespace="n", user=name)
    for number in range(600):
        chat.add_message("user", f"{name} says {number} of the budget")
"""


def log_of(path: Path) -> int:
    return Path(f"{path}-wal").stat().st_size


def test_processes_that_write_at_once_keep_the_log_short(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with Memory(path, policy=Policy(durability="normal"), worker=False) as memory:
        memory.session(namespace="n", user="first").add_message("user", "hello")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(path), f"w{number}"], env=environment)
            for number in range(3)
        ]
        assert [writer.wait() for writer in writers] == [0, 0, 0]
        # 1,800 messages are some 30 MB of pages.
        assert log_of(path) < 4 * connection._LOG_PAGES * 4_120


def test_readers_that_come_and_go_do_not_make_it_grow(tmp_path: Path) -> None:
    path, done = tmp_path / "chat.db", threading.Event()
    with Memory(path, policy=Policy(durability="normal"), worker=False) as memory:
        chat = memory.session(namespace="n", user="u")
        chat.add_message("user", "the budget")

        def read() -> None:
            while not done.is_set():
                memory.user("u", namespace="n").search("budget")

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for number in range(800):
            chat.add_message("user", f"number {number} of the budget")
        done.set()
        for reader in readers:
            reader.join()
        assert log_of(path) < 4 * connection._LOG_PAGES * 4_120


def test_a_commit_stands_while_a_reader_keeps_the_log_from_being_moved(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with patch.object(connection, "_LOG_PAGES", 1), Memory(path, worker=False) as memory:
        chat = memory.session(namespace="n", user="u")
        reader = apsw.Connection(str(path))
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM events").get == 0
        for number in range(5):
            chat.add_message("user", f"number {number}")
        assert reader.execute("SELECT count(*) FROM events").get == 0
        reader.close()
        assert [event.content for event in chat.get_recent()] == [f"number {number}" for number in range(5)]
