"""The gateway: a provider's interface with memory in it. The application changes its base URL and adds a header.

What memory does happens around the request and never to it: if memory fails, the request goes through as it came
and the answer says so in ``X-Wellkept-Error``. The bytes of an answer are passed on unchanged.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from time import perf_counter
from typing import TypeVar
from urllib.parse import quote, unquote

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from wellkept.errors import NotFound, StoreBusy, WellkeptError
from wellkept.memory import Memory
from wellkept.records import Draft
from wellkept.server.answers import Answer
from wellkept.server.ask import Ask, Prepared, asked, body_of, describe, prepare, record
from wellkept.server.deadline import Deadline
from wellkept.server.leaving import CallerLeft, WhileAwaited
from wellkept.server.problems import Problem, shown, status_of, told
from wellkept.server.providers import Anthropic, Json, OpenAI, Provider
from wellkept.server.relay import Relay
from wellkept.server.reply import Reply, UpstreamFailed, UpstreamTimeout
from wellkept.server.rounds import Rounds
from wellkept.server.routes import BareRoute
from wellkept.server.service import Service, service_of
from wellkept.session import Session

T = TypeVar("T")
log = logging.getLogger("wellkept.gateway")

router = APIRouter(include_in_schema=False, route_class=BareRoute)
OPENAI, ANTHROPIC = OpenAI(), Anthropic()
_LEAVE_OUT = "Use that, or leave X-Wellkept-Session out, and the request goes through as it is."


METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@router.post("/openai/v1/chat/completions")
async def chat_completions(request: Request) -> Response:
    """OpenAI's chat completions, with memory."""
    return await _guarded(request, _Exchange(service_of(request), OPENAI, request).converse())


@router.post("/anthropic/v1/messages")
async def messages(request: Request) -> Response:
    """Anthropic's messages, with memory."""
    return await _guarded(request, _Exchange(service_of(request), ANTHROPIC, request).converse())


@router.api_route("/openai/v1/{path:path}", methods=METHODS)
async def rest_of_openai(request: Request) -> Response:
    """All else that OpenAI's interface has, as it is."""
    return await _guarded(request, _Exchange(service_of(request), OPENAI, request).respond())


@router.api_route("/anthropic/v1/{path:path}", methods=METHODS)
async def rest_of_anthropic(request: Request) -> Response:
    """All else that Anthropic's interface has, as it is."""
    return await _guarded(request, _Exchange(service_of(request), ANTHROPIC, request).respond())


def _tidy(path: str) -> str:
    """``path`` without escapes and slashes that say nothing."""
    return re.sub("/+", "/", unquote(path)).rstrip("/")


async def _guarded(request: Request, exchange: Awaitable[Response]) -> Response:
    """The answer, or an error of the gateway itself in the provider's own shape."""
    try:
        return await exchange
    except HTTPException as error:
        status, detail = error.status_code, str(error.detail)
    except WellkeptError as error:
        status, detail = status_of(error), shown(error)
    except UpstreamTimeout:
        status, detail = 504, "The upstream did not answer in time."
    except UpstreamFailed as error:
        status, detail = 502, f"The upstream cannot be reached ({error})."
    except CallerLeft:
        status, detail = 499, "The caller left before it was answered."
    return told(request.url.path, status, "gateway", detail)


