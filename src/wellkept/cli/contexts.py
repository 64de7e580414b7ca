"""``wellkept context``."""

from __future__ import annotations

from datetime import datetime

import click

from wellkept.cli import render
from wellkept.cli.moments import seq_or_time
from wellkept.cli.output import console, print_json
from wellkept.cli.target import Target, target_options


@click.command("context")
@click.argument("session")
@target_options
@click.option("--query", metavar="TEXT", help="What to recall memories for.")
@click.option(
    "--budget",
    type=int,
    metavar="TOKENS",
    help="Most tokens that it may take; the policy's default otherwise.",
)
@click.option(
    "--as-of",
    type=seq_or_time,
    metavar="SEQ|TIME",
    help="As it was when this message was the newest, or then.",
)
@click.option("--trace", is_flag=True, help="Also what was left out, and why.")
def context_command(
    target: Target,
    session: str,
    query: str | None,
    budget: int | None,
    as_of: datetime | int | None,
    trace: bool,
) -> None:
    """Print what a model would be given now in the conversation SESSION, tier by tier with tokens."""
    with target.open() as memory:
        context = target.session(memory, session).get_context(query, budget, as_of=as_of)
        budget = memory.policy.context_budget if budget is None else budget
    if target.json:
        print_json(context.to_dict())
        return
    out = console()
    out.print(render.context(context, budget))
    if trace:
        out.print(render.trace(context))
