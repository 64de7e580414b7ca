"""The memory loop: append, read back, show; one writer and many; how it grows; what it weighs.

Run it with ``make bench`` or ``python -m benchmarks.loop [--quick] [--folder DIR]``. Every number stands beside a floor
that does the same durable work with plain sqlite3 in the same minutes.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import apsw

from benchmarks.common import Floor, interleaved, machine, progress, publish, table, text
from wellkept import Memory, Policy
from wellkept.policy.content import dumps
from wellkept.policy.text.tokens import estimate, event_tokens
from wellkept.records import Scope
from wellkept.session import Session
from wellkept.store.events import NewEvent
from wellkept.store.sqlite import tail

SESSION = 100  # events of an ordinary session


@dataclass(frozen=True)
class Result:
    """One line of the table."""

    what: str
    floor: str
    ours: str
    ratio: str
    target: str


def micro(seconds: float) -> str:
    """Microseconds or milliseconds, as a person reads them."""
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-2 else f"{seconds * 1e3:.0f} ms"


def against(what: str, floor: float, ours: float, target: str) -> Result:
    """A line of two times."""
    return Result(what, micro(floor), micro(ours), f"{ours / floor:.2f} ×", target)


def opened(path: Path, durability: str) -> Memory:
    """A memory without a worker, so that nothing runs beside what is measured."""
    return Memory(str(path), policy=Policy(durability=durability), worker=False)  # type: ignore[arg-type]


# ── appending ───────────────────────────────────────────────────────────────────────────────────────────────


class Counter:
    """Messages that differ, in order."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self) -> str:
        self._number += 1
        return text(self._number)


