from __future__ import annotations

import asyncio

import pytest

from wellkept.server.deadline import Deadline


def test_what_takes_longer_is_a_timeout() -> None:
    async def late() -> None:
        with Deadline(0.01):
            await asyncio.Event().wait()

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(late())


def test_a_deadline_that_has_passed_ends_the_first_wait() -> None:
    async def late() -> None:
        with Deadline(-1):
            await asyncio.Event().wait()

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(late())


def test_what_ends_in_time_is_left_alone() -> None:
    async def quick() -> str:
        with Deadline(0.01):
            said = "done"
        await asyncio.sleep(0.03)
        return said

    assert asyncio.run(quick()) == "done"


def test_who_is_cancelled_by_somebody_else_is_cancelled() -> None:
    async def long() -> None:
        with Deadline(60):
            await asyncio.Event().wait()

    async def main() -> bool:
        task = asyncio.create_task(long())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
