"""Connections to one SQLite file: settings, one connection a thread, group commit, and typed errors.

Readers each have a connection of their own and never wait for a writer (WAL). Writers of one process form a
queue: whoever is first leads, runs all that is waiting in one transaction and commits once for all of them
(the leader/follower scheme of group commit; DeWitt et al., "Implementation techniques for main memory
database systems", 1984). A lone writer commits directly. Writers of other processes are waited for inside
``BEGIN IMMEDIATE``.
"""

from __future__ import annotations

import os
import random
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

import apsw

from wellkept.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly

T = TypeVar("T")
Durability = Literal["full", "normal"]

BUSY_SECONDS = 10.0
CLOSED = "This store was closed. Open it again with Memory(path)."
_BATCH = 256
_LINGER_SECONDS = 0.001
_LOG_PAGES = 1_000
_MOMENT = 0.05  # seconds

# Connections that a forked child inherits must be neither used nor closed there
# (sqlite.org/howtocorrupt.html §2.6).
_inherited: list[Any] = []


def bound_caches(bytes: int) -> None:
    """Let the page caches of all connections of this process together take about so much; each alone has its own limit."""
    apsw.soft_heap_limit(bytes)


class Connections:
    """Opens and hands out connections to the file at ``path``.

    Args:
        path: a file, or ":memory:" for a store that lives as long as this object.
        durability: "full" syncs at each commit; "normal" only at checkpoints, so that a power cut (not a
            crash of the program) can take the last commits away, but never damages the file.
        read_only: open without the right to write.
    """

    def __init__(self, path: str, *, durability: Durability = "full", read_only: bool = False) -> None:
        self.path = path
        self.in_memory = path == ":memory:"
        self.read_only = read_only
        self._durability = durability
        self._uri = f"file:/wellkept-{id(self)}-{time.monotonic_ns()}?vfs=memdb" if self.in_memory else path
        self._reset()
        # A database in memory lives as long as one connection to it does.
        self._anchor = self._open() if self.in_memory else None
        _alive.add(self)

    def _reset(self) -> None:
        self._local = threading.local()
        self._opened: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._mutex = threading.Lock()
        self._queue: deque[_Write[Any]] = deque()
        self._crowd = 1
        self._full_log = _LOG_PAGES
        self._gathering: threading.Lock | None = None
        self._closed = False

    def _after_fork(self) -> None:
        _inherited.append((self._local, list(self._opened)))
        if not self.in_memory:
            self._reset()

    def _open(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_URI
        if self.read_only:
            flags |= apsw.SQLITE_OPEN_READONLY
        else:
            flags |= apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        with typed_errors(self.path):
            connection = apsw.Connection(self._uri, flags=flags, statementcachesize=256)
        with self._mutex:
            self._opened.add(connection)
        connection.set_busy_handler(_Patience())
        return connection

    def configure(self, connection: apsw.Connection) -> None:
        """Apply the settings of a connection; only after it is known that the file is ours to change."""
        if not self.in_memory and not self.read_only:
            connection.pragma("journal_mode", "wal")
            connection.pragma("journal_size_limit", 16 << 20)
            connection.wal_autocheckpoint(0)
            connection.set_wal_hook(self._log_grew)
        # FULL syncs the log at each commit; NORMAL only at checkpoints.
        connection.pragma("synchronous", {"full": 2, "normal": 1}[self._durability])
        connection.pragma("foreign_keys", 1)
        # Freed bytes are overwritten: what was erased must not be left in the file.
        connection.pragma("secure_delete", 1)
        connection.pragma("temp_store", 2)
        connection.create_scalar_function("casefold", _casefold, 1, deterministic=True)
        # Plans do not depend on what is bound, or else many statements are prepared anew at each run.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.pragma("cache_size", -4096)

    def raw(self) -> apsw.Connection:
        """A new, unconfigured connection, for checks; closing it, which the caller does, leaves the file as it is."""
        connection = self._open()
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return connection

    def get(self) -> apsw.Connection:
        """This thread's connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            if self._closed:
                raise StoreError(CLOSED)
            connection = self._open()
            with typed_errors(self.path):
                self.configure(connection)
            self._local.connection = connection
        return connection

    def close(self) -> None:
        """Close every connection of this process. Writes that have begun end well, reads that still run with an
        error."""
        with self._mutex:
            self._closed = True
            opened = list(self._opened)
        while self._queue:
            time.sleep(0.001)
        self._local = threading.local()
        for connection in opened:
            _close(connection)

    def _log_grew(self, connection: apsw.Connection, _name: str, pages: int) -> int:
        """Move the log into the file when it is long, and have it begun anew, so that it grows no further.

        SQLite's own way waits for nobody: among several processes, or many readers, somebody is always in the log, which
        then grows for ever and is moved at every commit.
        """
        if pages >= self._full_log:
            connection.set_busy_handler(_Patience(_MOMENT))
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
                self._full_log = _LOG_PAGES
            except apsw.Error:
                # The commit stands, whatever is in the way of this. A later one tries again.
                self._full_log = pages + _LOG_PAGES
            finally:
                connection.set_busy_handler(_Patience())
        return apsw.SQLITE_OK

    def empty_log(self) -> bool:
        """Move the log into the file and cut it off, unless somebody else is reading or writing; whether it is done."""
        connection = self.get()
        with typed_errors(self.path):
            connection.set_busy_handler(None)
            try:
                busy, _, _ = next(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
            except apsw.BusyError:
                busy = 1
            finally:
                connection.set_busy_handler(_Patience())
        return not busy

    # ── transactions ─────────────────────────────────────────────────────────────────────────────────────

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """``work`` on a consistent snapshot; nested calls share the outer one."""
        connection = self.get()
        with typed_errors(self.path):
            if connection.in_transaction:
                return work(connection)
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                connection.execute("COMMIT")

    @property
    def writing(self) -> bool:
        """Whether this thread is in a write transaction."""
        return getattr(self._local, "writing", False)

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """``work`` in a write transaction, durable when this returns; on an error nothing of it remains. Inside another
        write it is a part of that one, and durable with it."""
        if self.writing:
            return _inside(self.get(), work)
        if self.read_only:
            raise StoreReadOnly(
                f"{self.path} was opened for reading only. Open it with Memory(path) to write."
            )
        mine = _Write(work)
        with self._mutex:
            if self._closed:
                raise StoreError(CLOSED)
            self._queue.append(mine)
            if len(self._queue) > 1:
                mine.wait_in_line()
                if self._gathering is not None and len(self._queue) >= self._crowd:
                    self._gathering.release()
                    self._gathering = None
        interrupted = _wait(mine.turn) if mine.turn else None
        if not mine.done:
            self._lead(mine)
        if interrupted is not None:
            raise interrupted
        return mine.outcome()

    def _lead(self, mine: _Write[Any]) -> None:
        batch = [mine]
        try:
            self._linger()
            with self._mutex:
                batch = [self._queue[i] for i in range(min(len(self._queue), _BATCH))]
            self._commit(batch)
        finally:
            with self._mutex:
                for _ in batch:
                    self._queue.popleft()
                following = self._queue[0] if self._queue else None
                self._crowd = len(batch) + len(self._queue)
            for write in batch:
                write.done = True
                write.call()
            if following is not None:
                following.call()

    def _linger(self) -> None:
        """In a crowd, give the writers of the last round a moment to queue up, so that they share one sync.

        Waiting on a lock lets go of the interpreter, which the others need to come; spinning would not.
        """
        with self._mutex:
            if len(self._queue) >= self._crowd or self._crowd <= 2:
                return
            self._gathering = gathering = threading.Lock()
            gathering.acquire()
        gathering.acquire(timeout=_LINGER_SECONDS)
        with self._mutex:
            self._gathering = None

    def _commit(self, batch: list[_Write[Any]]) -> None:
        """All in one transaction. When one of several fails, they are run again, each with a savepoint of its own;
        a failing disk ends them all."""
        try:
            with typed_errors(self.path):
                try:
                    self._transaction(batch, _run)
                except _FAILING_DISK:
                    raise
                except Exception:
                    if len(batch) == 1:
                        raise
                    self._transaction(batch, _run_apart)
        except Exception as error:
            for write in batch:
                write.error = error
        except BaseException:
            for write in batch:
                write.error = StoreError("The write was interrupted; nothing was stored. Try again.")
            raise

    def _transaction(
        self, batch: list[_Write[Any]], run: Callable[[apsw.Connection, _Write[Any]], None]
    ) -> None:
        connection = self.get()
        connection.execute("BEGIN IMMEDIATE")
        self._local.writing = True
        try:
            for write in batch:
                run(connection, write)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        finally:
            self._local.writing = False


def _casefold(*texts: Any) -> str:
    """SQLite's own ``lower`` knows no letters but ASCII."""
    return str(texts[0]).casefold()


_FAILING_DISK = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.NotADBError,
    apsw.ReadOnlyError,
)


