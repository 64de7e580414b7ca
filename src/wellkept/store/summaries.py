"""What a store must offer for summaries: their versions, what they cover, and the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from wellkept.records import LedgerLine, Summary

if TYPE_CHECKING:
    from wellkept.store.protocol import SessionRef


class Uncovered(NamedTuple):
    """What has left the recent window and no summary covers: the seqs (``first`` to ``last``), how many and
    how large."""

    first: int
    last: int
    events: int
    tokens: int


class Summaries(Protocol):
    """The rolling digests of a session, with every version, and the ledger of key data that they had no room
    for."""

    def uncovered(self, ref: SessionRef, turns: int) -> Uncovered:
        """What stands before the newest ``turns`` turns and is not covered."""

    def add(
        self, ref: SessionRef, summaries: Sequence[Summary], ledger: Sequence[LedgerLine], *, expected: int
    ) -> bool:
        """Store a new version and move the coverage to its end; False when the coverage is no longer
        ``expected``."""

    def current(self, ref: SessionRef, upto: int | None = None, version: int | None = None) -> list[Summary]:
        """The newest summary of each topic, as it was when ``upto`` was the newest seq and ``version`` the newest
        version; topics in order of their first version."""

    def versions(
        self, ref: SessionRef, *, before: int | None = None, limit: int | None = None
    ) -> list[Summary]:
        """Those of the newest ``limit`` versions below ``before``, oldest first."""

    def ledger(self, ref: SessionRef, *, skip: int = 0, limit: int | None = None) -> list[LedgerLine]:
        """The ledger, oldest first: ``limit`` lines behind the first ``skip``."""

    def drop(self, ref: SessionRef, seq: int) -> int:
        """Remove each version and ledger line that was made from events of ``seq`` or later; how many
        versions."""
