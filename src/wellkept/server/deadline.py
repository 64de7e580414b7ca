"""An end to waiting."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType


class Interruption(ABC):
    """A block in which something may end the waiting: ``with Kind(…): await …`` raises the ``error`` of its kind then.

    The block runs in the task that it stands in: another task would be late to see what has come meanwhile.
    """

    error: type[Exception]
    _passed = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._watch()

    @abstractmethod
    def _watch(self) -> None:
        """Begin to wait for what calls ``_pass``."""

    @abstractmethod
    def _unwatch(self) -> None:
        """Wait for it no more."""

    def _pass(self) -> None:
        self._passed = self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._unwatch()
        if self._passed and isinstance(error, asyncio.CancelledError) and not self._is_cancelled_by_others():
            raise self.error from error

    def _is_cancelled_by_others(self) -> bool:
        return hasattr(self._task, "uncancel") and self._task.uncancel() > 0


class Deadline(Interruption):
    """A block that may wait for so many seconds: ``with Deadline(10): await …`` raises asyncio.TimeoutError after them.

    What asyncio.timeout does, which Python 3.10 has not; a scope of anyio costs more than the rest of a short request.
    """

    error = asyncio.TimeoutError

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def _watch(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(max(self._seconds, 0), self._pass)

    def _unwatch(self) -> None:
        self._timer.cancel()
