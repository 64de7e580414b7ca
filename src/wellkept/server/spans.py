"""Spans for OpenTelemetry: one a request, and inside it what memory and the upstream took. The extra ``otel`` has them;
without it, or when nobody collects them, they cost nothing. No span holds anything that a user said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wellkept.errors import MissingExtra
from wellkept.server.metrics import route_of

try:
    from opentelemetry import propagate, trace
except ImportError:
    trace = None  # type: ignore[assignment]

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
NAME = "wellkept"


class Spans:
    """Makes the spans of one service, if anybody had set up a collection of them when it was made; else each would be made
    for nothing.

    Attributes:
        on: whether spans are made.
    """

    def __init__(self) -> None:
        self.on = trace is not None and not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)

    @contextmanager
    def span(self, name: str, **attributes: Any) -> Iterator[None]:
        """A span around a block, inside the one of the request."""
        if not self.on:
            yield
            return
        with trace.get_tracer(NAME).start_as_current_span(name, attributes=attributes):
            yield

    def inject(self, headers: MutableMapping[str, str]) -> None:
        """Let the other side of a request hang its spans under the current one."""
        if self.on:
            propagate.inject(headers)


class Traced:
    """An ASGI middleware: a span for each request, under that of the caller where it names one. For a service whose spans
    are on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = propagate.extract(dict(Headers(scope=scope)))
        attributes = {"http.request.method": scope["method"]}
        with trace.get_tracer(NAME).start_as_current_span(
            scope["method"], context=caller, kind=trace.SpanKind.SERVER, attributes=attributes
        ) as current:

            async def seen(message: Message) -> None:
                if message["type"] == "http.response.start":
                    current.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self._app(scope, receive, seen)
            finally:
                current.set_attribute("http.route", route_of(scope))
                current.update_name(f"{scope['method']} {route_of(scope)}")


def export() -> None:
    """Send spans to the collector that ``OTEL_EXPORTER_OTLP_ENDPOINT`` names, if it names one.

    Raises MissingExtra when it does and the extra ``otel`` is not installed.
    """
    if ENDPOINT not in os.environ:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra("otel", f"{ENDPOINT} is set, and sending spans") from error
    provider = TracerProvider(resource=Resource.create({"service.name": NAME}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
