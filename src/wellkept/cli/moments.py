"""Times on the command line."""

from __future__ import annotations

from datetime import datetime

import click


class Time(click.ParamType[datetime]):
    """A time in ISO 8601; without a zone it is one of this machine's, without a clock time the day's beginning."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        except ValueError:
            self.fail(f"{str(value)!r} is no time like 2026-06-24T20:00.", param, ctx)
        return moment if moment.tzinfo else moment.astimezone()


class Moment(click.ParamType[datetime | int]):
    """The seq of a message, or a time."""

    name = "moment"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime | int:
        text = str(value)
        return int(text) if text.isdecimal() else Time().convert(text, param, ctx)
