"""Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import ModuleType
from typing import Any

from wellkept.errors import MissingExtra, ModelError
from wellkept.models.keys import key_for
from wellkept.models.protocol import Reply, Usage
from wellkept.models.retry import Retry, sdk_errors
from wellkept.policy.context.messages import parse, repair, to_anthropic
from wellkept.records import Content, Text

HOME = "api.anthropic.com"
_ANSWER = "answer"  # name of the tool whose arguments are the answer when a schema is asked for


class Anthropic:
    """A chat model of Anthropic.

    Args:
        model: the provider's id of the model.
        api_key: else the variable ANTHROPIC_API_KEY, which is only ever sent to Anthropic itself.
        base_url: address of a proxy or another server with this interface.
        timeout: seconds of silence until a call counts as failed.
        max_retries: tries after the first for 429, 5xx, timeouts and broken connections, with growing pauses.
        client: an ``anthropic.Anthropic`` of your own, used instead of key and address.

    Raises:
        MissingExtra: the ``anthropic`` package is not installed.
        InvalidInput: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60,
        max_retries: int = 3,
        client: Any = None,
    ) -> None:
        self.name = f"anthropic:{model}"
        self.retry = Retry(max_retries)
        self._model = model
        self._sdk = _import_anthropic()
        if client is None:
            key = key_for("ANTHROPIC_API_KEY", HOME, base_url, api_key)
            client = self._sdk.Anthropic(api_key=key, base_url=base_url)
        self._client = client.with_options(timeout=timeout, max_retries=0)

    def complete(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 1024,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One answer. With ``schema`` (and no tools) it is the JSON of a call that the model has to make."""
        if schema is not None and (tools or schema.get("type") != "object"):
            hint = f"Answer with JSON only, after this schema: {json.dumps(schema, ensure_ascii=False)}"
            system, schema = f"{system}\n\n{hint}".strip(), None
        request = self._request(system, messages, tools, max_tokens)
        if schema is not None:
            answer = {"name": _ANSWER, "description": "Gives the answer.", "input_schema": schema}
            request |= {"tools": [answer], "tool_choice": {"type": "tool", "name": _ANSWER}}
        reply = self.retry.run(lambda: self._reply(self._create(request)))
        return _as_json(reply) if schema is not None else reply

    def stream(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 1024,
    ) -> Iterator[str | Reply]:
        """Pieces of text, then the ``Reply``. Only the opening is tried again, so no piece comes twice."""
        request = self._request(system, messages, tools, max_tokens)
        said: list[str] = []
        with ExitStack() as stack:
            stream = self.retry.run(lambda: self._open(stack, request))
            try:
                with sdk_errors(self._sdk, self.name):
                    for piece in stream.text_stream:
                        said.append(piece)
                        yield piece
                    reply = self._reply(stream.get_final_message())
            except ModelError as error:
                raise ModelError(
                    str(error), raw_reply="".join(said) or None, retryable=error.retryable
                ) from error
        yield reply

    def _request(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int,
    ) -> dict[str, Any]:
        payload = to_anthropic(repair([parse(message) for message in messages]), system)
        if not system:
            del payload["system"]
        request = {"model": self._model, "max_tokens": max_tokens, **payload}
        return {**request, "tools": [_tool(tool) for tool in tools]} if tools else request

    def _create(self, request: Mapping[str, Any]) -> Any:
        with sdk_errors(self._sdk, self.name):
            return self._client.messages.create(**request)

    def _open(self, stack: ExitStack, request: Mapping[str, Any]) -> Any:
        with sdk_errors(self._sdk, self.name):
            return stack.enter_context(self._client.messages.stream(**request))

    def _reply(self, message: Any) -> Reply:
        with sdk_errors(self._sdk, self.name):
            blocks = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
            if not message.stop_reason:
                raise ModelError(f"{self.name} stopped in the middle of its answer", retryable=True)
            raw = {"role": "assistant", "content": blocks}
            return Reply(
                content=_content(parse(raw, shape="anthropic").content),
                usage=_usage(message.usage),
                model=message.model,
                stop_reason=message.stop_reason,
                raw=raw,
            )


def _import_anthropic() -> ModuleType:
    try:
        import anthropic
    except ImportError as error:
        raise MissingExtra("anthropic", "Anthropic models") from error
    return anthropic


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """``tool`` in Anthropic's shape; OpenAI's is taken as well."""
    if "function" not in tool:
        return tool
    function = tool["function"]
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    return {"name": function["name"], "description": function.get("description", ""), "input_schema": schema}


def _content(content: Content) -> Content:
    """A lone text as a string; an empty answer as an empty one."""
    if (
        isinstance(content, tuple)
        and len(content) == 1
        and isinstance(content[0], Text)
        and not content[0].extra
    ):
        return content[0].text
    return content or ""


def _usage(usage: Any) -> Usage:
    """Tokens with those that came from or went into the prompt cache, which Anthropic counts apart."""
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Usage(input_tokens=(usage.input_tokens or 0) + cached, output_tokens=usage.output_tokens or 0)


def _as_json(reply: Reply) -> Reply:
    """``reply`` with the arguments of its answer call as text; as it is if the model made no such call."""
    blocks = reply.content if isinstance(reply.content, tuple) else ()
    answers = [block.arguments for block in blocks if block.type == "tool_call" and block.name == _ANSWER]
    if not answers:
        return reply
    raw = {"role": "assistant", "content": answers[0]}
    return Reply(
        content=answers[0], usage=reply.usage, model=reply.model, stop_reason=reply.stop_reason, raw=raw
    )
