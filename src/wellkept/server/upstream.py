"""Talking to a provider: headers that go through, and a connection pool that is made when it is first needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import httpx2

from wellkept.server.settings import Settings
from wellkept.server.spans import Spans

CONNECT_SECONDS = 10.0
# Of a connection, not of a message (RFC 9110 §7.6.1); and what is made anew on the way.
_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade", "host", "content-length", "accept-encoding", "date", "server", "expect",
     "cookie")
)  # fmt: skip
_OURS = "x-wellkept-"


class Upstreams:
    """Sends requests on, to the configured addresses and to no others."""

    def __init__(self, settings: Settings, spans: Spans) -> None:
        self._settings = settings
        self._spans = spans
        self._addresses = {"openai": settings.openai_upstream, "anthropic": settings.anthropic_upstream}

    @cached_property
    def _client(self) -> httpx2.AsyncClient:
        seconds = self._settings.upstream_seconds
        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(seconds, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=False,
        )

    async def send(
        self, provider: str, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
    ) -> httpx2.Response:
        """The response, its body not read yet; the caller closes it. Raises httpx2.TransportError."""
        url = httpx2.URL(self._addresses[provider].rstrip("/") + path, query=query.encode() or None)
        request = self._client.build_request(
            method, url, headers=[*forwarded(headers.items()), ("accept-encoding", "identity")], content=body
        )
        # The client's own name would stand where the caller's is missing.
        if "user-agent" not in headers:
            del request.headers["user-agent"]
        self._spans.inject(request.headers)
        return await self._client.send(request, stream=True)

    async def close(self) -> None:
        """Close the pool, if there is one."""
        if "_client" in self.__dict__:
            await self._client.aclose()


def forwarded(headers: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The headers that go through in both directions."""
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in _HOP and not name.lower().startswith(_OURS)
    ]
