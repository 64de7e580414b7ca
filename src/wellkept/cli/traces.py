"""``wellkept trace``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from wellkept.cli import render
from wellkept.cli.output import clean, console, local, print_json, print_table
from wellkept.cli.target import Target, target_options
from wellkept.policy.context.messages import parse
from wellkept.records import Policy, text_of
from wellkept.store.traces import Trace
from wellkept.trace import Replay, policy_of

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@click.group("trace")
def trace_command() -> None:
    """Why did it say that? What a model was given, and what it would be given under another policy.

    Traces are kept where the application asks for them: Policy(debug_trace=100) keeps the newest 100 of each
    conversation.
    """


@trace_command.command("list")
@click.argument("session", required=False)
@target_options
@click.option("--limit", default=20, show_default=True, help="How many at most.")
@click.option("--before", metavar="TRACE", help="Go on after this trace of the last page.")
def list_command(target: Target, session: str | None, limit: int, before: str | None) -> None:
    """List traces, newest first: of a user, or of the conversation SESSION."""
    with target.open() as memory:
        owner = target.session(memory, session) if session else target.user_memory(memory)
        found = owner.traces.list(limit=limit, before=before)
    if target.json:
        print_json([_head(trace) for trace in found])
    elif found:
        columns = ["trace", "at", "session", "message#", "tokens#", "budget#", "recalled for"]
        print_table(columns, map(_row, found))
    else:
        click.echo("No traces. They are kept with Memory(…, policy=Policy(debug_trace=100)).")


def _head(trace: Trace) -> dict[str, Any]:
    data = trace.to_dict()
    return {
        name: data[name]
        for name in ("id", "session_id", "at", "seq", "version", "query", "budget", "tokens", "parts")
    }


def _row(trace: Trace) -> list[str]:
    numbers = [f"{number:,}" for number in (trace.seq, trace.tokens, trace.budget)]
    return [trace.id, local(trace.at), trace.session_id, *numbers, (trace.query or "")[:40]]


@trace_command.command("show")
@click.argument("trace")
@target_options
def show_command(target: Target, trace: str) -> None:
    """Print all of a TRACE: the text that the model was given, and every candidate with its reason."""
    with target.open() as memory:
        found = target.user_memory(memory).traces.get(trace)
    if target.json:
        print_json(found.to_dict())
        return
    out = console()
    out.print(_what(found))
    out.print(Text(clean(found.system)))
    for message in found.messages:
        out.print(Text(f"{message['role']}: {clean(text_of(parse(message).content))}"))
    out.print("", render.candidates(found.candidates))


def _what(trace: Trace) -> RenderableType:
    where = (
        f"{trace.session_id} after message {trace.seq}, summary version {trace.version}, {local(trace.at)}"
    )
    size = f"{trace.tokens:,} of {trace.budget:,} tokens"
    return Group(
        Text(size, style="bold"), render.hint(where), render.hint(f"recalled for: {trace.query or 'nothing'}")
    )


@trace_command.command("replay")
@click.argument("trace")
@target_options
@click.option("--budget", type=int, metavar="TOKENS", help="Another budget; that of then otherwise.")
@click.option("--today", is_flag=True, help="With today's default policy instead of that of then.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a value of the policy, e.g. summary_share=0.1.",
)
def replay_command(
    target: Target, trace: str, budget: int | None, today: bool, changes: tuple[str, ...]
) -> None:
    """Rebuild the context of a TRACE from what the store held then, and print what came out differently."""
    with target.open() as memory:
        traces = target.user_memory(memory).traces
        policy = memory.policy if today else policy_of(traces.get(trace).policy)
        other = replace(policy, **_changes(changes)) if today or changes else None
        made = traces.replay(trace, policy=other, budget=budget)
    if target.json:
        print_json(made.to_dict())
    else:
        console().print(replayed(made))


def _changes(texts: Sequence[str]) -> dict[str, Any]:
    return dict(map(_change, texts))


def _change(text: str) -> tuple[str, float]:
    """``NAME=VALUE`` as a number of the policy, whole where its default is."""
    name, _, value = text.partition("=")
    kinds = {
        key: type(default) for key, default in Policy().to_dict().items() if isinstance(default, (int, float))
    }
    if name not in kinds:
        raise click.UsageError(
            f"--set {text!r} names no number of the policy. These are: {', '.join(kinds)}."
        )
    try:
        return name, kinds[name](value)
    except ValueError as error:
        raise click.UsageError(f"--set {text!r}: {value!r} is no number.") from error


def replayed(made: Replay, lines: int | None = None) -> RenderableType:
    """What came out differently: tokens by tier, then the lines, or the first ``lines`` of them."""
    tiers = [f"{tier} {before:,} → {after:,}" for tier, (before, after) in made.tokens.items()]
    if not made.difference:
        return Group(Text(" · ".join(tiers)), Text("The same, byte for byte.", style="bold green"))
    changed = made.difference.splitlines()
    shown = [Text(clean(line), style=_STYLES.get(line[:1], "")) for line in changed[:lines]]
    more = [render.hint(f"… {len(changed) - len(shown)} lines more")] if len(changed) > len(shown) else []
    return Group(Text(" · ".join(tiers)), *shown, *more)
