"""wellkept over the network: the HTTP API, the gateway, MCP and the panel in one ASGI app.

``create_app`` makes it from a memory; ``wellkept serve`` runs it. Needs the extra ``server``.
"""

from __future__ import annotations

from wellkept.server.app import create_app
from wellkept.server.settings import Settings

__all__ = ["Settings", "create_app"]
