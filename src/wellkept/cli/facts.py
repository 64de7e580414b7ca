"""``wellkept facts`` and ``wellkept undo``: what is durably remembered of a user, and every change of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import click
from rich.console import Group, RenderableType
from rich.text import Text

from wellkept.cli import render
from wellkept.cli.moments import time
from wellkept.cli.output import clean, console, local, print_json, print_table
from wellkept.cli.target import Target, target_options
from wellkept.policy.facts.claims import USER
from wellkept.store.facts import Change, Doubt, Fact, FactState


@click.group("facts")
def facts_command() -> None:
    """What is durably remembered of a user: list it, add to it, correct it, see where it comes from."""


@facts_command.command("list")
@target_options
@click.option("--label", "labels", multiple=True, help="Only under this label; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Those that were retired or archived, too.")
@click.option("--as-of", type=time, metavar="TIME", help="What was believed then.")
@click.option("--markdown", is_flag=True, help="As a MEMORY.md file, the most used first.")
def list_command(
    target: Target, labels: tuple[str, ...], everything: bool, as_of: datetime | None, markdown: bool
) -> None:
    """List the facts about a user."""
    with target.open() as memory:
        user = target.user_memory(memory)
        if markdown:
            click.echo(clean(user.memory_md()))
            return
        states: tuple[FactState, ...] = ("active", "archived", "retired") if everything else ("active",)
        found = user.get_all(limit=10_000, labels=labels, states=states, as_of=as_of).results
    if target.json:
        print_json([fact.to_dict() for fact in found])
    elif found:
        print_table(["fact", "text", "labels", "state", "uses#", "changed"], map(_row, found))
    else:
        click.echo("No facts.")


def _row(fact: Fact) -> list[str]:
    state = f"{fact.state}, pinned" if fact.pinned else fact.state
    return [fact.id, fact.text, " ".join(fact.labels), state, f"{fact.uses:,}", local(fact.changed_at)]


@facts_command.command("add")
@click.argument("text")
@target_options
@click.option("--label", "labels", multiple=True, help="A short tag; may be repeated, 3 at most.")
@click.option("--subject", default=USER, show_default=True, help="Whom it is about.")
@click.option("--attribute", default="", help="Which side of them, e.g. diet.")
def add_command(target: Target, text: str, labels: tuple[str, ...], subject: str, attribute: str) -> None:
    """Remember TEXT as it is, without a model, and retire what it takes the place of."""
    with target.open() as memory:
        made = target.user_memory(memory).add(
            text, infer=False, labels=labels, subject=subject, attribute=attribute, actor="user"
        )
    if target.json:
        print_json(made)
        return
    for result in made["results"]:
        click.echo(clean(f"{result['event'].lower()} {result['id']}: {result['memory']}"))


@facts_command.command("retire")
@click.argument("fact")
@target_options
def retire_command(target: Target, fact: str) -> None:
    """Take a FACT out of every context and search. It stays in the history, and `wellkept undo` brings it back."""
    with target.open() as memory:
        _say(target, [target.user_memory(memory).delete(fact, actor="user")])


@facts_command.command("history")
@click.argument("fact", required=False)
@target_options
@click.option("--limit", default=50, show_default=True, help="How many changes at most, without FACT.")
def history_command(target: Target, fact: str | None, limit: int) -> None:
    """Every change of a FACT, or the newest changes of all, oldest first."""
    with target.open() as memory:
        user = target.user_memory(memory)
        _say(target, user.history(fact) if fact else user.changes(limit=limit))


@facts_command.command("review")
@target_options
def review_command(target: Target) -> None:
    """What waits for a decision: may this replace that, should this be forgotten?"""
    with target.open() as memory:
        user = target.user_memory(memory)
        doubts = user.review()
        texts = {id: user.get(id).text for doubt in doubts for id in doubt.facts}
    if target.json:
        print_json([doubt.to_dict() for doubt in doubts])
    elif not doubts:
        click.echo("Nothing waits for a decision.")
    for doubt in doubts if not target.json else ():
        console().print(asked(doubt, texts))


def asked(doubt: Doubt, texts: Mapping[str, str]) -> RenderableType:
    """A question of the review list as a person reads it; ``texts``: those of its facts by id."""
    named = [texts[id] for id in doubt.facts]
    question = {
        "replace": " takes the place of ".join(named),
        "erase": f"erase for good, with its source: {', '.join(named)}",
        "forget": f"forget what is meant here: {doubt.text}",
    }[doubt.kind]
    return Text(f"{doubt.id:<4}{clean(question)}?", style="yellow")


@facts_command.command("settle")
@click.argument("number", type=int)
@target_options
@click.option("--accept/--refuse", default=None, required=True, help="Do it, or leave all as it is.")
def settle_command(target: Target, number: int, accept: bool) -> None:
    """Decide the question NUMBER of the review list."""
    with target.open() as memory:
        receipt = target.user_memory(memory).settle(number, accept=accept, actor="user")
    if target.json:
        print_json({"accepted": accept, "receipt": receipt.to_dict() if receipt else None})
    else:
        click.echo("Done." if accept else "Left as it is.")


@click.command("undo")
@click.argument("change", type=int)
@target_options
def undo_command(target: Target, change: int) -> None:
    """Take back the CHANGE with this number (see `wellkept facts history`) and all that was changed with it."""
    with target.open() as memory:
        _say(target, target.user_memory(memory).undo(change, actor="user"))


def _say(target: Target, changes: list[Change]) -> None:
    if target.json:
        print_json([change.to_dict() for change in changes])
    elif changes:
        console().print(Group(*map(changed, changes)))
    else:
        click.echo("No changes.")


def changed(change: Change) -> RenderableType:
    """One change as a line: its number, what was done to which text, when and by whom."""
    fact = change.after or change.before
    line = Text(f"{change.id:<4}", style="bold")
    line.append(
        f"{change.action:<8}", style="red" if change.action in ("retire", "evict", "erase") else "green"
    )
    line.append(clean(fact.text) if fact else "(erased)")
    line.append_text(render.hint(f"  {change.fact_id} · {local(change.at)} · {change.actor}"))
    return line
