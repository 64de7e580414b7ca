"""Where on the device's disk things are: the directory of each user, and the sessions and memories in it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from wellkept.records import Scope
from wellkept.store.flash.messages import Backend
from wellkept_flash.folder import Stored
from wellkept_flash.longterm import LongTerm
from wellkept_flash.profile import Profile
from wellkept_flash.session import FORMATS, Session, file_name

USERS = "users"
OWNER = "wellkept.owner"
_FILE = re.compile(r"s_[A-Za-z0-9_-]{1,24}_[0-9a-f]{8}\.log")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class Place(NamedTuple):
    """A session's data file: the user's directory below the root ("" for the root itself), its name, the session's id."""

    home: str
    file: str
    id: str


def home_of(scope: Scope) -> str:
    """The directory, below the root, of a user who does not own the root."""
    name = hashlib.sha256(json.dumps([scope.namespace, scope.user]).encode()).hexdigest()[:16]
    return f"{USERS}/{_UNSAFE.sub('_', f'{scope.namespace}_{scope.user}')[:24]}_{name}"


def place_of(home: str, id: str, file: str | None) -> Place:
    """Where a session is; ``file`` where the device gave it another name than its id has."""
    return Place(home, file or file_name(id), id)


def is_file_name(name: Any) -> bool:
    """Whether a device would name a session's file so."""
    return isinstance(name, str) and _FILE.fullmatch(name) is not None


class Places:
    """The device's files below ``root`` on a ``HostDisk``. One writer at a time; each file is opened once."""

    def __init__(self, disk: Any, root: str, backend: Backend, clock: Callable[[], int]) -> None:
        self.disk = disk
        self.root = root
        self._backend = backend
        self._clock = clock
        self._sessions: dict[Place, Any] = {}
        self._memories: dict[str, Any] = {}

    def sign(self, home: str, scope: Scope) -> None:
        """Leave word in the directory of a user whose it is: the journal that says so, too, may be damaged."""
        if self.owner(home) != scope:
            self.disk.make(self.path(home))
            word = [scope.namespace, scope.user, home_of(scope)]
            self.disk.write(self._owner(home), json.dumps(word, ensure_ascii=False).encode())

    def owner(self, home: str) -> Scope | None:
        """Whose directory it is, if its file says so and is sound."""
        self.disk.settle(self._owner(home))
        try:
            namespace, user, mark = json.loads(self.disk.read(self._owner(home)))
            scope = Scope(namespace, user)
            return scope if home_of(scope) == mark and home in ("", mark) else None
        except (OSError, ValueError, TypeError):
            return None

    def _owner(self, home: str) -> str:
        return f"{self.path(home)}/{OWNER}"

    def path(self, home: str) -> str:
        """The directory of a user."""
        return f"{self.root}/{home}" if home else self.root

    def session(self, place: Place) -> Any:
        """The ``wellkept_flash`` Session at ``place``."""
        if place not in self._sessions:
            folder = self.path(place.home) + "/sessions"
            if place.file == file_name(place.id):
                session = Session(self.disk, folder, place.id, self._backend)
            else:
                session = Stored(self.disk, folder, place.file)
                session.format = FORMATS[self._backend]
            self._sessions[place] = session
        return self._sessions[place]

    def release(self, place: Place) -> None:
        """Look at the session's files anew the next time."""
        self._sessions.pop(place, None)

    def memory(self, home: str) -> Any:
        """The ``wellkept_flash`` LongTerm memory of a user."""
        if home not in self._memories:
            self._begin(home)
            self._memories[home] = LongTerm(self.disk, self.path(home) + "/memory", self._clock, 1 << 30)
        return self._memories[home]

    def profile(self, home: str) -> Any:
        """The ``wellkept_flash`` Profile of a user."""
        self._begin(home)
        return Profile(self.disk, self.path(home) + "/memory")

    def _begin(self, home: str) -> None:
        self.disk.make(self.path(home) + "/memory")

    def flush(self) -> None:
        """Write what the firmware wants to find beside the records, where it is out of date."""
        for home, memory in self._memories.items():
            memory.begin()
            memory.flush()
            self.profile(home).begin()

    def homes(self) -> list[str]:
        """The directories of users that there are; the root first, if it holds anything."""
        names = self.disk.names(f"{self.root}/{USERS}")
        return ["", *(f"{USERS}/{name}" for name in names)]

    def holds_something(self, home: str) -> bool:
        """Whether a device, or we, left anything in the directory of a user."""
        path = self.path(home)
        return any(self.disk.names(f"{path}/{name}") for name in ("sessions", "memory"))

    def found(self, home: str) -> Iterator[tuple[str, str]]:
        """Name and id of each session's file in the directory of a user."""
        folder = self.path(home) + "/sessions"
        names = [name[: name.find(".log") + 4] for name in self.disk.names(folder) if ".log" in name]
        for name in dict.fromkeys(names):
            yield name, Stored(self.disk, folder, name).id

    def changed_at(self, home: str, file: str) -> int:
        """When a session's file was last written (ms)."""
        return int(os.stat(f"{self.path(home)}/sessions/{file}").st_mtime * 1000)
