"""Opening a file: is it ours, is it sound, is it up to date?"""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from wellkept.errors import InvalidInput, SchemaTooNew, StoreCorrupt, StoreError
from wellkept.store.sqlite.connection import Connections, typed_errors
from wellkept.store.sqlite.derived import is_of_other_words, rebuild
from wellkept.store.sqlite.migrations import MIGRATIONS

APPLICATION_ID = 0x574B5054  # "WKPT" in the file's header
QUICK_CHECK_BYTES = 32 << 20


def prepare(connections: Connections) -> None:
    """Check that the file is ours and sound, and bring it up to date.

    A file that holds data is copied beside itself before it is changed: ``chat.db.before-facts.….bak``.

    Raises InvalidInput for a folder or another program's database, SchemaTooNew for a file of a newer
    version (untouched), StoreCorrupt for damage.
    """
    if not connections.in_memory:
        _check_path(connections.path)
    connection = connections.raw()
    try:
        with typed_errors(connections.path):
            new = _is_new(connection, connections.path)
            if new:
                pending = [name for name, _ in MIGRATIONS]
            else:
                _check(connection, connections.path)
                pending = _pending(connection, connections.path)
            if pending and not connections.read_only:
                if not new:
                    from wellkept.store.sqlite.backup import backup

                    backup(connections, f"{connections.path}.before-{pending[0]}.{time.time_ns()}.bak")
                connections.configure(connection)
                _migrate(connection)
            if not connections.read_only and is_of_other_words(connection):
                connections.configure(connection)
                _renew(connection, connections.path)
    finally:
        connection.close()


def _renew(connection: apsw.Connection, path: str) -> None:
    """Another version split texts into words by other rules: its index would hide what it holds from today's."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if is_of_other_words(connection):
            if connection.execute("SELECT count(*) FROM sessions").get:
                _say_that_it_takes_long(path)
            rebuild(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _say_that_it_takes_long(path: str) -> None:
    from logging import getLogger

    getLogger("wellkept.store").warning("%s: its text index is made anew by newer rules for words", path)


def _check_path(path: str) -> None:
    try:
        if Path(path).is_dir():
            raise InvalidInput(f"{path} is a folder. Give the path of a file, e.g. {path}/chat.db")
        _check_header(Path(path))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be looked at ({error.strerror}). Check who may read its folder."
        ) from error


def _check_header(path: Path) -> None:
    """SQLite takes a file of a few bytes for an empty one and would write over it."""
    if path.is_file() and path.stat().st_size > 0:
        with path.open("rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                raise StoreCorrupt(
                    f"{path} is no wellkept store, or its beginning is damaged. It was not changed."
                )


def check_ours(connection: apsw.Connection, path: str) -> None:
    """Raise unless the file is a store of this version or of an older one, changing nothing."""
    if _is_new(connection, path):
        raise StoreCorrupt(f"{path} is empty: there is nothing of a store in it.")
    _pending(connection, path)


def _is_new(connection: apsw.Connection, path: str) -> bool:
    if connection.execute("SELECT count(*) FROM sqlite_schema").get == 0:
        return True
    if connection.pragma("application_id") != APPLICATION_ID:
        raise InvalidInput(f"{path} is another program's SQLite database. Give wellkept a path of its own.")
    return False


def _check(connection: apsw.Connection, path: str) -> None:
    """Large files are checked by ``wellkept doctor`` only: reading all of them would delay every start."""
    pages, size = connection.pragma("page_count"), connection.pragma("page_size")
    if pages * size <= QUICK_CHECK_BYTES:
        found = connection.execute("PRAGMA quick_check(1)").get
        if found != "ok":
            raise StoreCorrupt(f"{path} is damaged ({found}). Run: wellkept doctor --store {path}")


def _pending(connection: apsw.Connection, path: str) -> list[str]:
    done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    unknown = done - {name for name, _ in MIGRATIONS}
    if unknown:
        raise SchemaTooNew(
            f"{path} was written by a newer wellkept (it has: {', '.join(sorted(unknown))}). "
            "Update wellkept to open it; the file was not changed."
        )
    return [name for name, _ in MIGRATIONS if name not in done]


def _migrate(connection: apsw.Connection) -> None:
    """All that is pending in one transaction; another process may have been faster, so look again inside
    it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at INTEGER NOT NULL)"
        )
        done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        for name, script in MIGRATIONS:
            if name not in done:
                connection.execute(script)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (name, int(time.time() * 1000)))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
