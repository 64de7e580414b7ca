"""Keeps files that people read beside the store: the facts of each user, and what changed in them.

Written in the background from what the store holds, each whole or not at all. Nothing depends on them: what cannot be
written (a full disk, a folder that is gone) is said, and written when it can be.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from pathlib import Path
from zoneinfo import ZoneInfo

from wellkept.errors import StoreError
from wellkept.facts.files import digest_log, memory_md
from wellkept.records import Scope
from wellkept.store.protocol import Store, Tables

log = logging.getLogger("wellkept.mirror")

_UNSAFE = re.compile(r"[^\w-]")


def folder_of(scope: Scope) -> str:
    """The folder of a user: names to be read, and a hash because they alone may collide (Ann and ann, a/b and a_b)."""
    told = hashlib.sha256(json.dumps([scope.namespace, scope.user]).encode()).hexdigest()[:8]
    return f"{_UNSAFE.sub('_', f'{scope.namespace} {scope.user}')[:40]}-{told}"


class Mirror:
    """The files of one memory, below ``folder``: ``NAMESPACE_USER-HASH/MEMORY.md`` and ``memory_digest.log``.

    Attributes:
        failure: why the files could not be brought up to date the last time; None when they are.
    """

    def __init__(self, store: Store, folder: str, zone: str) -> None:
        self.failure: str | None = None
        self._store = store
        self._folder = Path(folder)
        self._zone = ZoneInfo(zone)
        self._seen = 0
        self._behind: set[Scope] = set()
        self._writing = threading.Lock()

    def flush(self) -> None:
        """Write the files of each user whose facts have changed, in whatever process; at first those of all."""
        with self._writing:
            try:
                newest, changed = self._store.read(lambda tables: tables.facts.changed(after=self._seen))
            except StoreError as error:
                self._fail(str(error))
                return
            self._behind |= set(changed)
            self._seen = max(self._seen, newest)
            if self._behind:
                self._write_all()

    def is_behind(self, scope: Scope) -> bool:
        """Whether the files of a user could not be written."""
        return scope in self._behind

    def _write_all(self) -> None:
        try:
            for scope in sorted(self._behind, key=folder_of):
                self._write(scope)
                self._behind.remove(scope)
        except OSError as error:
            self._fail(f"{error.filename or self._folder}: {error.strerror or error}")
        except StoreError as error:
            self._fail(str(error))
        else:
            self.failure = None

    def _fail(self, reason: str) -> None:
        if reason != self.failure:
            log.warning("The files of the facts are not up to date: %s", reason)
        self.failure = reason

    def _write(self, scope: Scope) -> None:
        folder = self._folder / folder_of(scope)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self._store.read(lambda tables: self._texts(tables, scope)).items():
            _replace(folder / name, text)

    def _texts(self, tables: Tables, scope: Scope) -> dict[str, str]:
        return {
            "MEMORY.md": memory_md(tables.facts.all(scope), self._zone),
            "memory_digest.log": digest_log(tables.facts.changes(scope), self._zone),
        }


def _replace(path: Path, text: str) -> None:
    """Put ``text`` in the place of the file: a reader sees the old one or the new one."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
