"""What can go wrong, as a tree. Each message says what to do next.

WellkeptError
├── InvalidInput      what was passed in cannot be used; also a ValueError
├── NotFound          no such thing in this scope (a foreign id looks the same); also a LookupError
├── Conflict          somebody else changed it first, or the same key was used for other content
├── BudgetExceeded    the newest user message cannot fit; carries ``missing`` tokens
├── StoreError
│   ├── StoreBusy     another process held the write lock too long; nothing was written
│   ├── StoreFull     no room on the disk; nothing was written
│   ├── StoreReadOnly the file or the handle does not allow writing
│   ├── StoreCorrupt  damage was found; ``wellkept doctor`` shows and repairs it
│   └── SchemaTooNew  written by a newer wellkept; the file was not touched
├── ModelError        a model call failed; carries ``raw_reply`` where there was one
├── MissingExtra      an optional package is not installed; names the extra
└── Unsupported       this store or provider does not have the feature
"""

from __future__ import annotations


class WellkeptError(Exception):
    """Base of every error that wellkept raises on purpose."""


class InvalidInput(WellkeptError, ValueError):
    """What was passed in cannot be used; the message names the field and what is accepted."""


class NotFound(WellkeptError, LookupError):
    """Nothing with this id in this scope. An id that belongs to another scope looks exactly the same."""


class Conflict(WellkeptError):
    """The thing changed since it was read, or a key that must be used once was used for something else."""


class BudgetExceeded(WellkeptError):
    """The newest user message does not fit into what the budget leaves for it.

    Attributes:
        missing: tokens by which the budget is too small.
    """

    def __init__(self, message: str, *, missing: int) -> None:
        super().__init__(message)
        self.missing = missing


class StoreError(WellkeptError):
    """Base of the errors of the storage layer.

    Attributes:
        path: where the store lies, if the message names it.
    """

    def __init__(self, message: str = "", *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class StoreBusy(StoreError):
    """Another writer held the lock longer than the busy timeout. Nothing was written: try again."""


class StoreFull(StoreError):
    """The disk (or the quota) is full. Nothing of this operation was written: free some room and try
    again."""


class StoreReadOnly(StoreError):
    """The store or the handle may not be written to."""


class StoreCorrupt(StoreError):
    """The store is damaged, or is no wellkept store. ``wellkept doctor`` shows what can be saved."""


class SchemaTooNew(StoreError):
    """A newer version of wellkept wrote this store. It was left untouched: update wellkept to open it."""


class ModelError(WellkeptError):
    """A model or embedder did not give a usable answer.

    Attributes:
        raw_reply: what came back, for the job record, or None when nothing did.
        retryable: True when the same request may work later (429, 5xx, a cut connection, a timeout).
    """

    def __init__(self, message: str, *, raw_reply: str | None = None, retryable: bool = False) -> None:
        super().__init__(message)
        self.raw_reply = raw_reply
        self.retryable = retryable


class MissingExtra(WellkeptError, ImportError):
    """An optional package is missing. The message is the command that installs it."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs an optional package: pip install 'wellkept[{extra}]'")
        self.extra = extra


class Unsupported(WellkeptError, NotImplementedError):
    """This store, provider or mode does not have the feature; the message names one that does."""
