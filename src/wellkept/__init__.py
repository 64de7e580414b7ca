"""Memory, well kept: a memory layer for applications that talk with language models.

``Memory`` is where to begin. Importing this package opens no file, no socket and no thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from wellkept.memory import Memory, UserMemory
from wellkept.records import Draft, Event, Image, Other, Policy, Text, Thinking, ToolCall, ToolResult
from wellkept.reply import Answer
from wellkept.session import Session
from wellkept.store.protocol import Trace
from wellkept.trace import Replay

if TYPE_CHECKING:
    from wellkept.aio import AsyncMemory

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


def __getattr__(name: str) -> Any:
    """``AsyncMemory`` when it is asked for: asyncio takes longer to import than all the rest."""
    if name == "AsyncMemory":
        from wellkept.aio import AsyncMemory

        return AsyncMemory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
