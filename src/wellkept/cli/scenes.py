"""The scenes of the demo, in order. Each tells the story up to a turn, shows something, and checks what it promises."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from rich.text import Text

from wellkept.cli import facts, forget, render, search, traces
from wellkept.cli.output import clean
from wellkept.cli.stage import BUDGET, NAMESPACE, USER, Stage, stage
from wellkept.context import Context
from wellkept.testing import Call, FakeModel
from wellkept.user import UserMemory

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
    """A model's summary is checked in code, completed, and merged with the next one."""
    model = FakeModel(forgetful, name="a forgetful model")
    with stage(play.story, ":memory:", model=model) as other:
        other.tell(24)
        summaries = other.chat.summaries()
    play.headline(
        "Turn 24 again, with a model that leaves out every second message",
        "Code lists the dates, numbers and names of the source, and asks again for the sentences that were lost:",
    )
    repairs = [call for call in model.calls if _asks(call) == "repair"]
    for call in repairs[:1]:
        play.show(Text(clean(call.text), style="yellow"))
    for summary in summaries:
        covered = f"events {summary.covers_from}-{summary.covers_to}"
        play.show(render.hint(f"version {summary.version}, {summary.by}: {covered}"))
    play.show(Text(clean(summaries[-1].text)))
    promise = f"{len(repairs)} summaries were completed with what they had lost, and merged"
    play.check(bool(repairs) and summaries[-1].version > 1, promise)


def forgetful(call: Call) -> str:
    """Notes on every second message; asked for the rest, all of it. Facts it has none."""
    if _asks(call) == "facts":
        return '{"intent": "none", "memories": []}'
    said = [line.partition("] ")[2] for line in call.text.splitlines() if line.startswith("[")]
    return "\n".join(f"- {line}" for line in (said[::2] if _asks(call) == "notes" else said))


def _asks(call: Call) -> str:
    """What a call to a model is for."""
    if call.system.startswith("You keep the long-term memory"):
        return "facts"
    return "notes" if "These must all appear" in call.text else "repair"


def remembering(play: Stage) -> None:
    """Facts from a scripted model; a correction, an undo, and an erasure with its receipt."""
    promise = "without a model nothing is extracted from what was said"
    play.check(not play.memory.user(USER, namespace=NAMESPACE).get_all().results, promise)
    with stage(play.story, ":memory:", model=FakeModel(attentive, name="an attentive model")) as other:
        other.tell(47)
        user = other.memory.user(USER, namespace=NAMESPACE)
        play.headline(
            "Facts, when there is a model",
            "A fact is kept when its quote stands in the user's own words and says it. One of the model's is made up.",
        )
        play.show(*(facts.changed(change) for change in user.changes()))
        play.check(INVENTED not in _known(user), "what the user never said was refused")
        _corrected(play, user)
        _undone(play, user)
        _forgotten(play, user)


def _known(user: UserMemory) -> str:
    return "\n".join(fact.text for fact in user.get_all())


def _corrected(play: Stage, user: UserMemory) -> None:
    texts = {fact.id: fact.text for fact in user.get_all()}
    play.show("", Text("Where the words alone do not decide, a person is asked:"))
    play.show(*(facts.asked(doubt, texts) for doubt in user.review()))
    coffee = next(fact for fact in user.get_all() if "咖啡" in fact.text)
    user.update(coffee.id, "用户不喝咖啡了")
    play.show("", *(facts.changed(change) for change in user.history(coffee.id)))
    play.check("美式咖啡" not in _known(user), "a fact corrected by hand keeps its id and its history")


def _undone(play: Stage, user: UserMemory) -> None:
    retired = user.delete(user.get_all().results[0].id)
    user.undo(retired.id)
    play.show("", *(facts.changed(change) for change in user.changes(limit=2)))
    play.check(
        retired.fact_id in {fact.id for fact in user.get_all()}, "what was retired is back after an undo"
    )


def _forgotten(play: Stage, user: UserMemory) -> None:
    for doubt in user.review():
        user.settle(doubt.id, accept=False)
    plan = user.forget("门锁")
    receipt = user.forget(plan)
    play.show("", forget.previewed(plan), forget.received(receipt))
    play.check(
        not receipt.left and not user.search("739204"), "the code of the door is gone, and cannot be found"
    )


INVENTED = "用户有两只狗"
# quote, subject, attribute, content, keyword
_TOLD = (
    ("朵朵对花生过敏", "朵朵", "allergy", "朵朵对花生过敏", "花生"),
    ("我们家的猫叫芝麻", "user", "pet", "用户家的猫叫芝麻", "芝麻"),
    ("现在每天早上一杯美式咖啡", "user", "drink", "用户每天早上一杯美式咖啡", "咖啡"),
    ("现在每天早上一杯美式咖啡", "user", "pet", INVENTED, "狗"),
    ("我又回去喝可乐了", "user", "drink", "用户又回去喝可乐了", "可乐"),
)


def attentive(call: Call) -> str:
    """What a good model would extract, and one thing that it makes up; asked for a summary, it repeats the messages."""
    if _asks(call) != "facts":
        return forgetful(call)
    memories = [
        {
            "subject": subject,
            "attribute": attribute,
            "content": content,
            "labels": [],
            "keywords": [keyword],
            "quote": quote,
        }
        for quote, subject, attribute, content, keyword in _TOLD
        if quote in call.text
    ]
    intent = "replace" if "我又回去" in call.text else "none"
    return json.dumps({"intent": intent, "memories": memories}, ensure_ascii=False)


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
    beginning, tools, small_budgets, ending, searching, summarising, remembering, replaying,
)  # fmt: skip
