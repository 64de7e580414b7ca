"""Summaries: what of the key data they keep, what they cost, how stable the prefix is, and a context with all of it on.

Run it with ``make bench`` or ``python -m benchmarks.summaries [--quick]``. The conversations are made here, the same at
each run: plans, prices, times and small talk of a family and a project, in Chinese and in English.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.common import Floor, interleaved, machine, progress, publish, table
from benchmarks.loop import micro
from wellkept import Context, Memory, Policy, Session
from wellkept.models import Reply
from wellkept.policy.text.keydata import HARD, KeyDatum, extract, missing
from wellkept.policy.text.tokens import estimate
from wellkept.records import Event, text_of
from wellkept.testing import Call, FakeClock, FakeModel

BEGIN = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
MERGES = 30
NEWEST = 10  # merges whose key data should stand in the text of the summary itself

SAID = {
    "zh": (
        "恐龙馆的门票是{n}元，{m}月{d}日之前买有优惠。",
        "项目预算定在{n}万元，超过的要林总批。",
        "下次开会改到{m}月{d}日下午{h}点，在三楼会议室。",
        "朵朵身高长到{n}厘米了，鞋子要买{h}码。",
        "订单号是 DD{n}{d}，大概{h}天到货。",
        "车票买好了，{m}月{d}日{h}:{d}从上海虹桥出发。",
    ),
    "en": (
        "The museum costs {n} yuan, and it is cheaper before {month} {d}.",
        "The budget is ${n},500; anything above needs Dr. Lin.",
        "We moved the meeting to {month} {d} at {h}:30, on the third floor.",
        "Ella is {n} cm tall now and needs size {h} shoes.",
        "The order number is DD{n}{d}, it takes about {h} days.",
        "The train leaves Kyoto on 2026-{m:02}-{d:02} at {h}:{d:02}.",
    ),
}
SMALL = {
    "zh": (
        "好的，明白了。",
        "哈哈，真有意思。",
        "今天天气不错，我们出去走了走。",
        "嗯，听你的。",
        "谢谢你，辛苦了！",
    ),
    "en": (
        "Sounds good. ",
        "Haha, that is funny. ",
        "Nice weather, we took a walk today. ",
        "Sure, let us do that. ",
        "Thanks! ",
    ),
}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")


def conversation(language: str, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Turns without end: a message and its answer. Two of five messages hold key data, one to three of them."""
    chance = random.Random(f"{language} {seed}")
    while True:
        yield _message(language, chance), _message(language, chance)


def _message(language: str, chance: random.Random) -> str:
    talk = chance.choice(SMALL[language])
    if chance.random() > 0.4:
        return (talk + chance.choice(SMALL[language])).strip()
    month = chance.randrange(10)
    values = {
        "n": chance.randint(21, 980),
        "m": month + 1,
        "month": MONTHS[month],
        "d": chance.randint(10, 28),
    }
    return f"{talk}{chance.choice(SAID[language]).format(**values, h=chance.randint(2, 11))}"


def dropping(call: Call) -> str:
    """A model that keeps every other line of what it is given."""
    lines = [line.split(": ", 1)[1] for line in call.text.splitlines() if line.startswith("[")]
    return "\n".join(f"- {line}" for line in lines[::2])


class Summariser(FakeModel):
    """A model of which only the questions for summaries are counted; it finds no facts."""

    def complete(self, *args: Any, schema: Any = None, **kwargs: Any) -> Reply:
        """The next summary, or an extraction that finds nothing."""
        if schema is not None:
            return Reply(content='{"intent": "none", "memories": []}')
        return super().complete(*args, **kwargs)


# ── what is kept ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Kept:
    """What became of the numbers, dates, times and amounts of a conversation.

    Attributes:
        all: how many different ones were summarised; ``lost``: how many of them neither summary nor ledger says.
        newest: how many there are in the last merges; ``shown``: how many of those the summary itself says.
    """

    merges: int
    all: int
    lost: int
    newest: int
    shown: int


