"""``Idempotency-Key``: a request that is sent again gets the answer that it got before.

A kept answer is looked up behind the doors: who may not do something does not get the answer of one who may.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from fastapi import Request
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.records import Scope
from wellkept.replies import Reply
from wellkept.server.problems import PRIVATE, Problem
from wellkept.server.service import Service

HEADER = "idempotency-key"
MAX_KEY = 255


def key_of(request: Request) -> str | None:
    """The key that a request brings. Raises a 422 problem for one that is empty or too long."""
    key = request.headers.get(HEADER)
    if key is not None and not 0 < len(key) <= MAX_KEY:
        detail = f"The Idempotency-Key has {len(key)} characters; it must have 1 to {MAX_KEY}."
        raise Problem(422, "invalid_input", detail)
    return key


async def once(
    request: Request, served: Service, scope: Scope, work: Callable[[Memory], Response]
) -> Response:
    """The answer of ``work``; with a key it is done once, in one commit with the answer that is kept."""
    key = key_of(request)
    asked = await _asked(request) if key is not None else b""

    def do(memory: Memory) -> Response:
        if key is None:
            return work(memory)
        reply, again = memory.replies.once(scope, key, asked, lambda: _reply(work(memory)))
        return _response(reply, again)

    response = await served.memory.run(do)
    served.live.wake()
    return response


async def kept(
    request: Request, served: Service, scope: Scope, work: Callable[[Memory], Response]
) -> Response:
    """The same for work that looks at the store's files after its commit, as erasing does: the answer is kept when all is
    done. Such work, done twice, has nothing to do the second time."""
    key = key_of(request)
    asked = await _asked(request) if key is not None else b""

    def do(memory: Memory) -> Response:
        if key is None:
            return work(memory)
        found = memory.replies.find(scope, key, asked)
        if found is not None:
            return _response(found, again=True)
        response = work(memory)
        memory.replies.keep(scope, key, asked, _reply(response))
        return response

    async with served.keeping if key is not None else nullcontext():
        response = await served.memory.run(do)
    served.live.wake()
    return response


async def _asked(request: Request) -> bytes:
    return f"{request.method} {request.url.path}?{request.url.query}\n".encode() + await request.body()


def _reply(response: Response) -> Reply:
    return response.status_code, bytes(response.body)


def _response(reply: Reply, again: bool) -> Response:
    status, body = reply
    headers = {**PRIVATE, "idempotent-replayed": "true"} if again else PRIVATE
    return Response(body, status, headers, "application/json")
