"""What looking after a store gives: findings, and what was done about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from wellkept.records import Record

#: Called now and then with what is done and how much there is in all.
Progress: TypeAlias = Callable[[int, int], None]
Subject: TypeAlias = Literal["file", "references", "counts", "index", "tokens", "jobs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """One thing that is not as it should be.

    Attributes:
        subject: what it is about: the "file" itself, "references" between tables, the "counts" of sessions, the
            text "index", the cached counts of "tokens", the "jobs".
        text: what was found and what to do, for a person to read.
        damage: False for what is worth knowing and needs no repair.
        repaired: whether it has been put right.
    """

    subject: Subject
    text: str
    damage: bool = True
    repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Record):
    """The state of a store.

    Attributes:
        location: the store's path.
        findings: everything that was found, repaired or not.
        salvaged: path of the new file that holds what could be read of a damaged one, which stays as it is.
        lost: what could not be read, one line a table or session.
    """

    location: str
    findings: tuple[Finding, ...] = ()
    salvaged: str | None = None
    lost: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether nothing is damaged any more."""
        return all(finding.repaired or not finding.damage for finding in self.findings)


@runtime_checkable
class Maintained(Protocol):
    """A store that can be copied while it is in use, looked over and repaired."""

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """Write a consistent copy to ``path``: whole or not at all."""

    def doctor(self, *, repair: bool = False) -> Report:
        """What is wrong; with ``repair`` it is put right where it can be."""
