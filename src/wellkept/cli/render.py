"""Conversations and contexts as a person can read them in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from wellkept import records
from wellkept.cli.output import clean
from wellkept.context import Context
from wellkept.records import Block, Candidate, Event, SessionInfo, blocks_of, text_of

_FENCED = re.compile(r'<memory tier="(\w+)"([^>]*)>\n(.*?)\n</memory>', re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_INDENT = 5
_ROLE_STYLE = {"user": "bold cyan", "assistant": "bold green", "tool": "yellow", "system": "magenta"}


def hint(text: str) -> Text:
    """A remark beside the data."""
    return Text(text, style="dim")


def session_head(info: SessionInfo) -> RenderableType:
    """Title and counts of a session."""
    counts = f"{info.turns:,} turns · {info.events:,} messages · {info.tokens:,} tokens · {info.id}"
    return Group(Rule(Text(clean(info.title) or "(no title)", style="bold"), align="left"), hint(counts))


def message(event: Event, zone: tzinfo | None = None) -> RenderableType:
    """One message: who, when and how many tokens, then the text and the tool calls."""
    head = Text(f"#{event.seq:<4}", style="dim")
    head.append(f"{event.role} ", style=_ROLE_STYLE[event.role])
    head.append(f"{clean(event.speaker)} " if event.speaker else "", style="bold")
    head.append(f"{_time(event.ts, zone)} · {event.tokens:,} tokens", style="dim")
    parts = [part for part in map(block, blocks_of(event.content)) if part.plain.strip()]
    return Group(head, *map(Indented, parts))


class Indented:
    """A text set in a few columns, without blanks at the ends of its lines."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self._text.wrap(console, options.max_width - _INDENT):
            yield Text(" " * _INDENT).append_text(line)


def _time(moment: datetime, zone: tzinfo | None) -> str:
    return moment.astimezone(zone).strftime("%m-%d %H:%M")


def block(block: Block) -> Text:
    """One block as a person reads it."""
    if isinstance(block, records.Text):
        return Text(clean(block.text))
    if isinstance(block, records.Thinking):
        return Text(f"(thinking) {clean(block.text)}", style="dim italic")
    if isinstance(block, records.ToolCall):
        return Text(f"→ {clean(block.name)}({clean(block.arguments)})  [{clean(block.id)}]", style="yellow")
    if isinstance(block, records.ToolResult):
        failed = " failed" if block.is_error else ""
        return Text(
            f"← [{clean(block.id)}]{failed} {clean(text_of(block.content))}", style="red" if failed else ""
        )
    if isinstance(block, records.Image):
        return Text(f"[image {clean(block.ref)}]", style="blue")
    return Text(f"[{clean(str(block.raw.get('type', 'block')))}]", style="dim")


# ── contexts ──────────────────────────────────────────────────────────────────────────────────────


def context(
    context: Context, budget: int, zone: tzinfo | None = None, newest: int | None = None
) -> RenderableType:
    """A context tier by tier, each with its tokens; what stands behind the stable prefix says so.

    ``newest``: show only so many messages of the window.
    """
    return Group(
        Text(f"{context.tokens:,} of {budget:,} tokens", style="bold"),
        _shares(context.parts, budget),
        *_system(context),
        *_window(context, zone, newest),
    )


def _shares(parts: Mapping[str, int], budget: int) -> Table:
    table = Table.grid(padding=(0, 1))
    for tier, tokens in parts.items():
        table.add_row(tier, Text(f"{tokens:,}", justify="right"), "■" * max(1, round(tokens * 50 / budget)))
    return table


def _system(context: Context) -> Iterator[RenderableType]:
    for place, tier, source, text in _sections(context.system):
        if not tier:
            yield Text(f"\n{clean(text)}", style="dim")
            continue
        yield _heading(
            tier, context.parts.get(tier), "stable" if place < context.boundary else "this request only"
        )
        yield from [hint(clean(source))] if source else []
        yield Text(clean(text))


def _sections(system: str) -> Iterator[tuple[int, str, str, str]]:
    """The system text in pieces: place, tier ("" for the text between the tags), what the tag says, text."""
    end = 0
    for found in _FENCED.finditer(system):
        yield from _between(end, system[end : found.start()])
        tier, attributes, body = found.groups()
        yield (
            found.start(),
            tier,
            " · ".join(f"{name} {value}" for name, value in _ATTRIBUTE.findall(attributes)),
            body,
        )
        end = found.end()
    yield from _between(end, system[end:])


def _between(place: int, text: str) -> Iterator[tuple[int, str, str, str]]:
    note, heading, profile = text.partition("## ")
    if note.strip():
        yield place, "", "", note.strip()
    if heading:
        yield place, "profile", "", (heading + profile).strip()


def _window(context: Context, zone: tzinfo | None, newest: int | None) -> Iterator[RenderableType]:
    if not context.events:
        return
    yield _heading("window", context.parts.get("window"), f"{len(context.events)} messages, word for word")
    hidden = 0 if newest is None else max(0, len(context.events) - newest)
    if hidden:
        yield hint(f"… {hidden} messages from #{context.events[0].seq} on, and then:")
    yield from (message(event, zone) for event in context.events[hidden:])


def _heading(tier: str, tokens: int | None, source: str) -> RenderableType:
    title = Text(tier, style="bold magenta")
    title.append(f" · {tokens:,} tokens" if tokens is not None else "", style="default")
    title.append(f" · {clean(source)}" if source else "", style="dim")
    return Rule(title, align="left", style="dim")


def trace(context: Context) -> RenderableType:
    """Every candidate of a context."""
    return candidates(context.trace)


def candidates(found: Sequence[Candidate]) -> RenderableType:
    """Candidates: tier, tokens, score, and why each is in or out."""
    table = Table(
        "tier", "what", "tokens", "score", "in", "why", box=None, pad_edge=False, header_style="bold"
    )
    for candidate in found:
        score = "" if candidate.score is None else f"{candidate.score:.3f}"
        kept = "yes" if candidate.kept else "no"
        table.add_row(
            candidate.tier, clean(candidate.id), f"{candidate.tokens:,}", score, kept, candidate.reason
        )
    return table
