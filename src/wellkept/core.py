"""What the layers of one memory share: the store, the policy and the seams."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from wellkept.policy.text.tokens import is_estimated

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from wellkept.mirror import Mirror
    from wellkept.models.protocol import Clock, Embedder, Model, Tokenizer
    from wellkept.records import Policy
    from wellkept.store.protocol import Store
    from wellkept.tracing import Tracer
    from wellkept.uses import Uses


def system_clock() -> datetime:
    """Now, by the machine's clock."""
    return datetime.now(timezone.utc)


class Turns:
    """A lock for work that keeps the interpreter busy: more of it at once would take no less time, and much more memory. And
    a log that always has readers cannot be cut off. A forked child does not wait for threads that it has not.
    """

    def __init__(self) -> None:
        self._lock, self._pid = threading.Lock(), os.getpid()

    def __enter__(self) -> None:
        if self._pid != os.getpid():
            self._lock, self._pid = threading.Lock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@dataclass(frozen=True)
class Core:
    """One memory's parts, handed to every layer above the store.

    Attributes:
        tracer: keeps the traces of contexts.
        uses: counts how often facts were recalled.
        mirror: keeps files that people read, where somebody asked for them.
        notify: tells the background worker that a job may have become due.
        searching: held by the search at work.
    """

    store: Store
    policy: Policy
    tokenizer: Tokenizer
    tracer: Tracer
    uses: Uses
    mirror: Mirror | None = None
    clock: Clock = system_clock
    model: Model | None = None
    embedder: Embedder | None = None
    notify: Callable[[], None] = lambda: None
    searching: Turns = field(default_factory=Turns)

    def now(self) -> int:
        """Milliseconds since 1970, UTC, by this memory's clock."""
        return int(self.clock().timestamp() * 1000)

    @cached_property
    def zone(self) -> ZoneInfo:
        """The users' time zone."""
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.policy.time_zone)

    @cached_property
    def count(self) -> Callable[[str], int]:
        """The tokenizer, remembering the newest texts: a context counts the same stable ones at each request."""
        return lru_cache(maxsize=512)(self.tokenizer)

    def room(self, budget: int) -> int:
        """Tokens of ``budget`` that may be used: all of them by an exact count, less by an estimate."""
        return int(budget * (1 - self.policy.budget_margin)) if is_estimated(self.tokenizer) else budget
