"""Who is logged in: the browser's cookie holds a random token, and the key that it stands for stays here."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable

COOKIE = "wellkept_login"
SECONDS = 12 * 3600
_MOST = 1000


class Logins:
    """The logins of one process; a restart ends them all. ``clock`` gives seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[bytes, tuple[float, str]] = {}

    def open(self, key: str) -> str:
        """The token of a new login with this key. The oldest login ends when there are too many."""
        token = secrets.token_urlsafe(32)
        while len(self._open) >= _MOST:
            del self._open[next(iter(self._open))]
        self._open[_hash(token)] = (self._clock() + SECONDS, key)
        return token

    def key(self, token: str | None) -> str | None:
        """The key of a login; None where there is none, or it is older than ``SECONDS``."""
        until, key = self._open.get(_hash(token or ""), (0.0, None))
        return key if until > self._clock() else None

    def close(self, token: str | None) -> None:
        """End a login."""
        self._open.pop(_hash(token or ""), None)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
