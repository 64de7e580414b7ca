"""``wellkept sessions`` and ``wellkept show``."""

from __future__ import annotations

import click

from wellkept.cli import render
from wellkept.cli.output import console, local, print_json, print_table
from wellkept.cli.target import Target, target_options
from wellkept.records import SessionInfo


@click.command("sessions")
@target_options
@click.option("--limit", default=50, show_default=True, help="How many at most.")
@click.option("--before", metavar="SESSION", help="Go on after this session of the last page.")
def sessions_command(target: Target, limit: int, before: str | None) -> None:
    """List a user's conversations, last active first."""
    with target.open() as memory:
        found = target.user_memory(memory).sessions(limit=limit, before=before)
    if target.json:
        print_json([info.to_dict() for info in found])
    elif found:
        print_table(["session", "title", "turns#", "messages#", "tokens#", "last active"], map(_row, found))
    else:
        click.echo("No conversations.")


def _row(info: SessionInfo) -> list[str]:
    counts = [f"{number:,}" for number in (info.turns, info.events, info.tokens)]
    return [info.id, info.title, *counts, local(info.last_activity)]


@click.command("show")
@click.argument("session")
@target_options
@click.option("--limit", default=100, show_default=True, help="How many messages at most.")
@click.option(
    "--before", type=int, metavar="SEQ", help="Only messages before this one; the newest ones otherwise."
)
def show_command(target: Target, session: str, limit: int, before: int | None) -> None:
    """Print the newest messages of the conversation SESSION, tool calls included."""
    with target.open() as memory:
        chat = target.session(memory, session)
        info = chat.info()
        events = chat.get_events(before=before, limit=limit)
    if target.json:
        print_json({"session": info.to_dict(), "events": [event.to_dict() for event in events]})
        return
    out = console()
    out.print(render.session_head(info))
    for event in events:
        out.print(render.message(event))
    if events and events[0].seq > 1:
        out.print(render.hint(f"Earlier ones: --before {events[0].seq}"))
