"""What a real model keeps, behind an OpenAI-compatible server: an opt-in check, because it needs one and takes minutes.

    python -m benchmarks.real_model http://127.0.0.1:8080/v1 [--model NAME] [--merges 2]

The same conversations as in ``benchmarks.summaries``. For each language it prints how each job ended, what the model's own
notes kept before anything was repaired, and what summary and ledger hold in the end.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.common import table
from benchmarks.summaries import BEGIN, Kept, conversation, kept_in
from wellkept import Memory, Policy
from wellkept.models import OpenAI, Reply
from wellkept.policy.summaries.compress import clean
from wellkept.policy.text.keydata import HARD, extract, missing
from wellkept.records import text_of
from wellkept.store.jobs import Job
from wellkept.testing import FakeClock


class Listening:
    """A model that notes what it was asked for summaries and what it answered; facts are not asked for."""

    def __init__(self, model: OpenAI) -> None:
        self.name = model.name
        self.heard: list[tuple[str, str]] = []
        self.stream = model.stream
        self._model = model

    def complete(self, system: str, messages: Sequence[Any], *, schema: Any = None, **options: Any) -> Reply:
        """The model's answer."""
        if schema is not None:
            return Reply(content='{"intent": "none", "memories": []}')
        reply = self._model.complete(system, messages, **options)
        self.heard.append((str(messages[-1]["content"]), text_of(reply.content)))
        return reply


def summarised(language: str, model: Listening, merges: int) -> tuple[Kept, list[Job]]:
    """Have a conversation summarised so many times; what is left of its numbers, dates, times and amounts."""
    clock = FakeClock(BEGIN)
    with Memory(
        ":memory:", model=model, clock=clock, worker=False, policy=Policy(daily_tokens=None)
    ) as memory:
        chat = memory.session(namespace="n", user="u")
        for question, answer in conversation(language, seed=5):
            clock.advance(hours=3)
            chat.add_message("user", question)
            chat.add_message("assistant", answer)
            memory.run_jobs()
            if len(chat.summaries()) >= merges:
                break
        print(f"\n[{language}]\n{chat.summaries()[-1].text}", flush=True)
        return kept_in(chat), memory.jobs.list(kind="summarize", limit=1000)


def run(language: str, model: Listening, merges: int) -> list[str]:
    """A row of what became of the key data."""
    begin = time.perf_counter()
    found, jobs = summarised(language, model, merges)
    seconds = (time.perf_counter() - begin) / max(1, len(model.heard))
    for job in jobs:
        print(job.state, job.attempts, dict(job.result or {}), job.last_error or "", flush=True)
    said, first = _first_notes(model)
    jobs = [job for job in jobs if "covers" in (job.result or {})]
    refused = sum("refused" in (job.result or {}) or job.attempts > 1 for job in jobs)
    return [
        language, model.name, f"{first} of {said}", f"{refused} of {len(jobs)}", f"{found.all - found.lost} of {found.all}",
        f"{found.shown} of {found.newest}", f"{seconds:.0f} s",
    ]  # fmt: skip


def _first_notes(model: Listening) -> tuple[int, int]:
    """How many key data the model was given, and how many its own notes kept at the first try."""
    said = there = 0
    for message, reply in model.heard:
        if "These must all appear" in message:
            source = "\n".join(
                line.partition(": ")[2] for line in message.splitlines() if line.startswith("[")
            )
            hard = {(key.kind, key.value): key for key in extract(source) if key.kind in HARD}
            said += len(hard)
            there += len(hard) - len(missing(hard.values(), clean(reply)))
    return said, there


def main() -> None:
    """Ask the server, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address", help="of the server, ending in /v1")
    parser.add_argument("--model", default="local")
    parser.add_argument("--merges", type=int, default=2)
    chosen = parser.parse_args()
    rows = [
        run(
            language,
            Listening(OpenAI(chosen.model, base_url=chosen.address, api_key="none", timeout=900)),
            chosen.merges,
        )
        for language in ("zh", "en")
    ]
    head = [
        "",
        "model",
        "kept in its own notes",
        "refused",
        "in summary or ledger at last",
        "in the summary itself",
        "a call",
    ]
    print(f"\n{table(head, rows)}")


if __name__ == "__main__":
    main()
