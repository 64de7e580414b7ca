"""Spans for OpenTelemetry: one a request, with those of memory and the upstream inside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.service import running
from tests.upstream import Upstream
from wellkept import MissingExtra
from wellkept.server import Settings, spans

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_a_chat_is_one_trace_with_its_parts(exported: InMemorySpanExporter) -> None:
    with Upstream() as upstream:
        settings = Settings(namespace="acme", user="alice", port=0, openai_upstream=upstream.url)
        with running(settings=settings) as service:
            body = {"model": "m", "messages": [{"role": "user", "content": "my secret"}]}
            headers = {"X-Wellkept-Session": "s", "traceparent": CALLER}
            service.client.post("/openai/v1/chat/completions", json=body, headers=headers)
        sent = upstream.requests[0].headers["traceparent"]
    # Some releases of FastAPI have spans of their own.
    spans_ = [span for span in exported.get_finished_spans() if not span.name.startswith("fastapi")]
    found = {span.name: span for span in spans_}
    root = found["POST /openai/v1/chat/completions"]
    assert set(found) == {root.name, "wellkept.context", "wellkept.upstream", "wellkept.record"}
    assert {f"{span.context.trace_id:032x}" for span in found.values()} == {CALLER.split("-")[1]}
    assert root.parent is not None
    assert f"{root.parent.span_id:016x}" == CALLER.split("-")[2]
    assert root.attributes["http.response.status_code"] == 200
    assert sent.split("-")[2] == f"{found['wellkept.upstream'].context.span_id:016x}"
    assert "my secret" not in str([span.to_json() for span in found.values()])
    assert "alice" not in str([span.to_json() for span in found.values()])


def test_a_collector_without_the_extra_is_an_error_and_not_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    from typing import Any

    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("opentelemetry.exporter"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setenv(spans.ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtra, match=r"wellkept\[otel\]"):
        spans.export()
