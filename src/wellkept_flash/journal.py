"""A journal: lines in a file, each vouched for by a claim in a sidecar.

The lines are the truth. A claim (offset, length, CRC-32, type, format) says what a line was when it was
written; it is found again by content, so lines that another program moved still count as whole. A line
without a claim was written by the firmware and is judged by its shape. Only what is really damaged is left
out.
"""

import struct
from binascii import crc32

from wellkept_flash import shape, text
from wellkept_flash.files import CHUNK, draft_of

GOOD, HEALED, DAMAGED = "good", "healed", "damaged"
_MAGIC = b"WKSM\x01\x00"
_CLAIM_SIZE = 16
_BLANKS = b" \t\r"


class Line:
    """One line: its place, checksum, record type and format, and its state (GOOD, HEALED or DAMAGED).

    A HEALED line lost its newline; its text is whole. ``size`` is the length of the text, ``length`` that
    of the whole stretch. ``claimed`` is False for a line without a claim.
    """

    def __init__(self, offset, length, crc, kind, state=GOOD, claimed=True, size=-1):
        self.size = length - 1 if size < 0 else size
        self.offset = offset
        self.length = length
        self.crc = crc
        self.type, self.format = kind
        self.state = state
        self.claimed = claimed


class Table:
    """A file of entries of one size behind a header."""

    def __init__(self, disk, path, start, stride):
        self._disk = disk
        self._path = path
        self._start = start
        self._stride = stride
        self._hint = 0
        self.count = max(0, disk.size(path) - start) // stride

    def entry(self, number):
        """The bytes of one entry."""
        return self._block(number, 1)

    def _block(self, first, count):
        return self._disk.read(self._path, self._start + first * self._stride, count * self._stride)

    def expect(self, number):
        """Say that the next entry looked for is probably this one."""
        self._hint = number

    def find(self, needle, at):
        """Number of an entry that has the bytes ``needle`` at its offset ``at``, -1 when there is none."""
        for number in (self._hint, self._hint - 1):
            if 0 <= number < self.count and self.entry(number)[at : at + len(needle)] == needle:
                self._hint = number + 1
                return number
        step = max(1, CHUNK // self._stride)
        for first in range(0, self.count, step):
            block = self._block(first, step)
            place = block.find(needle)
            while place >= 0 and place % self._stride != at:
                place = block.find(needle, place + 1)
            if place >= 0:
                self._hint = first + place // self._stride + 1
                return self._hint - 1
        return -1


class Journal:
    """The lines of the file ``path``. The sidecar keeps ``name``, which may be longer than a file name."""

    def __init__(self, disk, path, name=""):
        self.disk = disk
        self.path = path
        self.sidecar = path + ".sum"
        self.damaged = path + ".damaged"
        self.name = text.clean(name)
        disk.settle(path)
        disk.settle(self.sidecar)
        self._known = None  # sizes of the files after the last append, while nobody else writes

    def append(self, records):
        """Add ``records``, tuples (type, format, line without newline as bytes). They are durable on return.

        Raises:
            StorageFull: nothing of them counts as written.
        """
        self.ready()
        offset = self._known[0] if self._known else self.size()
        if offset < 0:
            self._begin()
            self._known = None
            offset = 0
        lines = [line + b"\n" for _, _, line in records]
        start = offset
        claims = []
        for number, line in enumerate(lines):
            claims.append((offset, len(line), crc32(line), records[number][0], records[number][1]))
            offset += len(line)
        self.disk.extend(self.path, b"".join(lines))
        self.disk.extend(self.sidecar, b"".join([_pack(*claim) for claim in claims]), False)
        self._index(claims)
        if self._known:
            grown = self._grown(offset - start, len(claims))
            self._known = [self._known[at] + grown[at] for at in range(len(grown))]
        else:
            self._known = self._sizes()

    def ready(self):
        """Before a write: finish a switch that was cut, repair what does not fit. True: lines may have
        moved."""
        if self._known == self._sizes():
            return False
        self._known = None
        if self._in_step():
            return False
        self.repair()
        return True

    def read(self, offset, size):
        """``size`` bytes of the data from ``offset`` on."""
        return self.disk.read(self.path, offset, size)

    def scan(self, offset=0):
        """Yield every Line from ``offset`` on, damaged stretches included, in order and without gaps."""
        if self.size() <= offset:
            return
        claims = self._claims()
        with self.disk.open(self.path) as file:
            reader = Reader(file)
            while True:
                raw = reader.line(offset)
                if not raw.length:
                    return
                line = self._judge(raw, claims)
                yield line
                offset += line.length

    def lines_by_scan(self):
        """Yield the lines that are whole, in order."""
        for line in self.scan():
            if line.state != DAMAGED:
                yield line

    def text(self, line):
        """The bytes of ``line`` without its newline."""
        return self.read(line.offset, line.size)

    def size(self):
        """Bytes of the data file, -1 when there is none."""
        return self.disk.size(self.path)

    def repair(self):
        """Set damaged stretches aside and rebuild what can be derived.

        Returns:
            How many lines were kept, healed and set aside, as a dict.
        """
        counts = {GOOD: 0, HEALED: 0, DAMAGED: 0}
        for line in self.scan():
            counts[line.state] += 1
            if line.state == DAMAGED:
                self._set_aside(line)
        if self.size() >= 0:
            whole = ((line.type, line.format, line) for line in self.lines_by_scan())
            self._switch(whole, counts[HEALED] or counts[DAMAGED])
        return counts

    def rewrite(self, records):
        """Put ``records`` in the place of all lines, all or nothing: tuples (type, format, Line or bytes)."""
        self._switch(records, True)

    def remove(self):
        """Delete the journal with all that belongs to it."""
        for path in self.files():
            self.disk.remove(path)

    def files(self):
        """Every path that may belong to this journal, the data file last: a cut removal can be repeated."""
        return [draft_of(self.path), draft_of(self.sidecar), self.sidecar, self.damaged, self.path]

    def _sizes(self):
        return [self.disk.size(path) for path in (self.path, self.sidecar)]

    def _grown(self, size, count):
        """By how much ``count`` lines of ``size`` bytes in all make the files of ``_sizes`` longer."""
        return [size, count * _CLAIM_SIZE]

    def _begin(self):
        folder = self.path.rsplit("/", 1)[0]
        if folder != self.path:
            self.disk.make(folder)
        self.disk.remove(self.sidecar)
        self.disk.append(self.path, b"")
        self.disk.append(self.sidecar, self._header(), False)

    def _header(self):
        return _MAGIC + struct.pack("<H", len(self.name)) + self.name

    def _claims(self):
        head = self.disk.read(self.sidecar, 0, 8) if self.disk.size(self.sidecar) >= 8 else b""
        if head[:6] != _MAGIC:
            return Table(self.disk, "", 0, _CLAIM_SIZE)
        return Table(self.disk, self.sidecar, 8 + struct.unpack("<H", head[6:])[0], _CLAIM_SIZE)

    def _in_step(self):
        """True when data and sidecar end where they should, looked up at their ends only."""
        size = self.size()
        if size < 0:
            return True
        beyond = self.disk.size(self.sidecar) - len(self._header())
        if beyond < 0 or beyond % _CLAIM_SIZE:
            return False
        return not size or self.disk.read(self.path, size - 1, 1) == b"\n"

    def _index(self, claims):
        """Add the claims to what else is derived from the lines; nothing here."""

    def _kind(self, value, offset, length):
        """(type, format) of a line without a claim, judged by its shape; None when it cannot be a record."""
        return (1, 0) if value.done else None

    def _judge(self, raw, claims):
        claim = self._vouch(claims, raw.length, raw.crc)
        if claim:
            return Line(raw.offset, raw.length, raw.crc, claim)
        healed = self._heal(raw, claims)
        if healed:
            return healed
        kind = None
        if raw.whole and not self._claims_place(claims, struct.pack("<II", raw.offset, raw.length)):
            kind = self._kind(raw.shape, raw.offset, raw.length)
        if kind:
            return Line(raw.offset, raw.length, raw.crc, kind, GOOD, False)
        return Line(raw.offset, self._damage_ends(raw, claims) - raw.offset, 0, (0, 0), DAMAGED)

    def _vouch(self, claims, length, crc):
        """(type, format) that a claim gives to this content, None without one."""
        number = claims.find(struct.pack("<II", length, crc), 4)
        if number < 0:
            return None
        entry = claims.entry(number)
        return tuple(entry[12:14]) if _check(entry) else None

    def _claims_place(self, claims, place):
        """True when a sound claim begins with the bytes ``place``: then the content there must be the
        claimed one."""
        number = claims.find(place, 0)
        return number >= 0 and _check(claims.entry(number))

    def _heal(self, raw, claims):
        """The Line at the beginning of ``raw`` that lost its newline, None when that is not what happened."""
        if raw.value_end < 0 or raw.whole:
            return None
        after = self.disk.read(self.path, raw.offset + raw.value_end, 3)
        junk = 0 if not after or after[:2] in (b"[{", b'{"') else 1
        length = raw.value_end + 1
        crc = crc32(b"\n", raw.value_crc)
        kind = self._vouch(claims, length, crc)
        claimed = kind is not None
        followed = not after or after[junk : junk + 2] in (b"[{", b'{"')
        if not claimed and followed and not self._claims_place(claims, struct.pack("<I", raw.offset)):
            kind = self._kind(raw.shape, raw.offset, length)
        if not kind:
            return None
        return Line(raw.offset, raw.value_end + junk, crc, kind, HEALED, claimed, raw.value_end)

    def _damage_ends(self, raw, claims):
        """Where the damage ends: with the line, or before a line inside it that a claim still vouches for."""
        end = raw.offset + raw.length
        for number in range(claims.count):
            entry = claims.entry(number)
            offset, length, crc = struct.unpack("<III", entry[:12])
            if (
                raw.offset < offset < end
                and _check(entry)
                and self.disk.checksum(self.path, offset, length) == crc
            ):
                return offset
        return end

    def _set_aside(self, line):
        self.disk.append(self.damaged, b"# offset %d, %d bytes\n" % (line.offset, line.length))
        for at in range(line.offset, line.offset + line.length, CHUNK):
            size = min(CHUNK, line.offset + line.length - at)
            self.disk.append(self.damaged, self.disk.read(self.path, at, size), False)
        self.disk.append(self.damaged, b"\n")

    def _switch(self, records, data_changes):
        """Draft the files anew and replace them, the data first: once its draft is sealed, it counts."""
        data = self.disk.create(self.path) if data_changes else None
        derived = self._derived()
        offset = 0
        for kind, style, source in records:
            length, crc = self._copy(source, data)
            for draft, pack in derived:
                draft.write(pack(offset, length, crc, kind, style))
            offset += length
        if data:
            data.replace()
        for draft, _ in derived:
            draft.replace()

    def _derived(self):
        """(Draft, packing function) of each file that is derived from the lines."""
        draft = self.disk.create(self.sidecar)
        draft.write(self._header())
        return [(draft, _pack)]

    def _copy(self, source, data):
        """Copy a Line or bytes to the writer ``data``, if any; returns length and checksum with the
        newline."""
        if not isinstance(source, Line):
            source += b"\n"
            data.write(source)
            return len(source), crc32(source)
        if source.state == HEALED:
            whole = self.text(source) + b"\n"
            data.write(whole)
            return len(whole), crc32(whole)
        if data:
            for at in range(source.offset, source.offset + source.length, CHUNK):
                size = min(CHUNK, source.offset + source.length - at)
                data.write(self.disk.read(self.path, at, size))
        return source.length, source.crc


class _Raw:
    """What the reader finds in one line."""

    def __init__(self, offset):
        self.offset = offset
        self.length = self.crc = self.value_crc = 0
        self.value_end = -1
        self.whole = self.junk = False
        self.shape = shape.Shape()


class Reader:
    """Reads line by line in pieces of a fixed size."""

    def __init__(self, file):
        self._file = file
        self._start = 0
        self._buffer = b""

    def line(self, offset):
        """The line that begins at ``offset``; its length is 0 at the end of the file."""
        raw = _Raw(offset)
        sound = True
        while True:
            data = self._at(offset + raw.length)
            end = data.find(b"\n")
            piece = data[:end] if end >= 0 else data
            if sound and not raw.shape.done:
                sound = self._feed(raw, piece)
            elif piece.strip(_BLANKS):
                raw.junk = True
            raw.crc = crc32(piece, raw.crc)
            raw.length += len(piece)
            if end >= 0 or not data:
                break
        if end >= 0:
            raw.whole = raw.value_end >= 0 and not raw.junk
            raw.length += 1
            raw.crc = crc32(b"\n", raw.crc)
        return raw

    def _feed(self, raw, piece):
        try:
            used = raw.shape.feed(piece)
        except shape.Malformed:
            return False
        if raw.shape.done:
            raw.value_end = raw.length + used
            raw.value_crc = crc32(piece[:used], raw.crc)
            raw.junk = bool(piece[used:].strip(_BLANKS))
        return True

    def _at(self, offset):
        if not self._start <= offset < self._start + len(self._buffer):
            self._file.seek(offset)
            self._start = offset
            self._buffer = self._file.read(CHUNK)
        return self._buffer[offset - self._start :]


def _pack(offset, length, crc, kind, style):
    head = struct.pack("<IIIBB", offset, length, crc, kind, style)
    return head + struct.pack("<H", crc32(head) & 0xFFFF)


def _check(entry):
    return len(entry) == _CLAIM_SIZE and struct.unpack("<H", entry[14:])[0] == crc32(entry[:14]) & 0xFFFF
