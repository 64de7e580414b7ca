"""The two providers' interfaces, as far as the gateway must know them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from wellkept.errors import InvalidInput
from wellkept.policy.context.messages import parse, to_anthropic, to_openai
from wellkept.records import Draft, Event
from wellkept.server.answers import Answer, AnthropicAnswer, OpenAIAnswer

Json: TypeAlias = dict[str, Any]
Items: TypeAlias = Sequence[Event | Draft]
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
}


class Provider(ABC):
    """How one provider's requests are read and written. It holds nothing."""

    name: Literal["openai", "anthropic"]
    answer: type[Answer]
    talks: str
    """Where memory has a part: the path of a conversation."""
    goes_on: bool
    """Whether an answer that the caller began leaves the beginning out."""
    other_talks: tuple[str, ...]
    """Paths at which one talks, too, and for which there is no memory."""

    @abstractmethod
    def conversation(self, body: Json) -> list[Json]:
        """The messages of a request that belong to the conversation: all but the application's instructions."""

    @abstractmethod
    def with_context(self, body: Json, system: str, items: Items) -> Json:
        """The request with ``items`` as its conversation, and memory behind the application's instructions."""

    @abstractmethod
    def error(self, status: int, message: str) -> bytes:
        """An error as this provider's clients know it."""

    @abstractmethod
    def with_results(self, body: Json, message: Json, results: Sequence[tuple[str, str]]) -> Json:
        """The request that goes on after ``message`` with the results of its calls, by id."""

    @abstractmethod
    def without_calls(self, body: Json) -> Json:
        """The request with the model kept from calling anything."""

    def with_tools(self, body: Json, tools: Sequence[Json]) -> tuple[Json, frozenset[str]]:
        """The request with ``tools``, and the names of those; the caller's own go before ours of the same name."""
        given = list(body.get("tools") or ())
        taken = {self.tool_name(tool) for tool in given}
        added = [tool for tool in tools if self.tool_name(tool) not in taken]
        return {**body, "tools": [*given, *added]}, frozenset(map(self.tool_name, added))

    def is_other_talk(self, path: str) -> bool:
        """Whether one talks at ``path`` and there is no memory for it: another interface, or the right one at a wrong address."""
        return path.startswith(self.other_talks) or (path != self.talks and path.endswith(self.talks))

    def tool_name(self, tool: Json) -> str:
        """The name of a tool's definition."""
        inner = tool.get("function")
        return str((inner if isinstance(inner, dict) else tool).get("name", ""))

    def drafts(self, body: Json) -> list[Draft]:
        """The conversation as events. Raises InvalidInput when it cannot be read."""
        return [parse(message, shape=self.name) for message in self.conversation(body)]


def _messages(body: Json) -> list[Json]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise InvalidInput("The request has no list of messages.")
    return messages


class OpenAI(Provider):
    """Chat completions."""

    name = "openai"
    answer = OpenAIAnswer
    talks = "/chat/completions"
    goes_on = False
    other_talks = ("/responses", "/completions", "/threads", "/conversations")

    def conversation(self, body: Json) -> list[Json]:
        messages = _messages(body)
        return messages[len(_instructions(messages)) :]

    def with_context(self, body: Json, system: str, items: Items) -> Json:
        head = list(_instructions(_messages(body)))
        if system and head:
            head[-1] = {**head[-1], "content": _joined(head[-1].get("content"), system)}
        elif system:
            head = [{"role": "system", "content": system}]
        return {**body, "messages": [*head, *to_openai(items)]}

    def error(self, status: int, message: str) -> bytes:
        kind = _ERRORS.get(status, "server_error")
        return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}}).encode()

    def with_results(self, body: Json, message: Json, results: Sequence[tuple[str, str]]) -> Json:
        answers = [{"role": "tool", "tool_call_id": id, "content": text} for id, text in results]
        return {**body, "messages": [*body["messages"], message, *answers]}

    def without_calls(self, body: Json) -> Json:
        return {**body, "tool_choice": "none"}


def _instructions(messages: list[Json]) -> list[Json]:
    """The system messages at the beginning; later ones are part of the conversation."""
    count = 0
    while count < len(messages) and messages[count].get("role") in ("system", "developer"):
        count += 1
    return messages[:count]


class Anthropic(Provider):
    """Messages."""

    name = "anthropic"
    answer = AnthropicAnswer
    talks = "/messages"
    goes_on = True
    other_talks = ("/complete", "/messages/batches")

    def conversation(self, body: Json) -> list[Json]:
        return _messages(body)

    def with_context(self, body: Json, system: str, items: Items) -> Json:
        asked = {**body, "messages": _marked(to_anthropic(items)["messages"], _messages(body))}
        if system:
            asked["system"] = _joined(body["system"], system) if body.get("system") else system
        return asked

    def error(self, status: int, message: str) -> bytes:
        kind = _ERRORS.get(status, "api_error")
        return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()

    def with_results(self, body: Json, message: Json, results: Sequence[tuple[str, str]]) -> Json:
        blocks = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results]
        return {**body, "messages": [*body["messages"], message, {"role": "user", "content": blocks}]}

    def without_calls(self, body: Json) -> Json:
        return {**body, "tool_choice": {"type": "none"}}


def _marked(messages: list[Json], given: list[Json]) -> list[Json]:
    """``messages`` with the application's cache marks on what it gave, as far back as both are the same."""
    theirs = [(message["role"], part) for message in given for part in _parts(message)]
    if not any("cache_control" in part for _, part in theirs):
        return messages
    alike, marked = True, []
    for message in reversed(messages):
        parts = []
        for part in reversed(_parts(message)):
            role, same = theirs.pop() if theirs else ("", {})
            alike = alike and role == message["role"] and _said(part) == _said(same)
            parts.append({**part, **_mark(same)} if alike else part)
        marked.append({**message, "content": parts[::-1]})
    return marked[::-1]


def _said(part: Json) -> Json:
    """A part without its mark, and without what an SDK leaves out when it sends an answer back."""
    return {name: value for name, value in part.items() if name != "cache_control" and value is not None}


def _mark(part: Json) -> Json:
    return {name: value for name, value in part.items() if name == "cache_control"}


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _joined(given: Any, system: str) -> Any:
    """``given`` instructions, text or parts, with ``system`` behind them."""
    if isinstance(given, str):
        return f"{given}\n\n{system}"
    if isinstance(given, list):
        return [*given, {"type": "text", "text": system}]
    raise InvalidInput("The system message is neither text nor a list of parts.")


def error_at(path: str, status: int, message: str) -> bytes | None:
    """An error as the clients know it who use the interface at ``path``; None where no provider's stands."""
    providers = (OpenAI(), Anthropic())
    return next((it.error(status, message) for it in providers if path.startswith(f"/{it.name}/")), None)
