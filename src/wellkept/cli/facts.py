"""``wellkept facts``, ``wellkept forget`` and ``wellkept undo``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import click
from rich.text import Text

from wellkept.cli import render
from wellkept.cli.moments import Time
from wellkept.cli.output import clean, console, local, print_json, print_table
from wellkept.cli.target import Target, target_options
from wellkept.facts.forget import Preview, Receipt
from wellkept.memory import UserMemory
from wellkept.store.facts import Change, Doubt, Fact, FactState

_CURRENT: tuple[FactState, ...] = ("active",)
_EVERY: tuple[FactState, ...] = ("active", "archived", "retired")
_SHOWN = 10


@click.command("facts")
@target_options
@click.option("--add", "added", metavar="TEXT", help="Remember this statement, as it is.")
@click.option(
    "--label", "labels", metavar="LABEL", multiple=True, help="Only under this label; with --add: its label."
)
@click.option("--all", "every", is_flag=True, help="Archived and retired ones too.")
@click.option("--as-of", type=Time(), metavar="TIME", help="Those that were believed then.")
@click.option(
    "--history", "fact", metavar="ID", help="Every change of one fact, with the number that `undo` takes."
)
@click.option("--log", is_flag=True, help="Every change of all facts.")
@click.option("--review", is_flag=True, help="What waits for a decision.")
@click.option("--accept", type=int, metavar="NUMBER", help="Decide a question of --review with yes.")
@click.option("--reject", type=int, metavar="NUMBER", help="Decide a question of --review with no.")
def facts_command(
    target: Target, added: str | None, labels: tuple[str, ...], every: bool, as_of: datetime | None,
    fact: str | None, log: bool, review: bool, accept: int | None, reject: int | None,
) -> None:  # fmt: skip
    """List what is durably remembered of a user."""
    with target.open() as memory:
        user = target.user_memory(memory)
        if added is not None:
            user.keep(added, labels=labels, actor="user")
        for number, yes in ((accept, True), (reject, False)):
            if number is not None:
                _settled(user.settle(number, accept=yes))
        if fact is not None or log:
            _changes(target, user.history(fact) if fact else user.changes(limit=1000))
        elif review:
            _review(target, user, user.review())
        else:
            wanted = () if added is not None else labels
            page = user.get_all(
                limit=10_000, labels=wanted, states=_EVERY if every else _CURRENT, as_of=as_of
            )
            _facts(target, page.results)


def _facts(target: Target, facts: Sequence[Fact]) -> None:
    if target.json:
        print_json([fact.to_dict() for fact in facts])
    elif not facts:
        click.echo("Nothing is remembered.")
    else:
        rows = [
            (fact.id, _state(fact), ", ".join(fact.labels), local(fact.changed_at), fact.text)
            for fact in facts
        ]
        print_table(("ID", "STATE", "LABELS", "CHANGED", "FACT"), rows)


def _state(fact: Fact) -> str:
    return f"{fact.state}, pinned" if fact.pinned else fact.state


def _changes(target: Target, changes: Sequence[Change]) -> None:
    if target.json:
        print_json([change.to_dict() for change in changes])
        return
    rows = [(str(it.id), local(it.at), it.actor, it.action, it.fact_id, _became(it)) for it in changes]
    print_table(("CHANGE", "WHEN", "BY", "ACTION", "FACT", "TEXT"), rows)


def _became(change: Change) -> str:
    before, after = change.before, change.after
    if after is None:
        return "(erased)"
    return f"{before.text} → {after.text}" if before is not None and before.text != after.text else after.text


def _review(target: Target, user: UserMemory, doubts: Sequence[Doubt]) -> None:
    if target.json:
        print_json([doubt.to_dict() for doubt in doubts])
    elif not doubts:
        click.echo("Nothing waits for a decision.")
    else:
        print_table(("NUMBER", "QUESTION"), [(str(doubt.id), _question(user, doubt)) for doubt in doubts])


def _question(user: UserMemory, doubt: Doubt) -> str:
    texts = [f"“{user.get(id).text}”" for id in doubt.facts]
    if doubt.kind == "replace":
        return f"Does {texts[0]} take the place of {texts[1]}?"
    if doubt.kind == "erase":
        return f"The user wanted this forgotten; it is retired. Erase it? {', '.join(texts)}"
    return f"What is to be forgotten? The user said: {doubt.text}"


@click.command("forget")
@click.argument("query", required=False)
@target_options
@click.option("--id", "ids", metavar="ID", multiple=True, help="A fact by its id; may be repeated.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def forget_command(target: Target, query: str | None, ids: tuple[str, ...], yes: bool) -> None:
    """Erase what is remembered about QUERY (all its words), the messages that say it included.

    Shows what would go and asks. The receipt says what was removed and what a second look found left. There is no undo.
    """
    with target.open() as memory:
        user = target.user_memory(memory)
        preview = user.forget(query, ids=ids)
        if not target.json:
            out = console()
            for line in _would_go(preview):
                out.print(line)
        if preview.reason is not None:
            raise click.ClickException(preview.reason)
        if not yes:
            click.confirm("Erase all of this?", abort=True, err=True)
        receipt = user.forget(preview)
        if target.json:
            print_json(receipt.to_dict())
        else:
            _settled(receipt)


def _would_go(preview: Preview) -> Iterator[Text]:
    yield Text(f"{len(preview.facts)} facts and {len(preview.events)} messages would go:")
    for fact in preview.facts[:_SHOWN]:
        yield Text(f"  fact {fact.id}  {clean(fact.text)}")
    for event in preview.events[:_SHOWN]:
        line = render.hint(f"  message {event.id}  {clean(str(event.content))[:100]}")
        yield line
    hidden = max(0, len(preview.facts) - _SHOWN) + max(0, len(preview.events) - _SHOWN)
    if hidden:
        yield render.hint(f"  and {hidden} more")


def _settled(receipt: Receipt | None) -> None:
    if receipt is None:
        return
    removed = ", ".join(f"{rows} {table}" for table, rows in receipt.removed.items()) or "nothing"
    left = ", ".join(f"{rows} {table}" for table, rows in receipt.left.items()) or "nothing"
    click.echo(f"Receipt {receipt.id}: removed {removed}. A second look found left: {left}.")


@click.command("undo")
@click.argument("change", type=int)
@target_options
def undo_command(target: Target, change: int) -> None:
    """Take back a CHANGE of a fact, by the number that `wellkept facts --log` shows."""
    with target.open() as memory:
        _changes(target, target.user_memory(memory).undo(change, actor="user"))
