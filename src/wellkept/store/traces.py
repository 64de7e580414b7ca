"""What a store must offer for traces: how contexts came to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from wellkept.records import Candidate, Record, Scope

if TYPE_CHECKING:
    from wellkept.store.protocol import SessionRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Record):
    """How one context came to be, to be read and replayed later.

    Attributes:
        seq: the newest event of the session then.
        version: its newest summary version then; 0 for none.
        policy: the policy's values then.
        query: what was recalled for; ``recalled`` is what recall gave: id, line, score and events of each.
        system, boundary, messages, tokens, parts: the context itself; messages in OpenAI's shape.
        candidates: each thing that could have been in it, with its tokens, kept or dropped and why.
    """

    id: str
    session_id: str
    at: datetime
    seq: int
    version: int
    policy: Mapping[str, Any]
    query: str | None
    budget: int
    system: str
    boundary: int
    messages: Sequence[Mapping[str, Any]]
    tokens: int
    parts: Mapping[str, int]
    candidates: tuple[Candidate, ...]
    recalled: Sequence[Mapping[str, Any]] = ()


class Traces(Protocol):
    """The records of how contexts came to be."""

    def erasures(self, ref: SessionRef) -> int:
        """How often something was taken away from this user: a trace made before the newest time is not kept."""

    def add(self, ref: SessionRef, trace: Trace, *, keep: int) -> None:
        """Store it, and let go of all but the newest ``keep`` of the session (-1: of none)."""

    def list(
        self, scope: Scope, ref: SessionRef | None = None, *, limit: int, before: str | None = None
    ) -> list[Trace]:
        """Newest first; ``before``: the id that the previous page ended with."""

    def get(self, scope: Scope, id: str) -> Trace | None:
        """One trace."""

    def remove(self, scope: Scope) -> int:
        """Take away all of a user's traces, those that wait to be stored included; how many were stored."""

    def remove_from(self, ref: SessionRef, seq: int) -> int:
        """Take away each trace that may show events of the session from ``seq`` on; how many were stored."""
