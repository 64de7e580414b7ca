"""``Idempotency-Key``: a request that is sent again gets the answer that it got before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request
from starlette.responses import Response

from wellkept.records import Scope
from wellkept.server.auth import names_of, visitor_of
from wellkept.server.problems import MEDIA_TYPE
from wellkept.server.routes import StrictRoute, strictly
from wellkept.server.service import service_of

Handler = Callable[[Request], Awaitable[Response]]
HEADER = "idempotency-key"


class IdempotentRoute(StrictRoute):
    """A route whose POST requests are done once for each ``Idempotency-Key`` of a caller."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler = super().get_route_handler()

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            if key is not None and request.method == "POST":
                return await _once(strictly(request), key, handler)
            response: Response = await handler(request)
            return response

        return once


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
