"""Image files of a flash disk, littlefs or FAT (12, 16, 32, long names), unpacked into a folder. CPython
only.

littlefs needs the package littlefs-python. A FAT image that went through ESP-IDF's wear levelling has to be
read out through it first.
"""

import os
import struct

from wellkept_flash.errors import InvalidInput, Unsupported

_LFS_MAGIC = b"littlefs"
_FOLDER, _VOLUME, _LONG_NAME = 0x10, 0x08, 0x0F


def unpack(image, folder):
    """Write the files of the image file ``image`` into ``folder``; returns "littlefs" or "fat".

    Raises:
        InvalidInput: the file is neither.
        Unsupported: it is littlefs, and littlefs-python is not installed.
    """
    with open(image, "rb") as file:
        data = file.read()
    if data[8:16] == _LFS_MAGIC or _LFS_MAGIC in data[:16384]:
        _unpack_littlefs(data, folder)
        return "littlefs"
    if len(data) > 512 and data[510:512] == b"\x55\xaa":
        for path, content in _Fat(data).files():
            _put(folder, path, content)
        return "fat"
    raise InvalidInput("neither a littlefs nor a FAT image: give a directory, or an image of one file system")


def _put(folder, path, content):
    parts = path.split("/")
    if ".." in parts or "" in parts:
        raise InvalidInput("the image holds a file with a bad name: " + path)
    target = os.path.join(folder, *parts)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(content)


def _unpack_littlefs(data, folder):
    try:
        from littlefs import LittleFS
    except ImportError as error:
        raise Unsupported("a littlefs image needs a package: pip install littlefs-python") from error
    at = data.find(_LFS_MAGIC)
    size, count = struct.unpack_from("<II", data, at + 16)
    disk = LittleFS(block_size=size, block_count=count, mount=False)
    disk.context.buffer = bytearray(data.ljust(size * count, b"\xff"))
    disk.mount()
    for where, _, names in disk.walk("/"):
        for name in names:
            path = where.rstrip("/") + "/" + name
            with disk.open(path, "rb") as file:
                _put(folder, path.strip("/"), file.read())


class _Fat:
    """A FAT file system in ``data``; layout after Microsoft's FAT specification (fatgen103)."""

    def __init__(self, data):
        sector, self._per_cluster, reserved, fats, roots, small, _, per_fat = struct.unpack_from(
            "<HBHBHHBH", data, 11
        )
        if not sector or not self._per_cluster or not fats:
            raise InvalidInput("the FAT image has a broken first sector")
        per_fat = per_fat or struct.unpack_from("<I", data, 36)[0]
        total = small or struct.unpack_from("<I", data, 32)[0]
        self._data = data
        self._fat = reserved * sector
        self._root = (reserved + fats * per_fat) * sector
        self._root_size = roots * 32
        self._first = self._root + (self._root_size + sector - 1) // sector * sector
        self._cluster = self._per_cluster * sector
        clusters = (total * sector - self._first) // self._cluster
        self._bits = 12 if clusters < 4085 else 16 if clusters < 65525 else 32
        self._root_cluster = struct.unpack_from("<I", data, 44)[0] if self._bits == 32 else 0

    def files(self):
        """Yield (path, content) of every file."""
        if self._bits == 32:
            root = self._chain(self._root_cluster)
        else:
            root = self._data[self._root : self._root + self._root_size]
        return self._walk(root, "", 0)

    def _walk(self, entries, path, depth):
        for name, attributes, cluster, size in _entries(entries):
            if attributes & _FOLDER and depth < 16:
                yield from self._walk(self._chain(cluster), path + name + "/", depth + 1)
            elif not attributes & _FOLDER:
                yield path + name, self._chain(cluster)[:size] if size else b""

    def _chain(self, cluster):
        pieces = []
        seen = set()
        end = {12: 0xFF7, 16: 0xFFF7, 32: 0xFFFFFF7}[self._bits]
        while 2 <= cluster < end and cluster not in seen:
            seen.add(cluster)
            at = self._first + (cluster - 2) * self._cluster
            pieces.append(self._data[at : at + self._cluster])
            cluster = self._next(cluster)
        return b"".join(pieces)

    def _next(self, cluster):
        if self._bits == 32:
            return struct.unpack_from("<I", self._data, self._fat + cluster * 4)[0] & 0xFFFFFFF
        if self._bits == 16:
            return struct.unpack_from("<H", self._data, self._fat + cluster * 2)[0]
        pair = struct.unpack_from("<H", self._data, self._fat + cluster * 3 // 2)[0]
        return pair >> 4 if cluster % 2 else pair & 0xFFF


def _entries(data):
    """Yield (name, attributes, first cluster, size) of a directory; long names where there are some."""
    long_name = ""
    for at in range(0, len(data) - 31, 32):
        entry = data[at : at + 32]
        if entry[0] == 0:
            return
        attributes = entry[11]
        if entry[0] == 0xE5:
            long_name = ""
        elif attributes == _LONG_NAME:
            piece = (entry[1:11] + entry[14:26] + entry[28:32]).decode("utf-16-le", "replace")
            long_name = piece.split("\0")[0] + long_name
        else:
            name = long_name or _short_name(entry)
            long_name = ""
            if not attributes & _VOLUME and name not in (".", ".."):
                high, low = struct.unpack_from("<H", entry, 20)[0], struct.unpack_from("<H", entry, 26)[0]
                yield name, attributes, high << 16 | low, struct.unpack_from("<I", entry, 28)[0]


def _short_name(entry):
    stem, ending = entry[:8].decode("latin-1").rstrip(), entry[8:11].decode("latin-1").rstrip()
    # The case bits of Windows NT, which FatFs writes for names that are all lower case.
    stem = stem.lower() if entry[12] & 0x08 else stem
    ending = ending.lower() if entry[12] & 0x10 else ending
    return stem + "." + ending if ending else stem
