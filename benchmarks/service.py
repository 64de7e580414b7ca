"""The service under load: what the gateway costs, how many messages a second, whether it stays sound.

python -m benchmarks.service                some minutes, writes the section "Service" of docs/benchmarks.md
python -m benchmarks.service --quick        a minute, prints only
python -m benchmarks.service --seconds 600  mixed load for ten minutes
python -m benchmarks.service --seconds 600 --rate 12   the same, 12 rounds a second and no more, about 31 requests: what memory
                                            grows with is then the same in every run
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.client import Connection
from benchmarks.common import Floor, machine, progress, publish, table, text, timed
from wellkept import Memory, formats, samples
from wellkept.records import text_of

ROOT = Path(__file__).resolve().parents[1]
CONNECTIONS = 32
THINKING = 0.05
"""Seconds that a fast model takes for its first word."""
WHO = "namespace=bench&user=alice"
HEADERS = {"x-wellkept-namespace": "bench", "x-wellkept-user": "alice"}


@dataclass
class Service:
    """``wellkept serve`` in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    @property
    def resident(self) -> int:
        """Bytes of memory that it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@contextmanager
def serving(store: Path, *options: str) -> Iterator[Service]:
    """A service over ``store`` until the block ends."""
    command = [sys.executable, "-m", "wellkept.cli", "serve", "--store", str(store), "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        lines = (re.search(r"listens on (\S+)", line) for line in process.stdout)
        yield Service(process, next(found[1] for found in lines if found))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


# ── cold start and gateway
# ──────────────────────────────────────────────────────────────────────────────────────


def cold_start(folder: Path, times: int) -> float:
    """Seconds from the command to its first answer; the median."""
    samples = []
    for number in range(times):
        begin = time.perf_counter()
        with serving(folder / f"cold-{number}.db") as service:
            status, _ = asyncio.run(Connection(service.url).ask("GET", "/healthz"))
            assert status == 200
            samples.append(time.perf_counter() - begin)
    return statistics.median(samples)


@contextmanager
def fake_upstream(seconds: float) -> Iterator[str]:
    """The bundled stand-in for a model, in a process of its own; it takes ``seconds`` for each answer."""
    code = (
        "from wellkept.server.fake import FakeUpstream; import sys\n"
        f"with FakeUpstream({seconds}) as fake: print(fake.url, flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield process.stdout.readline().strip() + "/v1"
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def sample_questions() -> list[str]:
    """What the user says in the bundled conversation."""
    entries = (item for item in formats.read(samples.path()) if isinstance(item, formats.Entry))
    return [text_of(entry.draft.content) for entry in entries if entry.draft.role == "user"]


@dataclass
class Calls:
    """Milliseconds of calls to an upstream itself and through the gateway, and of what the gateway says of each."""

    direct: list[float] = field(default_factory=list)
    through: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)

    @property
    def added(self) -> tuple[float, float]:
        """What the gateway adds: the difference of the medians, and of the 95th percentiles."""
        far = [statistics.quantiles(each, n=20)[-1] for each in (self.direct, self.through)]
        return statistics.median(self.through) - statistics.median(self.direct), far[1] - far[0]

    def take(self, timing: str, spent: float) -> None:
        """Note a call through the gateway and its Server-Timing."""
        named = {name: float(ms) for name, ms in re.findall(r"(\w+);dur=([\d.]+)", timing)}
        named["record and pass on"] = spent - sum(named.values())
        self.through.append(spent)
        for name, ms in named.items():
            self.stages.setdefault(name, []).append(ms)


async def _gateway(service: str, upstream: str, times: int, stream: bool) -> Calls:
    """Calls in turns, directly and through the gateway, with the questions of the bundled conversation."""
    direct, through = Connection(upstream), Connection(service)
    status, body = await through.ask("GET", "/v1/sessions?namespace=demo&user=linyue")
    session = json.loads(body)["items"][0]["id"]
    headers = {"x-wellkept-namespace": "demo", "x-wellkept-user": "linyue", "x-wellkept-session": session}
    calls = Calls()
    for question in itertools.islice(itertools.cycle(sample_questions()), times):
        asked = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": question}]}
        begin = time.perf_counter()
        status, _ = await direct.ask("POST", "/v1/chat/completions", asked)
        calls.direct.append((time.perf_counter() - begin) * 1000)
        assert status == 200
        begin = time.perf_counter()
        status, _ = await through.ask("POST", "/openai/v1/chat/completions", asked, headers)
        spent = (time.perf_counter() - begin) * 1000
        assert status == 200
        calls.take(through.head, spent)
    return calls


def gateway(folder: Path, times: int, stream: bool, seconds: float) -> Calls:
    """What calls cost with an upstream that takes ``seconds`` for each answer."""
    store = folder / f"gateway-{stream}-{seconds}.db"
    with (
        fake_upstream(seconds) as upstream,
        serving(store, "--sample", "--openai-upstream", upstream) as served,
    ):
        return asyncio.run(_gateway(served.url, upstream.removesuffix("/v1"), times, stream))


def synced_commit(folder: Path, times: int = 200) -> float:
    """Milliseconds of a commit of one row that is synced to this disk; the median."""
    floor = Floor(str(folder / "floor.db"), "full")
    samples = [timed(lambda: floor.add("s", text(1)), 1) * 1000 for _ in range(times)]
    floor.close()
    return statistics.median(samples)


# ── messages a second
# ───────────────────────────────────────────────────────────────────────────────────────────


def library_rate(store: Path, seconds: float) -> float:
    """Appends a second by as many threads as there are connections, in one process, without the service."""
    counts = [0] * CONNECTIONS
    with Memory(str(store), worker=False) as memory:
        deadline = time.perf_counter() + seconds

        def write(place: int) -> None:
            chat = memory.session(namespace="bench", user="alice")
            while time.perf_counter() < deadline:
                chat.add_message("user", text(counts[place]))
                counts[place] += 1

        _together(write)
    return sum(counts) / seconds


def _together(work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(place,)) for place in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def _post(url: str, seconds: float) -> float:
    """Messages a second over many connections, each with a session of its own."""
    done = 0
    deadline = time.perf_counter() + seconds

    async def write(place: int) -> None:
        nonlocal done
        connection = Connection(url)
        await connection.ask("POST", f"/v1/sessions?{WHO}", {"id": f"s{place}"})
        for number in itertools.count():
            if time.perf_counter() > deadline:
                break
            body = {"messages": [{"role": "user", "content": text(number)}]}
            status, _ = await connection.ask("POST", f"/v1/sessions/s{place}/messages?{WHO}", body)
            assert status == 201
            done += 1
        connection.close()

    await asyncio.gather(*map(write, range(CONNECTIONS)))
    return done / seconds


def rates(folder: Path, seconds: float, rounds: int) -> tuple[float, float]:
    """Appends a second by the library and by the service, measured in turns; medians."""
    library, service = [], []
    for number in range(rounds):
        library.append(library_rate(folder / f"library-{number}.db", seconds))
        with serving(folder / f"rate-{number}.db", "--no-worker") as served:
            service.append(asyncio.run(_post(served.url, seconds)))
    return statistics.median(library), statistics.median(service)


# ── mixed load, and a kill in the midst
# ─────────────────────────────────────────────────────────────────────────


@dataclass
class Load:
    """What clients did, and what they were answered. ``rate``: rounds a second of each; as many as can be if None."""

    url: str
    rate: float | None = None
    requests: int = 0
    errors: list[str] = field(default_factory=list)
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    resident: list[int] = field(default_factory=list)

    async def run(self, seconds: float, clients: int, watch: Callable[[], int]) -> None:
        """Let ``clients`` work, and look at the service's memory meanwhile."""
        deadline = time.perf_counter() + seconds
        working = [asyncio.create_task(self._client(place, deadline)) for place in range(clients)]
        while not all(task.done() for task in working):
            self.resident.append(watch())
            await asyncio.wait(working, timeout=min(1.0, seconds / 20))
        await asyncio.gather(*working)

    async def _client(self, place: int, deadline: float) -> None:
        connection = Connection(self.url)
        session = f"mixed-{place}"
        self.acknowledged[session] = []
        try:
            await self._ask(connection, "POST", f"/v1/sessions?{WHO}", {"id": session})
            start = time.perf_counter()
            for number in itertools.count():
                if self.rate:
                    await asyncio.sleep(start + number / self.rate - time.perf_counter())
                if time.perf_counter() > deadline:
                    break
                for step in self._steps(connection, session, number):
                    await step
        except (OSError, EOFError) as error:
            self.errors.append(type(error).__name__)
        finally:
            connection.close()

    def _steps(self, connection: Connection, session: str, number: int) -> Iterator[Coroutine[Any, Any, Any]]:
        """One round: append, ask for a context, and now and then search, list, remember, or chat."""
        path = f"/v1/sessions/{session}"
        yield self._append(connection, session, f"{session} {text(number)}")
        yield self._ask(connection, "GET", f"{path}/context?{WHO}&budget=2000")
        if number % 4 == 0:
            yield self._ask(connection, "POST", f"/v1/search?{WHO}", {"query": "恐龙 allergic", "limit": 5})
        if number % 8 == 1:
            body = {"messages": f"Fact {session} {number}", "infer": False}
            yield self._ask(connection, "POST", f"/v1/memories?{WHO}", body)
        if number % 8 == 2:
            yield self._ask(connection, "GET", f"{path}/messages?{WHO}&limit=20")
        if number % 8 == 3:
            yield self._chat(connection, session, number)

    async def _append(self, connection: Connection, session: str, said: str) -> None:
        body = {"messages": [{"role": "user", "content": said}]}
        if await self._ask(connection, "POST", f"/v1/sessions/{session}/messages?{WHO}", body):
            self.acknowledged[session].append(said)

    async def _chat(self, connection: Connection, session: str, number: int) -> None:
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"chat {number}"}]}
        headers = {**HEADERS, "x-wellkept-session": f"{session}-chat"}
        await self._ask(connection, "POST", "/openai/v1/chat/completions", body, headers)

    async def _ask(self, connection: Connection, *request: Any) -> bool:
        status, body = await connection.ask(*request)
        self.requests += 1
        if status >= 400:
            self.errors.append(f"{status} {body[:200]!r}")
        return status < 400

    def lost(self, store: Path) -> int:
        """Acknowledged messages that are not in the store, once and in order."""
        missing = 0
        with Memory(str(store), worker=False) as memory:
            for session, texts in self.acknowledged.items():
                chat = memory.session(namespace="bench", user="alice", session_id=session)
                found = [event.content for event in chat.get_events(after=0, limit=1_000_000)]
                missing += sum(a != b for a, b in itertools.zip_longest(texts, found[: len(texts)]))
        return missing

    @property
    def growth(self) -> float:
        """Memory of the last quarter over that of the second one."""
        quarter = max(1, len(self.resident) // 4)
        last, second = self.resident[-quarter:], self.resident[quarter : 2 * quarter] or self.resident
        return statistics.median(last) / statistics.median(second)


def mixed(folder: Path, seconds: float, rate: float | None = None, clients: int = 8) -> tuple[Load, int]:
    """Mixed load for a while; what happened, and how many acknowledged messages were lost."""
    store = folder / "mixed.db"
    with serving(store, "--fake-upstream") as service:
        load = Load(service.url, rate and rate / clients)
        asyncio.run(load.run(seconds, clients, lambda: service.resident))
    return load, load.lost(store)


def killed(folder: Path, seconds: float) -> tuple[int, int]:
    """The same, killed in the midst: acknowledged messages, and how many of them were lost."""
    store = folder / "killed.db"
    with serving(store, "--fake-upstream") as service:
        load = Load(service.url)
        threading.Timer(seconds, service.process.kill).start()
        asyncio.run(load.run(seconds + 60, 8, lambda: 0))
    return sum(map(len, load.acknowledged.values())), load.lost(store)


# ── the page
# ────────────────────────────────────────────────────────────────────────────────────────────────────


def measure(folder: Path, seconds: float, rate: float | None = None, *, quick: bool) -> list[list[str]]:
    """The lines of the table."""
    times, rounds, short = (100, 1, 3.0) if quick else (400, 3, 5.0)
    with progress("cold start"):
        cold = cold_start(folder, 3 if quick else 7)
    rows = [["`wellkept serve` to its first answer", f"{cold:.2f} s", "< 2 s"]]
    rows.append(["a synced commit of one row on this disk", f"{synced_commit(folder):.1f} ms", ""])
    for seconds_, stream in ((0.0, False), (0.0, True), (THINKING, False), (THINKING, True)):
        what = f"{'streaming' if stream else 'at once'}, an upstream that takes {seconds_ * 1000:.0f} ms"
        with progress(f"gateway, {what}"):
            calls = gateway(folder, times if not seconds_ else times // 2, stream, seconds_)
        middle, far = calls.added
        rows.append(
            [
                f"gateway on top of a direct call, {what}: p50, p95",
                f"{middle:.1f} ms, {far:.1f} ms",
                "p50 < 10 ms",
            ]
        )
        stages = ", ".join(f"{name} {statistics.median(its):.1f}" for name, its in calls.stages.items())
        rows.append(["… its stages, p50 in ms", stages, ""])
    with progress("messages a second"):
        library, service = rates(folder, short, rounds)
    rows.append([f"library, appends a second, {CONNECTIONS} threads", f"{library:.0f}", ""])
    rows.append(
        [
            f"`POST messages` a second, {CONNECTIONS} connections",
            f"{service:.0f} ({service / library:.2f} ×)",
            "≥ 0.3 ×",
        ]
    )
    with progress(f"mixed load, {seconds:.0f} s"):
        load, lost = mixed(folder, seconds, rate)
    grown = f"{load.growth:.2f} × ({load.resident[-1] >> 20} MB)"
    rows.append(
        [
            f"mixed load, {seconds:.0f} s: requests, errors",
            f"{load.requests:,}, {len(load.errors)}",
            "no error",
        ]
    )
    rows.append(["… memory of the last quarter over the second one", grown, "flat"])
    tenths = load.resident[:: max(1, len(load.resident) // 10)]
    rows.append(["… memory at each tenth of the time, in MB", ", ".join(str(it >> 20) for it in tenths), ""])
    rows.append(["… acknowledged messages lost", str(lost), "0"])
    with progress("kill -9 under load"):
        acknowledged, gone = killed(folder, short)
    rows.append([f"kill -9 under load: lost of {acknowledged:,} acknowledged", str(gone), "0"])
    if load.errors:
        print(json.dumps(load.errors[:5], indent=1))
    return rows


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--folder")
    chosen = parser.parse_args()
    seconds = chosen.seconds or (15.0 if chosen.quick else 60.0)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        rows = measure(Path(folder), seconds, chosen.rate, quick=chosen.quick)
    body = f"{time.strftime('%Y-%m-%d')}, {machine()}.\n\n" + table(["", "measured", "target"], rows)
    print(body)
    if not chosen.quick:
        publish("service", body)


if __name__ == "__main__":
    main()
