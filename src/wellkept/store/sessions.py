"""What a store must offer for conversations: the list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from wellkept.records import Scope, SessionInfo

if TYPE_CHECKING:
    from wellkept.store.protocol import SessionRef


class Sessions(Protocol):
    """The list of conversations."""

    def create(
        self, scope: Scope, id: str, *, title: str, metadata: Mapping[str, Any], at: int
    ) -> SessionRef:
        """A new session. Raises Conflict when this user already has one with that id."""

    def find(self, scope: Scope, id: str) -> SessionRef | None:
        """The session with this id, if it is this scope's."""

    def info(self, ref: SessionRef) -> SessionInfo | None:
        """What the lists show of it; None when it was deleted."""

    def scopes(self, namespace: str | None = None) -> list[Scope]:
        """Every scope that has sessions, for tools that walk the whole store."""

    def list(self, scope: Scope, *, limit: int, before: str | None = None) -> list[SessionInfo]:
        """Sessions of the scope, last active first; ``before`` is the id that the previous page ended
        with."""

    def rename(self, ref: SessionRef, title: str) -> bool:
        """Whether it was there to be renamed."""

    def delete(self, ref: SessionRef) -> dict[str, int]:
        """Remove it with all that was derived from it; rows removed by table."""
