"""What a search costs beside one scoped FTS5 query, what indexing costs an append, and what vectors take on disk.

python -m benchmarks.search           100,000 and 1,000,000 documents, writes docs/benchmarks.md
python -m benchmarks.search --quick   10,000 and 50,000, prints only

With ``--folder DIR`` the stores are kept there, and those of an earlier run are taken.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from benchmarks.common import interleaved, machine, progress, publish, table
from wellkept import Draft, Memory, Policy, UserMemory
from wellkept.policy.recall.rank import rank
from wellkept.policy.recall.results import Wish
from wellkept.policy.text import words
from wellkept.recall import ScopeIndex, search_of
from wellkept.records import Scope
from wellkept.session import prepare
from wellkept.store.protocol import Tables
from wellkept.store.search import Narrow, Unembedded
from wellkept.store.sqlite import tail
from wellkept.store.sqlite.at_hand import AtHand
from wellkept.store.sqlite.sessions import scope_key
from wellkept.store.sqlite.terms import salted

PER_USER = 1_000
BATCH = 250
SIZE = 8_000
_made = random.Random(11)
SYLLABLES = [
    "ba",
    "den",
    "fi",
    "gor",
    "hul",
    "kam",
    "lin",
    "mo",
    "ner",
    "pas",
    "qui",
    "ros",
    "sal",
    "tev",
    "um",
    "vor",
]
WORDS = ["".join(_made.choices(SYLLABLES, k=_made.randrange(2, 4))) for _ in range(SIZE)]
SIGNS = [chr(_made.randrange(0x4E00, 0x6E00)) for _ in range(2_500)]
NAMES = ["".join(_made.choices(SIGNS, [1 / (n + 20) for n in range(2_500)], k=2)) for _ in range(SIZE)]
RANKS = [1 / (number + 10) for number in range(SIZE)]


def message(chance: random.Random, length: int = 18) -> str:
    """Text of everyday length, half of it Chinese; words are as unevenly frequent as in real texts (Zipf)."""
    if chance.random() < 0.5:
        return " ".join(chance.choices(WORDS, RANKS, k=length))
    return "".join(chance.choices(NAMES, RANKS, k=length))


def filled(path: str, users: int) -> Memory:
    """A store with ``PER_USER`` events of each of ``users`` users; the one at ``path`` if there is one."""
    there = Path(path).exists()
    memory = Memory(path, policy=Policy(durability="normal"), worker=False)
    if there:
        return memory
    for user, texts in said(users):
        chat = memory.session(namespace="bench", user=user, session_id=user, create=True)
        chat.add_messages([{"role": "user", "content": text} for text in texts])
    return memory


def said(users: int) -> Iterator[tuple[str, list[str]]]:
    """What each user says, in batches."""
    chance = random.Random(7)
    for number in range(users):
        for _ in range(PER_USER // BATCH):
            yield f"u{number}", [message(chance) for _ in range(BATCH)]


class Floor:
    """What SQLite does by itself: the same tokens in an FTS5 table that keeps the lengths bm25() ranks by, filled in the
    same batches, in a file of its own; the one at ``path`` if there is one.
    """

    def __init__(self, path: str, users: int) -> None:
        there = Path(path).exists()
        self._db = apsw.Connection(path)
        for setting in ("journal_mode = wal", "synchronous = normal", "cache_size = -4096"):  # as ours
            self._db.execute(f"PRAGMA {setting}")
        if there:
            return
        self._db.execute("CREATE VIRTUAL TABLE floor USING fts5 (terms, content='', tokenize='ascii')")
        add = "INSERT INTO floor (terms) VALUES (?)"
        for user, texts in said(users):
            with self._db:
                self._db.executemany(
                    add, [(salted(int(user[1:]), words.index_tokens(text)),) for text in texts]
                )

    def query(self, user: str, question: str) -> Callable[[], object]:
        """One scoped FTS5 query."""
        return fts_query(self._db, "floor", int(user[1:]), question)

    def close(self) -> None:
        self._db.close()


def fts_query(connection: apsw.Connection, table: str, owner: int, question: str) -> Callable[[], object]:
    """The question's words OR-ed, best 10 by SQLite's own bm25, in an owner's part of a table."""
    terms = salted(owner, [term.text for term in words.query_terms(question) if not term.prefix])
    match = " OR ".join(f'"{term}"' for term in terms.split())
    statement = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY bm25({table}) LIMIT 10"
    return lambda: list(connection.execute(statement, (match,)))


