"""Who is asking, and whose memory it may be about."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any
from urllib.parse import parse_qsl, unquote

from fastapi import Depends, Request

from wellkept.aio import AsyncMemory
from wellkept.errors import InvalidInput, NotFound
from wellkept.policy.checks import check_name
from wellkept.records import Scope
from wellkept.server.problems import Problem
from wellkept.server.settings import Settings
from wellkept.store.apikeys import ApiKey, KeyRole

LEVELS: dict[KeyRole, int] = {"reader": 1, "writer": 2, "admin": 3}
_REMEMBERED = 4096
_SHORT = 256
"""Characters of a query, or of a key, that is worth remembering; no key is so long."""


@dataclass(frozen=True)
class Visitor:
    """Somebody who was let in. Without ``namespace`` or ``user`` every one is open to them."""

    role: KeyRole
    namespace: str | None = None
    user: str | None = None
    key_id: str | None = None

    def may(self, role: KeyRole) -> None:
        """Raises a 403 problem unless the visitor has this role or a higher one."""
        if LEVELS[self.role] < LEVELS[role]:
            raise Problem(403, "forbidden", f"This needs a key with the role {role}; yours is {self.role}.")


class Doorkeeper:
    """Knows the keys, and remembers for a moment what the store said about them."""

    def __init__(self, memory: AsyncMemory, settings: Settings) -> None:
        self._memory = memory
        self._settings = settings
        self._known: dict[str, tuple[float, ApiKey | None]] = {}
        self._closed: tuple[float, bool] | None = None

    async def admit(self, secret: str | None) -> Visitor:
        """The visitor with this key. Raises a 401 problem for a wrong one, or none where one is needed."""
        if secret is None:
            return await self._without_key()
        key = await self._find(secret)
        if key is None:
            raise _unauthorized("This key opens nothing: it is wrong, or it was revoked.")
        return _holder(key)

    async def admit_login(self, token: str | None) -> Visitor:
        """The visitor who is logged in with this token, asked of the store each time, so that a login ends at once. Raises
        a 401 problem for none where a key is needed."""
        key = await self._memory.keys.logged_in(token) if token else None
        return _holder(key) if key else await self._without_key()

    async def needs_key(self) -> bool:
        """Whether nobody is let in without a key: always on a network, and as soon as there is a key."""
        now = time.monotonic()
        if self._closed is None or self._closed[0] < now:
            closed = not self._settings.is_loopback or await self._memory.keys.any()
            self._closed = (now + self._settings.key_seconds, closed)
        return self._closed[1]

    async def _without_key(self) -> Visitor:
        if await self.needs_key():
            raise _unauthorized(
                "Send a key in the header X-Wellkept-Key: wk_… `wellkept keys create` makes one."
            )
        return Visitor("admin")

    async def _find(self, secret: str) -> ApiKey | None:
        if len(secret) > _SHORT:
            return None
        now = time.monotonic()
        known = self._known.get(secret)
        if known is not None and known[0] > now:
            return known[1]
        key = await self._memory.keys.find(secret)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[secret] = (now + self._settings.key_seconds, key)
        return key


def _holder(key: ApiKey) -> Visitor:
    return Visitor(key.role, key.namespace, key.user, key.id)


def _unauthorized(detail: str) -> Problem:
    return Problem(401, "unauthorized", detail, {"www-authenticate": "Bearer"})


# ── reading a request
# ───────────────────────────────────────────────────────────────────────────────────────


def secret_of(request: Request) -> str | None:
    """The key that a request brings, in ``X-Wellkept-Key`` or as a bearer token; never in a cookie, which any page could send."""
    given = request.headers.get("x-wellkept-key")
    if given:
        return given
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


async def visitor_of(request: Request) -> Visitor:
    """Who sent the request. Raises a 401 problem."""
    keeper: Doorkeeper = request.app.state.service.doorkeeper
    return await keeper.admit(secret_of(request))


def scope_of(visitor: Visitor, settings: Settings, namespace: str | None, user: str | None) -> Scope:
    """Whose memory a request is about.

    Raises NotFound when the visitor's key opens another one, a 422 problem when nobody was named.
    """
    default = settings.user if visitor.key_id is None else None
    return Scope(namespace_of(visitor, settings, namespace), _bound("user", visitor.user, user, default))


def namespace_of(visitor: Visitor, settings: Settings, namespace: str | None) -> str:
    """The tenant that a request is about; see ``scope_of``."""
    return _bound("namespace", visitor.namespace, namespace, settings.namespace)


def _bound(what: str, held: str | None, asked: str | None, default: str | None) -> str:
    if held is not None:
        if asked not in (None, held):
            raise NotFound(f"No {what} {asked!r:.80} that this key opens.")
        return held
    name = asked or default
    if not name:
        raise _invalid(f"Whose memory? Say {what}=… or X-Wellkept-{what.title()}: …")
    check_name(what, name)
    return name


def check_session(id: str) -> None:
    """Raise InvalidInput for an id that no path of this service could name."""
    check_name("session_id", id)
    if "/" in id or id in (".", ".."):
        raise InvalidInput("A session's id stands in paths: it must hold no slash, and be neither . nor ..")


Names = tuple[str | None, str | None]
_OURS = b"x-wellkept-"
_HEADERS = frozenset({"key", "namespace", "user", "session", "mode", "tools", "budget"})


def check_headers(request: Request) -> None:
    """Raise a 422 problem for a header of ours that there is not, because misspelt it would leave a request to the
    defaults; or that comes twice, because nobody knows which one a proxy wrote."""
    seen: set[str] = set()
    for written, _ in request.scope["headers"]:
        if written.startswith(_OURS):
            name = written.removeprefix(_OURS).decode("latin-1")
            if name not in _HEADERS:
                known = ", ".join(f"X-Wellkept-{it.title()}" for it in sorted(_HEADERS))
                raise _invalid(f"There is no header {'x-wellkept-' + name!r:.80}. What there is: {known}.")
            if name in seen:
                raise _invalid(f"There are two headers X-Wellkept-{name.title()}. Send one.")
            seen.add(name)


def _invalid(detail: str) -> Problem:
    return Problem(422, "invalid_input", detail)


def decoded(name: str, value: str) -> str:
    """The value of a header, which carries only Latin letters, so that others come percent-encoded.

    Raises a 422 problem for what is no UTF-8, or not encoded: two ids that are broken are not the same one.
    """
    try:
        return unquote(value.encode("ascii").decode(), errors="strict")
    except UnicodeError as error:
        raise _invalid(f"{name} must be UTF-8, percent-encoded: %E6%97%85 for 旅.") from error


def query_of(request: Request) -> tuple[tuple[str, str], ...]:
    """The query parameters of a request, as they were written."""
    query: bytes = request.scope["query_string"]
    # One request after the other of a client has the same; a long one is nobody's to keep.
    return _parsed(query) if len(query) <= _SHORT else _parsed.__wrapped__(query)


@lru_cache(maxsize=1024)
def _parsed(query: bytes) -> tuple[tuple[str, str], ...]:
    return tuple(parse_qsl(query.decode("latin-1"), keep_blank_values=True))


def names_of(request: Request) -> Names:
    """The namespace and the user that a request names, in its query or its headers."""
    return _named(request, "namespace"), _named(request, "user")


def _named(request: Request, what: str) -> str | None:
    header = request.headers.get(f"x-wellkept-{what}")
    named = {value for name, value in query_of(request) if name == what}
    if header is not None:
        named.add(decoded(f"x-wellkept-{what}", header))
    if len(named) > 1:
        raise _invalid(f"The request names more than one {what}. Send one.")
    return next(iter(named), None)


def scoped(role: KeyRole) -> Callable[..., Coroutine[Any, Any, Scope]]:
    """A dependency that gives the scope of a request, for visitors who have ``role``."""

    async def dependency(request: Request) -> Scope:
        visitor = await visitor_of(request)
        visitor.may(role)
        return scope_of(visitor, request.app.state.service.settings, *names_of(request))

    return dependency


def tenant(role: KeyRole) -> Callable[..., Coroutine[Any, Any, Tenant]]:
    """A dependency that gives the namespace of a request, and the user if one is named or bound."""

    async def dependency(request: Request) -> Tenant:
        visitor = await visitor_of(request)
        visitor.may(role)
        settings: Settings = request.app.state.service.settings
        namespace, user = names_of(request)
        if visitor.user is not None or user:
            scope = scope_of(visitor, settings, namespace, user)
            return Tenant(scope.namespace, scope.user)
        return Tenant(namespace_of(visitor, settings, namespace), None)

    return dependency


@dataclass(frozen=True)
class Tenant:
    """A namespace, and inside it one user or all of them (None)."""

    namespace: str
    user: str | None

    @property
    def scope(self) -> Scope | None:
        """The user's scope; None for all users."""
        return None if self.user is None else Scope(self.namespace, self.user)


Reader = Annotated[Scope, Depends(scoped("reader"))]
writing = scoped("writer")
Writer = Annotated[Scope, Depends(writing)]
Admin = Annotated[Scope, Depends(scoped("admin"))]
ReaderTenant = Annotated[Tenant, Depends(tenant("reader"))]
AdminTenant = Annotated[Tenant, Depends(tenant("admin"))]
