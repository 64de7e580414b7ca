"""The three profile documents of a user: read, write, look back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from wellkept.actors import check_actor
from wellkept.core import Core
from wellkept.errors import Conflict, InvalidInput
from wellkept.policy.checks import check_text
from wellkept.records import DOCUMENTS, Document, Scope, utc
from wellkept.store.facts import Actor
from wellkept.store.protocol import Tables


class ProfileReader:
    """``profile["user"]`` reads the Markdown text."""

    def __init__(self, core: Core, scope: Scope) -> None:
        self._core = core
        self._scope = scope

    def __getitem__(self, name: str) -> str:
        return self.get(name).text

    def __iter__(self) -> Iterator[str]:
        return iter(DOCUMENTS)

    def get(self, name: str) -> Document:
        """The current version with its hash; an empty one when it was never written."""
        _check(name)
        return self._core.store.read(lambda tables: self._current(tables, name))

    def versions(self, name: str) -> list[Document]:
        """All versions, newest first."""
        _check(name)
        return self._core.store.read(lambda tables: tables.profiles.versions(self._scope, name))

    def _current(self, tables: Tables, name: str) -> Document:
        found = tables.profiles.current(self._scope).get(name)
        return found or Document(name=name, text="", hash=_hash(""), version=0, updated_at=None)


class Profile(ProfileReader):
    """``profile["user"]`` reads the Markdown text, ``profile["user"] = text`` writes a new version."""

    def __setitem__(self, name: str, text: str) -> None:
        self.set(name, text)

    def set(self, name: str, text: str, *, if_hash: str | None = None, actor: Actor = "app") -> Document:
        """Write a new version and return it; writing what is there already changes nothing.

        ``if_hash``: the hash of the version that the change was made on. Raises Conflict when it is no
            longer the current one.
        """
        _check(name)
        check_text("profile document", text)
        now, by = self._core.now(), check_actor(actor)

        def write(tables: Tables) -> Document:
            current = self._current(tables, name)
            if if_hash is not None and if_hash != current.hash:
                raise Conflict(
                    f"The profile document {name!r} was changed meanwhile. Read it again and retry."
                )
            if text == current.text:
                return current
            document = Document(
                name=name, text=text, hash=_hash(text), version=current.version + 1, updated_at=utc(now)
            )
            tables.profiles.put(self._scope, document, at=now)
            tables.actions.add(self._scope, "write_profile", by, at=now, subject=name)
            return document

        return self._core.store.write(write)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _check(name: str) -> None:
    if name not in DOCUMENTS:
        raise InvalidInput(f"There is no profile document {name!r}; there are: {', '.join(DOCUMENTS)}.")