def kept(
    language: str, model: FakeModel | None, *, merges: int = MERGES, policy: Policy | None = None
) -> Kept:
    """Summarise a conversation so many times, as a chat would, and look what is left."""
    clock = FakeClock(BEGIN)
    with Memory(":memory:", model=model, clock=clock, worker=False, policy=policy or Policy()) as memory:
        chat = memory.session(namespace="n", user="u")
        for question, answer in conversation(language):
            clock.advance(hours=3)
            chat.add_message("user", question)
            chat.add_message("assistant", answer)
            memory.run_jobs()
            if len(chat.summaries()) == merges:
                break
        return kept_in(chat)


def kept_in(chat: Session) -> Kept:
    """What is left of the key data of a conversation that was summarised."""
    versions = chat.summaries()
    first = versions[-NEWEST:][0].covers_from
    events = [
        event for event in chat.get_events(after=0, limit=100_000) if event.seq <= versions[-1].covers_to
    ]
    ledger = {line.text for line in chat.ledger()}
    every, newest = _hard(events), _hard([event for event in events if event.seq >= first])
    shown = len(newest) - len(missing(newest, versions[-1].text))
    lost = [key for key in missing(every, versions[-1].text) if all(missing([key], line) for line in ledger)]
    return Kept(len(versions), len(every), len(lost), len(newest), shown)


def _hard(events: Sequence[Event]) -> list[KeyDatum]:
    found = {(key.kind, key.value): key for event in events for key in extract(text_of(event.content))}
    return [key for key in found.values() if key.kind in HARD]


# ── what it costs ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Work:
    """What was sent to a model while a conversation went on."""

    turns: int
    spoken: int
    sent: int
    calls: int
    due: int
    repairs: int


def work(language: str, turns: int, model: FakeModel) -> Work:
    """Have ``turns`` turns summarised by ``model``, and count."""
    clock = FakeClock(BEGIN)
    policy = Policy(daily_tokens=None)
    with Memory(":memory:", model=model, clock=clock, worker=False, policy=policy) as memory:
        chat = memory.session(namespace="n", user="u")
        talk = conversation(language, seed=2)
        for _ in range(turns):
            clock.advance(hours=3)
            question, answer = next(talk)
            chat.add_message("user", question)
            chat.add_message("assistant", answer)
            memory.run_jobs()
        sent = sum(estimate(call.system) + estimate(call.text) for call in model.calls)
        due = len(memory.jobs.list(kind="summarize", limit=100_000))
        return Work(turns, chat.info().tokens, sent, len(model.calls), due, len(model.calls) - due)


def faithful(call: Call) -> str:
    """A model that loses nothing."""
    lines = [line.split(": ", 1)[1] for line in call.text.splitlines() if line.startswith("[")]
    return "\n".join(f"- {line}" for line in lines)


# ── the prefix ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Prefix:
    """How a provider's prompt cache fares. ``broken``: prefixes that changed although nothing was compacted."""

    requests: int
    same: int
    compactions: int
    broken: int


def prefix(language: str, turns: int = 200) -> Prefix:
    """A session with a summary job after each answer: what do two requests after another share?"""
    clock = FakeClock(BEGIN)
    with Memory(":memory:", clock=clock, worker=False) as memory:
        memory.user("u", namespace="n").profile["user"] = "Lives in Shanghai with a daughter of five."
        chat = memory.session(namespace="n", user="u")
        talk = conversation(language, seed=3)
        seen: list[tuple[Context, int]] = []
        for _ in range(turns):
            clock.advance(hours=3)
            question, answer = next(talk)
            chat.add_message("user", question)
            seen.append((chat.get_context(), len(chat.summaries())))
            chat.add_message("assistant", answer)
            memory.run_jobs()
    pairs = list(pairwise(seen))
    same = sum(a.system == b.system and a.events[0].seq == b.events[0].seq for (a, _), (b, _) in pairs)
    broken = sum(a.system[: a.boundary] != b.system[: b.boundary] for (a, x), (b, y) in pairs if x == y)
    return Prefix(len(pairs), same, seen[-1][1], broken)


# ── speed ─────────────────────────────────────────────────────────────────────────────────────────────────────


