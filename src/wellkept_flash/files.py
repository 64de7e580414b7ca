"""The one way to touch a file: appends that are durable on return, replacements that are all or nothing.

Every step goes through a method of ``Disk``, so tests cut the power between any two of them.
"""

import os

from wellkept_flash.errors import StorageFull

_NO_SPACE = 28
CHUNK = 512


class Disk:
    """The file system.

    Args:
        sync: False leaves the moment of writing to the system; a power cut may then lose the newest records.
    """

    def __init__(self, sync=True):
        self.sync = sync
        self.written = 0

    def size(self, path):
        """Size of the file in bytes, -1 when there is none."""
        try:
            status = os.stat(path)
        except OSError:
            return -1
        return -1 if status[0] & 0xF000 == 0x4000 else status[6]

    def names(self, folder):
        """Names in ``folder``, sorted; empty when there is no such folder."""
        try:
            return sorted(os.listdir(folder))
        except OSError:
            return []

    def open(self, path):
        """The file for reading in binary. Raises OSError when there is none."""
        return open(path, "rb")

    def read(self, path, offset=0, size=-1):
        """``size`` bytes of the file from ``offset`` on (fewer at its end), all of them for -1."""
        with self.open(path) as file:
            if offset:
                file.seek(offset)
            return file.read() if size < 0 else file.read(size)

    def append(self, path, data, sync=True):
        """Add ``data`` at the end of the file, made where there is none; durable on return with ``sync``."""
        fresh = self.size(path) < 0
        writer = Writer(self, path, "ab", sync and self.sync)
        writer.write(data)
        writer.close()
        if fresh and sync:
            self._sync_folder(path)

    def create(self, path):
        """A Writer of a new file; what it is given is down on the medium once it is closed."""
        return Writer(self, path, "wb", self.sync)

    def write(self, path, *pieces):
        """Put a file of ``pieces`` (bytes) in the place of ``path``, all or nothing once ``settle`` was
        called."""
        if self.size(path) < 0:
            self.append(path, b"")  # so that a missing file always means a complete new one beside it
        writer = self.create(path + ".tmp")
        for piece in pieces:
            writer.write(piece)
        writer.close()
        self.replace(path, path + ".tmp")

    def replace(self, path, new):
        """Put the complete file ``new`` in the place of ``path``.

        After a cut there is the old one, or the new one, or (on FAT) only ``new``.
        """
        try:
            self._rename(new, path)
        except OSError:  # FAT does not rename over a file
            self.remove(path)
            self._rename(new, path)
        self._sync_folder(path)

    def settle(self, path):
        """Finish a ``write`` that was cut between the two steps that FAT needs for a replacement."""
        if self.size(path) < 0 <= self.size(path + ".tmp"):
            self.replace(path, path + ".tmp")

    def remove(self, path):
        """Delete the file if it is there."""
        if self.size(path) >= 0:
            os.remove(path)

    def make(self, folder):
        """Make ``folder`` and those above it where they are missing."""
        end = 0
        while end < len(folder):
            end = folder.find("/", end + 1)
            end = len(folder) if end < 0 else end
            try:
                os.stat(folder[:end])
            except OSError:
                os.mkdir(folder[:end])

    def _open(self, path, mode):
        return open(path, mode)

    def _write(self, file, data):
        file.write(data)

    def _sync(self, file):
        file.flush()
        if hasattr(os, "fsync"):
            os.fsync(file.fileno())

    def _rename(self, old, new):
        os.rename(old, new)

    def _sync_folder(self, path):
        """Make the name of a new file durable, where the system needs that (POSIX)."""
        if not self.sync or not hasattr(os, "fsync") or os.name != "posix":
            return
        handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Writer:
    """A file being written."""

    def __init__(self, disk, path, mode, sync):
        self._disk = disk
        self._sync = sync
        self._file = None
        self._file = self._try(disk._open, path, mode)

    def write(self, data):
        """Add ``data``. Raises StorageFull when there is no room."""
        self._try(self._disk._write, self._file, data)
        self._disk.written += len(data)

    def close(self):
        """Bring it down on the medium. Raises StorageFull when there is no room."""
        if self._sync:
            self._try(self._disk._sync, self._file)
        self._try(self._file.close)

    def _try(self, call, *args):
        try:
            return call(*args)
        except OSError as error:
            if self._file:
                self._file.close()
            if error.errno != _NO_SPACE:
                raise
            raise StorageFull(
                "no room on the flash: delete a session or free some files, try again"
            ) from error
