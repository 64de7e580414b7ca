"""Rounds of memory tools between the gateway and the model: the caller sees only the answer after the last one.

While a round is under way it is not known whether its answer is the last, so that an answer comes in one piece here,
also where it was asked for as a stream. Its bytes are still the upstream's. The caller never sees a call of a memory tool:
a model that does not stop calling them is asked again as if there were none.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from wellkept.aio import AsyncMemory
from wellkept.memory import Memory
from wellkept.policy.context.messages import parse
from wellkept.records import Scope, ToolCall, blocks_of
from wellkept.server.answers import Answer
from wellkept.server.providers import Json, Provider
from wellkept.server.reply import Reply
from wellkept.tools import definitions

log = logging.getLogger("wellkept.gateway")

MOST_ROUNDS = 5
_LATER = json.dumps(
    {
        "ok": False,
        "error": "not_run",
        "message": "Memory was looked up first. Make this call again if you need it.",
    }
)


@dataclass
class Rounds:
    """Asks until an answer calls no memory tool, but not for ever.

    Attributes:
        send: sends a request on.
        read: makes the reader of a reply; None for one that is an error.
        used: the calls of memory tools that were made, for the record of the answer.
    """

    memory: AsyncMemory
    scope: Scope
    provider: Provider
    send: Callable[[bytes], Awaitable[Reply]]
    read: Callable[[Reply], Answer | None]
    used: list[Json] = field(default_factory=list)

    async def run(self, plain: Json) -> Reply:
        """The last reply to the request ``plain``, which knows nothing of memory tools. Raises UpstreamFailed."""
        reply = await self._with_tools(plain)
        if reply is None:
            log.warning(
                "A model would not answer without memory tools; it was asked again as if there were none"
            )
            reply = await self.send(json.dumps(plain).encode())
        return reply

    async def _with_tools(self, plain: Json) -> Reply | None:
        """The first reply that calls no memory tool, read to its end; None when the model gives none such."""
        body, ours = self.provider.with_tools(plain, definitions(self.provider.name))
        for number in range(MOST_ROUNDS + 1):
            if number == MOST_ROUNDS:
                body = self.provider.without_calls(body)
            reply = await self.send(json.dumps(body).encode())
            answer = await self._answer(reply, ours)
            message = answer.message() if answer else None
            calls = _calls(message, self.provider) if message else []
            if answer is None or message is None or not any(call.name in ours for call in calls):
                return reply
            if number == MOST_ROUNDS or answer.is_cut_short:
                break
            body = self.provider.with_results(body, message, await self._results(calls, ours))
        return None

    async def _answer(self, reply: Reply, ours: frozenset[str]) -> Answer | None:
        """The answer in a reply that has come to its end; None for any other. Raises UpstreamFailed for one that was cut and
        may call memory, which no caller gets."""
        raw = await reply.read()
        if reply.cut is not None and (not raw or any(name.encode() in raw for name in ours)):
            raise reply.cut
        answer = self.read(reply)
        if answer is None:
            return None
        answer.feed(raw)
        answer.end()
        return answer if answer.complete else None

    async def _results(self, calls: Sequence[ToolCall], ours: frozenset[str]) -> list[tuple[str, str]]:
        """A result for each call. Those of the caller's own tools must wait: a model makes them again if it still
        needs them, and then alone."""
        results = []
        for call in calls:
            if call.name in ours:
                self.used.append({"name": call.name, "arguments": call.arguments})
                result = await self.memory.run(partial(self._call, call))
                results.append((call.id, result))
            else:
                results.append((call.id, _LATER))
        return results

    def _call(self, call: ToolCall, memory: Memory) -> str:
        user = memory.user(self.scope.user, namespace=self.scope.namespace)
        return user.call_tool(call.name, call.arguments)


def _calls(message: Json, provider: Provider) -> list[ToolCall]:
    content = parse(message, shape=provider.name).content
    return [block for block in blocks_of(content) if isinstance(block, ToolCall)]