def speed(folder: Path, turns: int, rounds: int) -> tuple[float, float]:
    """Seconds of the floor's newest 20 rows, and of a context with summary, ledger and trace on: in the quietest rounds of
    each, because what else runs on the machine only ever adds."""
    floor = Floor(str(folder / f"floor-{turns}.db"), "normal")
    policy = Policy(debug_trace=20, durability="normal")
    with Memory(str(folder / f"ours-{turns}.db"), worker=False, policy=policy) as memory:
        chat = memory.session(namespace="n", user="u")
        talk = conversation("zh", seed=4)
        turn = [next(talk) for _ in range(turns)]
        chat.add_messages(
            {"role": role, "content": text}
            for pair in turn
            for role, text in zip(("user", "assistant"), pair, strict=True)
        )
        floor.fill("s", [text for pair in turn for text in pair])
        memory.run_jobs()
        chat.get_context()
        works: list[Callable[[], object]] = [lambda: floor.recent("s"), chat.get_context]
        times = 3
        pairs = []
        for _ in range(rounds):  # the worker's part is done between the rounds, as a worker would
            pairs.append(interleaved(works, times=times, rounds=4))
            memory.run_jobs()
        floor.close()
        return min(base for base, _ in pairs), min(ours for _, ours in pairs)


# ── all of it ─────────────────────────────────────────────────────────────────────────────────────────────────


def kept_rows(merges: int) -> list[list[str]]:
    """A line for each language and summariser."""
    rows = []
    for language in ("zh", "en"):
        for name, model in (("extractive", None), ("a model that drops half", Summariser(dropping))):
            with progress(f"key data, {language}, {name}"):
                it = kept(language, model, merges=merges)
            share = f"{it.shown} of {it.newest}, {it.shown / it.newest:.0%}"
            rows.append([f"{language}, {name}", *map(str, (it.merges, it.all, it.lost)), share])
    return rows


def work_rows(turns: int) -> list[list[str]]:
    """A line for each language and model."""
    rows = []
    for language in ("zh", "en"):
        for name, script in (("loses nothing", faithful), ("drops half", dropping)):
            with progress(f"work, {language}, {name}"):
                half, whole = (work(language, many, Summariser(script)) for many in (turns // 2, turns))
            growth = whole.sent / half.sent
            rows.append([
                f"{language}, a model that {name}", f"{whole.spoken:,}", f"{whole.sent:,}", f"{whole.sent / whole.spoken:.1f} ×",
                f"{growth:.2f} ×", str(whole.due), f"{whole.calls} ({whole.repairs} repairs)",
            ])  # fmt: skip
    return rows


def prefix_rows(turns: int) -> list[list[str]]:
    """A line for each language."""
    rows = []
    for language in ("zh", "en"):
        it = prefix(language, turns)
        share = f"{it.same} of {it.requests}, {it.same / it.requests:.0%}"
        rows.append([language, share, str(it.compactions), str(it.broken)])
    return rows


def speed_rows(quick: bool) -> list[list[str]]:
    """A line for each length of the history."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for turns in (100, 1_000) if quick else (100, 1_000, 5_000):
            with progress(f"context of a session of {turns} turns"):
                base, ours = speed(Path(folder), turns, 9 if quick else 25)
            rows.append([f"{turns:,} turns", micro(base), micro(ours), f"{ours / base:.1f} ×"])
    return rows


def main() -> None:
    """Measure everything, print it and write it into docs/benchmarks.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller, and nothing is written")
    quick = parser.parse_args().quick
    parts = [
        f"{time.strftime('%Y-%m-%d')}, {machine()}.",
        table(
            ["key data", "merges", "in the source", "in neither summary nor ledger (target 0)",
             "of the last ten merges, in the summary itself (target ≥ 90 %)"],
            kept_rows(12 if quick else MERGES),
        ),
        table(
            ["work", "tokens spoken", "tokens sent", "ratio (target ≤ 4 ×)", "growth from half of the turns (linear: 2 ×)",
             "due points", "calls"],
            work_rows(200 if quick else 2_000),
        ),
        table(
            ["prefix, 200 turns", "requests that share system text and window start with the one before (target ≥ 80 %)",
             "compactions", "prefixes that changed in between (target 0)"],
            prefix_rows(60 if quick else 200),
        ),
        table(
            ["`get_context()`, summary, ledger and trace on", "floor: newest 20 rows", "wellkept", "ratio (target < 15 ×, flat)"],
            speed_rows(quick),
        ),
    ]  # fmt: skip
    body = "\n\n".join(parts)
    print(f"\n{body}")
    if not quick:
        publish("summaries", body)


if __name__ == "__main__":
    main()
