"""Online backup: a consistent copy of a file that others go on reading and writing."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from wellkept.errors import InvalidInput, StoreCorrupt, StoreError
from wellkept.store.health import Progress
from wellkept.store.sqlite.connection import Connections, typed_errors

_PAGES = 1024


def backup(connections: Connections, path: str, progress: Progress | None = None) -> None:
    """Copy the store as it is now to the file at ``path``; ``progress`` hears of pages.

    The copy is made beside ``path``, checked, synced and then renamed, so that ``path`` holds the whole copy or
    what it held before.

    Raises:
        InvalidInput: ``path`` is a folder, this store itself, or a database that is in use.
        StoreFull, StoreError: no room, no such folder.
        StoreCorrupt: this store is damaged, so that a copy of it would be no backup.
    """
    target = _checked(connections, path)
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        make_as_private(part, connections)
        with typed_errors(path):
            _copy(connections, str(part), progress)
        _sync(part)
        part.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise StoreError(f"The backup to {path} failed ({error}). Nothing was changed there.") from error
    finally:
        for leftover in (part, part.with_name(part.name + "-journal")):
            leftover.unlink(missing_ok=True)


def make_as_private(path: Path, connections: Connections) -> None:
    """An empty file at ``path``, to be filled from the store, which nobody may open who may not open the store."""
    try:
        mode = 0o666 if connections.in_memory else Path(connections.path).stat().st_mode & 0o666
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, mode))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be made ({error}). Check that its folder may be written to."
        ) from error


def _checked(connections: Connections, path: str) -> Path:
    target = Path(path).absolute()
    if target.is_dir():
        raise InvalidInput(f"{path} is a folder. Give the path of a file, e.g. {path}/backup.db")
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent} for the backup. Make it first.")
    if target.exists() and not connections.in_memory and target.samefile(connections.path):
        raise InvalidInput(f"{path} is the store itself. Give the backup another path.")
    log = target.with_name(target.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise InvalidInput(f"{path} is a database in use (it has a log, {log.name}). Choose another path.")
    return target


def _copy(connections: Connections, part: str, progress: Progress | None) -> None:
    with _closing(connections.raw()) as source, _closing(apsw.Connection(part)) as copy:
        # An open snapshot: without it each commit of another writer makes the copy begin again.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        with copy.backup("main", source, "main") as pages:
            while not pages.done:
                pages.step(_PAGES)
                if progress is not None:
                    progress(pages.page_count - pages.remaining, pages.page_count)
        found = copy.execute("PRAGMA quick_check(1)").get
        if found != "ok":
            raise StoreCorrupt(
                f"{connections.path} is damaged ({found}), so there is no sound backup to be made of it. "
                f"Run: wellkept doctor --store {connections.path}"
            )


@contextmanager
def _closing(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    try:
        yield connection
    finally:
        connection.close(True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
