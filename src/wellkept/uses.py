"""Counts how often facts were recalled: taken in at once, written when there is time, and never in the way of a search."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from wellkept.errors import StoreError
from wellkept.ids import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wellkept.records import Scope
    from wellkept.store.protocol import Store, Tables


class Uses:
    """The uses of one memory that are not written yet. ``now`` gives the time in ms."""

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now
        self._waiting: defaultdict[Scope, Counter[str]] = defaultdict(Counter)
        self._lock = threading.Lock()

    def note(self, scope: Scope, ids: Iterable[str]) -> None:
        """Count a use of each fact among ``ids``; other ids, and those of others' facts, count nothing."""
        facts = [id for id in ids if is_number(id)]
        if facts:
            with self._lock:
                self._waiting[scope].update(facts)

    def flush(self) -> None:
        """Write what waits. What a full or busy disk refuses waits on."""
        with self._lock:
            waiting, self._waiting = self._waiting, defaultdict(Counter)
        if not waiting:
            return
        try:
            self._store.write(lambda tables: self._write(tables, waiting))
        except StoreError as error:
            from logging import getLogger

            getLogger("wellkept.uses").warning("Uses of facts wait to be counted: %s", error)
            with self._lock:
                for scope, counts in waiting.items():
                    self._waiting[scope].update(counts)

    def _write(self, tables: Tables, waiting: dict[Scope, Counter[str]]) -> None:
        for scope, counts in waiting.items():
            tables.facts.use(scope, counts, at=self._now())
