"""``wellkept import``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click

from wellkept import formats
from wellkept.cli.clock import StoryClock
from wellkept.cli.importer import Importer, Report
from wellkept.cli.output import clean, print_json, progress
from wellkept.cli.target import Target, target_options

_SHOWN = 20


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@target_options
@click.option(
    "--format",
    type=click.Choice(["auto", *formats.FORMATS]),
    default="auto",
    show_default=True,
    help="What the file is.",
)
@click.option(
    "--skip-bad", is_flag=True, help="Leave damaged lines out instead of stopping at the first one."
)
def import_command(target: Target, file: str, format: str, skip_bad: bool) -> None:
    """Take the conversations in FILE ("-" for standard input) into a store, which is made when it is missing.

    Every message is taken once: an interrupted import can simply be run again.
    """
    clock = StoryClock()
    with target.open(create=True, clock=clock) as memory, _reading(file) as stream:
        importer = Importer(memory, clock, namespace=target.namespace, user=target.user, skip_bad=skip_bad)
        report = importer.run(formats.read(stream, format))
    if target.json:
        print_json(report.to_dict())
    else:
        _print(report)


@contextmanager
def _reading(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    with progress() as bars, bars.open(file, "rb", description="importing") as stream:
        yield stream


def _print(report: Report) -> None:
    known = f", {report.known:,} were there already" if report.known else ""
    click.echo(f"{report.sessions:,} conversations, {report.added:,} new messages{known}.")
    if report.facts or report.known_facts:
        left = f", {report.known_facts:,} were known or forgotten already" if report.known_facts else ""
        click.echo(f"{report.facts:,} new facts{left}.")
    for note in report.notes[:_SHOWN]:
        click.echo(clean(f"line {note.line}: {note.text}" if note.line else note.text), err=True)
    for bad in report.skipped[:_SHOWN]:
        click.echo(clean(f"line {bad.line} left out: {bad.reason}"), err=True)
    hidden = len(report.notes[_SHOWN:]) + len(report.skipped[_SHOWN:])
    if hidden:
        click.echo(f"… and {hidden:,} more remarks; --json lists them all.", err=True)
