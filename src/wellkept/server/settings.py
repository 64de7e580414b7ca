"""What the service can be told, once, when it starts. Nothing of it can be changed by a request."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

from wellkept.records import Record


@dataclass(frozen=True, kw_only=True)
class Settings(Record):
    """How the service runs.

    Attributes:
        host, port: where it listens; port 0 takes a free one.
        namespace, user: whose memory a request without a key is about, when it names nobody itself.
        openai_upstream, anthropic_upstream: where the gateway forwards to; what stands before
            ``/chat/completions`` and ``/messages``.
        upstream_seconds: longest silence of an upstream.
        memory_seconds: how long a request of the gateway waits for memory before it goes through without, and the end of an
            answer for its being stored.
        max_body: bytes of a request's body at most.
        max_import: bytes of an upload to ``/v1/import`` at most.
        header_seconds: time that a client has for the head of a request.
        body_seconds: time that a client has for a body, beyond a second for each 16 KiB.
        key_seconds: how long a key may still open the door after it was revoked.
        live_seconds: how often live streams look for changes that other processes made.
        drain_seconds: time that running requests and the running job get at shutdown.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    namespace: str | None = None
    user: str | None = None
    openai_upstream: str = "https://api.openai.com/v1"
    anthropic_upstream: str = "https://api.anthropic.com/v1"
    upstream_seconds: float = 600.0
    memory_seconds: float = 5.0
    max_body: int = 32 << 20
    max_import: int = 1 << 30
    header_seconds: float = 10.0
    body_seconds: float = 10.0
    key_seconds: float = 2.0
    live_seconds: float = 1.0
    drain_seconds: float = 10.0

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine and no other."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
