"""One writer at a time: a lock on a file, held as long as a directory is open."""

from __future__ import annotations

import os
import sys
from typing import IO

from wellkept.errors import StoreBusy

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def locked(path: str) -> IO[bytes]:
    """The lock file, locked until it is closed or the process ends.

    Raises StoreBusy when somebody else holds it, in this process or in another one.
    """
    file = open(path, "ab")  # noqa: SIM115 - it stays open as long as the lock is held
    try:
        _lock(file)
    except OSError as error:
        file.close()
        folder = os.path.dirname(path)
        raise StoreBusy(
            f"{folder} is open elsewhere, and a device's directory has one writer. Close it there."
        ) from error
    return file
