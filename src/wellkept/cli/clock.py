"""A clock for retelling what happened: it tells the time of the story."""

from __future__ import annotations

from datetime import datetime

from wellkept.core import system_clock


class StoryClock:
    """Tells the time that it was set to; the machine's time when that is None."""

    def __init__(self) -> None:
        self.moment: datetime | None = None

    def __call__(self) -> datetime:
        return self.moment or system_clock()
