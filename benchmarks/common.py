"""What the benchmarks share: a floor to compare with, fair timing on a noisy machine, and the page of results."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"

TEXTS = [
    "我小孩今年五岁，对恐龙特别着迷，周末想带他去自然博物馆。",
    "Could you move the meeting to 2026-03-07 at 15:00 and tell Dr. Lin about it?",
    "好的，预算 12,500 元，订在三月七日下午三点，靠窗的位置。",
    "I am allergic to peanuts, so please check the menu of the restaurant in Kyoto before we book it.",
    "The deployment failed again with exit code 137; the log says that the pod ran out of memory at 512 MiB.",
    "嗯，那就这么定了。",
]


class Floor:
    """The least that does the same durable work: a plain table, one index, one commit a message, stdlib sqlite3."""

    SCHEMA = (
        "CREATE TABLE IF NOT EXISTS events (session TEXT, ts INTEGER, role TEXT, content TEXT)",
        "CREATE INDEX IF NOT EXISTS by_session ON events (session, ts)",
    )
    ADD = "INSERT INTO events VALUES (?, ?, ?, ?)"
    RECENT = "SELECT role, content, ts FROM events WHERE session = ? ORDER BY ts DESC LIMIT 20"

    def __init__(self, path: str, durability: str) -> None:
        self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = wal")
        self._db.execute(f"PRAGMA synchronous = {durability}")
        for statement in self.SCHEMA:
            self._db.execute(statement)

    def add(self, session: str, content: str) -> None:
        """One message, committed."""
        self._db.execute(self.ADD, (session, time.time_ns(), "user", content))

    def fill(self, session: str, contents: Sequence[str]) -> None:
        """Many messages in one transaction."""
        self._db.execute("BEGIN")
        self._db.executemany(self.ADD, ((session, time.time_ns(), "user", content) for content in contents))
        self._db.execute("COMMIT")

    def recent(self, session: str) -> list[tuple[str, str, int]]:
        """The newest 20, in conversation order."""
        return self._db.execute(self.RECENT, (session,)).fetchall()[::-1]

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def text(number: int) -> str:
    """A message of everyday length, the same for the same number."""
    return f"{number} {TEXTS[number % len(TEXTS)]}"


def timed(work: Callable[[], object], times: int) -> float:
    """Seconds that one of ``times`` calls takes on average."""
    begin = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begin) / times


def interleaved(works: Sequence[Callable[[], object]], *, times: int, rounds: int) -> list[float]:
    """Seconds of a call of each, measured in turns so that the machine's moods meet all of them alike.

    Of the samples the lower quartile is taken: other programs can make a sample longer and never shorter, and
    they hit a long call more often than a short one.
    """
    samples: list[list[float]] = [[] for _ in works]
    for round_ in range(rounds):
        for place in range(len(works)):
            chosen = (place + round_) % len(works)
            samples[chosen].append(timed(works[chosen], times))
    return [statistics.quantiles(each, n=4)[0] if len(each) > 1 else each[0] for each in samples]


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Says what is going on, since a benchmark is silent for long."""
    begin = time.perf_counter()
    print(f"  {what} …", end="", flush=True)
    yield
    print(f" {time.perf_counter() - begin:.1f} s", flush=True)


def machine() -> str:
    """Where the numbers come from."""
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["--"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def publish(section: str, body: str) -> None:
    """Put ``body`` between the marks of ``section`` in docs/benchmarks.md."""
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    page = RESULTS.read_text()
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    RESULTS.write_text(f"{before}{begin}\n{body}\n{end}{after}")