def own_query(memory: Memory, scope: Scope, question: str) -> Callable[[], object]:
    """The same query in our own index."""
    connection = memory._core.store._connections.get()  # type: ignore[attr-defined]
    owner = scope_key(connection, scope)
    assert owner is not None
    return fts_query(connection, "event_terms", owner, question)


TIMES, ROUNDS = 3, 5


def questions(chance: random.Random) -> list[str]:
    """One for each call of ``processor``: nobody asks the same again and again, and what is kept of it is no merit."""
    return [message(chance, 7) for _ in range((1 + TIMES) * ROUNDS)]


def searching(memory: Memory, floor: Floor, users: int) -> list[float]:
    """Median seconds of the floor's query, of the same in our own index, of a search, and of the first search of a user,
    in both languages."""
    chance = random.Random(3)
    store: Any = memory._core.store
    samples = []
    for _ in range(24):
        user, asked = memory.user(f"u{chance.randrange(users)}", namespace="bench"), questions(chance)
        proper = iter([floor.query(user.scope.user, question) for question in asked])
        own = iter([own_query(memory, user.scope, question) for question in asked])
        warm, cold = iter(asked), iter(asked)

        def query(queries: Iterator[Callable[[], object]]) -> object:
            return next(queries)()

        def search(user: UserMemory = user, asked: Iterator[str] = warm) -> object:
            return user.search(next(asked))

        def first(user: UserMemory = user, asked: Iterator[str] = cold) -> object:
            store._at_hand = AtHand()
            return user.search(next(asked))

        samples.append(processor([partial(query, proper), partial(query, own), search, first]))
    return [statistics.median(each) for each in zip(*samples, strict=True)]


def growth(few: Memory, many: Memory, users: int) -> float:
    """How much longer a search takes in the store of many users, each question being asked of both in turns."""
    chance, ratios = random.Random(5), []
    for _ in range(24):
        name, asked = f"u{chance.randrange(users)}", questions(chance)

        def search(memory: Memory, asked: Iterator[str], name: str = name) -> object:
            return memory.user(name, namespace="bench").search(next(asked))

        small, large = processor([partial(search, memory, iter(asked)) for memory in (few, many)])
        ratios.append(large / small)
    return statistics.median(ratios)


def processor(
    works: Sequence[Callable[[], object]], *, times: int = TIMES, rounds: int = ROUNDS
) -> list[float]:
    """Median seconds of the processor that a call of each takes, measured in turns after one call that warms up."""
    samples: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, its in zip(works, samples, strict=True):
            work()
            begin = time.process_time()
            for _ in range(times):
                work()
            its.append((time.process_time() - begin) / times)
    return [statistics.median(each) for each in samples]


def stages(memory: Memory) -> list[tuple[str, float]]:
    """Where the time of a search goes."""
    user = memory.user("u1", namespace="bench")
    text = message(random.Random(4), 7)
    asked = search_of(memory._core, text)
    narrow = Narrow()

    def index(tables: Tables) -> ScopeIndex:
        return ScopeIndex([tables.corpora[kind] for kind in asked.kinds], user.scope, narrow)

    def read(work: Callable[[Tables], object]) -> Callable[[], object]:
        return lambda: memory._core.store.read(work)

    terms = words.query_terms(text)
    works: dict[str, Callable[[], object]] = {
        "read the question": lambda: words.query_terms(text),
        "sizes and speakers of the scope": read(index),
        "… and postings with their documents": read(lambda tables: index(tables).postings(terms)),
        "… and ranking (all but the results)": read(
            lambda tables: rank(asked.query, index(tables), None, Wish())
        ),
        "the whole search": lambda: user.search(text),
    }
    return list(zip(works, processor(list(works.values()), times=5, rounds=7), strict=True))


