"""``wellkept demo``: a long conversation, played turn by turn, and what a model would be given on the way.

Each scene is a function that gets the stage, tells the story up to a turn and shows something. A scene that
does not find what it promises ends the demo with an error, so that the demo is a check as well.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import click
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.text import Text

from wellkept import formats, samples
from wellkept.cli import render, search
from wellkept.cli.clock import StoryClock
from wellkept.cli.output import console
from wellkept.context import Context
from wellkept.memory import Memory
from wellkept.records import Draft, Policy, text_of
from wellkept.session import Session

NAMESPACE, USER = "demo", "linyue"
ZONE = "Asia/Shanghai"
BUDGET = 6000
DATE = "6月28日"
DATE_TURN = 3
QUESTIONS = (("朵朵对什么过敏？", "花生"), ("When does Daniel's vacation start?", "June 29"))


class DemoError(click.ClickException):
    """A scene did not find what it promises."""


@dataclass
class Stage:
    """Where the conversation is played: a memory without a model, and a clock that follows the story."""

    memory: Memory
    chat: Session
    turns: Sequence[Sequence[Draft]]
    clock: StoryClock
    out: Console
    told: int = 0

    @property
    def zone(self) -> tzinfo:
        """The zone that times are shown in."""
        return ZoneInfo(ZONE)

    def tell(self, upto: int) -> None:
        """Go on up to this turn: append each message as an application would, do the work that is due."""
        for turn in self.turns[self.told : upto]:
            for draft in turn:
                self.clock.moment = draft.ts
                self.chat.append([draft])
            self.memory.run_jobs()
        self.told = upto

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


# ── the scenes ────────────────────────────────────────────────────────────────────────────────────


def beginning(stage: Stage) -> None:
    """Turn 3: a date is said, and all of it fits."""
    stage.tell(DATE_TURN)
    stage.headline(
        f"Turn {DATE_TURN}: a date is said",
        "林悦 tells her assistant the day of the launch. So far all of it fits, word for word.",
    )
    context = stage.chat.get_context()
    stage.show(render.context(context, BUDGET, stage.zone))
    stage.check(DATE in context.text, f"{DATE} is in what the model is given")


def tools(stage: Stage) -> None:
    """Turn 17: a tool that failed is shown with its call."""
    stage.tell(17)
    stage.headline(
        "Turn 17: a tool call fails",
        "Calls and their results are kept as blocks, and are never parted, whatever the budget.",
    )
    context = stage.chat.get_context()
    stage.show(render.context(context, BUDGET, stage.zone, newest=5))
    stage.check(_paired(context), "every tool call stands with its result, in OpenAI's shape")


def small_budget(stage: Stage) -> None:
    """Turn 36: the same moment under three budgets."""
    stage.tell(36)
    stage.headline(
        "Turn 36: the same moment under three budgets",
        "Whole turns give way, oldest first. What left the window stands in the summary, made without a model.",
    )
    for budget in (600, 1500, 3000):
        context = stage.chat.get_context(budget=budget)
        stage.show(render.context(context, budget, stage.zone, newest=1), "")
        stage.check(context.tokens <= budget, f"{context.tokens:,} tokens, inside the budget of {budget:,}")


def ending(stage: Stage) -> None:
    """The last turn: the date of turn 3 is still there."""
    stage.tell(len(stage.turns))
    said, now = stage.turns[DATE_TURN - 1][0].ts, stage.turns[-1][0].ts
    assert said and now
    stage.headline(
        f"Turn {len(stage.turns)}: is the date still there?",
        f"{(now - said).days} days later she asks how many days are left. Nobody named the date for weeks.",
    )
    asked = text_of(stage.turns[-1][0].content)
    context = stage.chat.get_context(asked)
    stage.show(render.context(context, BUDGET, stage.zone, newest=4))
    stage.check(
        DATE in context.text,
        f"{DATE}, said in turn {DATE_TURN}, is in what the model is given {(now - said).days} days later",
    )


def searching(stage: Stage) -> None:
    """The whole story: a question in each language, and why each result is one."""
    stage.tell(len(stage.turns))
    for question, answer in QUESTIONS:
        stage.headline(
            f"Search: {question}", "By text alone, no embedder. Each score says what it is made of."
        )
        found = stage.memory.user(USER, namespace=NAMESPACE).search(question, limit=2)
        stage.show(*search.shown(stage.memory, stage.chat.scope, question, found, around=True, explain=True))
        stage.check(bool(found) and answer in found[0].text, f"the first result says: {answer}")


SCENES: Sequence[Callable[[Stage], None]] = (beginning, tools, small_budget, ending, searching)


def _paired(context: Context) -> bool:
    messages = context.to_openai()
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return bool(calls) and calls == results


# ── the command ───────────────────────────────────────────────────────────────────────────────────


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the store there, to look into it afterwards.",
)
def demo_command(folder: Path | None) -> None:
    """Play the bundled conversation (63 turns in 24 days, Chinese and English) without any model.

    Shows at chosen moments what a model would be given, tier by tier with tokens, and checks on the way that
    wellkept keeps what it promises.
    """
    with _stage(folder) as stage:
        for scene in SCENES:
            scene(stage)
    if folder:
        scope = f"--store {folder / 'demo.db'} --namespace {NAMESPACE} --user {USER}"
        stage.show("", render.hint(f"Look around: wellkept show {stage.chat.id} {scope}"))


@contextlib.contextmanager
def _stage(folder: Path | None) -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="wellkept-demo-") as temporary:
        path = _new_store(folder or Path(temporary))
        clock = StoryClock()
        title, turns = _story()
        clock.moment = turns[0][0].ts
        with Memory(
            str(path), clock=clock, policy=Policy(context_budget=BUDGET, time_zone=ZONE), worker=False
        ) as memory:
            chat = memory.session(namespace=NAMESPACE, user=USER, title=title)
            yield Stage(memory, chat, turns, clock, console())


def _new_store(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "demo.db"
    if path.exists():
        raise click.ClickException(f"{path} is there already. Name another folder, or remove it first.")
    return path


def _story() -> tuple[str, list[list[Draft]]]:
    """Title and turns of the sample conversation; each user message begins a turn."""
    title = ""
    turns: list[list[Draft]] = []
    for item in formats.read(samples.path()):
        if isinstance(item, formats.SessionStart):
            title = item.title
        elif isinstance(item, formats.Entry):
            if item.draft.role == "user":
                turns.append([])
            turns[-1].append(item.draft)
    return title, turns
