"""A session: its data file, the firmware's CHDX index beside it, and the sidecar of checksums.

The data file is the truth. The index is a cache for the firmware and for quick reading of the newest records;
when it does not fit the data it is not believed, and the next write puts it right.
"""

import json
import struct

from wellkept_flash import journal, text
from wellkept_flash.errors import InvalidInput, NotFound
from wellkept_flash.files import draft_of
from wellkept_flash.shape import ANTHROPIC, FINAL, OPENAI, RESPONSES, RESULT, TOOL, UNKNOWN, USER

FORMATS = {"openai_compatible": OPENAI, "anthropic_compatible": ANTHROPIC, "openai_responses": RESPONSES}
MAX_USER_TEXTS = 4
_HEADER = b"CHDX\x01\x00\x0a\x00"
_ENTRY_SIZE = 10
_SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


class Loaded:
    """What a load gives: ``messages`` in order and ``findings``, sentences on what was not as it should
    be."""

    def __init__(self, messages, findings):
        self.messages = messages
        self.findings = findings


def file_name(session_id):
    """Name of the data file of the session: ``s_``, 24 harmless bytes of the id, the hash of the whole id."""
    data = text.clean(session_id)
    safe = bytes([byte if chr(byte) in _SAFE else 0x5F for byte in data[:24]]) or b"default"
    return f"s_{safe.decode()}_{text.fnv1a(data):08x}.log"


def record(kind, message, words, max_chars=text.MAX_CUT):
    """The line of a record: the raw ``message``, JSON text or plain data, or without one the text ``words``.

    Raises:
        InvalidInput: it has neither, is a tool record with only a text, or its message is not one JSON value.
    """
    if message is not None:
        return _raw(message)
    if kind in (USER, FINAL) and words:
        return _said("user" if kind == USER else "assistant", words, max_chars)
    raise InvalidInput("a record takes a raw message, or a text if it is a user or final record")


def _said(role, words, max_chars):
    content = text.cut(words, max_chars).decode()
    return text.clean('{"role":"' + role + '","content":' + text.quote(content) + "}")


def _raw(message):
    try:
        whole = text.canonical(message if isinstance(message, (str, bytes)) else text.dumps(message))
    except (ValueError, TypeError) as error:
        raise InvalidInput("a raw message must be one JSON value: " + str(error)) from error
    return text.clean(whole)


def kept_id(disk, path):
    """The session id in the sidecar of the data file ``path``, if it is one of this file; empty without one."""
    sidecar = path + ".sum"
    head = disk.read(sidecar, 0, 8) if disk.size(sidecar) >= 8 else b""
    if head[:4] != b"WKSM":
        return ""
    kept = text.decode(disk.read(sidecar, 8, struct.unpack("<H", head[6:])[0]))
    return kept if kept and path.endswith("/" + file_name(kept)) else ""


