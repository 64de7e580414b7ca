"""The async face is the sync one: same names, same arguments, same answers; and a cancelled call is not torn."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wellkept import AsyncMemory, Memory, NotFound, Policy, aio
from wellkept.testing import FakeClock

ROOT = Path(__file__).resolve().parents[2]


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(("sync", "face"), [*aio.FACES.items(), (Memory, aio.AsyncMemory)])
def test_every_public_name_has_its_async_counterpart_in_the_stub(sync: type, face: type) -> None:
    stub = Path(aio.__file__).with_suffix(".pyi").read_text("utf-8")
    classes = [kind for kind in face.__mro__ if kind.__name__.startswith("Async")]
    bodies = "".join(stub.split(f"class {kind.__name__}(")[1].split("\nclass ")[0] for kind in classes)
    missing = [name for name in public(sync) if f"def {name}(" not in bodies]
    assert not missing


def test_the_stub_is_made_from_the_sync_signatures() -> None:
    done = subprocess.run(
        [sys.executable, "tools/async_stub.py", "--check"],
        cwd=ROOT, env={"PYTHONPATH": "src", "PATH": ""}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, "src/wellkept/aio.pyi is out of date: python tools/async_stub.py"


def test_both_faces_give_the_same_answers(tmp_path: Path) -> None:
    async def converse() -> tuple[str, list[str], list[str]]:
        async with AsyncMemory(str(tmp_path / "async.db"), clock=FakeClock(), worker=False) as memory:
            chat = await memory.session(namespace="acme", user="alice", session_id="s", create=True)
            await chat.add_message("user", "我小孩今年五岁，对恐龙特别着迷")
            await chat.add_messages([{"role": "assistant", "content": "Got it 🦖"}])
            alice = memory.user("alice", namespace="acme")
            await alice.profile.set("user", "Parent of one")
            context = await chat.get_context()
            found = [hit.text for hit in await alice.search("恐龙")]
            return context.text, [event.id for event in await chat.get_recent()], found

    with Memory(str(tmp_path / "sync.db"), clock=FakeClock(), worker=False) as memory:
        chat = memory.session(namespace="acme", user="alice", session_id="s", create=True)
        chat.add_message("user", "我小孩今年五岁，对恐龙特别着迷")
        chat.add_messages([{"role": "assistant", "content": "Got it 🦖"}])
        alice = memory.user("alice", namespace="acme")
        alice.profile.set("user", "Parent of one")
        expected = chat.get_context().text, [event.id for event in chat.get_recent()]
        found = [hit.text for hit in alice.search("恐龙")]
    assert asyncio.run(converse()) == (*expected, found)


def test_errors_come_through(tmp_path: Path) -> None:
    async def look() -> None:
        async with AsyncMemory(str(tmp_path / "a.db")) as memory:
            await memory.session(namespace="acme", user="alice", session_id="nobody's")

    with pytest.raises(NotFound):
        asyncio.run(look())


def test_a_cancelled_append_is_whole_or_not_there(tmp_path: Path) -> None:
    """The thread that commits is held inside the transaction while its awaiter is cancelled."""
    armed, entered, go_on = threading.Event(), threading.Event(), threading.Event()

    def slow_count(text: str) -> int:
        if armed.is_set():
            entered.set()
            go_on.wait(10)
        return len(text)

    async def cancelled() -> list[str]:
        async with AsyncMemory(str(tmp_path / "c.db"), tokenizer=slow_count) as memory:
            chat = await memory.session(namespace="acme", user="alice")
            armed.set()
            messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
            task = asyncio.create_task(chat.add_messages(messages))
            await asyncio.to_thread(entered.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            go_on.set()
            for _ in range(1000):
                if events := await chat.get_recent():
                    return [event.content for event in events]
                await asyncio.sleep(0.01)
            return []

    assert asyncio.run(cancelled()) == ["one", "two"]


def test_a_reading_face_has_no_method_that_writes() -> None:
    with Memory(":memory:", worker=False) as memory:
        chat = memory.session(namespace="acme", user="alice")
        chat.add_message("user", "hello")
        reader = memory.read_only()
        there = reader.session(namespace="acme", user="alice", session_id=chat.id)
        assert there.get_recent()[0].content == "hello"
        writing = {"add_message", "add_messages", "append", "pop_turn", "rename", "delete", "set", "reembed"}
        for handle in (
            reader,
            there,
            reader.user("alice", namespace="acme"),
            reader.user("a", namespace="n").profile,
        ):
            assert not writing & public(type(handle))
        with pytest.raises(TypeError):
            reader.user("alice", namespace="acme").profile["user"] = "x"  # type: ignore[index]


def test_streams_become_async_iterators(tmp_path: Path) -> None:
    class Source:
        def pieces(self) -> Iterator[str]:
            yield from ("a", "b")

    async def read() -> list[str]:
        async with AsyncMemory(str(tmp_path / "s.db"), policy=Policy()) as memory:
            proxy = aio.Proxy(Source(), memory._pool)
            return [piece async for piece in proxy.pieces()]

    assert asyncio.run(read()) == ["a", "b"]
    assert inspect.isasyncgenfunction(aio._stream)
