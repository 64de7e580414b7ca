"""A running service for tests: real sockets, in a thread of this process or in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import httpx2

from wellkept import AsyncMemory
from wellkept.server import Settings, create_app
from wellkept.server.run import server_of

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Running:
    """A service that listens at ``url``; ``client`` talks to it."""

    url: str
    client: httpx2.Client
    app: Any

    @property
    def memory(self) -> Any:
        """The sync memory behind it."""
        return self.app.state.service.memory._target


@contextmanager
def running(store: str = ":memory:", settings: Settings | None = None, **options: Any) -> Iterator[Running]:
    """A service over ``store`` in a thread; ``options`` are those of ``Memory``."""
    settings = settings or Settings(namespace="acme", user="alice", port=0, live_seconds=0.2, key_seconds=0.0)
    app = create_app(AsyncMemory(store, **{"worker": False, **options}), settings)
    ready, urls = threading.Event(), []

    def on_ready(url: str) -> None:
        urls.append(url)
        ready.set()

    server = server_of(app, on_ready=on_ready)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert ready.wait(20)
    with httpx2.Client(base_url=urls[0], trust_env=False, timeout=20) as client:
        try:
            yield Running(urls[0], client, app)
        finally:
            server.handle_exit(signal.SIGTERM, None)
            thread.join(30)
            assert not thread.is_alive()


class Process:
    """``wellkept serve`` in a process of its own."""

    environment: ClassVar = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "wellkept.cli", "serve", "--port", "0", *arguments]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment
        )
        self.said = ""
        self.url = self._wait_for_url()
        self.client = httpx2.Client(base_url=self.url, trust_env=False, timeout=20)

    def _wait_for_url(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said += line
            if found := re.search(r"listens on (http://\S+)", line):
                return found[1]
        raise AssertionError(f"the service did not start: {self.said}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        if self._process.poll() is None:
            self.stop()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send the signal and wait for the end; its exit code."""
        self._process.send_signal(number)
        code = self._process.wait(30)
        assert self._process.stdout is not None
        self.said += self._process.stdout.read()
        return code