def _run(connection: apsw.Connection, write: _Write[Any]) -> None:
    write.value = write.work(connection)


def _run_apart(connection: apsw.Connection, write: _Write[Any]) -> None:
    """One of many: its own failure takes back its own changes only."""
    connection.execute("SAVEPOINT one")
    try:
        write.value = write.work(connection)
    except _FAILING_DISK:
        raise
    except Exception as error:
        connection.execute("ROLLBACK TO one")
        write.error = error
    connection.execute("RELEASE one")


def _inside(connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    """A part of the transaction that runs: its failure takes back its own changes."""
    connection.execute("SAVEPOINT part")
    try:
        value = work(connection)
    except BaseException:
        # A failing disk may have ended all of it.
        if connection.in_transaction:
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")
    return value


def _close(connection: apsw.Connection) -> None:
    """Close it between two statements of the thread that uses it."""
    while True:
        try:
            connection.close()
        except apsw.ThreadingViolationError:
            time.sleep(0.001)
        else:
            return


class _Write(Generic[T]):
    """A write that waits for its turn, and what became of it."""

    __slots__ = ("done", "error", "turn", "value", "work")

    def __init__(self, work: Callable[[apsw.Connection], T]) -> None:
        self.work = work
        self.turn: threading.Lock | None = None
        self.done = False
        self.value: T | None = None
        self.error: BaseException | None = None

    def wait_in_line(self) -> None:
        """Make something to be called by."""
        self.turn = threading.Lock()
        self.turn.acquire()

    def call(self) -> None:
        """Wake the thread that waits for this write."""
        if self.turn is not None:
            self.turn.release()

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class _Patience:
    """A busy handler: waits in short random steps, which is fairer than SQLite's growing ones, up to a limit.

    A queue of processes (``flock``) hands the lock to one that may not be running just then, while all others wait
    for it; measured, that gives half to two thirds of the commits.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = BUSY_SECONDS if seconds is None else seconds
        self._deadline = 0.0

    def __call__(self, attempts: int) -> bool:
        now = time.monotonic()
        if attempts == 0:
            self._deadline = now + self._seconds
        if now > self._deadline:
            return False
        time.sleep(random.uniform(0.00001, 0.0001))
        return True


def _wait(turn: threading.Lock) -> BaseException | None:
    """Wait for the turn; a signal that comes meanwhile is given back, because a queue must not lose a
    member."""
    interrupted = None
    while True:
        try:
            turn.acquire()
        except BaseException as error:
            interrupted = error
        else:
            return interrupted


class typed_errors:
    """Turn SQLite's errors into ours, each with the next step. A class because it stands on every hot
    path."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, apsw.Error):
            raise _translate(error, self._path) from error
        if isinstance(error, OverflowError):
            raise InvalidInput("A number is larger than a store can hold.") from error


def _translate(error: apsw.Error, path: str) -> Exception:
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(
            f"Another process has been writing to {path} for {BUSY_SECONDS:.0f} s. Try again.", path=path
        )
    if isinstance(error, (apsw.ConnectionClosedError, apsw.CursorClosedError)):
        return StoreError(CLOSED)
    if isinstance(error, apsw.FullError):
        return StoreFull(
            f"No room left for {path}; nothing was written. Free some disk space and try again.", path=path
        )
    if isinstance(error, apsw.ReadOnlyError):
        return StoreReadOnly(
            f"{path} cannot be written to. Check its permissions, or open it with read_only().", path=path
        )
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return StoreCorrupt(
            f"{path} is damaged or is no wellkept store ({error}). Run: wellkept doctor --store {path}",
            path=path,
        )
    if isinstance(error, apsw.TooBigError):
        return InvalidInput("This content is larger than one billion bytes. Store a reference to it instead.")
    if isinstance(error, apsw.CantOpenError):
        return StoreError(
            f"{path} cannot be opened ({error}). Check that its folder exists and may be written to.",
            path=path,
        )
    if isinstance(error, apsw.IOError) and "disk full" in str(error):
        return StoreFull(
            f"No room left for {path}; nothing was written. Free some disk space and try again.", path=path
        )
    return StoreError(f"SQLite on {path}: {error}. Run: wellkept doctor --store {path}", path=path)


_alive: weakref.WeakSet[Connections] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for connections in list(_alive):
        connections._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
