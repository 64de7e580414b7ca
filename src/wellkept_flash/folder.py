"""A device directory as a whole: read it into plain data, write one that the firmware boots on.

Sessions and memory may lie in ``sessions`` and ``memory`` below the directory, or in the directory itself.
"""

import binascii
import hashlib

from wellkept_flash import text
from wellkept_flash.errors import InvalidInput, NotFound
from wellkept_flash.files import Disk
from wellkept_flash.longterm import LongTerm
from wellkept_flash.profile import DOCUMENTS, Profile
from wellkept_flash.session import Session, kept_id

TYPE_NAMES = {1: "user", 2: "final", 3: "tool_call", 4: "tool_result"}


class Stored(Session):
    """A session found by its file name. Its id is known when this package wrote it, else it is the file's
    name."""

    def __init__(self, disk, folder, name):
        session_id = kept_id(disk, folder + "/" + name) or name[:-4]
        super().__init__(disk, folder, session_id)
        known = self.path == folder + "/" + name
        self.path = folder + "/" + name
        self.sidecar, self.damaged = self.path + ".sum", self.path + ".damaged"
        self.index, self.blocked = self.path + ".idx", self.path + ".blocked"
        for path in (self.path, self.sidecar, self.index):
            disk.settle(path)
        if not known:
            self.id, self.name = name[:-4], b""


class Folder:
    """The device directory ``root``. Raises NotFound when it holds neither sessions nor memories."""

    def __init__(self, root, disk=None):
        self.disk = disk or Disk()
        self.root = root.rstrip("/") or "/"
        self.sessions_folder = self._place("sessions", ".log")
        self.memory_folder = self._place("memory", ".jsonl")
        if not self.session_names() and not self.disk.names(self.memory_folder):
            raise NotFound("neither sessions nor memories in " + root + ": give the directory of a device")

    def session_names(self):
        """File names of the sessions, those of which only a part is left included."""
        names = []
        for name in self.disk.names(self.sessions_folder):
            data = name[: name.find(".log") + 4] if ".log" in name else ""
            if data and data not in names:
                names.append(data)
        return names

    def sessions(self):
        """Yield each Session."""
        for name in self.session_names():
            yield Stored(self.disk, self.sessions_folder, name)

    def records(self, session, findings=None):
        """Yield each whole record of ``session`` as a dict: seq from 1, type, format, offset, text, sha (of
        the text).

        ``sha`` is stable, so that the same record can be told when a directory is read twice.
        """
        for number, line in enumerate(session.lines(0, findings)):
            source = session.text(line)
            yield {
                "seq": number + 1,
                "type": TYPE_NAMES.get(line.type, str(line.type)),
                "format": line.format,
                "offset": line.offset,
                "text": text.decode(source),
                "sha": _sha(source),
            }

    def facts(self):
        """Yield each live memory as a dict of its fields and whole labels, with ``sha``; the archive is not
        among them."""
        for item in self.memory().items():
            fact = dict(item.fields())
            fact["labels"] = item.labels
            fact["sha"] = _sha(item.content.encode())
            yield fact

    def memory(self):
        """The LongTerm memory, opened for reading."""
        return LongTerm(self.disk, self.memory_folder, lambda: 0)

    def profile(self):
        """The profile documents by name, those that are missing left out."""
        found = {}
        for name, _, _ in DOCUMENTS:
            path = self.memory_folder + "/" + name + ".md"
            if self.disk.size(path) >= 0:
                found[name] = text.decode(self.disk.read(path))
        return found

    def _place(self, name, ending):
        below = self.root + "/" + name
        if self.disk.names(below) or not any(ending in one for one in self.disk.names(self.root)):
            return below
        return self.root


def write(root, sessions=(), facts=(), profile=None, disk=None, clock=None):
    """Write a directory that the firmware boots on.

    Args:
        root: the directory; it is made where it is missing, and must not hold these sessions yet.
        sessions: (session id, backend, records) with records (type 1 to 4, raw message or None, text or
        None).
        facts: dicts with content and optionally id, tags, keywords, source, created_at, updated_at,
        access_count.
        profile: documents by name: soul, identity, user.
        disk: the Disk to use.
        clock: gives the seconds since 1970 for facts without times.

    Raises:
        InvalidInput: a session is there already, or a record cannot be stored.
    """
    disk = disk or Disk()
    disk.make(root + "/sessions")
    disk.make(root + "/memory")
    for session_id, backend, records in sessions:
        session = Session(disk, root + "/sessions", session_id, backend)
        if session.size() > 0:
            raise InvalidInput("there is a session " + session_id + " already: write to an empty directory")
        session.persist(session.encode(records))
    _write_facts(LongTerm(disk, root + "/memory", clock or (lambda: 0)), facts)
    documents = Profile(disk, root + "/memory")
    for name, words in (profile or {}).items():
        documents.write(name, words)
    documents.begin()


def _write_facts(memory, facts):
    memory.begin()
    for fact in facts:
        names = ("content", "tags", "keywords", "source", "id")
        memory.store(*[fact.get(name, "") for name in names], times=_times(fact))
    memory.compact()


def _times(fact):
    """(created, updated, uses) of a fact that comes with them, else None."""
    if "updated_at" not in fact:
        return None
    return fact.get("created_at", fact["updated_at"]), fact["updated_at"], fact.get("access_count", 0)


def _sha(data):
    return binascii.hexlify(hashlib.sha256(data).digest()).decode()
