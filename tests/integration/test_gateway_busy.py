"""A service over a store that another process has locked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.service import running
from tests.upstream import Upstream
from wellkept.server import Settings

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1])
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(store: Path) -> Iterator[None]:
    command = [sys.executable, "-c", HOLD, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        yield
        other.stdin.close()


def test_a_request_does_not_wait_long_for_a_locked_store(tmp_path: Path) -> None:
    store = tmp_path / "chat.db"
    with Upstream() as upstream:
        settings = Settings(
            namespace="acme", user="alice", port=0, memory_seconds=0.3, openai_upstream=upstream.url + "/v1"
        )
        with running(str(store), settings) as service, locked(store):
            headers = {"X-Wellkept-Session": "s"}
            done = service.client.post("/openai/v1/chat/completions", json=BODY, headers=headers)
            assert done.headers["x-wellkept-error"] == "StoreBusy: Memory took longer than 0.3 s."
            assert done.status_code == 200


def test_an_error_does_not_say_where_the_store_lies(tmp_path: Path) -> None:
    store = tmp_path / "chat.db"
    with running(str(store)) as service, locked(store):
        refused = service.client.post("/v1/sessions", json={"id": "s"}, timeout=30)
    assert refused.status_code == 503
    assert refused.json()["detail"] == "Another process has been writing to the store for 10 s. Try again."
