"""Facts: the cost of storing one, and of storing, recalling, searching and showing when other users are many.

Run it with ``python -m benchmarks.facts [--quick] [--folder DIR]``. The floor of a stored fact is one row and one FTS5
row in one commit, with the standard library's sqlite3.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.common import interleaved, machine, progress, publish, table
from wellkept import Memory, Policy
from wellkept.policy.facts.claims import Claim
from wellkept.records import Scope
from wellkept.store.protocol import Tables
from wellkept.testing import Call, FakeModel
from wellkept.user import UserMemory

VERBS = (
    "likes",
    "owns",
    "collects",
    "visits",
    "studies",
    "repairs",
    "sells",
    "paints",
    "喜欢",
    "收藏",
    "研究",
    "学过",
)
THINGS = (
    "tea",
    "clocks",
    "maps",
    "stamps",
    "violins",
    "orchids",
    "kayaks",
    "sonnets",
    "茶壶",
    "邮票",
    "恐龙化石",
    "老照片",
)
PLACES = ("Bergen", "Lyon", "Kyoto", "Porto", "Oaxaca", "Tartu", "苏州", "大理", "泉州", "伊犁")
PER_USER = 100
CALLS_OF = 40  # user messages of the conversation whose model calls are counted


def statement(number: int) -> str:
    """A fact of everyday length, the same for the same number and different for others."""
    verb, thing = VERBS[number % len(VERBS)], THINGS[number // len(VERBS) % len(THINGS)]
    return f"The user {verb} {thing} from {PLACES[number % len(PLACES)]} of the series {number}"


class Floor:
    """One row and one FTS5 row, one commit."""

    def __init__(self, path: Path, durability: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = wal")
        self._db.execute(f"PRAGMA synchronous = {durability}")
        self._db.execute("CREATE TABLE facts (id INTEGER PRIMARY KEY, user TEXT, text TEXT, at INTEGER)")
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
        self._number = 0

    def add(self) -> None:
        """The next fact."""
        self._number += 1
        text = statement(self._number)
        self._db.execute("BEGIN IMMEDIATE")
        cursor = self._db.execute(
            "INSERT INTO facts (user, text, at) VALUES (?, ?, ?)", ("alice", text, time.time_ns())
        )
        self._db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (cursor.lastrowid, text))
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


class Ours:
    """Facts of many users, a hundred each."""

    def __init__(self, path: Path, durability: str) -> None:
        policy = Policy(durability=durability)  # type: ignore[arg-type]
        self.memory = Memory(str(path), policy=policy, worker=False)
        self._number = 0

    def add(self) -> None:
        """The next fact, of the user whose turn it is."""
        self._number += 1
        user = self.memory.user(f"user-{self._number // PER_USER}", namespace="bench")
        user.add(statement(self._number), infer=False)


def storing(folder: Path, durability: str, rounds: int, times: int) -> tuple[float, float]:
    """Seconds a fact of the floor and of ours."""
    floor, ours = (
        Floor(folder / f"floor-{durability}.db", durability),
        Ours(folder / f"ours-{durability}.db", durability),
    )
    with ours.memory:
        results = interleaved([floor.add, ours.add], times=times, rounds=rounds)
    floor.close()
    return results[0], results[1]


def filled(memory: Memory, users: int) -> None:
    """A hundred facts for each of ``users`` users, put there without looking for what they could replace."""
    claims = [
        Claim(text=statement(fact * 7), labels=(THINGS[fact % len(THINGS)],)) for fact in range(PER_USER)
    ]

    def work(tables: Tables, scope: Scope) -> None:
        writer = tables.facts.begin(scope, "app", at=time.time_ns() // 1_000_000)
        for claim in claims:
            writer.add(claim)

    for number in range(users):
        scope = Scope("bench", f"user-{number}")
        memory._core.store.write(partial(work, scope=scope))


def at_size(folder: Path, users: int, times: int) -> list[float]:
    """Seconds to store, recall by label, search, list and show, with so many users in the store."""
    with Memory(
        str(folder / f"size-{users}.db"), policy=Policy(durability="normal", max_facts=10_000), worker=False
    ) as memory:
        filled(memory, users)
        user = memory.user("user-0", namespace="bench")
        chat = memory.session(namespace="bench", user="user-0")
        chat.add_message("user", "hello")
        numbers = iter(range(10_000_000, 20_000_000))
        works = [
            lambda: user.add(statement(next(numbers)), infer=False),
            lambda: user.call_tool("memory_recall", {"labels": ["orchids"]}),
            lambda: user.search("orchids from Kyoto", kinds=["fact"]),
            lambda: chat.get_context(),
        ]
        return interleaved(works, times=times, rounds=5)


def calls(user_messages: int) -> tuple[int, int]:
    """Model calls for so many user messages: as they come, by the worker's batches; and by hand at the end."""
    counts = []
    for at_once in (False, True):
        model = FakeModel(_nothing)
        with Memory(":memory:", model=model, worker=False) as memory:
            alice: UserMemory = memory.user("alice", namespace="bench")
            chat = memory.session(namespace="bench", user="alice")
            for number in range(user_messages):
                chat.add_message("user", statement(number))
                chat.add_message("assistant", "I see.")
                if not at_once:
                    memory._runner.run_due()
            alice.extract()
            memory.run_jobs()
        counts.append(sum("Existing labels" in call.text for call in model.calls))
    return counts[0], counts[1]


def _nothing(call: Call) -> str:
    return '{"intent": "none", "memories": []}' if "Existing labels" in call.text else "- nothing"


def report(
    stored: Sequence[tuple[str, tuple[float, float]]], sizes: dict[int, list[float]], counted: tuple[int, int]
) -> str:
    """The section of the page."""
    costs = [
        (f"store a fact, `{name}`", f"{a * 1e6:.0f} µs", f"{b * 1e6:.0f} µs", f"{b / a:.2f} ×")
        for name, (a, b) in stored
    ]
    names = ("store a fact", "recall by label", "search", "context")
    growth = [
        (name, *(f"{times[place] * 1e3:.2f} ms" for times in sizes.values()))
        for place, name in enumerate(names)
    ]
    head = ("", *(f"{users:,} users, {users * PER_USER:,} facts" for users in sizes))
    model = f"{CALLS_OF} user messages took {counted[0]} model calls as they came, {counted[1]} when extracted at the end."
    return "\n\n".join(
        [machine(), table(("", "floor", "wellkept", "ratio"), costs), table(head, growth), model]
    )


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small numbers, print only")
    parser.add_argument("--folder", type=Path, help="where to put the stores")
    given = parser.parse_args()
    rounds, times = (3, 50) if given.quick else (9, 100)
    users = (10, 100) if given.quick else (10, 100, 1000)
    with tempfile.TemporaryDirectory(dir=given.folder) as temporary:
        folder = Path(temporary)
        stored, sizes = [], {}
        for durability in ("full", "normal"):
            with progress(f"storing, {durability}"):
                stored.append((durability, storing(folder, durability, rounds, times)))
        for count in users:
            with progress(f"{count} users"):
                sizes[count] = at_size(folder, count, 20 if given.quick else 25)
        with progress("model calls"):
            counted = calls(CALLS_OF)
    body = report(stored, sizes, counted)
    print(body)
    if not given.quick:
        publish("facts", body)


if __name__ == "__main__":
    main()
