"""Files kept beside the store: up to date, whole, only where they were asked for, and in nobody's way."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wellkept import Memory
from wellkept.errors import InvalidInput
from wellkept.mirror import folder_of
from wellkept.records import Scope
from wellkept.user import UserMemory


def alice_of(memory: Memory) -> UserMemory:
    return memory.user("alice", namespace="acme")


def folder(path: Path, user: str = "alice") -> Path:
    return path / "files" / folder_of(Scope("acme", user))


def opened(path: Path, *, worker: bool = False, mirror: str | None = "files") -> Memory:
    return Memory(str(path / "chat.db"), worker=worker, mirror=None if mirror is None else str(path / mirror))


def until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def test_nothing_is_written_unless_it_is_asked_for(tmp_path: Path) -> None:
    with opened(tmp_path, mirror=None) as memory:
        alice_of(memory).add("Likes tea", infer=False)
        memory.run_jobs()
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {"chat.db"}


def test_the_files_say_what_the_memory_says(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        alice = alice_of(memory)
        alice.add("喜欢喝茶", infer=False, labels=["饮料"])
        memory.run_jobs()
        assert folder(tmp_path).joinpath("MEMORY.md").read_text() == alice.memory_md()
        alice.delete_all()
        memory.user("bob", namespace="acme").add("Owns a boat", infer=False)
        assert "喜欢喝茶" in folder(tmp_path).joinpath("MEMORY.md").read_text()
    assert "喜欢喝茶" not in folder(tmp_path).joinpath("MEMORY.md").read_text()
    assert "Owns a boat" in folder(tmp_path, "bob").joinpath("MEMORY.md").read_text()
    assert sorted(path.name for path in folder(tmp_path).iterdir()) == ["MEMORY.md", "memory_digest.log"]
    assert [line.split()[2] for line in folder(tmp_path).joinpath("memory_digest.log").read_text().split("\n")[:-1]] == [
        "store", "retire",
    ]  # fmt: skip


def test_the_worker_keeps_them_up_to_date_with_other_processes_too(tmp_path: Path) -> None:
    file = folder(tmp_path) / "MEMORY.md"
    with opened(tmp_path, worker=True) as memory, opened(tmp_path, mirror=None) as other:
        alice_of(memory).add("Likes tea", infer=False)
        assert until(lambda: file.exists() and "Likes tea" in file.read_text())
        alice_of(other).add("Owns a boat", infer=False)
        assert until(lambda: "Owns a boat" in file.read_text())


def test_what_was_erased_is_out_of_them_when_the_receipt_is_there(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        alice = alice_of(memory)
        alice.add("Allergic to peanuts", infer=False)
        memory.run_jobs()
        assert alice.forget(alice.forget("peanuts")).left == {}
        for file in folder(tmp_path).iterdir():
            assert "peanuts" not in file.read_text()


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    tmp_path.joinpath("files").write_text("no folder")
    with opened(tmp_path) as memory:
        alice = alice_of(memory)
        alice.add("Allergic to peanuts", infer=False)
        memory.run_jobs()
        assert memory.mirror_failure is not None and "files" in memory.mirror_failure
        assert [fact.text for fact in alice.get_all()] == ["Allergic to peanuts"]
        assert alice.forget(alice.forget("peanuts")).left == {"mirror": 1}
        alice.add("Likes tea", infer=False)
        tmp_path.joinpath("files").unlink()
        memory.run_jobs()
        assert memory.mirror_failure is None
        assert "Likes tea" in folder(tmp_path).joinpath("MEMORY.md").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="this system has no /dev/full")
def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as memory:
        alice_of(memory).add("Likes tea", infer=False)
        memory.run_jobs()
        before = folder(tmp_path).joinpath("MEMORY.md").read_text()
        alice_of(memory).add("Owns a boat", infer=False)
        part = folder(tmp_path) / f".MEMORY.md.{os.getpid()}.part"
        part.symlink_to("/dev/full")
        memory.run_jobs()
        assert "No space left" in str(memory.mirror_failure)
        assert folder(tmp_path).joinpath("MEMORY.md").read_text() == before
        memory.run_jobs()
        assert memory.mirror_failure is None
        assert "Owns a boat" in folder(tmp_path).joinpath("MEMORY.md").read_text()


def test_a_folder_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="mirror"):
        Memory(":memory:", worker=False, mirror="")


def test_users_never_share_a_folder() -> None:
    scopes = [
        ("acme", "ann"),
        ("acme", "Ann"),
        ("acme", "a/b"),
        ("acme", "a_b"),
        ("acme a", "b"),
        ("acme", "a b"),
        ("..", ".."),
    ]
    folders = [folder_of(Scope(*scope)).casefold() for scope in scopes]
    assert len(set(folders)) == len(scopes)
    assert all("/" not in name and not name.startswith(".") for name in folders)
