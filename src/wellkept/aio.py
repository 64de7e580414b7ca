"""The async face: the same objects, each operation one hop to a worker thread.

There is no second implementation. ``AsyncMemory`` stands before a ``Memory`` and hands out proxies; calling
a method of a proxy runs the sync method in a thread and gives an awaitable. The stub ``aio.pyi`` is
generated from the sync signatures (``tools/async_stub.py``), and a test keeps both faces alike.

A cancelled call is not torn: the thread finishes the transaction that it is in, so that a turn is stored
whole or not at all.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from wellkept.apikeys import KeyRing
from wellkept.jobs import JobList
from wellkept.memory import Memory, MemoryReader
from wellkept.profile import Profile, ProfileReader
from wellkept.replies import ReplyLog
from wellkept.session import Session, SessionReader
from wellkept.trace import TraceList
from wellkept.user import UserMemory, UserReader

T = TypeVar("T")
THREADS = 8


class Proxy:
    """An object whose methods run in a thread."""

    def __init__(self, target: Any, pool: ThreadPoolExecutor) -> None:
        self._target = target
        self._pool = pool

    def __repr__(self) -> str:
        return f"Async{self._target!r}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._target, name)
        if not callable(value):
            return wrap(value, self._pool)
        if gives(value) in HANDLES:
            return lambda *args, **kwargs: wrap(value(*args, **kwargs), self._pool)
        if gives(value).startswith("Iterator"):
            return partial(_stream, value, self._pool)
        return partial(_call, value, self._pool)


class AsyncSessionReader(Proxy):
    """``SessionReader`` for asyncio."""


class AsyncSession(AsyncSessionReader):
    """``Session`` for asyncio."""


class AsyncUserReader(Proxy):
    """``UserReader`` for asyncio."""


class AsyncUserMemory(AsyncUserReader):
    """``UserMemory`` for asyncio."""


class AsyncProfileReader(Proxy):
    """``ProfileReader`` for asyncio: ``await profile.get("user")``."""


class AsyncProfile(AsyncProfileReader):
    """``Profile`` for asyncio."""


class AsyncJobList(Proxy):
    """``JobList`` for asyncio."""


class AsyncTraceList(Proxy):
    """``TraceList`` for asyncio."""


class AsyncKeyRing(Proxy):
    """``KeyRing`` for asyncio."""


class AsyncReplyLog(Proxy):
    """``ReplyLog`` for asyncio."""


class AsyncMemoryReader(Proxy):
    """``MemoryReader`` for asyncio."""


class AsyncMemory(Proxy):
    """``Memory`` for asyncio. Takes what ``Memory`` takes; ``async with`` closes it.

    Opening is done by the constructor, which may read from the disk for some milliseconds.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(Memory(*args, **kwargs), ThreadPoolExecutor(THREADS, thread_name_prefix="wellkept"))

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, work: Callable[[Memory], T]) -> T:
        """``work`` on the ``Memory`` behind this face, in one hop: for several operations in a row."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, self._target)

    async def close(self) -> None:
        """See ``Memory.close``."""
        await _call(self._target.close, self._pool)
        self._pool.shutdown(wait=False)


FACES: dict[type, type[Proxy]] = {
    Session: AsyncSession,
    SessionReader: AsyncSessionReader,
    UserMemory: AsyncUserMemory,
    UserReader: AsyncUserReader,
    Profile: AsyncProfile,
    ProfileReader: AsyncProfileReader,
    JobList: AsyncJobList,
    TraceList: AsyncTraceList,
    KeyRing: AsyncKeyRing,
    ReplyLog: AsyncReplyLog,
    MemoryReader: AsyncMemoryReader,
}

# Made without touching the store, so that making them needs no thread and no await.
HANDLES = {kind.__name__ for kind in FACES if kind not in (Session, SessionReader)}


def wrap(value: Any, pool: ThreadPoolExecutor) -> Any:
    """The async face of ``value`` where it has one."""
    face = FACES.get(type(value))
    return value if face is None else face(value, pool)


def gives(method: Callable[..., Any]) -> str:
    """The name of what a method returns, as its annotation says."""
    return str(inspect.get_annotations(getattr(method, "__func__", method)).get("return", ""))


async def _call(method: Callable[..., Any], pool: ThreadPoolExecutor, /, *args: Any, **kwargs: Any) -> Any:
    work = partial(method, *args, **kwargs)
    return wrap(await asyncio.get_running_loop().run_in_executor(pool, work), pool)


async def _stream(
    method: Callable[..., Iterator[Any]], pool: ThreadPoolExecutor, /, *args: Any, **kwargs: Any
) -> AsyncIterator[Any]:
    iterator = await _call(method, pool, *args, **kwargs)
    ended = object()
    while (item := await _call(next, pool, iterator, ended)) is not ended:
        yield item
