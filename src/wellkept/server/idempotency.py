"""``Idempotency-Key``: a request that is sent again gets the answer that it got before."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from wellkept.records import Scope
from wellkept.server.auth import names_of, visitor_of
from wellkept.server.problems import MEDIA_TYPE, Problem, is_json
from wellkept.server.service import service_of

M = TypeVar("M", bound=BaseModel)
Handler = Callable[[Request], Awaitable[Response]]
HEADER = "idempotency-key"


class StrictRequest(Request):
    """A request whose JSON holds numbers only: not the NaN and Infinity that Python takes for some, too."""

    async def json(self) -> Any:
        return strict_json(await self.body())


def strict_json(data: bytes) -> Any:
    """``data`` as JSON. Raises ValueError."""
    return json.loads(data, parse_constant=_finite, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number that JSON knows")
    return number


def _strict(request: Request) -> StrictRequest:
    """``request`` read strictly; the same object again if it is, because a body can be received only once."""
    return request if isinstance(request, StrictRequest) else StrictRequest(request.scope, request.receive)


class StrictRoute(APIRoute):
    """A route that reads JSON strictly."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            response: Response = await handler(_strict(request))
            return response

        return strict


class BareRoute(APIRoute):
    """A busy route: its endpoint reads the request by itself, and FastAPI only describes it."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        return self.endpoint


class IdempotentRoute(StrictRoute):
    """A route whose POST requests are done once for each ``Idempotency-Key`` of a caller."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler = super().get_route_handler()

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            if key is not None and request.method == "POST":
                return await _once(_strict(request), key, handler)
            response: Response = await handler(request)
            return response

        return once


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


async def _once(request: Request, key: str, handler: Handler) -> Response:
    visitor = await visitor_of(request)
    namespace, user = names_of(request)
    scope = Scope(visitor.namespace or namespace or "", visitor.user or user or "")
    asked = f"{request.method} {request.url.path}?{request.url.query}\n".encode() + await request.body()
    replies = service_of(request).memory.replies
    kept = await replies.begin(scope, key, asked)
    if kept is not None and kept.status is not None:
        return _response(kept.status, kept.body or b"")
    try:
        response = await handler(request)
    except BaseException:
        await replies.abandon(scope, key)
        raise
    if response.status_code < 500:
        await replies.finish(scope, key, response.status_code, bytes(response.body))
    else:
        await replies.abandon(scope, key)
    return response


def _response(status: int, body: bytes) -> Response:
    media_type = "application/json" if status < 400 else MEDIA_TYPE
    return Response(body or None, status, {"idempotent-replayed": "true"}, media_type)
