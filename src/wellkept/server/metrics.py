"""What the service counts, for Prometheus. No label holds anything of a user."""

from __future__ import annotations

import time
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATES = ("ready", "running", "done", "failed", "cancelled")
BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "wellkept_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "wellkept_request_seconds", "Time to the end of the response.", ("method", "route"),
            buckets=BUCKETS, registry=self.registry,
        )  # fmt: skip
        self.gateway = Counter(
            "wellkept_gateway_answers", "Answers of upstreams, by what became of them.", ("provider", "outcome"),
            registry=self.registry,
        )  # fmt: skip
        self.memory_errors = Counter(
            "wellkept_gateway_memory_errors", "Requests that went through without memory.", ("provider", "error"),
            registry=self.registry,
        )  # fmt: skip
        self.jobs = Gauge("wellkept_jobs", "Jobs in the store.", ("state",), registry=self.registry)

    def answered(self, method: str, route: str, status: str, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(method, route, status).inc()
        self.seconds.labels(method, route).observe(seconds)

    def text(self, jobs: Mapping[str, int]) -> bytes:
        """All of it in Prometheus' text format; ``jobs`` by state as they are now."""
        for state in STATES:
            self.jobs.labels(state).set(jobs.get(state, 0))
        return generate_latest(self.registry)


class Measured:
    """An ASGI middleware that counts requests by route."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), "500"

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.answered(method, route_of(scope), status, time.perf_counter() - start)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def route_of(scope: Scope) -> str:
    """The path as it was declared, without anybody's ids; "none" when no route took the request."""
    return str(getattr(scope.get("route"), "path", "none"))
