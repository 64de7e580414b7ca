"""The gateway's own doors: keys, its upstreams, and the bundled stand-in for a model."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest

from tests.service import Running, running
from tests.upstream import Upstream
from wellkept.server import Settings
from wellkept.server.fake import MODEL, FakeUpstream

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


def test_an_upstream_that_is_not_there_is_a_bad_gateway() -> None:
    settings = Settings(namespace="acme", user="alice", port=0, anthropic_upstream="http://127.0.0.1:9")
    with running(settings=settings) as service:
        client = anthropic.Anthropic(base_url=service.url + "/anthropic", api_key="k", max_retries=0)
        with client, pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    assert caught.value.status_code == 502
    assert caught.value.body["error"]["type"] == "api_error"  # type: ignore[index]


def test_the_bundled_stand_in_speaks_both_protocols_and_says_what_it_was_given() -> None:
    with FakeUpstream() as fake:
        url = fake.url + "/v1"
        settings = Settings(
            namespace="acme", user="alice", port=0, openai_upstream=url, anthropic_upstream=url
        )
        with running(settings=settings) as service:
            service.memory.user("alice", namespace="acme").profile["user"] = "Likes 恐龙."
            headers = {"X-Wellkept-Session": "s"}
            first = openai.OpenAI(base_url=service.url + "/openai/v1", api_key="k", default_headers=headers)
            second = anthropic.Anthropic(
                base_url=service.url + "/anthropic", api_key="k", default_headers=headers
            )
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
def test_the_stand_in_refuses_what_it_does_not_understand(path: str, body: bytes) -> None:
    with FakeUpstream() as fake:
        url = fake.url + "/v1"
        settings = Settings(
            namespace="acme", user="alice", port=0, openai_upstream=url, anthropic_upstream=url
        )
        with running(settings=settings) as service:
            done = service.client.post(path, content=body, headers={"X-Wellkept-Session": "s"})
    assert done.status_code == 400
    assert done.json()["error"]["type"] == "invalid_request_error"
