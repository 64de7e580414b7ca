"""Where the demo is played: a memory, a conversation that is told turn by turn, and a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

import click
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.text import Text

from wellkept import formats, samples
from wellkept.cli.clock import StoryClock
from wellkept.cli.output import console
from wellkept.memory import Memory
from wellkept.models.protocol import Model
from wellkept.records import Draft, Policy, text_of
from wellkept.session import Session

NAMESPACE, USER = "demo", "linyue"
ZONE = "Asia/Shanghai"
BUDGET = 6000


class DemoError(click.ClickException):
    """A scene did not find what it promises."""


@dataclass(frozen=True)
class Story:
    """The bundled conversation; each user message begins a turn."""

    title: str
    turns: Sequence[Sequence[Draft]]

    def time(self, turn: int) -> datetime:
        """When a turn (from 1) began."""
        moment = self.turns[turn - 1][0].ts
        assert moment is not None
        return moment

    def said(self, turn: int) -> str:
        """What the user said in a turn (from 1)."""
        return text_of(self.turns[turn - 1][0].content)

    def __len__(self) -> int:
        return len(self.turns)


@dataclass
class Stage:
    """A memory on which the story is told, with a clock that follows it."""

    story: Story
    memory: Memory
    chat: Session
    clock: StoryClock
    out: Console = field(default_factory=console)
    told: int = 0

    @property
    def zone(self) -> tzinfo:
        """The zone that times are shown in."""
        return ZoneInfo(ZONE)

    def tell(self, upto: int) -> None:
        """Go on up to this turn: append each message as an application would, do the work that is due."""
        for turn in self.story.turns[self.told : upto]:
            for draft in turn:
                self.clock.moment = draft.ts
                self.chat.append([draft])
            self.memory.run_jobs()
        self.told = max(upto, self.told)

    def show(self, *parts: RenderableType) -> None:
        """Print, one below the other."""
        for part in parts:
            self.out.print(part)

    def headline(self, title: str, text: str) -> None:
        """Begin a scene."""
        self.show("", Panel(Text(text), title=Text(title, style="bold"), title_align="left"))

    def check(self, holds: bool, promise: str) -> None:
        """Print the promise that holds, or end the demo."""
        if not holds:
            raise DemoError(f"This should hold and does not: {promise}")
        self.show(Text(f"✓ {promise}", style="bold green"))


def story() -> Story:
    """The sample conversation."""
    title = ""
    turns: list[list[Draft]] = []
    for item in formats.read(samples.path()):
        if isinstance(item, formats.SessionStart):
            title = item.title
        elif isinstance(item, formats.Entry):
            if item.draft.role == "user":
                turns.append([])
            turns[-1].append(item.draft)
    return Story(title, turns)


@contextlib.contextmanager
def stage(told: Story, path: str, *, model: Model | None = None) -> Iterator[Stage]:
    """An empty stage on a new store at ``path``, with every context traced."""
    clock = StoryClock()
    clock.moment = told.time(1)
    policy = Policy(context_budget=BUDGET, time_zone=ZONE, debug_trace=-1)
    with Memory(path, clock=clock, policy=policy, model=model, worker=False) as memory:
        chat = memory.session(namespace=NAMESPACE, user=USER, title=told.title)
        yield Stage(told, memory, chat, clock)
