"""What a store must offer for the log of what is done by hand to all that is no fact."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from wellkept.records import Record, Scope
from wellkept.store.facts import Actor
from wellkept.store.protocol import SessionRef

Verb: TypeAlias = Literal[
    "rename_session",
    "delete_session",
    "rebuild_summaries",
    "write_profile",
    "retry_job",
    "cancel_job",
    "accept_doubt",
    "refuse_doubt",
    "forget",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Record):
    """Something that was done; what became of facts is in their own log, as a ``Change``.

    Attributes:
        id: its number in the store; later actions have higher ones.
        subject: the id of the session, the name of the document, the number of the job or of the question; None for a
            session that is gone, because its id goes with it.
    """

    id: int
    action: Verb
    actor: Actor
    at: datetime
    subject: str | None


class Actions(Protocol):
    """The log of a scope. It holds nobody's words: a session stands in it by its key."""

    def add(
        self,
        scope: Scope,
        action: Verb,
        actor: Actor,
        *,
        at: int,
        subject: SessionRef | str | int | None = None,
    ) -> None:
        """Another line."""

    def list(self, scope: Scope, *, limit: int, before: int | None = None, after: int = 0) -> list[Action]:
        """Newest first, those with an id between ``after`` and ``before``."""
