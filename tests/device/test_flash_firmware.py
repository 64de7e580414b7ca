"""What ours writes, the firmware loads: checked with a reader written from its specification alone."""

from __future__ import annotations

import random
from pathlib import Path

from tests.device import firmware_reader
from tests.device.test_flash_sessions import Counting, call
from wellkept_flash import compact
from wellkept_flash.files import Disk
from wellkept_flash.longterm import LongTerm
from wellkept_flash.session import Session


def test_sessions_through_appends_damage_and_compactions(tmp_path: Path) -> None:
    rng = random.Random(3)
    session = Session(Disk(sync=False), str(tmp_path), "s")
    data = Path(session.path)
    for number in range(120):
        session.user(f"问题 {number} " + "长" * rng.randrange(60))
        if rng.random() < 0.4:
            session.tool_round(*call(number, rng.randrange(400)))
        session.final(text=f"answer {number}")
        if session.size() > 5000:
            compact.compact(session, 5000)
        if number % 17 == 0:
            Path(session.index).write_bytes(b"torn")
        if number % 23 == 0:
            data.write_bytes(data.read_bytes()[:-9])
        session.user("after")
        assert firmware_reader.load_session(data) == session.load().messages


def test_memories_with_their_labels(tmp_path: Path) -> None:
    memory = LongTerm(Disk(sync=False), str(tmp_path), lambda: 1_750_000_000)
    memory.begin()
    for number in range(30):
        memory.store(f"Box {number} holds {number * 7} books", f"box{number},books", "books")
    memory.update(next(memory.items()).id, "Box 0 is empty")
    memory.forget(list(memory.items())[3].id)
    memory.flush()
    theirs = firmware_reader.load_memories(tmp_path)
    assert {item.id: item.content for item in memory.items()} == {k: v["content"] for k, v in theirs.items()}


def test_a_memory_at_100_items_writes_under_4_kb(tmp_path: Path) -> None:
    disk = Counting()
    memory = LongTerm(disk, str(tmp_path), lambda: 1_750_000_000)
    memory.begin()
    for number in range(100):
        memory.store(
            f"Box {number} on the shelf in the garage holds {number * 7} old books", f"box{number},books"
        )
    before = disk.written
    for number in range(100, 120):
        memory.store(
            f"Box {number} on the shelf in the garage holds {number * 7} old books", f"box{number},books"
        )
    assert disk.written - before < 20 * 500
