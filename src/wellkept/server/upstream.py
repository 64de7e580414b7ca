"""Talking to a provider: where it is, and what goes through."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from wellkept.apikeys import PREFIX
from wellkept.errors import InvalidInput
from wellkept.server.reply import Reply
from wellkept.server.settings import Settings
from wellkept.server.spans import Spans

if TYPE_CHECKING:
    from wellkept.server.client import Client

# The client is loaded later; that it is not there must be known at once.
if find_spec("aiohttp") is None:
    raise ImportError("No module named 'aiohttp'")

Pairs = list[tuple[bytes, bytes]]
# Of a connection, not of a message (RFC 9110 §7.6.1); and what is made anew on the way.
_HOP = frozenset(
    (b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
     b"trailer", b"transfer-encoding", b"upgrade", b"host", b"content-length", b"accept-encoding", b"date", b"server",
     b"expect", b"cookie")
)  # fmt: skip
_OURS = b"x-wellkept-"
_LOGINS = frozenset((b"authorization", b"x-api-key", b"api-key"))


@dataclass(frozen=True)
class _Address:
    """Where a provider is.

    Attributes:
        url: what stands before its paths.
        proxy: what the environment says it is reached through.
        has_login: whether the URL says who asks, so that no caller does.
    """

    url: str
    proxy: str | None
    has_login: bool

    @classmethod
    def of(cls, url: str) -> _Address:
        parts = urlsplit(url)
        login, _, host = parts.netloc.rpartition("@")
        known = getproxies()
        proxy = known.get(parts.scheme) or known.get("all")
        if proxy is not None and proxy_bypass(host):
            proxy = None
        if proxy is not None and "://" not in proxy:
            proxy = f"http://{proxy}"
        return cls(url.rstrip("/"), proxy, bool(login))


class Upstreams:
    """Sends requests on, to the configured addresses and to no others."""

    def __init__(self, settings: Settings, spans: Spans) -> None:
        self._seconds = settings.upstream_seconds
        self._spans = spans
        self._addresses = {
            "openai": _Address.of(settings.openai_upstream),
            "anthropic": _Address.of(settings.anthropic_upstream),
        }

    @cached_property
    def _client(self) -> Client:
        from wellkept.server.client import Client

        return Client(self._seconds)

    async def load(self) -> None:
        """Load the client beside what else goes on, for the first request not to wait for it."""
        await asyncio.to_thread(import_module, "wellkept.server.client")

    async def send(
        self,
        provider: str,
        method: str,
        path: str,
        query: str,
        headers: Iterable[tuple[bytes, bytes]],
        body: bytes,
    ) -> Reply:
        """The reply, its body not read yet; the caller closes it. Raises UpstreamFailed."""
        to = self._addresses[provider]
        url = f"{to.url}{path}?{query}" if query else to.url + path
        through = [pair for pair in forwarded(headers) if not _is_our_key(*pair)]
        sent = [*_texts(through), ("accept-encoding", "identity")]
        if to.has_login:
            sent = [(name, value) for name, value in sent if name != "authorization"]
        trace: dict[str, str] = {}
        self._spans.inject(trace)
        if trace:
            sent = [*((name, value) for name, value in sent if name not in trace), *trace.items()]
        return await self._client.send(method, url, sent, body, to.proxy)

    async def close(self) -> None:
        """Close all connections, if there are any."""
        if "_client" in self.__dict__:
            await self._client.close()


def forwarded(headers: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """The headers that go through in both directions, of which the names are in lower case."""
    return [pair for pair in headers if pair[0] not in _HOP and not pair[0].startswith(_OURS)]


def _is_our_key(name: bytes, value: bytes) -> bool:
    """Whether a header holds a key of this service, where a caller took it for the provider's."""
    return name in _LOGINS and any(word.startswith(PREFIX.encode()) for word in value.split())


def _texts(headers: Pairs) -> list[tuple[str, str]]:
    """Headers as the client wants them. Raises InvalidInput for what it would send in other bytes."""
    try:
        return [(name.decode(), value.decode()) for name, value in headers]
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "A header holds bytes that are no UTF-8. Send it in UTF-8, or percent-encoded."
        ) from error
