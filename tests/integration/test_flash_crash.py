"""``Memory("flash:DIR")`` is killed between any two file calls, or in the middle of one: an operation is there or it is not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.device.firmware_reader import load_session
from wellkept import Memory
from wellkept import memory as memories
from wellkept.errors import StoreFull
from wellkept.store.flash import FlashStore
from wellkept.store.flash.journal import HostDisk
from wellkept.testing import FakeClock
from wellkept_flash import health

STEP = 7  # every seventh call; 1 takes a few minutes
SCOPE = {"namespace": "家", "user": "小明"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


class Killed(BaseException):
    """The process is gone, and does nothing any more."""


class Doomed(HostDisk):
    """Killed before the file call number ``at``.

    ``mode``: "clean"; "torn": half of that write reaches the file; "unsynced": what was not synced is lost.
    """

    def __init__(self, at: int, mode: str) -> None:
        super().__init__(sync=True)
        self.calls = 0
        self._at, self._mode = at, mode
        self._durable: dict[str, int] = {}
        self._paths: dict[Any, str] = {}

    def _tick(self) -> bool:
        self.calls += 1
        return self.calls > self._at

    def _die(self) -> None:
        for file in self._paths:
            file.close()
        if self._mode == "unsynced" and self.calls == self._at + 1:
            for path, size in self._durable.items():
                if os.path.exists(path) and os.path.getsize(path) > size:
                    os.truncate(path, size)
        raise Killed

    def _open(self, path: str, mode: str) -> Any:
        if self._tick():
            self._die()
        if mode == "ab":
            self._durable.setdefault(path, os.path.getsize(path) if os.path.exists(path) else 0)
        else:
            self._durable.pop(path, None)
        file = super()._open(path, mode)
        self._paths[file] = path
        return file

    def _write(self, file: Any, data: bytes) -> None:
        if self._tick():
            if self._mode == "torn" and self.calls == self._at + 1:
                file.write(data[: len(data) // 2])
                file.flush()
            self._die()
        super()._write(file, data)
        file.flush()

    def _sync(self, file: Any) -> None:
        if self._tick():
            self._die()
        file.flush()
        path = self._paths[file]
        if path in self._durable:
            self._durable[path] = os.path.getsize(path)

    def _rename(self, old: str, new: str) -> None:
        if self._tick():
            self._die()
        super()._rename(old, new)
        self._durable.pop(old, None)
        self._durable.pop(new, None)

    def remove(self, path: str) -> None:
        if self._tick():
            self._die()
        super().remove(path)
        self._durable.pop(path, None)

    def _truncate(self, path: str, size: int) -> None:
        if self._tick():
            self._die()
        super()._truncate(path, size)


def opened(root: Path, monkeypatch: pytest.MonkeyPatch, disk: HostDisk) -> Memory:
    def open_store(location: str, policy: Any, tokenizer: Any) -> FlashStore:
        from wellkept.store.sqlite.tally import tally

        return FlashStore(location, tally=tally(tokenizer), disk=disk)

    with monkeypatch.context() as patch:
        patch.setattr(memories, "open_store", open_store)
        clock = FakeClock(datetime(2026, 3, 7, tzinfo=timezone.utc))
        return Memory(f"flash:{root}", clock=clock, worker=False)


def workload(memory: Memory) -> Iterator[Callable[[], Any]]:
    """Every kind of write, one step at a time."""
    chat = memory.session(**SCOPE, session_id="chat:qq:1:default_01", create=True)
    user = memory.user(SCOPE["user"], namespace=SCOPE["namespace"])
    yield lambda: chat.add_message("user", "我小孩今年五岁，对恐龙特别着迷", idempotency_key="1")
    yield lambda: chat.add_messages([
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "三角龙"},
        {"role": "assistant", "content": "三角龙怎么样？"},
    ])  # fmt: skip
    yield lambda: user.add("The user is allergic to peanuts", infer=False, labels=["food"])
    yield lambda: user.add("用户住在无锡", infer=False, labels=["城市"])
    yield lambda: user.profile.set("soul", "# Soul\n\nKind.\n")
    yield lambda: chat.add_message("user", "Wait", speaker="小红", metadata={"n": 1})
    yield lambda: chat.pop_turn()
    yield lambda: user.update(user.get_all().results[1].id, "用户住在苏州")
    yield lambda: user.profile.set("soul", "# Soul\n\nBrief.\n")
    yield lambda: user.delete(user.get_all().results[0].id)
    other = memory.session(**SCOPE, session_id="second", create=True)
    yield lambda: other.add_message("user", "delete me")
    yield lambda: other.delete()
    yield lambda: chat.rename("恐龙")
    guest = memory.session(namespace="家", user="客人", session_id="g", create=True)
    yield lambda: guest.add_message("user", "hello")


def state(memory: Memory) -> Any:
    """What a user sees; with the ids that the test gave."""
    seen: dict[str, Any] = {}
    for scope in memory.scopes():
        user = memory.user(scope.user, namespace=scope.namespace)
        seen[scope.user] = {
            "sessions": {info.id: [info.title, *events(memory, scope, info.id)] for info in user.sessions()},
            "facts": [
                (fact.text, fact.labels, fact.state) for fact in user.get_all(states=("active", "retired"))
            ],
            "profile": {name: user.profile[name] for name in user.profile},
        }
    return seen


def events(memory: Memory, scope: Any, id: str) -> list[Any]:
    session = memory.session(namespace=scope.namespace, user=scope.user, session_id=id)
    return [
        (event.seq, event.role, event.to_dict()["content"], event.ts, event.speaker, dict(event.metadata))
        for event in session.get_events(after=0)
    ]


def run(root: Path, monkeypatch: pytest.MonkeyPatch, disk: HostDisk) -> list[Any]:
    """The states after each step, the state before the first one in front; ends when the process is killed."""
    states: list[Any] = []
    memory = None
    try:
        memory = opened(root, monkeypatch, disk)
        for step in workload(memory):
            states.append(state(memory))
            step()
        states.append(state(memory))
        memory.close()
    except Killed:
        if memory is not None:
            memory._core.store._lock.close()  # type: ignore[attr-defined]
    return states


@pytest.mark.parametrize(("mode", "first"), [("clean", 0), ("torn", 1), ("unsynced", 2)])
def test_an_operation_is_there_or_it_is_not(
    mode: str, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole", monkeypatch, HostDisk())
    assert len(whole) == 15
    disk = Doomed(1 << 30, mode)
    run(tmp_path / "count", monkeypatch, disk)
    assert disk.calls > 150
    for at in range(first, disk.calls, STEP):
        root = tmp_path / "device"
        acknowledged = run(root, monkeypatch, Doomed(at, mode))
        memory = opened(root, monkeypatch, HostDisk())
        after = state(memory)
        place = len(acknowledged) - 1
        steps = whole[max(place, 0) : place + 2] + [{}] * (place < 1)
        # A session is made between two steps, and the state after that is in no list.
        assert trimmed(after) in [trimmed(one) for one in steps], f"killed before call {at}"
        goes_on(memory)
        memory.close()
        as_the_firmware_reads_it(root)
        shutil.rmtree(root)


def trimmed(seen: Any) -> Any:
    """Without sessions and users that were only just begun."""
    return {
        user: {**found, "sessions": {id: rest for id, rest in found["sessions"].items() if rest[1:]}}
        for user, found in seen.items()
        if any(len(rest) > 1 for rest in found["sessions"].values())
    }


def goes_on(memory: Memory) -> None:
    """The first message again, with its key, is no second one; a new one is at the end."""
    chat = memory.session(**SCOPE, session_id="chat:qq:1:default_01", create=True)
    chat.add_message("user", "我小孩今年五岁，对恐龙特别着迷", idempotency_key="1")
    chat.add_message("user", "and now?")
    said = [event.content for event in chat.get_events(after=0) if event.role == "user"]
    assert said == ["我小孩今年五岁，对恐龙特别着迷", *said[1:-1], "and now?"]
    assert said.count("我小孩今年五岁，对恐龙特别着迷") == 1


def as_the_firmware_reads_it(root: Path) -> None:
    report = health.check(str(root))
    assert report["healthy"], report
    for path in root.rglob("*.log"):
        if path.parent.name == "sessions":
            load_session(path)


class Full(HostDisk):
    """A disk with room for so many bytes more."""

    def __init__(self, room: int) -> None:
        super().__init__(sync=False)
        self.room = room

    def _write(self, file: Any, data: bytes) -> None:
        taken = data[: max(0, self.room)]
        super()._write(file, taken)
        file.flush()
        self.room -= len(data)
        if len(taken) < len(data):
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize("room", range(0, 4000, 130))
def test_a_full_disk_loses_nothing_and_says_so(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "device"
    opened(root, monkeypatch, HostDisk()).close()
    disk = Full(room)
    done: list[Any] = []
    memory = None
    try:
        memory = opened(root, monkeypatch, disk)
        for step in workload(memory):
            done.append(state(memory))
            step()
        done.append(state(memory))
    except StoreFull:
        pass
    else:
        assert room > 2000
    seen = state(memory) if memory else {}
    if memory:
        assert trimmed(seen) in [trimmed(one) for one in done[-1:] or [{}]]
        memory._core.store._lock.close()  # type: ignore[attr-defined]
    again = opened(root, monkeypatch, HostDisk())
    assert trimmed(state(again)) == trimmed(seen)
    goes_on(again)
    again.close()


def test_whatever_bytes_are_damaged_the_rest_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tmp_path / "whole"
    run(whole, monkeypatch, HostDisk())
    files = sorted(
        path.relative_to(whole) for path in whole.rglob("*") if path.is_file() and path.stat().st_size
    )
    random = Random(7)
    for _ in range(60):
        root = tmp_path / "device"
        shutil.copytree(whole, root)
        damaged = root / random.choice(files)
        data = bytearray(damaged.read_bytes())
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        damaged.write_bytes(data)
        lines = {
            line
            for path in root.rglob("*.log")
            for line in path.read_bytes().splitlines()
            if line in (whole / path.relative_to(root)).read_bytes().splitlines()
            and path.parent.name == "sessions"
        }
        memory = opened(root, monkeypatch, HostDisk())
        held = [event for scope in memory.scopes() for info in memory.user(scope.user, namespace=scope.namespace).sessions()
                for event in events(memory, scope, info.id)]  # fmt: skip
        assert len(held) >= len(lines), damaged
        assert memory.doctor().healthy
        facts = memory.user(SCOPE["user"], namespace=SCOPE["namespace"]).get_all()
        assert damaged.name == "wellkept.journal" or [fact.text for fact in facts] == ["用户住在苏州"], (
            damaged
        )
        memory.close()
        shutil.rmtree(root)
