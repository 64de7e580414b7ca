"""``wellkept forget``: erasure with a preview before it and a receipt behind it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click
from rich.console import Group, RenderableType
from rich.text import Text

from wellkept.cli import render
from wellkept.cli.output import clean, console, print_json
from wellkept.cli.target import Target, target_options
from wellkept.facts.forget import Preview, Receipt
from wellkept.records import text_of

_SHOWN = 20
_WIDTH = 100


@click.command("forget")
@click.argument("what", required=False)
@target_options
@click.option(
    "--id", "ids", multiple=True, metavar="FACT", help="Instead of WHAT: the fact itself; may be repeated."
)
@click.option(
    "--yes", is_flag=True, help="Do it. Without, a terminal is asked, and otherwise nothing is done."
)
def forget_command(target: Target, what: str | None, ids: tuple[str, ...], yes: bool) -> None:
    """Erase what is remembered about WHAT: facts with their history, the messages that say it, and all that was made of them.

    Shows first what would go. It cannot be undone. Ends with exit code 1 when a second look finds something left.
    """
    with target.open() as memory:
        user = target.user_memory(memory)
        preview = user.forget(what, ids=ids)
        if preview.reason:
            raise click.ClickException(preview.reason)
        if not target.json:
            console().print(previewed(preview))
        if not (yes or _confirmed(target)):
            _untouched(target, preview)
            return
        receipt = user.forget(preview, actor="user")
    if target.json:
        print_json(receipt.to_dict())
    else:
        console().print(received(receipt))
    if receipt.left:
        raise click.exceptions.Exit(1)


def _confirmed(target: Target) -> bool:
    return not target.json and sys.stdin.isatty() and click.confirm("Erase this? It cannot be undone.")


def _untouched(target: Target, preview: Preview) -> None:
    if target.json:
        print_json(preview.to_dict())
    else:
        click.echo("Nothing was erased. Pass --yes to do it.")


def previewed(preview: Preview) -> RenderableType:
    """What would go: facts and messages."""
    facts = [_line("fact", fact.id, fact.text) for fact in preview.facts]
    events = [_line(event.role, event.id, text_of(event.content)) for event in preview.events]
    shown = [*facts, *events]
    more = [render.hint(f"… and {len(shown) - _SHOWN} more")] if len(shown) > _SHOWN else []
    head = Text(f"This would erase {len(facts):,} facts and {len(events):,} messages:", style="bold")
    notes = [f"It also stands in: {place} of {_ids(ids)}" for place, ids in preview.places.items()]
    if preview.alike:
        notes.append(f"Not taken, because the words stand apart there: {_ids(preview.alike)}")
    return Group(head, *shown[:_SHOWN], *more, *map(render.hint, notes))


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(map(clean, ids[:_SHOWN])) + more


def _line(kind: str, id: str, text: str) -> Text:
    line = Text(f"  {kind} {clean(id)}: {' '.join(clean(text).split())}")
    line.truncate(_WIDTH, overflow="ellipsis")
    return line


def received(receipt: Receipt) -> RenderableType:
    """What was removed, and what a second look found."""
    removed = ", ".join(f"{count:,} {table}" for table, count in receipt.removed.items() if count)
    left = ", ".join(f"{count:,} {table}" for table, count in receipt.left.items())
    found = f"A second look found left: {left}" if left else "A second look found nothing left."
    return Group(
        Text(f"Erased, receipt {receipt.id}: {removed}."), Text(found, style="red" if left else "green")
    )
