"""MCP over stdin and stdout: one user's memory for a host that starts this process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from wellkept.aio import AsyncMemory
from wellkept.records import Scope
from wellkept.server.mcp import server_of
from wellkept.server.mcp_tools import Admitted


async def serve_stdio(memory: AsyncMemory, scope: Scope, *, may_write: bool) -> None:
    """Serve one user's memory over stdin and stdout until the client closes them."""
    admitted = Admitted(scope, may_write)

    async def admit(_: Any) -> Admitted:
        return admitted

    server = server_of(memory, admit)
    into, sound = anyio.create_memory_object_stream[SessionMessage | Exception]()
    async with stdio_server() as (read, write):
        sorting = asyncio.create_task(_sort(read, into, write))
        await server.run(sound, write, server.create_initialization_options())
        await sorting


async def _sort(
    read: ObjectReceiveStream[SessionMessage | Exception],
    into: ObjectSendStream[SessionMessage | Exception],
    write: ObjectSendStream[SessionMessage],
) -> None:
    """Hand on what is a message, and answer what is none: the SDK would let its sender wait."""
    async with into:
        async for item in read:
            if isinstance(item, SessionMessage):
                await into.send(item)
            else:
                await write.send(SessionMessage(_refusal(item)))


def _refusal(error: Exception) -> types.JSONRPCError:
    """The answer to a line that pydantic refused with ``error``; to its request, where that can be made out."""
    line = error.errors()[0]["input"] if hasattr(error, "errors") else ""
    try:
        asked = json.loads(line) if isinstance(line, str) else line
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        said = types.ErrorData(
            code=types.PARSE_ERROR, message="This line is no JSON object. Send one a line."
        )
        return types.JSONRPCError(jsonrpc="2.0", id=None, error=said)
    id = asked.get("id")
    said = types.ErrorData(
        code=types.INVALID_REQUEST,
        message="This is no JSON-RPC 2.0 request, or its text holds half a character (a lone surrogate).",
    )
    return types.JSONRPCError(jsonrpc="2.0", id=id if type(id) in (int, str) else None, error=said)
