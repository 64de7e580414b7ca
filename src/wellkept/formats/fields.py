"""Take a field out of a decoded JSON object, or say which one is wrong and what is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, TypeVar

from wellkept.errors import InvalidInput

T = TypeVar("T")

_NAMES = {str: "text", int: "a whole number", bool: "true or false", dict: "an object", list: "a list"}


def optional(data: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    """``data[name]`` when it is a ``kind``; None when it is absent or null."""
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InvalidInput(f"{name!r} must be {_NAMES[kind]}, not {shown(value)}")
    return value


def required(data: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """``data[name]``, which must be a ``kind``."""
    value = optional(data, name, kind)
    if value is None:
        raise InvalidInput(f"{name!r} is missing; it must be {_NAMES[kind]}")
    return value


def list_of(data: Mapping[str, Any], name: str, kind: type[T]) -> list[T]:
    """``data[name]``, a list of ``kind``; empty when it is absent or null."""
    found = optional(data, name, list) or []
    for item in found:
        if not isinstance(item, kind):
            raise InvalidInput(f"{name!r} must hold {_NAMES[kind]} each, not {shown(item)}")
    return found


def shown(value: Any) -> str:
    """The beginning of ``value`` for an error message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def moment(value: Any) -> datetime | None:
    """The aware UTC datetime of seconds since 1970 or of an ISO 8601 text without a zone or with one.

    None for null, zero and an empty text. Without a zone it is taken as UTC.
    """
    if not value:
        return None
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(_without_z(value))
            return parsed.replace(tzinfo=parsed.tzinfo or timezone.utc).astimezone(timezone.utc)
        return datetime.fromtimestamp(value, tz=timezone.utc)
    except (ValueError, TypeError, OverflowError, OSError):
        raise InvalidInput(
            f"{shown(value)} is no time: seconds since 1970 or ISO 8601 are accepted"
        ) from None


def _without_z(text: str) -> str:
    # Python 3.10 knows neither "Z" nor fractions that are not 3 or 6 digits long.
    text = text.strip().removesuffix("Z")
    head, dot, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return f"{head}.{digits[:6]:0<6}{rest[len(digits) :]}" if dot and digits else text
