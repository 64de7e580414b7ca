"""Memory on the files of a device: what its firmware reads and writes, and beside it what that has no place for.

``sessions`` and ``memory`` below the directory are the device's own files, and hold the words of every message, memory
and profile document. ``wellkept.journal`` holds the rest: times, metadata, summaries, jobs, the history of facts. Both
are read into a mirror, a SQLite database in memory, when the directory is opened; each transaction is written back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl

import apsw

from wellkept.errors import InvalidInput, StoreBusy, StoreError, Unsupported
from wellkept.records import Scope
from wellkept.store.flash import adopt, apply, rows
from wellkept.store.flash.faults import typed_errors
from wellkept.store.flash.journal import HostDisk, Journal, Lines, check_header, header
from wellkept.store.flash.lock import locked
from wellkept.store.flash.memories import Memories
from wellkept.store.flash.messages import Backend
from wellkept.store.flash.places import Places
from wellkept.store.flash.plan import Planner, owner_of, set_owner
from wellkept.store.protocol import Vectors
from wellkept.store.sqlite import SqliteTables
from wellkept.store.sqlite.connection import Connections
from wellkept.store.sqlite.derived import rebuild
from wellkept.store.sqlite.migrations import MIGRATIONS
from wellkept.store.sqlite.schema import prepare
from wellkept.store.sqlite.tally import Tally, mark
from wellkept.store.sqlite.vectors import Matrices

T = TypeVar("T")
JOURNAL, LOCK = "wellkept.journal", "wellkept.lock"
DEVICE = Scope("device", "default")
_LEAST_CHECKPOINT = 256 << 10
