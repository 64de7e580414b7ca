"""``wellkept mcp``."""

from __future__ import annotations

import asyncio

import click

from wellkept.aio import AsyncMemory
from wellkept.cli.target import Target, target_options
from wellkept.errors import MissingExtra
from wellkept.memory import Memory
from wellkept.records import Scope


@click.command("mcp")
@target_options
@click.option("--read-only", is_flag=True, help="Offer only the tools that change nothing.")
def mcp_command(target: Target, read_only: bool) -> None:
    """Offer the memory of one user to a model's host: an MCP server over stdin and stdout.

    Whose memory it is stands in the command line; no tool has an argument for it. `wellkept serve` offers the same at
    /mcp over HTTP.
    """
    try:
        from wellkept.server.mcp_stdio import serve_stdio
    except ImportError as error:
        raise MissingExtra("mcp", "The MCP server") from error
    with Memory(target.location(), worker=False) as memory:
        scope = (
            Scope(target.namespace, target.user) if target.namespace and target.user else target.scope(memory)
        )

    async def serve() -> None:
        async with AsyncMemory(target.location()) as opened:
            await serve_stdio(opened, scope, may_write=not read_only)

    asyncio.run(serve())