@dataclass
class _Exchange:
    """One request and its answer."""

    service: Service
    provider: Provider
    request: Request

    @cached_property
    def _path(self) -> str:
        """The path behind the provider's address, as the caller wrote it, but for a conversation, whose slashes too many are
        a slip. Raises a 404 problem for one that leads out of it."""
        scope = self.request.scope
        written: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
        path = written.decode("ascii").partition(f"/{self.provider.name}/v1")[2]
        if {".", ".."} & set(re.split(r"[/\\]", unquote(path))):
            raise Problem(404, "not_found", f"There is nothing at {path!r:.200}.")
        return self.provider.talks if _tidy(path) == self.provider.talks else path

    async def respond(self) -> Response:
        """With memory where one talks."""
        if self.request.method == "POST" and self._path == self.provider.talks:
            return await self.converse()
        return await self.pass_on()

    async def pass_on(self) -> Response:
        """Without memory. Raises a 404 problem for a conversation of which it is expected."""
        ask = await asked(self.service, self.request)
        if ask is not None and self.provider.is_other_talk(_tidy(self._path)):
            raise Problem(404, "not_found", f"There is memory for {self.provider.talks} only. {_LEAVE_OUT}")
        headers = {} if ask is None else {"x-wellkept-memory": "none"}
        raw = await self.request.body()
        with WhileAwaited(self.request.receive):
            return await self._plain(raw, headers)

    async def converse(self) -> Response:
        """Prepare, forward, pass the answer on. Raises CallerLeft, and asks nothing more then."""
        ask = await asked(self.service, self.request)
        raw = await self.request.body()
        with WhileAwaited(self.request.receive):
            return await (self._plain(raw, {}) if ask is None else self._remembered(ask, raw))

    async def _plain(self, raw: bytes, headers: dict[str, str]) -> Response:
        return Relay(await self._send(raw), headers, self.service.later)

    async def _remembered(self, ask: Ask, raw: bytes) -> Response:
        headers: dict[str, str] = {}
        begin = perf_counter()
        prepared = await self._prepared(ask, raw, headers)
        ready = perf_counter()
        rounds = Rounds(self.service.memory, ask.scope, self.provider, self._send, self._answer)
        if prepared is None or prepared.failure is not None:
            reply = await self._send(raw)
        elif ask.tools:
            reply = await rounds.run(prepared.body)
        else:
            reply = await self._send(json.dumps(prepared.body).encode())
        memory, upstream = 1000 * (ready - begin), 1000 * (perf_counter() - ready)
        headers["server-timing"] = f"memory;dur={memory:.1f}, upstream;dur={upstream:.1f}"
        # An answer whose question is not there would seem to answer the one before.
        if prepared is None or prepared.session is None:
            return Relay(reply, headers, self.service.later)
        keep = partial(self._record, prepared.session, rounds.used, prepared.begun)
        return Relay(reply, headers, self.service.later, self._answer(reply), keep)

    async def _prepared(self, ask: Ask, raw: bytes, headers: dict[str, str]) -> Prepared | None:
        """The request with memory in it; None, and the reason in ``headers``, when memory has no part in it."""
        try:
            body = body_of(raw)
            with self.service.spans.span("wellkept.context", provider=self.provider.name):
                prepared = await self._in_time(lambda memory: prepare(memory, ask, self.provider, body))
        except NotFound:
            headers["x-wellkept-memory"] = "none"
            return None
        except Exception as error:  # noqa: BLE001 - a chat goes on, whatever happens to memory
            self._failed(error, headers)
            return None
        self.service.live.wake()
        if prepared.failure is not None:
            self._failed(prepared.failure, headers)
            return prepared
        headers["x-wellkept-session"] = quote(ask.session_id, safe="-_.:~")
        headers["x-wellkept-context-tokens"] = str(prepared.tokens)
        if prepared.trace_id is not None:
            headers["x-wellkept-trace"] = prepared.trace_id
        return prepared

    async def _in_time(self, work: Callable[[Memory], T]) -> T:
        """What memory gives. Raises StoreBusy when that takes too long; what it writes may still come to its end then."""
        seconds = self.service.settings.memory_seconds
        try:
            with Deadline(seconds):
                return await self.service.memory.run(work)
        except asyncio.TimeoutError as error:
            raise StoreBusy(f"Memory took longer than {seconds:g} s.") from error

    def _failed(self, error: Exception, headers: dict[str, str]) -> None:
        # What is no error of ours says why by itself.
        unknown = None if isinstance(error, WellkeptError) else error
        log.warning(
            "A request went through without memory: %s: %s", type(error).__name__, error, exc_info=unknown
        )
        self.service.metrics.memory_errors.labels(self.provider.name, type(error).__name__).inc()
        headers["x-wellkept-error"] = describe(error)

    async def _send(self, raw: bytes) -> Reply:
        request, name = self.request, self.provider.name
        query: str = request.scope["query_string"].decode("ascii")
        with self.service.spans.span("wellkept.upstream", provider=name):
            return await self.service.upstreams.send(
                name, request.method, self._path, query, request.headers.raw, raw
            )

    def _answer(self, reply: Reply) -> Answer | None:
        if reply.status != 200:
            return None
        kind = reply.headers.get("content-type", "")
        encoding = reply.headers.get("content-encoding", "")
        return self.provider.answer(stream=kind.startswith("text/event-stream"), encoding=encoding)

    async def _record(
        self, session: Session, used: list[Json], begun: Sequence[Draft], answer: Answer
    ) -> None:
        """Append what was answered. Its failure is counted and logged: the answer itself is under way."""
        outcome = "complete" if answer.complete else "unreadable" if answer.fault else "cut"
        try:
            with self.service.spans.span("wellkept.record", provider=self.provider.name):
                found = await self._in_time(lambda _: record(session, self.provider, answer, used, begun))
            if not found:
                log.warning("Nothing to record in %r: %s", session.id, answer.fault or "the answer is empty")
        except Exception as error:
            log.exception("An answer was not recorded in %r", session.id)
            outcome = type(error).__name__
        self.service.metrics.gateway.labels(self.provider.name, outcome).inc()
        self.service.live.wake()
