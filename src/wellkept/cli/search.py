"""``wellkept search``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import click
from rich.console import RenderableType
from rich.text import Text

from wellkept.cli import render
from wellkept.cli.highlight import marked
from wellkept.cli.moments import time
from wellkept.cli.output import clean, console, local, print_json
from wellkept.cli.target import Target, target_options
from wellkept.memory import Memory
from wellkept.recall import KINDS, Result
from wellkept.records import Event, Scope, text_of

_SHORT = 100  # columns


@click.command("search")
@click.argument("query")
@target_options
@click.option("--limit", type=int, help="Results at most; the policy's default otherwise.")
@click.option(
    "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only this kind; may be repeated."
)
@click.option("--session", metavar="ID", help="Only in this conversation.")
@click.option("--since", type=time, metavar="TIME", help="Only what was said then or later.")
@click.option("--until", type=time, metavar="TIME", help="Only what was said before.")
@click.option("--threshold", type=float, help="Least relevance of a result, 0 to 1.")
@click.option(
    "--around/--no-around", default=True, show_default=True, help="The messages before and after a hit."
)
@click.option("--explain", is_flag=True, help="What each score is made of, and what was dropped and why.")
def search_command(
    target: Target,
    query: str,
    limit: int | None,
    kinds: tuple[str, ...],
    session: str | None,
    since: datetime | None,
    until: datetime | None,
    threshold: float | None,
    around: bool,
    explain: bool,
) -> None:
    """Search what is remembered of a user. QUERY is plain text, a question or some words, in any language."""
    with target.open() as memory:
        found = target.reader(memory).search(
            query, limit=limit, kinds=kinds or None, session_id=session, since=since, until=until,
            threshold=threshold, explain=explain,
        )  # fmt: skip
        if target.json:
            print_json([result.to_dict() for result in found])
            return
        out = console()
        for part in shown(memory, target.scope(memory), query, found, around=around, explain=explain):
            out.print(part)
    if not any(result.dropped is None for result in found):
        click.echo("Nothing was found.")


def shown(
    memory: Memory, scope: Scope, query: str, found: Sequence[Result], *, around: bool, explain: bool
) -> Iterator[RenderableType]:
    """Results as a person reads them, and behind them what was dropped."""
    results = [result for result in found if result.dropped is None]
    for place, result in enumerate(results, 1):
        before, after = _near(memory, scope, result) if around else ([], [])
        yield _head(place, result)
        yield from (render.Indented(_line(event)) for event in before)
        yield render.Indented(marked(result.text, query))
        yield from (render.Indented(_line(event)) for event in after)
        yield from [render.Indented(_parts(result))] if explain else []
    for result in found:
        if result.dropped is not None:
            yield _short(f"– {result.dropped}: {result.text}")


def _near(memory: Memory, scope: Scope, result: Result) -> tuple[list[Event], list[Event]]:
    """The messages before a hit and those behind it."""
    if not result.around or result.session_id is None:
        return [], []
    chat = memory.session(namespace=scope.namespace, user=scope.user, session_id=result.session_id)
    place = chat.get_event(result.id).seq
    events = [chat.get_event(id) for id in result.around]
    return [event for event in events if event.seq < place], [event for event in events if event.seq > place]


def _head(place: int, result: Result) -> Text:
    head = Text(f"{place:<3}", style="bold")
    head.append(f"{clean(result.speaker or result.role)} ", style="bold cyan")
    source = f"{result.kind} {result.id}" if result.kind != "event" else result.id
    return head.append(
        f"{local(result.ts)} · {clean(source)} · relevance {result.relevance:.2f}", style="dim"
    )


def _line(event: Event) -> Text:
    said = text_of(event.content) or "(a tool call)"
    return _short(f"#{event.seq} {event.speaker or event.role}: {said}")


def _short(text: str) -> Text:
    line = render.hint(" ".join(clean(text).split()))
    line.truncate(_SHORT, overflow="ellipsis")
    return line


def _parts(result: Result) -> Text:
    parts = " · ".join(f"{name} {value:.2f}" for name, value in result.parts.items())
    return render.hint(f"score {result.score:.2f}: {parts}")