def appending(folder: str, durability: str) -> tuple[float, float]:
    """Seconds of an append without and with its text index."""
    memory = Memory(f"{folder}/append-{durability}.db", policy=Policy(durability=durability), worker=False)  # type: ignore[arg-type]
    chats = [memory.session(namespace="bench", user=user) for user in ("bare", "indexed")]
    core, chance, due = memory._core, random.Random(5), tail.LONGEST

    def append(indexed: bool) -> None:
        event = prepare(core, Draft(role="assistant", content=message(chance)), core.now())
        tail.LONGEST = due if indexed else sys.maxsize
        core.store.write(lambda tables: tables.events.append(chats[indexed]._ref, [event], at=event.ts))

    bare, indexed = interleaved([lambda: append(False), lambda: append(True)], times=40, rounds=15)
    memory.close()
    tail.LONGEST = due
    return bare, indexed


def vectors(folder: str) -> float:
    """Megabytes on disk of vectors of 384 numbers for 1,000 users with 5 each."""
    memory = Memory(f"{folder}/vectors.db", policy=Policy(durability="normal"), worker=False)
    store, chance = memory._core.store, random.Random(1)
    for number in range(1_000):
        chat = memory.session(namespace="bench", user=f"u{number}")
        chat.add_messages([{"role": "user", "content": "x"} for _ in range(5)])

        def fill(tables: Tables, ref: object = chat._ref, scope: Scope = chat.scope) -> None:
            tables.vectors.want_events(ref, range(1, 6))  # type: ignore[arg-type]
            rows = {it: [chance.random() for _ in range(384)] for it in tables.vectors.wanted(scope, 5)}
            tables.vectors.add(scope, "bench", 384, {Unembedded(*it): row for it, row in rows.items()})

        store.write(fill)
    connection = store._connections.get()  # type: ignore[attr-defined]
    size = connection.execute(
        "SELECT sum(pgsize) FROM dbstat WHERE name IN ('vectors', 'unembedded', 'embedders')"
    ).get
    memory.close()
    return float(size) / 1e6


def main() -> None:
    """Measure all of it."""
    quick = "--quick" in sys.argv
    few, many = (10, 50) if quick else (100, 1_000)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        kept = sys.argv[sys.argv.index("--folder") + 1] if "--folder" in sys.argv else folder
        rows: list[list[str]] = []
        parts: list[tuple[str, float]] = []
        memories = []
        for users in (few, many):
            with progress(f"{users * PER_USER:,} documents of {users} users"):
                memory = stack.enter_context(filled(str(Path(kept) / f"{users}.db"), users))
                beside = stack.enter_context(closing(Floor(str(Path(kept) / f"{users}-floor.db"), users)))
            memories.append(memory)
            floor, own, search, first = searching(memory, beside, users)
            of = f"{PER_USER:,} of {users * PER_USER:,} documents"
            rows.append([f"search, {of}", f"{search * 1e3:.1f} ms", f"{search / floor:.1f}", "6"])
            rows.append(["… the first one of a user", f"{first * 1e3:.1f} ms", f"{first / floor:.1f}", ""])
            rows.append(["… one scoped FTS5 query", f"{floor * 1e3:.2f} ms", "1", ""])
            rows.append(
                ["… without lengths, in our own index", f"{own * 1e3:.2f} ms", f"{own / floor:.1f}", ""]
            )
            parts = stages(memory) if users == few else parts
        rows.append(["… the larger store beside the smaller one", "", f"{growth(*memories, few):.2f}", "1.5"])
        for durability, limit in (("normal", "4"), ("full", "2")):
            bare, indexed = appending(folder, durability)
            rows.append(
                [
                    f"append with its text index, `{durability}`, beside without",
                    f"{indexed * 1e6:.0f} µs",
                    f"{indexed / bare:.1f}",
                    limit,
                ]
            )
        rows.append(
            ["vectors of 1,000 users × 5 documents on disk", f"{vectors(folder):.1f} MB", "", "15 MB"]
        )
    body = table(["what", "time or size", "ratio", "at most"], rows)
    body += "\n\nWhere a search spends its time (each line holds the ones above it, from “sizes” on):\n\n"
    body += table(["up to", "ms"], [[name, f"{seconds * 1e3:.2f}"] for name, seconds in parts])
    body += f"\n\nMeasured {time.strftime('%Y-%m-%d')} on {machine()}."
    print(body)
    if not quick:
        publish("search", body)


if __name__ == "__main__":
    main()
