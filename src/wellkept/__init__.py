"""Memory, well kept: a memory layer for applications that talk with language models.

``Memory`` is where to begin. Importing this package opens no file, no socket and no thread.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wellkept.aio import AsyncMemory
    from wellkept.context import Context
    from wellkept.errors import (
        BudgetExceeded,
        Conflict,
        InvalidInput,
        MissingExtra,
        ModelError,
        NotFound,
        SchemaTooNew,
        StoreBusy,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreReadOnly,
        Unsupported,
        WellkeptError,
    )
    from wellkept.memory import Memory
    from wellkept.records import Draft, Event, Image, Other, Policy, Text, Thinking, ToolCall, ToolResult
    from wellkept.reply import Answer
    from wellkept.session import Session
    from wellkept.store.traces import Trace
    from wellkept.trace import Replay
    from wellkept.user import UserMemory

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncMemory",
    "BudgetExceeded",
    "Conflict",
    "Context",
    "Draft",
    "Event",
    "Image",
    "InvalidInput",
    "Memory",
    "MissingExtra",
    "ModelError",
    "NotFound",
    "Other",
    "Policy",
    "Replay",
    "SchemaTooNew",
    "Session",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreReadOnly",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Trace",
    "Unsupported",
    "UserMemory",
    "WellkeptError",
]


_HOMES = {
    "Answer": "reply",
    "AsyncMemory": "aio",
    "Context": "context",
    "Draft": "records",
    "Event": "records",
    "Image": "records",
    "Memory": "memory",
    "Other": "records",
    "Policy": "records",
    "Replay": "trace",
    "Session": "session",
    "Text": "records",
    "Thinking": "records",
    "ToolCall": "records",
    "ToolResult": "records",
    "Trace": "store.traces",
    "UserMemory": "user",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is asked for: who wants a ``Memory`` waits for no asyncio."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value