def append(folder: Path, durability: str, *, rounds: int, times: int) -> tuple[float, float]:
    """Seconds a message of the floor and of ours, one writer."""
    message = Counter()
    floor = Floor(str(folder / f"floor-{durability}.db"), durability)
    with opened(folder / f"ours-{durability}.db", durability) as memory:
        sessions = range(rounds * times // SESSION + 1)
        chats = [memory.session(namespace="n", user=f"u{number}") for number in sessions]
        place = itertools.count()

        def add() -> None:
            number = next(place)
            chats[number // SESSION].add_message("user" if number % 2 == 0 else "assistant", message())

        base, ours = interleaved([lambda: floor.add("s", message()), add], times=times, rounds=rounds)
    floor.close()
    return base, ours


def append_without_index(folder: Path, *, rounds: int, times: int) -> tuple[float, float]:
    """The same without the text index, which the floor does not have."""
    with patch.object(tail, "LONGEST", sys.maxsize):
        return append(folder, "normal", rounds=rounds, times=times)


def sync_of(folder: Path) -> float:
    """Seconds that the disk takes to sync a page, the median of some: what a durable commit cannot do without."""
    times = []
    with (folder / "sync").open("wb") as file:
        for _ in range(200):
            file.write(b"x" * 4096)
            file.flush()
            begin = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def stored(content: str) -> NewEvent:
    """An event made ready."""
    tokens = event_tokens(content, None, estimate)
    now = time.time_ns() // 1_000_000
    return NewEvent(role="user", content=content, stored=dumps(content), ts=now, tokens=tokens)


# ── many writers ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Crowd:
    """How many writers got on together."""

    rate: float
    p99: float
    slowest: float
    share: float
    errors: int

    @classmethod
    def of(cls, waits: Sequence[Sequence[float]], seconds: float, errors: int) -> Crowd:
        """``waits``: seconds of each acknowledged message, by writer."""
        counts = [len(each) for each in waits]
        every = sorted(wait for each in waits for wait in each)
        p99 = every[int(len(every) * 0.99)]
        return cls(len(every) / seconds, p99, every[-1], min(counts) / (sum(counts) / len(counts)), errors)


def crowd(adders: Sequence[Callable[[str], object]], seconds: float) -> Crowd:
    """Each adder in a thread of its own, for some seconds."""
    waits: list[list[float]] = [[] for _ in adders]
    errors: list[Exception] = []
    start = threading.Barrier(len(adders) + 1)
    ends = [0.0]

    def run(add: Callable[[str], object], mine: list[float]) -> None:
        message = Counter()
        start.wait()
        while (begin := time.perf_counter()) < ends[0]:
            try:
                add(message())
            except Exception as error:  # noqa: BLE001
                errors.append(error)
            mine.append(time.perf_counter() - begin)

    threads = [threading.Thread(target=run, args=pair) for pair in zip(adders, waits, strict=True)]
    for thread in threads:
        thread.start()
    ends[0] = time.perf_counter() + seconds
    start.wait()
    for thread in threads:
        thread.join()
    return Crowd.of(waits, seconds, len(errors))


def threads(folder: Path, *, seconds: float, number: int = 8) -> tuple[Crowd, Crowd]:
    """Eight threads with a session each: the floor's connections, and one memory."""
    path = str(folder / f"floor-threads-{time.time_ns()}.db")
    floors = [Floor(path, "full") for _ in range(number)]
    base = crowd([lambda message, f=f: f.add("s", message) for f in floors], seconds)  # type: ignore[misc]
    for floor in floors:
        floor.close()
    with opened(folder / f"ours-threads-{time.time_ns()}.db", "full") as memory:
        chats = [memory.session(namespace="n", user=f"u{user}") for user in range(number)]
        ours = crowd([lambda message, c=c: c.add_message("user", message) for c in chats], seconds)  # type: ignore[misc]
    return base, ours


def processes(folder: Path, *, seconds: float, number: int = 4) -> tuple[Crowd, Crowd]:
    """Four processes on one file."""
    crowds = []
    for kind in (_floor_process, _our_process):
        path = str(folder / f"{kind.__name__}-{time.time_ns()}.db")
        kind((path, "first", 0.01, 0.0))
        until = time.time() + 3.0
        context = multiprocessing.get_context("spawn")
        with context.Pool(number) as pool:
            done = pool.map(kind, [(path, f"p{each}", seconds, until) for each in range(number)], chunksize=1)
        crowds.append(Crowd.of([waits for waits, _ in done], seconds, sum(errors for _, errors in done)))
    return crowds[0], crowds[1]


Job = tuple[str, str, float, float]


def _floor_process(job: Job) -> tuple[list[float], int]:
    path, name, seconds, begin = job
    floor = Floor(path, "full")
    return _alone(lambda message: floor.add(name, message), seconds, begin)


def _our_process(job: Job) -> tuple[list[float], int]:
    path, name, seconds, begin = job
    with opened(Path(path), "full") as memory:
        chat = memory.session(namespace="n", user=name)
        return _alone(lambda message: chat.add_message("user", message), seconds, begin)


def _alone(add: Callable[[str], object], seconds: float, begin: float) -> tuple[list[float], int]:
    waits: list[float] = []
    errors = 0
    message = Counter()
    time.sleep(max(0.0, begin - time.time()))
    ends = time.perf_counter() + seconds
    while (before := time.perf_counter()) < ends:
        try:
            add(message())
        except Exception:  # noqa: BLE001
            errors += 1
        waits.append(time.perf_counter() - before)
    return waits, errors


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


class Library:
    """Two stores with the same messages in them: the floor's and ours."""

    def __init__(self, folder: Path, events: int, per_session: int = SESSION) -> None:
        self.floor = Floor(str(folder / f"floor-{events}-{per_session}.db"), "normal")
        self.memory = opened(folder / f"ours-{events}-{per_session}.db", "normal")
        self.names: list[str] = []
        store = self.memory._core.store
        for number in range(events // per_session):
            scope, id = Scope("n", f"u{number % 1000}"), f"s{number}"
            ref = store.write(lambda t, s=scope, i=id: t.sessions.create(s, i, title="", metadata={}, at=1))  # type: ignore[misc]
            contents = [text(number * per_session + place) for place in range(per_session)]
            for begin in range(0, per_session, 10_000):
                part = contents[begin : begin + 10_000]
                ready = [stored(content) for content in part]
                for place, event in enumerate(ready):
                    event.role = "user" if place % 2 == 0 else "assistant"
                store.write(lambda t, r=ref, e=ready: t.events.append(r, e, at=1))  # type: ignore[misc]
                self.floor.fill(id, part)
            self.names.append(id)

    def chats(self, number: int) -> list[tuple[str, Session]]:
        """Some sessions anywhere in the store."""
        chosen = random.Random(1).sample(range(len(self.names)), min(number, len(self.names)))
        return [
            (f"s{n}", self.memory.session(namespace="n", user=f"u{n % 1000}", session_id=f"s{n}"))
            for n in chosen
        ]

    def close(self) -> None:
        """Let go of both files."""
        self.floor.close()
        self.memory.close()


def reading(library: Library, rounds: int) -> tuple[float, float, float]:
    """Seconds of: the floor's newest 20, ours, and a context of 3,000 tokens."""
    chats = itertools.cycle(library.chats(20))
    works: list[Callable[[], object]] = [
        lambda: library.floor.recent(next(chats)[0]),
        lambda: next(chats)[1].get_recent(20),
        lambda: next(chats)[1].get_context(),
    ]
    for work in works * 20:
        work()
    base, recent, context = interleaved(works, times=1, rounds=20 * rounds)
    return base, recent, context


# ── weight ──────────────────────────────────────────────────────────────────────────────────────────────────

SMALL_PROGRAM = """
import resource, tempfile
from wellkept import Memory
with tempfile.TemporaryDirectory() as folder, Memory(folder + "/chat.db") as memory:
    chat = memory.session(namespace="n", user="u")
    for number in range(200):
        chat.add_message("user" if number % 2 == 0 else "assistant", f"message {number} 恐龙 and the budget")
    chat.get_context()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def start_of(code: str) -> float:
    """Seconds that a fresh interpreter takes to run ``code``, the best of some, compiled as an installed package is."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run() -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
        return time.perf_counter() - begin

    return min(run() for _ in range(15))


def peak_memory() -> float:
    """MB that a small program takes at most."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", SMALL_PROGRAM], env=environment, check=True, capture_output=True, text=True
    )
    return int(done.stdout) / 1024


def disk(path: Path) -> tuple[float, float, float]:
    """Bytes a message: its UTF-8 length, all but the text index, and the text index."""
    connection = apsw.Connection(str(path))
    count, size = connection.execute(
        "SELECT count(*), sum(length(CAST(content AS BLOB))) FROM events"
    ).fetchone()
    index = connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name GLOB '*_terms_*'").get
    pages = connection.execute("SELECT sum(pgsize) FROM dbstat").get
    connection.close()
    return size / count, (pages - index) / count, index / count


# ── all of it ───────────────────────────────────────────────────────────────────────────────────────────────


def writing_results(folder: Path, fast: Path, quick: bool) -> list[Result]:
    """The lines about appending."""
    # Every 32nd message of a user has the text index take in all of them: a sample holds two of those.
    rounds, times = (4, 64) if quick else (30, 64)
    with progress("append, one writer, full"):
        lone = append(folder, "full", rounds=rounds, times=times)
    with progress("append, software alone"):
        soft = append(fast, "normal", rounds=rounds, times=times)
    with progress("append, without the text index"), tempfile.TemporaryDirectory(dir=fast) as apart:
        bare = append_without_index(Path(apart), rounds=rounds, times=times)
    return [
        against("append, one writer, `full`", *lone, "≤ 1.5 ×"),
        against("append, software alone", *soft, "≤ 6 ×, index apart"),
        against("… without the text index", *bare, "≤ 6 ×"),
    ]


def crowd_results(folder: Path, quick: bool) -> list[Result]:
    """The lines about many writers: the median of some interleaved runs."""
    runs, seconds = (1, 1.0) if quick else (15, 1.0)
    syncs = []
    lines = []
    for what, measure, target in (("8 threads", threads, "≥ 3 ×"), ("4 processes", processes, "≥ 1 ×")):
        with progress(what):
            pairs = []
            for _ in range(runs if "8" in what else max(1, runs // 3)):
                syncs.append(sync_of(folder))
                pairs.append(measure(folder, seconds=seconds))
        base, ours = (statistics.median(pair[side].rate for pair in pairs) for side in (0, 1))
        ratio = statistics.median(pair[1].rate / pair[0].rate for pair in pairs)
        lines.append(
            Result(
                f"{what}, `full`, messages a second", f"{base:.0f}", f"{ours:.0f}", f"{ratio:.2f} ×", target
            )
        )
        waits = [statistics.median(pair[side].p99 for pair in pairs) for side in (0, 1)]
        lines.append(
            Result(
                f"{what}, 99 % wait less than",
                micro(waits[0]),
                micro(waits[1]),
                "",
                "< 20 ms" if "8" in what else "",
            )
        )
        shares = [min(pair[side].share for pair in pairs) for side in (0, 1)]
        errors = [sum(pair[side].errors for pair in pairs) for side in (0, 1)]
        lines.append(
            Result(
                f"{what}, least share of a fair one / errors",
                f"{shares[0]:.0%} / {errors[0]}",
                f"{shares[1]:.0%} / {errors[1]}",
                "",
                "nobody starves, 0",
            )
        )
    lines.append(Result("one sync of the disk meanwhile", micro(statistics.median(syncs)), "", "", ""))
    return lines


def reading_results(folder: Path, quick: bool) -> list[Result]:
    """The curve of reading over the size of the store."""
    lines = []
    sizes = (
        [(1_000, SESSION), (10_000, SESSION)]
        if quick
        else [(1_000, SESSION), (100_000, SESSION), (1_000_000, SESSION)]
    )
    for events, per_session in [*sizes, (10_000 if quick else 100_000,) * 2]:
        name = f"{events:,} stored" if per_session == SESSION else f"one session of {events:,}"
        with progress(f"filling: {name}"):
            library = Library(folder, events, per_session)
        with progress(f"reading: {name}"):
            base, recent, context = reading(library, 9 if quick else 41)
        library.close()
        lines.append(against(f"newest 20, {name}", base, recent, "≤ 3 ×, flat"))
        lines.append(
            Result(
                f"`get_context()`, {name}",
                f"{micro(base)} (20 rows)",
                micro(context),
                f"{context / base:.1f} ×; {context / recent:.1f} × our 20",
                "< 15 ×, flat",
            )
        )
    return lines


def weight_results(fast: Path) -> list[Result]:
    """The lines about size."""
    with progress("import, memory, disk"):
        empty, whole = start_of("pass"), start_of("from wellkept import Memory")
        mega = peak_memory()
        length, body, index = disk(fast / "ours-normal.db")
    return [
        Result(
            "`from wellkept import Memory`",
            f"{micro(empty)} (bare Python)",
            micro(whole),
            f"+ {micro(whole - empty)}",
            "< 100 ms",
        ),
        Result("peak memory of a small program", "", f"{mega:.0f} MB", "", "< 40 MB"),
        Result(
            "bytes on disk a message",
            f"{length:.0f} (UTF-8)",
            f"{body:.0f} + {index:.0f} index",
            f"{(body - 200) / length:.2f} × + 200",
            "≤ 3 × + 200",
        ),
    ]


def main() -> None:
    """Measure everything, print it and write it into docs/benchmarks.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a minute instead of ten; nothing is written")
    parser.add_argument(
        "--folder", help="a folder on the disk to measure; the system's temporary one if not given"
    )
    chosen = parser.parse_args()
    memory_disk = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with (
        tempfile.TemporaryDirectory(dir=chosen.folder) as slow,
        tempfile.TemporaryDirectory(dir=memory_disk) as fast,
    ):
        begin = resource.getrusage(resource.RUSAGE_SELF)
        results = writing_results(Path(slow), Path(fast), chosen.quick)
        results += weight_results(Path(fast))
        results += crowd_results(Path(slow), chosen.quick)
        results += reading_results(Path(slow), chosen.quick)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin.ru_utime
    rows = [[it.what, it.floor, it.ours, it.ratio, it.target] for it in results]
    body = table(["", "floor", "wellkept", "ratio", "target"], rows)
    note = f"{time.strftime('%Y-%m-%d')}, {machine()}, SQLite {apsw.sqlite_lib_version()}; {used:.0f} s of processor time."
    print(f"\n{body}\n\n{note}")
    if not chosen.quick:
        publish("loop", f"{note}\n\n{body}")


if __name__ == "__main__":
    main()
