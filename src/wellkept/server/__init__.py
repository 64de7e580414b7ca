"""wellkept over the network: the HTTP API, the gateway, MCP and the panel in one ASGI app.

``create_app`` makes it from a memory; ``wellkept serve`` runs it. Needs the extra ``server``, and ``mcp`` for MCP.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wellkept.server.app import create_app
    from wellkept.server.settings import Settings

__all__ = ["Settings", "create_app"]


def __getattr__(name: str) -> Any:
    """The public names, loaded when they are asked for: the MCP server on stdio needs no web framework."""
    places = {"create_app": "wellkept.server.app", "Settings": "wellkept.server.settings"}
    if name not in places:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(places[name]), name)
