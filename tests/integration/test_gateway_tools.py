"""Memory tools that the gateway runs itself, between the model and the application."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.service import Running, running
from tests.upstream import Upstream, cut_chunks, refuse, say
from wellkept.records import text_of
from wellkept.server import Settings

HEADERS = {"X-Wellkept-Session": "s", "X-Wellkept-Tools": "1"}
PATHS = {"openai": "/openai/v1/chat/completions", "anthropic": "/anthropic/v1/messages"}
STORE = ("c1", "memory_store", {"content": "Allergic to 花生", "labels": ["health"]})
RECALL = ("c2", "memory_recall", {"query": "花生"})
WEATHER = ("c3", "weather", {"city": "Berlin"})


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def service(upstream: Upstream) -> Iterator[Running]:
    url = upstream.url + "/v1"
    settings = Settings(namespace="acme", user="alice", port=0, openai_upstream=url, anthropic_upstream=url)
    with running(settings=settings) as service:
        yield service


@pytest.fixture(params=list(PATHS))
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ask(service: Running, shape: str, **more: Any) -> Any:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], **more}
    return service.client.post(PATHS[shape], json=body, headers=HEADERS)


def offered(asked: dict[str, Any]) -> list[str]:
    return [tool.get("function", tool)["name"] for tool in asked["tools"]]


def results(asked: dict[str, Any]) -> list[Any]:
    """What the last round of tools gave."""
    last = asked["messages"][-1]
    texts = [part["content"] for part in last["content"]] if isinstance(last["content"], list) else []
    if not texts:
        texts = [message["content"] for message in asked["messages"] if message["role"] == "tool"]
    return [json.loads(text) for text in texts]


@pytest.mark.parametrize("stream", [False, True])
def test_the_model_stores_and_recalls_and_the_caller_sees_the_last_answer(
    service: Running, upstream: Upstream, shape: str, stream: bool
) -> None:
    upstream.script = [say(calls=[STORE]), say(calls=[RECALL]), say("Noted, 花生."), say("Noted, 花生.")]
    through = ask(service, shape, stream=stream)
    assert [fact.text for fact in service.memory.user("alice", namespace="acme").get_all()] == [
        "Allergic to 花生"
    ]
    assert results(upstream.requests[2].body)[-1]["items"][0]["memory"] == "Allergic to 花生"
    direct = service.client.post(
        upstream.url + "/v1" + PATHS[shape].split("/v1")[1], json={"stream": stream, "messages": []}
    )
    assert through.content == direct.content
    chat = service.memory.session(namespace="acme", user="alice", session_id="s")
    asked, answered = chat.get_recent()
    assert (asked.role, text_of(answered.content)) == ("user", "Noted, 花生.")
    used = answered.metadata["gateway"]["memory_tools"]
    assert [call["name"] for call in used] == ["memory_store", "memory_recall"]


def test_the_applications_tools_stay_and_wait_while_memory_is_asked(
    service: Running, upstream: Upstream, shape: str
) -> None:
    own = {"name": "weather", "parameters": {"type": "object"}}
    mine = {"type": "function", "function": own}
    if shape == "anthropic":
        mine = {"name": "weather", "input_schema": {"type": "object"}}
    upstream.script = [say(calls=[RECALL, WEATHER]), say(calls=[WEATHER])]
    got = ask(service, shape, tools=[mine])
    assert offered(upstream.requests[0].body)[0] == "weather"
    assert "memory_store" in offered(upstream.requests[0].body)
    recalled, waits = results(upstream.requests[1].body)
    assert recalled["ok"]
    assert waits["error"] == "not_run"
    assert "weather" in got.text
    assert "memory_recall" not in got.text


def test_a_tool_of_the_application_with_our_name_is_the_applications(
    service: Running, upstream: Upstream
) -> None:
    mine = {"type": "function", "function": {"name": "memory_recall", "parameters": {"type": "object"}}}
    upstream.script = [say(calls=[RECALL])]
    got = ask(service, "openai", tools=[mine])
    assert offered(upstream.requests[0].body).count("memory_recall") == 1
    assert got.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "memory_recall"


def test_a_model_that_never_stops_calling_is_made_to_answer(
    service: Running, upstream: Upstream, shape: str
) -> None:
    upstream.script = [say(calls=[RECALL]) for _ in range(5)] + [say("enough")]
    assert "enough" in ask(service, shape).text
    assert len(upstream.requests) == 6
    assert "none" in str(upstream.requests[-1].body["tool_choice"])


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_cannot_be_kept_from_calling_is_asked_without_memory_tools(
    service: Running, upstream: Upstream, shape: str, stream: bool
) -> None:
    """Many servers of local models do not know ``tool_choice``."""
    upstream.script = [*[say("let me see", calls=[RECALL, WEATHER])] * 6, say("enough")]
    own = {"name": "weather", "parameters": {}, "input_schema": {}}
    mine = own if shape == "anthropic" else {"type": "function", "function": own}
    got = ask(service, shape, tools=[mine], stream=stream, tool_choice="mine")
    assert len(upstream.requests) == 7
    last = upstream.requests[-1].body
    assert (offered(last), last["tool_choice"]) == (["weather"], "mine")
    assert "memory_recall" not in str(last["messages"])
    assert "memory_recall" not in got.text
    answered = service.memory.session(namespace="acme", user="alice", session_id="s").get_recent()[-1]
    assert text_of(answered.content) == "enough"
    assert len(answered.metadata["gateway"]["memory_tools"]) == 5


@pytest.mark.parametrize("stream", [False, True])
def test_a_memory_call_that_was_cut_off_is_not_run_and_not_the_callers(
    service: Running, upstream: Upstream, shape: str, stream: bool
) -> None:
    upstream.script = [say(calls=[STORE], cut_short=True), say("Noted.")]
    got = ask(service, shape, stream=stream)
    assert "memory_store" not in got.text
    assert not list(service.memory.user("alice", namespace="acme").get_all())
    assert "tools" not in upstream.requests[1].body
    answered = service.memory.session(namespace="acme", user="alice", session_id="s").get_recent()[-1]
    assert text_of(answered.content) == "Noted."


def test_what_the_model_did_wrong_is_told_to_it(service: Running, upstream: Upstream, shape: str) -> None:
    upstream.script = [say(calls=[("c1", "memory_forget", {"memory_id": "nope"})]), say("sorry")]
    assert "sorry" in ask(service, shape).text
    assert results(upstream.requests[1].body)[0]["ok"] is False


def test_an_error_of_the_upstream_in_the_midst_is_the_callers(
    service: Running, upstream: Upstream, shape: str
) -> None:
    upstream.script = [say(calls=[RECALL]), refuse(429, {"retry-after": "3"})]
    got = ask(service, shape)
    assert (got.status_code, got.headers["retry-after"]) == (429, "3")


def test_tools_and_read_only_exclude_each_other(service: Running, upstream: Upstream, shape: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    got = service.client.post(PATHS[shape], json=body, headers={**HEADERS, "X-Wellkept-Mode": "read-only"})
    assert got.status_code == 422
    assert upstream.requests == []


def test_an_answer_that_is_cut_is_cut_for_the_caller_and_kept_as_far_as_it_came(
    service: Running, upstream: Upstream, shape: str
) -> None:
    upstream.script = [cut_chunks("half of it")]
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(service, shape, stream=True)
    chat = service.memory.session(namespace="acme", user="alice", session_id="s")
    deadline = time.monotonic() + 10
    while len(chat.get_recent()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert text_of(chat.get_recent()[-1].content) == "half "
