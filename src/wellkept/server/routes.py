"""The kinds of routes that the API has, and how they read a request: strictly, so that no slip is taken for a default."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wellkept.server.auth import check_headers, query_of
from wellkept.server.idempotency import key_of
from wellkept.server.problems import Problem, answer_to, is_json

M = TypeVar("M", bound=BaseModel)
WHOSE = frozenset({"namespace", "user"})
_PASSED_ON = ("/openai/", "/anthropic/")


class StrictRequest(Request):
    """A request whose JSON holds numbers only: not the NaN and Infinity that Python takes for some, too."""

    async def json(self) -> Any:
        return strict_json(await self.body())


class StrictRoute(APIRoute):
    """A route that reads JSON strictly, and refuses what it does not know."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler = super().get_route_handler()
        known = WHOSE | _query_names(self.dependant)

        async def strict(request: Request) -> Response:
            check_names(request, known)
            if request.method == "POST":
                key_of(request)
            response: Response = await handler(strictly(request))
            return response

        return strict


class BareRoute(APIRoute):
    """A busy route: its endpoint reads the request by itself, and FastAPI only describes it."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        return self.endpoint


class Busy:
    """An ASGI app that answers the requests for ``routes`` itself. What FastAPI, which is ``app``, puts around an endpoint
    takes longer than a commit."""

    def __init__(self, app: ASGIApp, routes: Sequence[BareRoute]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            for route in self._routes:
                match, found = route.matches(scope)
                if match is Match.FULL:
                    scope.update(found)
                    response = await _response(route, Request(scope, receive))
                    await response(scope, receive, send)
                    return
        await self._app(scope, receive, send)


class Heads:
    """An ASGI app that answers HEAD as ``app`` answers GET, without the body. What the gateway passes on is left as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].startswith(_PASSED_ON):
            await self._app(scope, receive, send)
            return
        asked, ended = {**scope, "method": "GET"}, False

        async def headed(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                await send(message)
            elif not ended:
                # A stream hears of it as of a client that has left.
                ended = True
                await send({"type": "http.response.body", "body": b""})

        await self._app(asked, receive, headed)
        scope["route"] = asked.get("route")


async def _response(route: BareRoute, request: Request) -> Response:
    try:
        response: Response = await route.endpoint(request)
    except Exception as error:  # noqa: BLE001 - each is told, and logged where nobody expected it
        response = await answer_to(request, error)
    return response


def strictly(request: Request) -> StrictRequest:
    """``request`` read strictly; the same object again if it is, because a body can be received only once."""
    return request if isinstance(request, StrictRequest) else StrictRequest(request.scope, request.receive)


def check_names(request: Request, known: frozenset[str] = WHOSE) -> None:
    """Raise a 422 problem for a query parameter that is none of ``known``, or a header of ours that there is not."""
    check_headers(request)
    unknown = {name for name, _ in query_of(request)} - known
    if unknown:
        names = ", ".join(sorted(known))
        raise Problem(
            422, "invalid_input", f"This takes no parameter {min(unknown)!r:.80}. What it takes: {names}."
        )


def _query_names(dependant: Dependant) -> frozenset[str]:
    """The query parameters that a route or what it depends on declares."""
    own = frozenset(field.alias for field in dependant.query_params)
    return own.union(*map(_query_names, dependant.dependencies))


def strict_json(data: bytes) -> Any:
    """``data`` as JSON. Raises ValueError."""
    return _DECODER.decode(data.decode(json.detect_encoding(data)))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number that JSON knows")
    return number


_DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)


async def body_of(request: Request, model: type[M]) -> M:
    """The body of a request, for a route that reads it by itself. Raises what FastAPI would."""
    data = await request.body()
    try:
        return model.model_validate(strict_json(data) if data and is_json(request) else data)
    except json.JSONDecodeError as error:
        raise Problem(400, "broken_json", f"The body is no JSON: {error.msg}.") from error
    except ValidationError as error:
        found = [{**item, "loc": ("body", *item["loc"])} for item in error.errors()]
        raise RequestValidationError(found) from error
    except (ValueError, RecursionError) as error:
        raise Problem(400, "bad_request", f"The body cannot be read: {error}.") from error
