"""What a store must offer for profiles: the documents of a user and their versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from wellkept.records import Document, Scope


class Profiles(Protocol):
    """The three documents of a scope, with their versions."""

    def current(self, scope: Scope, at: int | None = None) -> dict[str, Document]:
        """The newest version of each document that was ever written, or was by ``at`` (ms)."""

    def put(self, scope: Scope, document: Document, *, at: int) -> None:
        """Add ``document`` as the next version."""

    def versions(self, scope: Scope, name: str) -> list[Document]:
        """All versions, newest first."""

    def remove(self, scope: Scope, documents: Sequence[Document]) -> int:
        """Take versions away for good that are not current; how many there were."""
