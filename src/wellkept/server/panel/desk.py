"""What a page's handler works with: who is there, whose memory it is about, in which language."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from fastapi import Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import RedirectResponse, Response

from wellkept.errors import InvalidInput, WellkeptError
from wellkept.memory import Memory
from wellkept.records import Scope
from wellkept.server.auth import LEVELS, Visitor, scope_of
from wellkept.server.panel.render import SECURITY, html
from wellkept.server.panel.words import LANGUAGES, Words, choose
from wellkept.server.problems import Problem, status_of
from wellkept.server.service import Service, service_of
from wellkept.store.apikeys import KeyRole
from wellkept.user import UserMemory, UserReader

COOKIE, LANGUAGE, THEME = "wellkept_login", "wellkept_language", "wellkept_theme"
THEMES = ("auto", "light", "dark")
PAGE = 50


@dataclass(frozen=True)
class Guest:
    """A request to the panel, whoever sent it."""

    request: Request

    @property
    def service(self) -> Service:
        """The service that the panel belongs to."""
        return service_of(self.request)

    @property
    def token(self) -> str | None:
        """What the browser's cookie says of a login: a random token that stands for a key."""
        return self.request.cookies.get(COOKIE)

    @property
    def words(self) -> Words:
        """The words in the visitor's language."""
        cookie, header = self.request.cookies.get(LANGUAGE), self.request.headers.get("accept-language", "")
        return Words(choose(cookie, header))

    @property
    def theme(self) -> str:
        """ "light" or "dark" where it was chosen, else "auto"."""
        chosen = self.request.cookies.get(THEME, "")
        return chosen if chosen in THEMES else "auto"

    async def visitor(self) -> Visitor:
        """Who sent it. Raises a 401 problem for nobody where a key is needed."""
        return await self.service.doorkeeper.admit_login(self.token)

    def show(self, template: str, values: Mapping[str, Any], status: int = 200) -> Response:
        """A page around which nothing is known of any memory."""
        words = self.words
        shared = {
            "t": words, "language": words.language, "languages": LANGUAGES, "theme": self.theme, "themes": THEMES,
            "here": here(self.request), "path": self.request.url.path, "zone": self.service.memory.policy.time_zone,
            "scope": None, "logged_in": self.token is not None,
        }  # fmt: skip
        return html(template, {**shared, **values}, status)


@dataclass(frozen=True)
class Desk(Guest):
    """A request of somebody who may see this memory."""

    seen_as: Visitor
    scope: Scope

    def may(self, role: KeyRole) -> bool:
        """Whether the visitor has this role or a higher one."""
        return LEVELS[self.seen_as.role] >= LEVELS[role]

    def url(self, page: str, **values: Any) -> str:
        """The address of a page about the same memory."""
        given = {name: value for name, value in values.items() if value not in (None, "", False)}
        return f"/{page}?{urlencode({'namespace': self.scope.namespace, 'user': self.scope.user, **given})}"

    def reader(self, memory: Memory) -> UserReader:
        """The user's memory, to read."""
        return memory.read_only().user(self.scope.user, namespace=self.scope.namespace)

    def writer(self, memory: Memory) -> UserMemory:
        """The user's memory."""
        return memory.user(self.scope.user, namespace=self.scope.namespace)

    async def page(self, template: str, read: Callable[[Memory], Mapping[str, Any]]) -> Response:
        """A page of what ``read`` gives, which runs in a thread of its own."""

        def values(memory: Memory) -> dict[str, Any]:
            return {"waiting": len(self.reader(memory).review()), **read(memory)}

        found = await self.service.memory.run(values)
        return self.show(template, {**self._shared(), **found})

    def _shared(self) -> dict[str, Any]:
        return {
            "url": self.url, "scope": self.scope, "may_write": self.may("writer"), "may_admin": self.may("admin"),
            "open_door": self.seen_as.key_id is None,
        }  # fmt: skip

    async def act(self, do: Callable[[Memory], object], page: str, **values: Any) -> Response:
        """Do something, let whoever watches know, and go to a page."""
        await self.service.memory.run(do)
        self.service.live.wake()
        return go(self.url(page, **values))


Form = dict[str, str]


async def _form(request: Request) -> Form:
    try:
        text = (await request.body()).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=100, errors="strict"))
    except ValueError as error:
        raise InvalidInput("This is no form of the panel.") from error


async def _guest(request: Request) -> Guest:
    if request.method != "GET" and not _is_same_origin(request):
        raise Problem(403, "cross_site", "This form came from another site. Open the panel itself.")
    return Guest(request)


def _is_same_origin(request: Request) -> bool:
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    same = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    return same if site is None else site == "same-origin"


def _desk(role: KeyRole) -> Callable[..., Coroutine[Any, Any, Desk]]:
    async def dependency(
        guest: AnyGuest,
        namespace: Annotated[str | None, Query(max_length=512)] = None,
        user: Annotated[str | None, Query(max_length=512)] = None,
    ) -> Desk:
        visitor = await guest.visitor()
        visitor.may(role)
        return Desk(guest.request, visitor, scope_of(visitor, guest.service.settings, namespace, user))

    return dependency


AnyGuest = Annotated[Guest, Depends(_guest)]
Posted = Annotated[Form, Depends(_form)]
Reading = Annotated[Desk, Depends(_desk("reader"))]
Writing = Annotated[Desk, Depends(_desk("writer"))]
Ruling = Annotated[Desk, Depends(_desk("admin"))]


class PanelRoute(APIRoute):
    """A route whose errors are pages, and that leads who is not logged in to the door."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except Problem as problem:
                if problem.status_code == 401:
                    away = go(f"/login?next={quote(here(request))}")
                    away.delete_cookie(COOKIE)
                    return away
                return _failure(request, problem.status_code, problem.detail)
            except WellkeptError as error:
                return _failure(request, status_of(error), str(error))
            except RequestValidationError as error:
                return _failure(
                    request, 422, "; ".join(f"{it['loc'][-1]}: {it['msg']}" for it in error.errors())
                )

        return handle


def _failure(request: Request, status: int, said: str) -> Response:
    return Guest(request).show("error.html", {"status": status, "said": said}, status)


def lost(request: Request) -> Response:
    """The page at an address where there is nothing."""
    guest = Guest(request)
    return guest.show("error.html", {"status": 404, "said": guest.words("error.nowhere")}, 404)


def go(address: str) -> Response:
    """Send the browser to another page."""
    return RedirectResponse(address, 303, SECURITY)


def here(request: Request) -> str:
    """The page that a person is on: where a form leads back to."""
    if request.method != "GET":
        return "/"
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def inside(address: str) -> str:
    """``address`` where it is a page of ours, else the first page."""
    plain = address.isprintable() and "\\" not in address
    return address if plain and address.startswith("/") and not address.startswith("//") else "/"
