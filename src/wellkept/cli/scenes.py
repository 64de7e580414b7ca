"""The scenes of the demo, in order. Each tells the story up to a turn, shows something, and checks what it promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text

from wellkept.cli import render, search, traces
from wellkept.cli.output import clean
from wellkept.cli.stage import BUDGET, NAMESPACE, USER, Stage, stage
from wellkept.context import Context
from wellkept.testing import Call, FakeModel

DATE = "6月28日"
DATE_TURN = 3
QUESTIONS = (("朵朵对什么过敏？", "花生"), ("When does Daniel's vacation start?", "June 29"))
_DIFF_LINES = 12


def beginning(play: Stage) -> None:
    """A date is said, and all of it fits."""
    play.tell(DATE_TURN)
    play.headline(
        f"Turn {DATE_TURN}: a date is said",
        "林悦 tells her assistant the day of the launch. So far all of it fits, word for word.",
    )
    context = play.chat.get_context()
    play.show(render.context(context, BUDGET, play.zone))
    play.check(DATE in context.text, f"{DATE} is in what the model is given")


def tools(play: Stage) -> None:
    """A tool that failed is shown with its call."""
    play.tell(17)
    play.headline(
        "Turn 17: a tool call fails",
        "Calls and their results are kept as blocks, and are never parted, whatever the budget.",
    )
    context = play.chat.get_context()
    play.show(render.context(context, BUDGET, play.zone, newest=5))
    play.check(_paired(context), "every tool call stands with its result, in OpenAI's shape")


def _paired(context: Context) -> bool:
    messages = context.to_openai()
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return bool(calls) and calls == results


def small_budgets(play: Stage) -> None:
    """The same moment under three budgets."""
    play.tell(36)
    play.headline(
        "Turn 36: the same moment under three budgets",
        "Whole turns give way, oldest first. What left the window stands in the summary, made without a model.",
    )
    for budget in (600, 1500, 3000):
        context = play.chat.get_context(budget=budget)
        play.show(render.context(context, budget, play.zone, newest=1), "")
        play.check(context.tokens <= budget, f"{context.tokens:,} tokens, inside the budget of {budget:,}")


def ending(play: Stage) -> None:
    """The last turn: the date of turn 3 is still there."""
    last = len(play.story)
    play.tell(last)
    days = (play.story.time(last) - play.story.time(DATE_TURN)).days
    play.headline(
        f"Turn {last}: is the date still there?",
        f"{days} days later she asks how many days are left. Nobody named the date for weeks.",
    )
    context = play.chat.get_context(play.story.said(last))
    play.show(render.context(context, BUDGET, play.zone, newest=4))
    promise = f"{DATE}, said in turn {DATE_TURN}, is in what the model is given {days} days later"
    play.check(DATE in context.text, promise)


def searching(play: Stage) -> None:
    """A question in each language, and why each result is one."""
    play.tell(len(play.story))
    for question, answer in QUESTIONS:
        play.headline(
            f"Search: {question}", "By text alone, no embedder. Each score says what it is made of."
        )
        found = play.memory.user(USER, namespace=NAMESPACE).search(question, limit=2)
        play.show(*search.shown(play.memory, play.chat.scope, question, found, around=True, explain=True))
        play.check(bool(found) and answer in found[0].text, f"the first result says: {answer}")


def summarising(play: Stage) -> None:
    """A model's summary is checked in code, sent back once, and merged with the next one."""
    model = FakeModel(forgetful, name="a forgetful model")
    with stage(play.story, ":memory:", model=model) as other:
        other.tell(24)
        summaries = other.chat.summaries()
    play.headline(
        "Turn 24 again, with a model that leaves out every second message",
        "Code lists the dates, numbers and names of the source, and sends the summary back once with what it lost.",
    )
    asked_again = [call for call in model.calls if len(call.messages) > 1]
    for call in asked_again[:1]:
        play.show(Text(clean(call.text), style="yellow"))
    newest = max(summary.version for summary in summaries)
    for summary in summaries:
        play.show(
            render.hint(
                f"version {summary.version}, {summary.by}: events {summary.covers_from}-{summary.covers_to}"
            )
        )
        if summary.version == newest:
            play.show(Text(clean(summary.text)))
    play.check(
        bool(asked_again) and newest > 1,
        f"{len(asked_again)} summaries came back with what they had lost, and were merged",
    )


def forgetful(call: Call) -> str:
    """Notes on every second message; asked again, they hold what was missing too."""
    said = [
        line.partition("] ")[2] for line in call.messages[0]["content"].splitlines() if line.startswith("[")
    ]
    notes = [f"- {line[:60]}" for line in said[::2]]
    missing = call.text.rpartition("Missing:\n")[2] if len(call.messages) > 1 else ""
    return "\n".join([*notes, f"- {missing}"] if missing else notes)


def replaying(play: Stage) -> None:
    """An old context, rebuilt and then rebuilt under another budget."""
    play.memory.run_jobs()
    kept = play.chat.traces.list(limit=100)
    trace = next(trace for trace in reversed(kept) if trace.tokens > 1000)
    play.headline(
        f"What was the model given after message {trace.seq}?",
        "Each context leaves a trace. It is rebuilt from the events of that moment, then with a budget of 900 tokens.",
    )
    same = play.chat.traces.replay(trace.id)
    play.check(not same.difference, f"trace {trace.id} comes out the same, byte for byte")
    other = play.chat.traces.replay(trace.id, budget=900)
    play.show(traces.replayed(other, lines=_DIFF_LINES))
    play.check(other.after.tokens <= 900, f"and with 900 tokens it takes {other.after.tokens:,}")


SCENES: Sequence[Callable[[Stage], None]] = (
    beginning, tools, small_budgets, ending, searching, summarising, replaying,
)  # fmt: skip
