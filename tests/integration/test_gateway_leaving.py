"""Callers of the gateway that leave before they are answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.service import Running, running
from tests.upstream import Step, Upstream, outwait, say
from wellkept.server import Settings
from wellkept.server.ask import prepare

OPENAI, ANTHROPIC, EMBEDDINGS = (
    "/openai/v1/chat/completions",
    "/anthropic/v1/messages",
    "/openai/v1/embeddings",
)
STORE = say(calls=[("c1", "memory_store", {"content": "Likes tea"})])


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def service(upstream: Upstream) -> Iterator[Running]:
    settings = Settings(
        namespace="acme", user="alice", port=0,
        openai_upstream=upstream.url + "/v1", anthropic_upstream=upstream.url + "/v1",
    )  # fmt: skip
    with running(settings=settings) as service:
        yield service


def leave(service: Running, path: str, **headers: str) -> None:
    """Ask, and go before there is an answer."""
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    with pytest.raises(httpx2.ReadTimeout):
        service.client.post(path, json=body, headers={"X-Wellkept-Session": "s", **headers}, timeout=0.5)


def stored(service: Running) -> list[Any]:
    found = service.memory.user("alice", namespace="acme").sessions()
    return [
        event.content
        for info in found
        for event in service.memory.session(namespace="acme", user="alice", session_id=info.id).get_recent()
    ]


@pytest.mark.parametrize(
    ("path", "headers", "script", "kept"),
    [
        (OPENAI, {}, [outwait], ["hi"]),
        (ANTHROPIC, {}, [outwait], ["hi"]),
        (OPENAI, {"X-Wellkept-Tools": "1"}, [STORE, outwait], ["hi"]),
        (EMBEDDINGS, {}, [outwait], []),
    ],
)
def test_the_upstream_is_left_too_and_the_question_stays(
    service: Running,
    upstream: Upstream,
    path: str,
    headers: dict[str, str],
    script: list[Step],
    kept: list[str],
) -> None:
    upstream.script = list(script)
    leave(service, path, **headers)
    assert upstream.left.wait(10)
    assert stored(service) == kept


def test_nothing_is_asked_for_a_caller_that_left_while_memory_was_read(
    service: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = threading.Event()

    def slowly(*given: Any) -> Any:
        assert gone.wait(10)
        return prepare(*given)

    monkeypatch.setattr("wellkept.server.gateway.prepare", slowly)
    leave(service, OPENAI)
    gone.set()
    while not stored(service):
        time.sleep(0.02)
    service.client.post(EMBEDDINGS, json={})
    assert [request.path for request in upstream.requests] == ["/v1/embeddings"]
