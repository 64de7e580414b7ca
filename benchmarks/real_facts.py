"""Which facts a real model finds, behind an OpenAI-compatible server: an opt-in check, because it needs one and takes minutes.

    python -m benchmarks.real_facts http://127.0.0.1:8080/v1 [--model NAME] [--batch 4] [CONVERSATION …]

Plays conversations of ``tests/golden/fact_conversations.py`` and reads them in batches, a model call each. It prints every
fact that was stored and every one that the gate refused, and for each language how many of the durable facts that a person
wrote down stand at last, what stands besides, and what is outdated and still stands.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from benchmarks.common import table
from tests.golden.fact_conversations import CONVERSATIONS, Said, Stated
from wellkept import Memory, Policy
from wellkept.models import OpenAI
from wellkept.models.protocol import Model
from wellkept.policy.text.numbers import find
from wellkept.store.facts import Fact
from wellkept.testing import FakeClock

MONDAY = datetime(2026, 3, 2, 1, tzinfo=timezone.utc)
CHOSEN = {"zh": ("food", "family"), "en": ("allergy", "people")}


@dataclass
class Found:
    """What came of some conversations.

    Attributes:
        durable: facts that should stand at the end; ``kept``: those of them that do.
        beside: facts that stand and that nobody wrote down; ``outdated``: those that a later message took back.
        refused: reasons of the gate, with how often.
        failed: jobs that ended without a readable answer, of ``jobs``.
    """

    messages: int = 0
    durable: int = 0
    kept: int = 0
    beside: int = 0
    outdated: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    jobs: int = 0
    seconds: float = 0.0


def played(name: str, model: Model, found: Found, *, batch: int) -> None:
    """Have a conversation read, and add what came of it to ``found``."""
    said, clock = CONVERSATIONS[name], FakeClock(MONDAY)
    policy = Policy(daily_tokens=None, extract_every=batch)
    with Memory(":memory:", model=model, clock=clock, worker=False, policy=policy) as memory:
        chat = memory.session(namespace="n", user="u")
        seqs = []
        for number, each in enumerate(said, start=1):
            clock.advance(minutes=1)
            seqs.append(chat.add_message("user", each.message, speaker=each.speaker).seq)
            if number % batch == 0 or number == len(said):
                begin = time.perf_counter()
                memory.run_jobs()
                found.seconds += time.perf_counter() - begin
        facts = list(memory.user("u", namespace="n").get_all(limit=1000))
        jobs = memory.jobs.list(kind="extract", limit=1000)
    for job in reversed(jobs):
        found.jobs += 1
        found.failed += job.state != "done"
        for refused in (job.result or {}).get("refused", ()):
            print(f"  refused: {refused['text']} ({refused['reason']})", flush=True)
            found.refused[refused["reason"]] += 1
        if job.last_error:
            print(f"  {job.state}: {job.last_error}\n{job.raw_reply}", flush=True)
    found.messages += len(said)
    _count(dict(zip(seqs, said, strict=True)), facts, found)


def _count(said: dict[int, Said], facts: Sequence[Fact], found: Found) -> None:
    gone = {text for each in said.values() for text in each.gone}
    wanted = [(seq, stated) for seq, each in said.items() for stated in each.facts]
    durable = [(seq, stated) for seq, stated in wanted if not _is_gone(seq, stated, said, gone)]
    found.durable += len(durable)
    found.kept += sum(any(_is(fact, seq, stated) for fact in facts) for seq, stated in durable)
    for fact in facts:
        if any(_is(fact, seq, stated) for seq, stated in durable):
            mark = "kept"
        elif any(_is(fact, seq, stated) for seq, stated in wanted):
            mark, found.outdated = "outdated", found.outdated + 1
        else:
            mark, found.beside = "beside", found.beside + 1
        print(f"  {mark}: {fact.text} (from {fact.quote!r})", flush=True)


def _is_gone(seq: int, stated: Stated, said: dict[int, Said], gone: set[str]) -> bool:
    """Whether a later message took it back; one that was said anew stands again."""
    return stated.content in gone and any(
        stated.content in each.gone for at, each in said.items() if at > seq
    )


def _is(fact: Fact, seq: int, stated: Stated) -> bool:
    """Whether a fact of the store is the one that a person wrote down: of the same message, with its keyword."""
    if not any(source.endswith(f":{seq}") for source in fact.sources):
        return False
    counted = {(it.value, it.unit) for it in find(stated.keyword)}
    if counted:
        return counted <= {(it.value, it.unit) for it in find(fact.text)}
    return stated.keyword.casefold() in fact.text.casefold()


def run(language: str, names: Sequence[str], model: Model, batch: int) -> list[str]:
    """A row of what the model found."""
    found = Found()
    for name in names:
        print(f"\n[{name}]", flush=True)
        played(name, model, found, batch=batch)
    reasons = ", ".join(f"{count} × {reason}" for reason, count in found.refused.most_common(4))
    return [
        language, model.name, str(found.messages), f"{found.kept} of {found.durable}", str(found.beside), str(found.outdated),
        f"{found.refused.total()} ({reasons})" if reasons else "0", f"{found.failed} of {found.jobs}",
        f"{found.seconds / max(1, found.jobs):.0f} s",
    ]  # fmt: skip


def main() -> None:
    """Ask the server, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address", help="of the server, ending in /v1")
    parser.add_argument("conversations", nargs="*", choices=[*CONVERSATIONS, []], default=[])
    parser.add_argument("--model", default="local")
    parser.add_argument("--batch", type=int, default=4)
    chosen = parser.parse_args()
    model = OpenAI(chosen.model, base_url=chosen.address, api_key="none", timeout=1800)
    groups = {"": tuple(chosen.conversations)} if chosen.conversations else CHOSEN
    rows = [run(language, names, model, chosen.batch) for language, names in groups.items()]
    head = [
        "", "model", "messages", "durable facts that stand", "others that stand", "outdated ones that stand", "refused",
        "failed jobs", "a batch",
    ]  # fmt: skip
    print(f"\n{table(head, rows)}")


if __name__ == "__main__":
    main()
