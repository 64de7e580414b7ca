"""The bundled stand-in for a model: what a newcomer sees of the gateway without a key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anthropic
import openai
import pytest

from tests.service import Running, running
from wellkept.server import Settings
from wellkept.server.fake import MODEL, FakeUpstream


@pytest.fixture
def service() -> Iterator[Running]:
    with FakeUpstream() as fake:
        url = fake.url + "/v1"
        settings = Settings(
            namespace="acme", user="alice", port=0, openai_upstream=url, anthropic_upstream=url
        )
        with running(settings=settings) as service:
            yield service


def test_the_bundled_stand_in_speaks_both_protocols_and_says_what_it_was_given(service: Running) -> None:
    service.memory.user("alice", namespace="acme").profile["user"] = "Likes 恐龙."
    headers = {"X-Wellkept-Session": "s"}
    first = openai.OpenAI(base_url=service.url + "/openai/v1", api_key="k", default_headers=headers)
    second = anthropic.Anthropic(base_url=service.url + "/anthropic", api_key="k", default_headers=headers)
    with first, second:
        assert [model.id for model in first.models.list()] == [MODEL]
        chunks = first.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "你好"}], stream=True
        )
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        done = second.messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "and now?"}]
        )
        with second.messages.stream(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "last"}]
        ) as stream:
            assert "shown 5 messages" in "".join(stream.text_stream)
    assert said.startswith("You said: 你好\n")
    assert "shown 1 messages" in said
    assert " 0 characters" not in said
    assert "shown 3 messages" in done.content[0].text  # type: ignore[union-attr]
    assert service.memory.session(namespace="acme", user="alice", session_id="s").info().events == 6


@pytest.mark.parametrize(
    "body", [b"no JSON", b"[1]", b'{"messages": [{"role": "user"}]}', b'{"messages": 7}']
)
@pytest.mark.parametrize("path", ["/openai/v1/chat/completions", "/anthropic/v1/messages"])
def test_the_stand_in_refuses_what_it_does_not_understand(service: Running, path: str, body: bytes) -> None:
    done = service.client.post(path, content=body, headers={"X-Wellkept-Session": "s"})
    assert done.status_code == 400
    assert done.json()["error"]["type"] == "invalid_request_error"


# ── tools
# ─────────────────────────────────────────────────────────────────────────────────────────────────────

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
HISTORY = list[dict[str, Any]]


class OpenAIChat:
    """A conversation with the SDK of OpenAI."""

    def __init__(self, service: Running, stream: bool, **headers: str) -> None:
        self.client = openai.OpenAI(
            base_url=service.url + "/openai/v1", api_key="k", default_headers=headers, max_retries=0
        )
        self._stream = stream
        self.history: HISTORY = []
        self.tools = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]

    def ask(self, text: str) -> Any:
        return self._send({"role": "user", "content": text}).content

    def call(self, text: str) -> tuple[str, Any]:
        (call,) = self._send({"role": "user", "content": text}).tool_calls
        self._id = call.id
        return call.function.name, json.loads(call.function.arguments)

    def tell(self, result: str) -> Any:
        return self._send({"role": "tool", "tool_call_id": self._id, "content": result}).content

    def _send(self, message: dict[str, Any]) -> Any:
        self.history.append(message)
        given: Any = {"model": "m", "messages": self.history, "tools": self.tools}
        if self._stream:
            with self.client.chat.completions.stream(**given) as stream:
                answer = stream.get_final_completion().choices[0].message
        else:
            answer = self.client.chat.completions.create(**given).choices[0].message
        self.history.append(answer.model_dump(exclude_none=True))
        return answer


class AnthropicChat:
    """A conversation with the SDK of Anthropic."""

    def __init__(self, service: Running, stream: bool, **headers: str) -> None:
        self.client = anthropic.Anthropic(
            base_url=service.url + "/anthropic", api_key="k", default_headers=headers, max_retries=0
        )
        self._stream = stream
        self.history: HISTORY = []

    def ask(self, text: Any) -> Any:
        return self._send(text).content[0].text

    def call(self, text: str) -> tuple[str, Any]:
        (use,) = self._send(text).content
        self._id = use.id
        return use.name, use.input

    def tell(self, result: str) -> Any:
        return self.ask([{"type": "tool_result", "tool_use_id": self._id, "content": result}])

    def _send(self, content: Any) -> Any:
        self.history.append({"role": "user", "content": content})
        tools = [{"name": "weather", "input_schema": PARAMETERS}]
        given: Any = {"model": "m", "max_tokens": 9, "messages": self.history, "tools": tools}
        if self._stream:
            with self.client.messages.stream(**given) as stream:
                answer = stream.get_final_message()
        else:
            answer = self.client.messages.create(**given)
        self.history.append({"role": "assistant", "content": answer.to_dict()["content"]})
        return answer


Chat = OpenAIChat | AnthropicChat


Begin = Callable[..., Chat]


@pytest.fixture(params=[OpenAIChat, AnthropicChat])
def begin(request: pytest.FixtureRequest, service: Running) -> Iterator[Begin]:
    """Begins a conversation in the session s."""
    with ExitStack() as stack:

        def begin(stream: bool = False, **headers: str) -> Chat:
            chat: Chat = request.param(service, stream, **{"X-Wellkept-Session": "s", **headers})
            stack.enter_context(chat.client)
            return chat

        yield begin


@pytest.mark.parametrize("stream", [False, True])
def test_it_uses_memory_when_it_is_asked_to(service: Running, begin: Begin, stream: bool) -> None:
    chat = begin(stream, **{"X-Wellkept-Tools": "1"})
    stored = chat.ask('Please remember:\ncall memory_store {"content": "对花生过敏"}')
    assert stored.startswith('A tool gave: {"ok": true')
    alice = service.memory.user("alice", namespace="acme")
    assert [fact.text for fact in alice.get_all()] == ["对花生过敏"]
    assert "对花生过敏" in chat.ask("call memory_list")
    assert service.memory.session(namespace="acme", user="alice", session_id="s").info().events == 4


@pytest.mark.parametrize("stream", [False, True])
def test_it_calls_the_applications_own_tools(service: Running, begin: Begin, stream: bool) -> None:
    chat = begin(stream)
    assert chat.call('call weather {"city": "柏林"}') == ("weather", {"city": "柏林"})
    assert chat.tell("晴").startswith("A tool gave: 晴\n")
    assert chat.ask("Thanks!").startswith("You said: Thanks!\n")
    assert service.memory.session(namespace="acme", user="alice", session_id="s").info().events == 6


def test_it_calls_nothing_that_was_not_offered(begin: Begin) -> None:
    chat = begin()
    assert chat.ask("call memory_list").startswith("You said: call memory_list\n")
    assert chat.ask("Do not call weather {}").startswith("You said: Do not")
