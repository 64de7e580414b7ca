"""``Idempotency-Key``: a request that is sent again gets the answer that it got before.

A kept answer is looked up behind the doors: who may not do something does not get the answer of one who may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Request
from starlette.responses import Response

from wellkept.memory import Memory
from wellkept.records import Scope
from wellkept.replies import Reply
from wellkept.server.problems import PRIVATE, Problem
from wellkept.server.service import Service
from wellkept.server.wire import answer

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
    request: Request, served: Service, scope: Scope, work: Callable[[Memory], Any], status: int = 200
) -> Response:
    """What ``work`` gives, as the answer; with a key it is done once, in one commit with the answer that is kept."""
    key = key_of(request)
    if key is None:
        return await _done(served, work, status)
    asked = await _asked(request)

    def do(memory: Memory) -> tuple[Reply, bool]:
        return memory.replies.once(scope, key, asked, lambda: _reply(work(memory), status))

    reply, again = await served.memory.run(do)
    served.live.wake()
    return _response(reply, again)


async def kept(request: Request, served: Service, scope: Scope, work: Callable[[Memory], Any]) -> Response:
    """The same for work that looks at the store's files after its commit, as erasing does: the answer is kept when all is
    done. Such work, done twice, has nothing to do the second time."""
    key = key_of(request)
    if key is None:
        return await _done(served, work)
    asked = await _asked(request)

    def do(memory: Memory) -> tuple[Reply, bool]:
        found = memory.replies.find(scope, key, asked)
        if found is not None:
            return found, True
        reply = _reply(work(memory))
        memory.replies.keep(scope, key, asked, reply)
        return reply, False

    async with served.keeping:
        reply, again = await served.memory.run(do)
    served.live.wake()
    return _response(reply, again)


async def _done(served: Service, work: Callable[[Memory], Any], status: int = 200) -> Response:
    found = await served.memory.run(work)
    served.live.wake()
    return answer(found, status)


async def _asked(request: Request) -> bytes:
    return f"{request.method} {request.url.path}?{request.url.query}\n".encode() + await request.body()


def _reply(found: Any, status: int = 200) -> Reply:
    return status, bytes(answer(found).body)


def _response(reply: Reply, again: bool) -> Response:
    status, body = reply
    headers = {**PRIVATE, "idempotent-replayed": "true"} if again else PRIVATE
    return Response(body, status, headers, "application/json")
