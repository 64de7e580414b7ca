"""Times on the command line."""

from __future__ import annotations

from datetime import datetime

import click


def time(value: str) -> datetime:
    """A time in ISO 8601; without a zone it is one of this machine's, without a clock time the day's beginning."""
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no time like 2026-06-24T20:00.") from None
    return moment if moment.tzinfo else moment.astimezone()


def seq_or_time(value: str) -> datetime | int:
    """The seq of a message, or a time."""
    return int(value) if value.isdecimal() else time(value)
