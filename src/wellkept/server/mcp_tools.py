"""What MCP clients may do with one user's memory: the tools and their calls, in plain data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from wellkept.errors import WellkeptError
from wellkept.memory import Memory
from wellkept.records import Scope
from wellkept.tools import TOOLS

CONTEXT = "memory_context"
READING = frozenset({"memory_recall", "memory_list", CONTEXT})
CONTEXT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What the user asks now, to recall what belongs to it."},
        "session_id": {"type": "string", "description": "A conversation; the latest one if not given."},
        "budget": {"type": "integer", "minimum": 100, "maximum": 100_000, "description": "Tokens at most."},
    },
    "required": [],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Admitted:
    """Whose memory a client has, and whether it may change it."""

    scope: Scope
    may_write: bool


def call(memory: Memory, admitted: Admitted, name: str, arguments: dict[str, Any]) -> str:
    """The result of a tool as JSON text: ``{"ok": true, …}``, or what was wrong with the call."""
    offered = [each for each in (*TOOLS, CONTEXT) if admitted.may_write or each in READING]
    if name not in (*TOOLS, CONTEXT):
        return _refused("unknown_tool", f"There is no tool {name!r}.", available_tools=offered)
    if name not in offered:
        return _refused("forbidden", f"{name} changes memory, and this client may only read it.")
    if name != CONTEXT:
        scope = admitted.scope
        user = memory.user(scope.user, namespace=scope.namespace)
        return user.call_tool(name, arguments, counting=admitted.may_write)
    try:
        return json.dumps({"ok": True, **_context(memory, admitted.scope, **arguments)}, ensure_ascii=False)
    except TypeError:
        return _refused("invalid_argument", "memory_context takes query, session_id and budget.")
    except WellkeptError as error:
        return _refused(_code(error), str(error))


def _refused(code: str, message: str, **more: Any) -> str:
    return json.dumps({"ok": False, "error": code, "message": message, **more}, ensure_ascii=False)


def _context(
    memory: Memory,
    scope: Scope,
    query: str | None = None,
    session_id: str | None = None,
    budget: int | None = None,
) -> dict[str, Any]:
    """The context of a conversation as text; without any conversation, the facts alone."""
    reader = memory.read_only()
    user = reader.user(scope.user, namespace=scope.namespace)
    if session_id is None:
        latest = user.sessions(limit=1)
        if not latest:
            return {"session_id": None, "text": user.memory_md()}
        session_id = latest[0].id
    session = reader.session(namespace=scope.namespace, user=scope.user, session_id=session_id)
    context = session.get_context(query, budget)
    return {"session_id": session_id, "text": context.text, "tokens": context.tokens}


def _code(error: WellkeptError) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
