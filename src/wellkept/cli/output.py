"""Printing that is safe on any terminal: JSON, tables, progress on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

_PIPE_WIDTH = 110
_TABLE_WIDTH = 80  # below, cells would be cut off; a narrower terminal wraps the lines itself
# Text of others must not steer the terminal: control characters are shown as their pictures.
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_CONTROLS |= dict.fromkeys(range(0x7F, 0xA0), 0xFFFD)


def console() -> Console:
    """Standard output: as wide as the terminal, or a fixed width when it is a pipe or a file."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def clean(text: str) -> str:
    """``text`` with its control characters made visible; line breaks and tabs stay."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def print_json(data: Any) -> None:
    """``data`` as indented JSON; characters that the output's encoding may lack are escaped."""
    unicode = "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    click.echo(json.dumps(data, ensure_ascii=not unicode, indent=2))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table without borders. The first column, to be copied, stays whole; names that end in "#" are numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        number = name.endswith("#")
        whole = number or place == 0
        table.add_column(
            name.rstrip("#"), justify="right" if number else "left", overflow="fold", no_wrap=whole
        )
    for row in rows:
        table.add_row(*map(clean, row))
    out = console()
    out.width = max(out.width, _TABLE_WIDTH)
    out.print(table)


def progress() -> Progress:
    """Progress bars on standard error; nothing at all when that is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def local(moment: datetime) -> str:
    """A time as this machine's zone has it, to the minute."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
