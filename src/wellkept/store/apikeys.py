"""What a store must offer for the keys of the service, and for those who are logged in with one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from wellkept.records import Record

KeyRole: TypeAlias = Literal["reader", "writer", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey(Record):
    """What a key of the service may do: ``role`` inside ``namespace``, or only with the memory of ``user``.

    Attributes:
        label: what a person wrote beside it.
        revoked_at: since when it opens nothing any more.
    """

    id: str
    namespace: str
    user: str | None
    role: KeyRole
    label: str
    created_at: datetime
    revoked_at: datetime | None = None


class ApiKeys(Protocol):
    """Keys of the service, by the hash of their secret."""

    def add(self, key: ApiKey, hash: bytes, *, at: int) -> None:
        """Another key."""

    def find(self, hash: bytes) -> ApiKey | None:
        """The key whose secret has this hash, unless it was revoked."""

    def all(self) -> list[ApiKey]:
        """Every key, oldest first, revoked ones too."""

    def any(self) -> bool:
        """Whether there ever was one."""

    def revoke(self, id: str, *, at: int) -> bool:
        """Whether it was there, and not revoked yet."""


class Logins(Protocol):
    """Who is logged in with a key, by the hash of a token."""

    def open(self, hash: bytes, key: str, *, at: int, until: int, most: int) -> None:
        """A login with the key of this id. Forgets logins that are over, and the oldest where the key has more than
        ``most``."""

    def find(self, hash: bytes, *, at: int) -> ApiKey | None:
        """The key of a login that is not over, unless it was revoked."""

    def close(self, hash: bytes) -> None:
        """End a login, if there is one."""
