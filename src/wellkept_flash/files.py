"""The one way to touch a file: appends that are durable on return, replacements that are all or nothing.

A replacement is written to a draft beside the file, sealed with a checksum, copied over the file and
deleted. What is found after a cut is an unsealed draft, which is deleted, or a sealed one, which is copied
again. There is no renaming: on FAT a cut inside a rename leaves two names for the same clusters, or one for
clusters that are free.

Every step goes through a method of ``Disk``, so tests cut the power between any two of them.
"""

import os
import struct
from binascii import crc32

from wellkept_flash.errors import StorageFull

_NO_SPACE = 28
CHUNK = 512
_DRAFT = ".new"
_SEAL_SIZE = 12
_ENTRIES = 1024


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
        self.extend(path, data, sync)
        if fresh:
            self.uncover(path)
            if sync:
                self._sync_folder(path)

    def extend(self, path, data, sync=True):
        """``append`` to a file that is known to be there."""
        writer = Writer(self, path, "ab", sync and self.sync)
        writer.write(data)
        writer.close()

    def create(self, path):
        """A Draft of what shall take the place of ``path``."""
        return Draft(self, path)

    def write(self, path, *pieces):
        """Put ``pieces`` (bytes) in the place of the file ``path``; ``settle`` makes good a cut."""
        draft = self.create(path)
        for piece in pieces:
            draft.write(piece)
        draft.replace()

    def settle(self, path):
        """After a cut: finish a replacement whose draft is sealed, forget one whose draft is not."""
        draft = draft_of(path)
        size = self.size(draft)
        if size < 0:
            return
        length = size - _SEAL_SIZE
        crc = self.checksum(draft, 0, length) if length >= 0 else -1
        sealed = crc >= 0 and self.read(draft, length, _SEAL_SIZE) == _seal(length, crc)
        # Where it was copied already, somebody may have appended since.
        if sealed and not (self.size(path) >= length and self.checksum(path, 0, length) == crc):
            self.put(path, length)
        self.remove(draft)

    def put(self, path, length):
        """Copy the ``length`` bytes of the sealed draft over the file ``path`` and delete the draft."""
        writer = Writer(self, path, "wb", self.sync)
        for at in range(0, length, CHUNK):
            writer.write(self.read(draft_of(path), at, min(CHUNK, length - at)))
        writer.close()
        self.uncover(path)
        self.remove(draft_of(path))

    def checksum(self, path, offset, length):
        """The CRC-32 of ``length`` bytes of the file, -1 when there are not so many."""
        crc = 0
        with self.open(path) as file:
            file.seek(offset)
            while length:
                data = file.read(min(CHUNK, length))
                if not data:
                    return -1
                crc = crc32(data, crc)
                length -= len(data)
        return crc

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

    def uncover(self, path):
        """Make sure that the file ``path``, which was just made, is found under its name.

        A power cut while a FAT folder grows leaves old bytes in its new cluster. A zero among them ends every
        search, but a new name, which takes several entries, may stand behind it. Names of one entry fill the
        places before; once they are deleted, these are marked as free and no longer as the end.
        """
        fillers = []
        folder = path[: path.rfind("/") + 1]
        while self.size(path) < 0 and len(fillers) < _ENTRIES:
            fillers.append(f"{folder}WK{len(fillers):06d}")
            open(fillers[-1], "wb").close()
        for filler in fillers:
            self.remove(filler)

    def _open(self, path, mode):
        # What is appended comes in one piece, so a buffer would only cost time.
        return open(path, mode, 0 if mode == "ab" else -1)

    def _write(self, file, data):
        written = file.write(data)
        if written < len(data):
            self._write(file, data[written:])

    def _sync(self, file):
        file.flush()
        if hasattr(os, "fsync"):
            os.fsync(file.fileno())

    def _sync_folder(self, path):
        """Make the name of a new file durable, where the system needs that (POSIX)."""
        if not self.sync or not hasattr(os, "fsync") or os.name != "posix":
            return
        handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def draft_of(path):
    """The path of the draft of ``path``."""
    return path + _DRAFT


def _seal(length, crc):
    return b"WKSL" + struct.pack("<II", length, crc & 0xFFFFFFFF)


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


class Draft(Writer):
    """What shall take the place of the file ``path``: write it, then ``replace``."""

    def __init__(self, disk, path):
        super().__init__(disk, draft_of(path), "wb", disk.sync)
        disk.uncover(draft_of(path))
        self._path = path
        self._length = self._crc = 0

    def write(self, data):
        super().write(data)
        self._length += len(data)
        self._crc = crc32(data, self._crc)

    def replace(self):
        """Seal the draft, from which moment on it counts, and put it in its place."""
        super().write(_seal(self._length, self._crc))
        self.close()
        self._disk.put(self._path, self._length)
