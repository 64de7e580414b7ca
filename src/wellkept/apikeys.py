"""Keys of the service: made and revoked here, kept as hashes; and the logins that people have with them."""

from __future__ import annotations

import hashlib
import secrets
from typing import get_args

from wellkept.core import Core
from wellkept.errors import InvalidInput, NotFound
from wellkept.ids import new_id
from wellkept.policy.checks import check_name, check_text
from wellkept.records import utc
from wellkept.store.apikeys import ApiKey, KeyRole

PREFIX = "wk_"
LOGIN_SECONDS = 12 * 3600
MOST_LOGINS = 100
"""Of one key; with another one the oldest ends."""


class KeyRing:
    """``memory.keys``: who may use this memory over the network."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def create(
        self, *, namespace: str, role: KeyRole = "writer", user: str | None = None, label: str = ""
    ) -> tuple[ApiKey, str]:
        """A new key and its secret (256 random bits), which cannot be shown again.

        Args:
            namespace: the only one that the key opens.
            role: "reader", "writer" or "admin"; each may do what the one before it may.
            user: the only user whose memory it opens; every user of the namespace if not given.

        Raises InvalidInput for an unknown role or a name that cannot be used.
        """
        check_name("namespace", namespace)
        if user is not None:
            check_name("user", user)
        check_text("label", label)
        if role not in get_args(KeyRole):
            raise InvalidInput(f"The role is {role!r}; it must be one of: {', '.join(get_args(KeyRole))}.")
        at = self._core.now()
        key = ApiKey(
            id=new_id("key"), namespace=namespace, user=user, role=role, label=label, created_at=utc(at)
        )
        secret = PREFIX + secrets.token_urlsafe(32)
        self._core.store.write(lambda tables: tables.api_keys.add(key, _hash(secret), at=at))
        return key, secret

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret; None when there is none, or it was revoked."""
        return self._core.store.read(lambda tables: tables.api_keys.find(_hash(secret)))

    def all(self) -> list[ApiKey]:
        """Every key, oldest first, revoked ones too."""
        return self._core.store.read(lambda tables: tables.api_keys.all())

    def any(self) -> bool:
        """Whether there ever was a key; revoking the last one does not open the door again."""
        return self._core.store.read(lambda tables: tables.api_keys.any())

    def revoke(self, id: str) -> None:
        """Let a key open nothing any more. Raises NotFound when there is none, or it was revoked before."""
        at = self._core.now()
        if not self._core.store.write(lambda tables: tables.api_keys.revoke(id, at=at)):
            raise NotFound(f"No key {id!r} that is in force. `wellkept keys list` shows them.")

    def log_in(self, secret: str) -> str | None:
        """The token of a new login with the key that has this secret; None when there is none. It ends after
        ``LOGIN_SECONDS``, or with the key."""
        key = self.find(secret)
        if key is None:
            return None
        token, at = secrets.token_urlsafe(32), self._core.now()
        until = at + 1000 * LOGIN_SECONDS
        self._core.store.write(
            lambda tables: tables.logins.open(_hash(token), key.id, at=at, until=until, most=MOST_LOGINS)
        )
        return token

    def logged_in(self, token: str) -> ApiKey | None:
        """The key of the login with this token; None when there is none, or it has ended."""
        at = self._core.now()
        return self._core.store.read(lambda tables: tables.logins.find(_hash(token), at=at))

    def log_out(self, token: str) -> None:
        """End a login, if there is one."""
        self._core.store.write(lambda tables: tables.logins.close(_hash(token)))


def _hash(secret: str) -> bytes:
    # The secret is 256 random bits: there is nothing to guess that a slow hash would protect.
    return hashlib.sha256(secret.encode()).digest()
