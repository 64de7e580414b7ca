"""What the gateway does with paths that are no conversation, and with addresses that a newcomer gets wrong."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest

from tests.service import Running, running
from tests.upstream import Handler, Upstream
from wellkept.server import Settings

SESSION = {"X-Wellkept-Session": "trip"}


def vectors(handler: Handler) -> None:
    handler.send_json(200, {"object": "list", "model": "e", "data": [{"index": 0, "embedding": [0.5]}]})


def counted(handler: Handler) -> None:
    handler.send_json(200, {"input_tokens": 7})


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def service(upstream: Upstream) -> Iterator[Running]:
    url = upstream.url + "/v1"
    settings = Settings(namespace="acme", user="alice", port=0, openai_upstream=url, anthropic_upstream=url)
    with running(settings=settings) as service:
        yield service


def openai_at(base: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=base, api_key="their-key", max_retries=0, default_headers=SESSION)


def test_what_else_an_application_asks_goes_through_as_it_is(service: Running, upstream: Upstream) -> None:
    upstream.script = [vectors, counted]
    with openai_at(service.url + "/openai/v1") as client:
        found = client.embeddings.create(model="e", input="恐龙", encoding_format="float")
    asking = anthropic.Anthropic(
        base_url=service.url + "/anthropic", api_key="k", max_retries=0, default_headers=SESSION
    )
    with asking:
        count = asking.messages.count_tokens(model="m", messages=[{"role": "user", "content": "hi"}])
    assert found.data[0].embedding == [0.5]
    assert count.input_tokens == 7
    assert [request.path for request in upstream.requests] == ["/v1/embeddings", "/v1/messages/count_tokens"]
    assert upstream.requests[0].body == {"model": "e", "input": "恐龙", "encoding_format": "float"}
    assert upstream.requests[0].headers["authorization"] == "Bearer their-key"
    assert service.memory.user("alice", namespace="acme").sessions() == []


def test_the_answer_says_where_memory_had_no_part(service: Running, upstream: Upstream) -> None:
    with_session = service.client.post("/openai/v1/embeddings?a=1", json={}, headers=SESSION)
    assert with_session.headers["x-wellkept-memory"] == "none"
    without = service.client.post("/openai/v1/models/org%2Fname", json={})
    assert "x-wellkept-memory" not in without.headers
    assert [request.path for request in upstream.requests] == ["/v1/embeddings?a=1", "/v1/models/org%2Fname"]


def test_a_conversation_that_memory_cannot_join_is_no_silent_one_without(
    service: Running, upstream: Upstream
) -> None:
    with openai_at(service.url + "/openai/v1") as client:
        with pytest.raises(openai.NotFoundError, match="/chat/completions"):
            client.responses.create(model="m", input="hi")
        assert upstream.requests == []
        service.client.post("/openai/v1/responses", json={"model": "m", "input": "hi"})
    assert upstream.requests[0].path == "/v1/responses"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("/openai/v1/chat/completions/", "/v1/chat/completions"),
        ("/openai/v1//chat//completions", "/v1/chat/completions"),
        ("/openai/v1/chat%2Fcompletions/?a=/1/", "/v1/chat/completions?a=/1/"),
        ("/anthropic/v1/messages/", "/v1/messages"),
        ("/anthropic/v1//messages", "/v1/messages"),
    ],
)
def test_a_slash_too_many_costs_no_memory(
    service: Running, upstream: Upstream, written: str, meant: str
) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    done = service.client.post(written, json=asked, headers=SESSION)
    assert done.headers["x-wellkept-session"] == "trip"
    assert service.memory.session(namespace="acme", user="alice", session_id="trip").info().events == 2
    service.client.post(written, json=asked)
    assert [request.path for request in upstream.requests] == [meant, meant]


@pytest.mark.parametrize(
    "path",
    [
        "/openai/v1/v1/chat/completions",
        "/openai/v1/deployments/gpt/chat/completions/",
        "/openai/v1//responses/",
        "/anthropic/v1/v1/messages",
        "/anthropic/v1//messages//batches",
    ],
)
def test_a_conversation_at_a_wrong_path_is_no_silent_one_without(
    service: Running, upstream: Upstream, path: str
) -> None:
    refused = service.client.post(path, json={"model": "m", "messages": []}, headers=SESSION)
    assert refused.status_code == 404
    assert "There is memory for" in refused.json()["error"]["message"]
    assert upstream.requests == []
    service.client.post(path, json={"model": "m", "messages": []})
    assert upstream.requests[0].path == path.removeprefix("/openai").removeprefix("/anthropic")


@pytest.mark.parametrize("base", ["", "/v1", "/openai", "/openai/", "/openai//v1"])
def test_a_wrong_base_url_is_told_the_right_one(service: Running, base: str) -> None:
    with openai_at(service.url + base) as client, pytest.raises(openai.NotFoundError, match="/openai/v1"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


@pytest.mark.parametrize(
    "path", ["/openai/v1/..%2Fadmin", "/openai/v1/%2e%2e/admin", "/openai/v1/a%5C..%5Cb"]
)
def test_no_path_leads_out_of_the_upstreams_address(service: Running, upstream: Upstream, path: str) -> None:
    assert service.client.post(path, json={}).status_code == 404
    assert upstream.requests == []


def test_a_key_is_needed_there_too(service: Running, upstream: Upstream) -> None:
    _, secret = service.memory.keys.create(namespace="acme", role="writer")
    assert service.client.post("/openai/v1/embeddings", json={}).status_code == 401
    assert upstream.requests == []
    headers = {"X-Wellkept-Key": secret}
    assert service.client.post("/openai/v1/embeddings", json={}, headers=headers).status_code == 200
