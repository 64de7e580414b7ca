"""OpenAI's chat completions, and the many servers that speak them too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from wellkept.errors import InvalidInput, MissingExtra, ModelError
from wellkept.models.keys import key_for
from wellkept.models.protocol import Reply, Usage
from wellkept.models.retry import Refusal, Retry, sdk_errors
from wellkept.policy.context.messages import parse

HOME = "api.openai.com"


class OpenAI:
    """A chat model of OpenAI or of a server with the same interface (DeepSeek, Qwen, Ollama, vLLM, …).

    Args:
        model: the provider's id of the model.
        api_key: else the variable OPENAI_API_KEY, which is only ever sent to OpenAI itself; other servers get
            the key that is passed here, or none.
        base_url: address of another server, such as ``http://localhost:11434/v1``.
        timeout: seconds of silence until a call counts as failed.
        max_retries: tries after the first for 429, 5xx, timeouts and broken connections, with growing pauses.
        client: an ``openai.OpenAI`` of your own, used instead of key and address.
        name: recorded with what the model produced; ``openai:<model>`` by default.

    Raises:
        MissingExtra: the ``openai`` package is not installed.
        InvalidInput: there is no key for OpenAI.
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
        name: str | None = None,
    ) -> None:
        self.name = name or f"openai:{model}"
        self.retry = Retry(max_retries)
        self._model = model
        self._sdk = import_openai("OpenAI models")
        if client is None:
            key = key_for("OPENAI_API_KEY", HOME, base_url, api_key)
            client = self._sdk.OpenAI(api_key=key, base_url=base_url)
        self._client = client.with_options(timeout=timeout, max_retries=0)
        self._at_home = urlsplit(str(client.base_url)).hostname == HOME
        self._takes_schema = True

    def complete(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 1024,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One answer. A server that does not know JSON schemas gets ``schema`` within the system text."""
        request = self._request(system, messages, tools, max_tokens)
        if schema is None:
            return self._complete(request)
        if self._takes_schema:
            try:
                return self._complete({**request, "response_format": _response_format(schema)})
            except Refusal as error:
                if not _refuses_schemas(error):
                    raise
                self._takes_schema = False
        hinted = (
            f"{system}\n\nAnswer with JSON only, after this schema: {json.dumps(schema, ensure_ascii=False)}"
        )
        return self._complete(self._request(hinted.strip(), messages, tools, max_tokens))

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
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        chunks = self.retry.run(lambda: self._create(request))
        gathered = _Gathered()
        try:
            with sdk_errors(self._sdk, self.name), chunks:
                for chunk in chunks:
                    if piece := gathered.add(chunk):
                        yield piece
        except ModelError as error:
            raise ModelError(
                str(error), raw_reply=gathered.text or None, retryable=error.retryable
            ) from error
        if not gathered.stop_reason:
            reason = f"{self.name} stopped in the middle of its answer"
            raise ModelError(reason, raw_reply=gathered.text or None, retryable=True)
        message = gathered.message()
        yield _reply(message, gathered.usage, gathered.model or self._model, gathered.stop_reason)

    def _request(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int,
    ) -> dict[str, Any]:
        head = [{"role": "system", "content": system}] if system else []
        # OpenAI's reasoning models refuse the old name, and many of the other servers ignore the new one.
        limit = "max_completion_tokens" if self._at_home else "max_tokens"
        request: dict[str, Any] = {"model": self._model, "messages": [*head, *messages], limit: max_tokens}
        return {**request, "tools": [_tool(tool) for tool in tools]} if tools else request

    def _complete(self, request: Mapping[str, Any]) -> Reply:
        return self.retry.run(lambda: self._answer(self._create(request)))

    def _create(self, request: Mapping[str, Any]) -> Any:
        with sdk_errors(self._sdk, self.name):
            return self._client.chat.completions.create(**request)

    def _answer(self, completion: Any) -> Reply:
        choices = getattr(completion, "choices", None)
        if not choices or choices[0].message is None:
            raise ModelError(
                f"{self.name} sent a reply without an answer", raw_reply=str(completion), retryable=True
            )
        with sdk_errors(self._sdk, self.name):
            message = choices[0].message.model_dump(mode="json", exclude_unset=True)
            usage = _usage(completion.usage)
            return _reply(message, usage, completion.model or self._model, choices[0].finish_reason or "")


def import_openai(purpose: str) -> ModuleType:
    """The ``openai`` package, or ``MissingExtra`` saying how to get it."""
    try:
        import openai
    except ImportError as error:
        raise MissingExtra("openai", purpose) from error
    return openai


def _refuses_schemas(error: Refusal) -> bool:
    said = error.raw_reply or ""
    return error.status in (400, 422) and ("response_format" in said or "json_schema" in said)


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    answer = {"name": "answer", "schema": schema, "strict": _is_strict(schema)}
    return {"type": "json_schema", "json_schema": answer}


def _is_strict(schema: Any) -> bool:
    """Whether OpenAI's strict mode takes ``schema``: each object lists all it may hold, and requires it."""
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema.get("properties", ())):
            return False
    return all(map(_is_strict, schema.values()))


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """``tool`` in OpenAI's shape; Anthropic's is taken as well."""
    if "input_schema" not in tool:
        return tool
    function = {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parameters": tool["input_schema"],
    }
    return {"type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    return Usage(input_tokens=usage.prompt_tokens or 0, output_tokens=usage.completion_tokens or 0)


def _reply(message: Mapping[str, Any], usage: Usage, model: str, stop_reason: str) -> Reply:
    raw = {key: value for key, value in message.items() if key == "content" or value not in (None, [])}
    try:
        content = parse({"content": None, **raw, "role": "assistant"}, shape="openai").content
    except InvalidInput as error:
        raise ModelError(
            f"{model} sent a message of no known shape: {error}", raw_reply=str(message)
        ) from error
    return Reply(content=content or "", usage=usage, model=model, stop_reason=stop_reason, raw=raw)


@dataclass
class _Gathered:
    """A message put together from the chunks of a stream."""

    text: str = ""
    model: str = ""
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    fields: dict[str, str] = field(default_factory=dict)
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)

    def add(self, chunk: Any) -> str:
        """Take in ``chunk`` and give its new text."""
        self.model = chunk.model or self.model
        if chunk.usage is not None:
            self.usage = _usage(chunk.usage)
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self.stop_reason = choice.finish_reason or self.stop_reason
        delta = choice.delta.model_dump(mode="json", exclude_unset=True)
        for name in ("refusal", "reasoning_content", "reasoning"):
            if delta.get(name):
                self.fields[name] = self.fields.get(name, "") + delta[name]
        for call in delta.get("tool_calls") or ():
            self._add_call(call)
        piece: str = delta.get("content") or ""
        self.text += piece
        return piece

    def _add_call(self, part: Mapping[str, Any]) -> None:
        call = self.calls.setdefault(
            part.get("index", 0), {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        extra = {key: value for key, value in part.items() if key not in ("index", "function") and value}
        call.update(extra)
        function = part.get("function") or {}
        for key in ("name", "arguments"):
            call["function"][key] += function.get(key) or ""

    def message(self) -> dict[str, Any]:
        """The whole message."""
        calls = {"tool_calls": [self.calls[index] for index in sorted(self.calls)]} if self.calls else {}
        return {"role": "assistant", "content": self.text or None, **self.fields, **calls}
