"""The way in: login by key, whose memory to look at, language and theme."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from wellkept.apikeys import LOGIN_SECONDS
from wellkept.records import Scope
from wellkept.server.auth import Visitor
from wellkept.server.panel.desk import (
    COOKIE,
    LANGUAGE,
    THEME,
    THEMES,
    AnyGuest,
    Guest,
    PanelRoute,
    Posted,
    go,
    inside,
)
from wellkept.server.panel.words import LANGUAGES

router = APIRouter(route_class=PanelRoute)
YEAR = 365 * 86400


@router.get("/")
async def first(guest: AnyGuest) -> Response:
    """The sessions of the one user there is, or the list of users."""
    visitor = await guest.visitor()
    settings = guest.service.settings
    if (visitor.namespace or settings.namespace) and (visitor.user or settings.user):
        return go("/sessions")
    found = await _scopes(guest, visitor)
    if len(found) == 1:
        return _sessions_of(found[0])
    return _choice(guest, visitor, found)


@router.get("/users")
async def users(guest: AnyGuest) -> Response:
    """Whose memory to look at."""
    visitor = await guest.visitor()
    return _choice(guest, visitor, await _scopes(guest, visitor))


async def _scopes(guest: Guest, visitor: Visitor) -> list[Scope]:
    found = await guest.service.memory.scopes(visitor.namespace)
    return [scope for scope in found if visitor.user in (None, scope.user)]


def _sessions_of(scope: Scope) -> Response:
    return go(f"/sessions?{urlencode({'namespace': scope.namespace, 'user': scope.user})}")


def _choice(guest: Guest, visitor: Visitor, found: list[Scope]) -> Response:
    namespaces: dict[str, list[str]] = {}
    for scope in found:
        namespaces.setdefault(scope.namespace, []).append(scope.user)
    values = {"namespaces": namespaces, "bound": visitor.namespace, "open_door": visitor.key_id is None}
    return guest.show("users.html", values)


# ── login
# ─────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/login")
async def ask(guest: AnyGuest, next: Annotated[str, Query(max_length=8192)] = "/") -> Response:
    """The form that asks for a key."""
    return guest.show("login.html", {"next": inside(next), "wrong": False})


@router.post("/login")
async def login(guest: AnyGuest, form: Posted) -> Response:
    """Let in whoever has a key."""
    key, then = form.get("key", "").strip(), inside(form.get("next", "/"))
    token = await guest.service.memory.keys.log_in(key)
    if token is None:
        return guest.show("login.html", {"next": then, "wrong": True}, 401)
    response = go(then)
    _keep(guest, response, COOKIE, token, LOGIN_SECONDS)
    return response


@router.post("/logout")
async def logout(guest: AnyGuest) -> Response:
    """End the login."""
    if guest.token is not None:
        await guest.service.memory.keys.log_out(guest.token)
    response = go("/login")
    response.delete_cookie(COOKIE)
    return response


@router.post("/look")
async def look(guest: AnyGuest, form: Posted) -> Response:
    """Another language or theme, kept in the browser."""
    response = go(inside(form.get("back", "/")))
    if form.get("language") in LANGUAGES:
        _keep(guest, response, LANGUAGE, form["language"], YEAR)
    if form.get("theme") in THEMES:
        _keep(guest, response, THEME, form["theme"], YEAR)
    return response


def _keep(guest: Guest, response: Response, name: str, value: str, seconds: int) -> None:
    # Behind a proxy that ends TLS only the browser knows how it came here.
    origin = guest.request.headers.get("origin", "")
    secure = guest.request.url.scheme == "https" or origin.startswith("https://")
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="strict", secure=secure)
