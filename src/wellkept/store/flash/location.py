"""How a device's directory is named as a store: ``flash:DIR?namespace=NAME&user=NAME&backend=NAME``."""

from __future__ import annotations

from typing import NamedTuple, cast, get_args
from urllib.parse import parse_qsl, urlencode

from wellkept.errors import InvalidInput
from wellkept.records import Scope
from wellkept.store.flash.messages import Backend

SCHEME = "flash:"
DEVICE = Scope("device", "default")
_OPTIONS = {"namespace", "user", "backend"}


class Location(NamedTuple):
    """The directory, whose memory it is (None: not said), and the provider that the device is set to."""

    root: str
    owner: Scope | None
    backend: Backend


def parse(location: str) -> Location:
    """The parts of a location. Raises InvalidInput for one that makes no sense."""
    root, _, query = location.removeprefix(SCHEME).rpartition("?")
    if "=" not in query:
        root, query = location.removeprefix(SCHEME), ""
    options = dict(parse_qsl(query))
    backend = options.get("backend", "openai_compatible")
    if not root or set(options) - _OPTIONS or backend not in get_args(Backend):
        raise InvalidInput(
            f"{location!r} is not understood. Write flash:DIR, or flash:DIR?namespace=NAME&user=NAME; backend may be "
            f"{' or '.join(get_args(Backend))}."
        )
    owner = Scope(options.get("namespace", DEVICE.namespace), options.get("user", DEVICE.user))
    named = options.keys() & {"namespace", "user"}
    return Location(root.rstrip("/") or "/", owner if named else None, cast(Backend, backend))


def written(root: str, scope: Scope, backend: Backend) -> str:
    """The location of a directory that is to be this user's."""
    options = {"namespace": scope.namespace, "user": scope.user, "backend": backend}
    return f"{SCHEME}{root}?{urlencode(options)}"
