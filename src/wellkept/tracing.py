"""Writes traces beside the chat: taken in at once, written when there is time, and never in the way.

Whoever asks for a context waits for no disk. What cannot be written (a queue that is full, a full disk) is lost,
counted, and said in the log.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from wellkept.errors import StoreError

if TYPE_CHECKING:
    from wellkept.store.protocol import SessionRef, Store, Tables
    from wellkept.store.traces import Trace

WAITING = 512  # traces in memory at most
QUEUE_FULL = "more contexts were made than could be written"


class _Waiting(NamedTuple):
    """A trace on its way. ``make`` does what costs time; ``erasures`` is as it was when the context was read."""

    ref: SessionRef
    erasures: int
    make: Callable[[], Trace]


class Tracer:
    """Keeps the traces of one memory.

    Args:
        keep: how many the store keeps of each session: 0 for none, -1 for all.
        path: a file to append each trace to, as a line of JSON; None for no file.

    Attributes:
        losses: traces that were not written, by reason.
    """

    def __init__(self, store: Store, *, keep: int, path: str | None = None) -> None:
        self.losses: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self._store = store
        self._keep = keep
        self._path = path
        self._waiting: deque[_Waiting] = deque()
        self._writing = threading.Lock()

    @property
    def on(self) -> bool:
        """Whether traces are kept anywhere."""
        return self._keep != 0 or self._path is not None

    def take(self, ref: SessionRef, erasures: int, make: Callable[[], Trace]) -> None:
        """Take in a trace, to be made and written later. ``erasures``: what was counted when its context was read."""
        if len(self._waiting) >= WAITING:
            self.losses[QUEUE_FULL] += 1
        else:
            self._waiting.append(_Waiting(ref, erasures, make))

    def flush(self) -> None:
        """Write what waits, and say in the log what was lost since the last time."""
        with self._writing:
            waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if waiting:
                self._write(waiting)
            if self.losses != self._said:
                self._say()

    def _say(self) -> None:
        from logging import getLogger

        for reason, count in (self.losses - self._said).items():
            getLogger("wellkept.traces").warning("%d traces were lost: %s", count, reason)
        self._said = Counter(self.losses)

    def _write(self, waiting: Sequence[_Waiting]) -> None:
        made = [(each, each.make()) for each in waiting]
        try:
            kept = self._store.write(lambda tables: self._add(tables, made))
        except StoreError as error:
            self.losses[str(error)] += len(made)
            return
        if self._path is not None and kept:
            self._append(self._path, kept)

    def _add(self, tables: Tables, made: Sequence[tuple[_Waiting, Trace]]) -> list[Trace]:
        """Those that show nothing that was erased meanwhile."""
        kept = []
        for each, trace in made:
            if tables.traces.erasures(each.ref) == each.erasures:
                kept.append(trace)
                if self._keep:
                    tables.traces.add(each.ref, trace, keep=self._keep)
        return kept

    def _append(self, path: str, traces: Sequence[Trace]) -> None:
        lines = [json.dumps(trace.to_dict(), ensure_ascii=False) + "\n" for trace in traces]
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.writelines(lines)
        except OSError as error:
            self.losses[f"{path}: {error.strerror or error}"] += len(traces)
