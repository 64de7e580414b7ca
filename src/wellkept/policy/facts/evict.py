"""Which facts make room for others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from wellkept_flash import rules


class Used(Protocol):
    """What the choice looks at."""

    @property
    def pinned(self) -> bool: ...
    @property
    def uses(self) -> int: ...
    @property
    def changed_at(self) -> datetime: ...


F = TypeVar("F", bound=Used)


def surplus(facts: Sequence[F], limit: int) -> list[F]:
    """The facts beyond ``limit``: the lowest ``3 × uses + hours since 1970 of the last change`` first, equals
    in the given order.

    Pinned facts count, but stay. The score is that of the device (``wellkept_flash.rules.score``).
    """
    free = sorted((fact for fact in facts if not fact.pinned), key=worth)
    return free[: max(0, len(facts) - limit)]


def worth(fact: Used) -> int:
    """What a fact is worth when room is short."""
    return int(rules.score(fact.uses, int(fact.changed_at.timestamp())))
