"""Memory, well kept: a memory layer for applications that talk with language models.

``Memory`` is where to begin. Importing this package opens no file, no socket and no thread.
"""

from __future__ import annotations

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
from wellkept.memory import Memory, UserMemory
from wellkept.records import Draft, Event, Image, Other, Policy, Text, Thinking, ToolCall, ToolResult
from wellkept.reply import Answer
from wellkept.session import Session
from wellkept.store.protocol import Trace
from wellkept.trace import Replay

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
