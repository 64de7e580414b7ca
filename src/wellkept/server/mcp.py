"""The memory of one user over MCP, on the official SDK; ``mcp_stdio`` and ``mcp_http`` bring it to clients.

Whose memory it is comes from the command line or from the key, and never from an argument of a tool.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

import wellkept
from wellkept.aio import AsyncMemory
from wellkept.server.mcp_tools import CONTEXT, CONTEXT_SCHEMA, READING, Admitted, call
from wellkept.tools import definitions

INSTRUCTIONS = """What is remembered about one user, across conversations. Take memory_context at the beginning of a
conversation, and memory_recall before you say what is remembered. Store what the user wants kept."""
_TITLES = {
    "memory_store": "Remember a fact",
    "memory_recall": "Look up what is remembered",
    "memory_list": "List what is remembered",
    "memory_update": "Correct a remembered fact",
    "memory_forget": "Stop remembering a fact",
    CONTEXT: "Take the context of a conversation",
}
Admit = Callable[[Any], Awaitable[Admitted]]
"""Tells who is admitted by an HTTP request (None over stdio). Raises a problem for those who are not."""


def server_of(memory: AsyncMemory, admit: Admit) -> Server[Any]:
    """The MCP server over ``memory``."""

    async def list_tools(context: Any, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        admitted = await admit(context.request)
        return types.ListToolsResult(tools=[it for it in tools() if admitted.may_write or it.name in READING])

    async def call_tool(context: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        admitted = await admit(context.request)
        text = await memory.run(lambda opened: call(opened, admitted, asked.name, asked.arguments or {}))
        data = json.loads(text)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, structured_content=data, is_error=not data["ok"])

    return Server(
        "wellkept",
        version=wellkept.__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tools() -> list[types.Tool]:
    """The tools: those that a model gets from the library, and one for a whole context."""
    known = [(it["name"], it["description"], it["input_schema"]) for it in definitions("anthropic")]
    described = (
        "What a model should know of the user now: profile, facts, summary and newest messages, as text."
    )
    return [_tool(*each) for each in [*known, (CONTEXT, described, CONTEXT_SCHEMA)]]


def _tool(name: str, description: str, schema: dict[str, Any]) -> types.Tool:
    annotations = types.ToolAnnotations(
        title=_TITLES[name],
        read_only_hint=name in READING,
        destructive_hint=name in ("memory_update", "memory_forget"),
        idempotent_hint=name != "memory_store",
        open_world_hint=False,
    )
    return types.Tool(
        name=name, title=_TITLES[name], description=description, input_schema=schema, annotations=annotations
    )
