"""How the API writes records, pages and request bodies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Path, Query
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict
from starlette.responses import Response

from wellkept.errors import InvalidInput
from wellkept.records import Record, plain
from wellkept.server.problems import PRIVATE

T = TypeVar("T")


def _written_out(value: object) -> object:
    """A bare number would be taken for seconds since 1970; a moment is written out, with its zone."""
    if isinstance(value, (int, float)) or (isinstance(value, str) and _is_number(value)):
        raise ValueError("write it like 2026-06-01T12:00:00+08:00, or a day like 2026-06-01")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


MAX_PAGE = 1000
MAX_INTEGER = (1 << 63) - 1

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=1024, description="`next` of the page before.")]
Moment = Annotated[AwareDatetime, BeforeValidator(_written_out)]
Day = Annotated[date, BeforeValidator(_written_out)]
SessionId = Annotated[str, Path(min_length=1, max_length=512)]


class Body(BaseModel):
    """A request body: fields that it does not know are an error, not a guess."""

    model_config = ConfigDict(extra="forbid")


class Shown(BaseModel):
    """What an answer holds; it is only described, never built."""

    model_config = ConfigDict(defer_build=True)


class Page(Shown, Generic[T]):
    """A page of a list; ``next`` is the cursor of the following one."""

    items: list[T]
    next: str | None


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def answer(data: Any, status: int = 200) -> Response:
    """``data`` (records, or what JSON knows) as a response."""
    return Response(_ENCODER.encode(plain(data)).encode(), status, PRIVATE, "application/json")


def page(items: Sequence[Record], limit: int, cursor: str | int | None) -> Response:
    """A page; ``cursor`` leads to the next one if this one is full."""
    more = len(items) >= limit and cursor is not None
    return answer({"items": items, "next": str(cursor) if more else None})


def number(cursor: str | None) -> int | None:
    """A cursor that is a number. Raises InvalidInput for one that was made up."""
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and int(cursor) <= MAX_INTEGER):
        raise InvalidInput(f"There is no page {cursor!r:.80}. Pass `next` of the page before, as it is.")
    return int(cursor)
