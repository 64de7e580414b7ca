"""What most commands share: which store, whose memory, and how to print."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.models.protocol import Clock
from wellkept.records import Scope
from wellkept.session import Session
from wellkept.user import UserMemory, UserReader

_NAMED = 5


@dataclass(frozen=True)
class Target:
    """What ``--store``, ``--namespace``, ``--user`` and ``--json`` said."""

    store: str | None
    namespace: str | None
    user: str | None
    json: bool

    def location(self) -> str:
        """The store's path or address. A usage error when none was given."""
        if not self.store:
            raise click.UsageError("No store. Pass --store chat.db, or set WELLKEPT_STORE to its path.")
        return self.store

    def path(self) -> str:
        """The store's location, which must be a file for this command."""
        location = self.location()
        if not _is_path(location):
            hint = " `wellkept device check` looks over a device." if location.startswith("flash:") else ""
            raise click.ClickException(f"{location} is no file, and this command works on files only.{hint}")
        return location

    def existing(self) -> str:
        """The store's location, where there is one."""
        location = self.location()
        if _is_missing(location):
            raise click.ClickException(
                f"There is no store at {location}. `wellkept import` makes one; check the path otherwise."
            )
        return location

    def open(self, *, create: bool = False, clock: Clock | None = None) -> Memory:
        """The memory on the store. A missing file is made only when ``create`` says so."""
        return Memory(self.location() if create else self.existing(), clock=clock, worker=False)

    def scope(self, memory: Memory) -> Scope:
        """Whose memory. A usage error that names those there are, when it was not given."""
        if self.namespace and self.user:
            return Scope(self.namespace, self.user)
        known = memory.scopes(self.namespace)
        missing = " and ".join(
            name for name, value in (("--namespace", self.namespace), ("--user", self.user)) if not value
        )
        raise click.UsageError(f"Whose memory? Pass {missing}. {_listed(known)}")

    def user_memory(self, memory: Memory) -> UserMemory:
        """The user's memory in ``memory``."""
        scope = self.scope(memory)
        return memory.user(scope.user, namespace=scope.namespace)

    def reader(self, memory: Memory) -> UserReader:
        """The same to read from: what a person looks up counts no use."""
        scope = self.scope(memory)
        return memory.read_only().user(scope.user, namespace=scope.namespace)

    def session(self, memory: Memory, session_id: str) -> Session:
        """The user's session with this id."""
        scope = self.scope(memory)
        try:
            return memory.session(namespace=scope.namespace, user=scope.user, session_id=session_id)
        except NotFound as error:
            hint = f"wellkept sessions --namespace {scope.namespace} --user {scope.user}"
            raise click.ClickException(
                f"No session {session_id!r} for this user. These are theirs: {hint}"
            ) from error


def _is_path(location: str) -> bool:
    scheme, separator, _ = location.partition(":")
    # One letter before a colon is a drive of Windows.
    return not separator or len(scheme) == 1


def _is_missing(location: str) -> bool:
    """Whether it is a file, or a device's directory, that is not there."""
    if location.startswith("flash:"):
        from wellkept.store.flash.location import parse

        return not Path(parse(location).root).exists()
    return _is_path(location) and not Path(location).exists()


def _listed(scopes: list[Scope]) -> str:
    if not scopes:
        return "Nobody has a conversation here yet."
    named = ", ".join(f"--namespace {scope.namespace} --user {scope.user}" for scope in scopes[:_NAMED])
    more = f" and {len(scopes) - _NAMED} more" if len(scopes) > _NAMED else ""
    return f"Here are: {named}{more}."


_JSON = click.option("--json", is_flag=True, help="Print JSON for programs to read.")


def _from_environment(
    name: str, metavar: str, help: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    variable = f"WELLKEPT_{name.upper()}"
    return click.option(f"--{name}", metavar=metavar, envvar=variable, show_envvar=True, help=help)


_STORE = _from_environment("store", "PATH", "The store, e.g. chat.db.")
_NAMESPACE = _from_environment("namespace", "NAME", "The tenant of the user.")
_USER = _from_environment("user", "NAME", "Whose memory.")


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of ``Target`` and hand it one as its argument ``target``."""
    return _STORE(_NAMESPACE(_USER(_JSON(_with_target(command)))))


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command about a whole store, whoever is in it."""
    return _STORE(_JSON(_with_target(command)))


mirror_option = click.option(
    "--mirror",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Keep each user's facts and their log up to date as files in this folder.",
)


def _with_target(command: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(command)
    def run(
        store: str | None, json: bool, namespace: str | None = None, user: str | None = None, **rest: Any
    ) -> Any:
        return command(target=Target(store, namespace, user, json), **rest)

    return run
