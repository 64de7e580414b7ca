"""``wellkept export``."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from wellkept import formats
from wellkept.cli.output import print_json, progress
from wellkept.cli.target import Target, target_options
from wellkept.facts.copies import book_of
from wellkept.formats import Item, entry_of, facts, start_of
from wellkept.memory import Memory
from wellkept.records import Scope, SessionInfo
from wellkept.session import Session
from wellkept.store.facts import Book
from wellkept.user import UserMemory

_PAGE = 500


@click.command("export")
@click.argument("output", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@target_options
@click.option(
    "--session", metavar="ID", help="Only this conversation; all that is kept of the user otherwise."
)
def export_command(target: Target, output: str, session: str | None) -> None:
    """Write a user's conversations, profile and facts as JSON Lines to OUTPUT (standard output by default).

    `wellkept import` reads them back without loss: facts and profile with their history, questions that wait, receipts, and
    tombstones, so that what was forgotten stays so. The file appears when it is complete.
    """
    with target.open() as memory:
        scope = target.scope(memory)
        user = memory.user(scope.user, namespace=scope.namespace)
        infos = [target.session(memory, session).info()] if session else oldest_first(user)
        count = sum(info.events for info in infos)
        with progress() as bars, _writing(output) as stream:
            found = items(memory, scope, infos, Book() if session else book_of(memory._core, scope))
            formats.write(bars.track(found, total=count, description="exporting"), stream)
    if target.json and output != "-":
        print_json({"output": output, "sessions": len(infos), "events": count})


def oldest_first(user: UserMemory) -> list[SessionInfo]:
    """All sessions of a user by the time they began."""
    found: list[SessionInfo] = []
    page = user.sessions(limit=_PAGE)
    while page:
        found += page
        page = user.sessions(limit=_PAGE, before=page[-1].id)
    return sorted(found, key=lambda info: (info.created_at, info.id))


def items(memory: Memory, scope: Scope, infos: Sequence[SessionInfo], book: Book) -> Iterator[Item]:
    """What an export of these sessions and of ``book`` holds, in order."""
    for info in infos:
        yield start_of(info)
        session = memory.session(namespace=scope.namespace, user=scope.user, session_id=info.id)
        yield from _entries(session)
    yield from facts.lines(scope, book)


def _entries(session: Session) -> Iterator[Item]:
    page = session.get_events(after=0, limit=_PAGE)
    while page:
        yield from (entry_of(event) for event in page)
        page = session.get_events(after=page[-1].seq, limit=_PAGE)


@contextmanager
def _writing(output: str) -> Iterator[IO[str]]:
    """UTF-8 text to standard output, or to a file that appears under its name when it is whole."""
    if output == "-":
        stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        yield stream
        stream.flush()
        stream.detach()
        return
    part = Path(f"{output}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(part, output)
    finally:
        part.unlink(missing_ok=True)
