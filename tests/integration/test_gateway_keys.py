"""The gateway's own doors: keys and its upstreams."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest

from tests.service import Running, running
from tests.upstream import Upstream
from wellkept.server import Settings

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def service(upstream: Upstream) -> Iterator[Running]:
    settings = Settings(namespace="acme", user="alice", port=0, key_seconds=0.0, openai_upstream=upstream.url)
    with running(settings=settings) as service:
        yield service


def test_keys_bind_namespace_user_and_role(service: Running, upstream: Upstream) -> None:
    keys = service.memory.keys
    key, writer = keys.create(namespace="acme", user="alice")
    _, reader = keys.create(namespace="acme", user="alice", role="reader")

    def ask(**headers: str) -> int:
        sent = {"X-Wellkept-Session": "s", **{f"X-Wellkept-{name}": value for name, value in headers.items()}}
        return service.client.post("/openai/v1/chat/completions", json=BODY, headers=sent).status_code

    assert ask() == 401
    assert ask(key=writer) == 200
    assert ask(key=reader) == 403
    assert ask(key=reader, mode="read-only") == 200
    assert ask(key=writer, user="bob") == 404
    assert ask(key=writer, namespace="umbrella") == 404
    keys.revoke(key.id)
    assert ask(key=writer) == 401
    assert len(upstream.requests) == 2


def test_the_callers_own_key_goes_to_the_upstream_and_ours_does_not(
    service: Running, upstream: Upstream
) -> None:
    _, secret = service.memory.keys.create(namespace="acme", user="alice")
    ours = {"X-Wellkept-Key": secret, "X-Wellkept-Session": "s", "Cookie": f"wellkept_key={secret}"}
    client = openai.OpenAI(base_url=service.url + "/openai/v1", api_key="their-key", default_headers=ours)
    with client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    headers = {name.lower(): value for name, value in upstream.requests[0].headers.items()}
    assert headers["authorization"] == "Bearer their-key"
    assert secret not in str(headers)
    assert not [name for name in headers if name.startswith("x-wellkept")]


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key"])
def test_our_key_in_the_providers_place_is_not_passed_on(
    service: Running, upstream: Upstream, name: str
) -> None:
    _, secret = service.memory.keys.create(namespace="acme", user="alice")
    sent = {name: f"Bearer {secret}" if name == "Authorization" else secret, "X-Wellkept-Session": "s"}
    refused = service.client.post("/openai/v1/chat/completions", json=BODY, headers=sent)
    assert refused.status_code == 401
    assert "X-Wellkept-Key" in refused.json()["error"]["message"]
    taken = {**sent, "X-Wellkept-Key": secret}
    assert service.client.post("/openai/v1/chat/completions", json=BODY, headers=taken).status_code == 200
    assert secret not in str(upstream.requests[0].headers)


def test_an_upstream_that_is_not_there_is_a_bad_gateway() -> None:
    settings = Settings(namespace="acme", user="alice", port=0, anthropic_upstream="http://127.0.0.1:9")
    with running(settings=settings) as service:
        client = anthropic.Anthropic(base_url=service.url + "/anthropic", api_key="k", max_retries=0)
        with client, pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    assert caught.value.status_code == 502
    assert caught.value.body["error"]["type"] == "api_error"  # type: ignore[index]