class Session(journal.Journal):
    """One conversation on flash.

    Args:
        disk: the Disk to write to.
        folder: where the sessions are.
        session_id: any text but the empty one.
        backend: whose raw messages are written: a key of FORMATS; anything else counts as a custom backend.
        max_chars: where the text of a user or final message is cut, in code points.

        max_texts: how many user texts one batch may hold.

    Raises:
        InvalidInput: for an empty id, or one whose file another session has, because their hashes are the same.
    """

    def __init__(
        self,
        disk,
        folder,
        session_id,
        backend="openai_compatible",
        max_chars=text.MAX_CUT,
        max_texts=MAX_USER_TEXTS,
    ):
        if not session_id:
            raise InvalidInput("a session needs an id: give one, or nothing could be found again")
        super().__init__(disk, folder + "/" + file_name(session_id), session_id)
        other = kept_id(disk, self.path)
        if other not in ("", text.decode(session_id)):
            raise InvalidInput("its file holds the session " + other + " already: give another id")
        self.id = session_id
        self.format = FORMATS.get(backend, UNKNOWN)
        self.index = self.path + ".idx"
        self.blocked = self.path + ".blocked"
        disk.settle(self.index)
        self._max_chars = max_chars or text.MAX_CUT
        self._max_texts = max_texts

    # ── writing ──

    def user(self, *texts):
        """Append 1 to 4 user texts as one batch. Raises InvalidInput for another number or an empty text."""
        if not 1 <= len(texts) <= self._max_texts or not all(texts):
            raise InvalidInput(f"a batch takes 1 to {self._max_texts} user texts and none of them empty")
        self.persist([(USER, _said("user", one, self._max_chars)) for one in texts])

    def tool_round(self, assistant, results):
        """Append the assistant message with its tool calls, and the results of all of them, as one batch.

        Args:
            assistant: the raw message of the backend (JSON text, or plain data).
            results: a list of {"role": "tool", "tool_call_id", "content", "is_error"}, or its JSON text.
        """
        self.persist([(TOOL, _raw(assistant)), (RESULT, _raw(results))])

    def final(self, message=None, text=""):
        """Append the final answer: the backend's raw ``message``, which is not cut, or else ``text``, which
        is."""
        line = _said("assistant", text, self._max_chars) if message is None else _raw(message)
        self.persist([(FINAL, line)])

    def failure_note(self, reason="", tool_summary=""):
        """Close a failed request with a note for the next one; returns the text of the note."""
        note = "Session note: the previous request failed before producing a final answer.\nReason: "
        note += reason or "unknown error"
        if tool_summary:
            note += "\n" + tool_summary
        self.final(text=note)
        return note

    def encode(self, batch):
        """(type, line) of each (type, raw message or None, text or None) of ``batch``, for ``persist``.

        Raises:
            InvalidInput: a record has neither a message nor a text, or a tool record has only a text.
        """
        return [(kind, record(kind, message, words, self._max_chars)) for kind, message, words in batch]

    def persist(self, batch):
        """Append a batch of (type, line) as it is, all or nothing.

        Raises:
            InvalidInput: for an empty batch or an unknown type; nothing was written.
        """
        if not batch or not all(USER <= kind <= RESULT for kind, _ in batch):
            raise InvalidInput("a batch takes at least one record, each of type 1 to 4")
        self.append([(kind, self.format, line) for kind, line in batch])

    # ── reading ──

    def load(self, last=0, backend=None):
        """The messages as ``backend`` can take them (by default the one of this session).

        Args:
            last: only the newest so many records; 0 for all. The file is then read from its end.
            backend: another backend to load for. Tool records of a different backend are left out, its final
                answers are flattened to their text, as the firmware does.

        Raises:
            NotFound: there is no such session, or nothing is in it.
        """
        wanted = self.format if backend is None else FORMATS.get(backend, UNKNOWN)
        findings = self.findings()
        messages = []
        for line in self.lines(last, findings):
            messages.extend(_messages(line, text.decode(self.text(line)), wanted))
        if self.size() <= 0:
            raise NotFound("no such session")
        return Loaded(messages, findings)

    def lines(self, last=0, findings=None):
        """Yield the whole lines (the newest ``last``, or all), by the index while it holds, then by scanning.

        What was not as it should be is appended to the list ``findings``.
        """
        findings = [] if findings is None else findings
        offset = 0
        newest = []
        for line in self._indexed(last):
            offset = line.offset + line.length
            if last:
                newest.append(line)
            else:
                yield line
        if offset != max(0, self.size()):
            offset = 0 if last else offset
            findings.append(f"the index does not fit the data from byte {offset} on: read by scanning")
            newest = []
            for line in self._scanned(offset, findings):
                if last:
                    newest = newest[-last + 1 :] if last > 1 else []
                    newest.append(line)
                else:
                    yield line
        yield from newest

    def findings(self):
        """What can be said without reading the records: a list of sentences."""
        found = []
        if self.disk.size(self.blocked) >= 0:
            found.append(
                "blocked by the firmware, whose compaction found nothing to drop: lift_block() frees it"
            )
        aside = self.set_aside()
        return found + [aside] if aside else found  # noqa: RUF005 - MicroPython has no [*list]

    def set_aside(self):
        """A sentence on damage that a repair has set aside; empty where there was none."""
        return "damaged records were set aside in " + self.damaged if self.disk.size(self.damaged) > 0 else ""

    def lift_block(self):
        """Free a session that the firmware blocked; the next completed turn compacts it."""
        self.disk.remove(self.blocked)

    def entries(self):
        """Yield a Line for each entry of the index as it stands there, believed or not."""
        table = journal.Table(self.disk, self.index, 8, _ENTRY_SIZE)
        for number in range(table.count):
            offset, length, kind, style = struct.unpack("<IIBB", table.entry(number))
            yield journal.Line(offset, length, 0, (kind, style))

    def index_problem(self):
        """Why the firmware would refuse the pair of data file and index; empty when it would not."""
        size, data = self.disk.size(self.index), self.disk.size(self.path)
        if size < 8 or self.disk.read(self.index, 0, 8) != _HEADER:
            return "the index has no valid header"
        if (size - 8) % _ENTRY_SIZE:
            return "the index ends inside an entry"
        if size == 8 and data:
            return "the index is empty and the data file is not"
        for line in self.entries():
            if not USER <= line.type <= RESULT or line.format > ANTHROPIC:
                return f"an entry has type {line.type} and format {line.format}"
            if not line.length or line.offset + line.length > data:
                return "an entry points past the end of the data"
        return ""

    def files(self):
        files = [self.blocked, draft_of(self.index), self.index]
        files.extend(super().files())
        return files

    # ── inside ──

    def _indexed(self, last):
        """Yield lines by the index until it does not fit the data."""
        count = self._entries()
        table = journal.Table(self.disk, self.index, 8, _ENTRY_SIZE)
        claims = self._claims()
        first = max(0, count - last) if last else 0
        offset = 0
        claims.expect(claims.count - count + first)
        if last and count and not self._ends_right(count):
            return
        for number in range(first, count):
            at, length, kind, style = struct.unpack("<IIBB", table.entry(number))
            if number == first and last:
                offset = at
            line = self._believe(at, length, kind, style, claims) if at == offset else None
            if line is None:
                return
            yield line
            offset += length

    def _scanned(self, offset, findings):
        for line in self.scan(offset):
            if line.state == journal.DAMAGED:
                findings.append(f"{line.length} damaged bytes at {line.offset} are left out")
            else:
                if line.state == journal.HEALED:
                    findings.append(f"the record at {line.offset} had lost its newline")
                yield line

    def _believe(self, offset, length, kind, style, claims):
        """The line that an index entry names, None when data, claim or shape say otherwise."""
        if not USER <= kind <= RESULT or style > RESPONSES or length < 2 or offset + length > self.size():
            return None
        if self._claims_place(claims, struct.pack("<II", offset, length)):
            crc = self.disk.checksum(self.path, offset, length)
            if self._vouch(claims, length, crc) != (kind, style):
                return None
            return journal.Line(offset, length, crc, (kind, style))
        with self.disk.open(self.path) as file:
            raw = journal.Reader(file).line(offset)
        if not raw.whole or raw.length != length or raw.shape.type not in (kind, 0):
            return None
        return journal.Line(offset, length, raw.crc, (kind, style), journal.GOOD, False)

    def _entries(self):
        """Number of entries in the index, 0 when it is not one."""
        size = self.disk.size(self.index)
        if size < 8 or (size - 8) % _ENTRY_SIZE or self.disk.read(self.index, 0, 8) != _HEADER:
            return 0
        return (size - 8) // _ENTRY_SIZE

    def _ends_right(self, count):
        tail = self.disk.read(self.index, 8 + (count - 1) * _ENTRY_SIZE, 8)
        offset, length = struct.unpack("<II", tail)
        return offset + length == self.size()

    def _in_step(self):
        size = self.size()
        if size <= 0:
            return self.disk.size(self.index) == (8 if size == 0 else -1)
        count = self._entries()
        return bool(count) and self._ends_right(count) and super()._in_step()

    def _kind(self, value, offset, length):
        """By the index where it knows the line and its type fits the shape, else by the shape alone."""
        table = journal.Table(self.disk, self.index, 8, _ENTRY_SIZE)
        number = table.find(struct.pack("<II", offset, length), 0)
        kind, style = table.entry(number)[8:10] if number >= 0 else (0, UNKNOWN)
        if USER <= kind <= RESULT and style <= RESPONSES and value.type in (kind, 0):
            return kind, style
        return (value.type, value.format or self.format) if value.type else None

    def _damage_ends(self, raw, claims):
        """Also before a record that the index names: the firmware writes on behind a torn one."""
        end = super()._damage_ends(raw, claims)
        for line in self.entries():
            if raw.offset < line.offset < end and self._believe(
                line.offset, line.length, line.type, line.format, claims
            ):
                return line.offset
        return end

    def _sizes(self):
        sizes = super()._sizes()
        sizes.append(self.disk.size(self.index))
        return sizes

    def _grown(self, size, count):
        grown = super()._grown(size, count)
        grown.append(count * _ENTRY_SIZE)
        return grown

    def _begin(self):
        super()._begin()
        self.disk.remove(self.index)
        self.disk.append(self.index, _HEADER, False)

    def _index(self, claims):
        self.disk.extend(self.index, b"".join([_pack(*claim) for claim in claims]), False)

    def _derived(self):
        draft = self.disk.create(self.index)
        draft.write(_HEADER)
        derived = super()._derived()
        derived.append((draft, _pack))
        return derived


def _pack(offset, length, crc, kind, style):
    return struct.pack("<IIBB", offset, length, kind, style)


def _messages(line, source, wanted):
    """The messages of one record for the backend format ``wanted``, none when it cannot take them."""
    found = json.loads(source)
    if wanted == line.format or UNKNOWN in (wanted, line.format) or line.type == USER:
        return found if line.type == RESULT and isinstance(found, list) else [found]
    if line.type != FINAL:
        return []
    return _flat(found)


def _flat(message):
    content = message.get("content")
    if isinstance(content, str):
        return [message]
    blocks = [block for block in content or [] if isinstance(block, dict) and block.get("type") == "text"]
    words = "".join([block.get("text") or "" for block in blocks])
    return [{"role": "assistant", "content": words}] if words else []
