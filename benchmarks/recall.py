"""Recall and speed of ``search`` on conversations with known evidence, through the public API alone.

    python benchmarks/recall.py FOLDER... [--vectors] [--cache FILE] [--categories] [--half 0|1]

Each folder holds ``corpus.jsonl`` (a message a line: id, group, session, speaker, role, date, text) and ``queries.jsonl``
(qid, group, question, category, date, evidence: ids of messages). A group becomes a user, a session a session; a
question is asked on its own date, or else right after the last message, and is searched in its own group. What is
measured: the share of the evidence among the source events of the first k results, and one over the rank of the first
evidence, each as the mean over the questions that have evidence; questions of the category "adversarial" are left out.
"""

from __future__ import annotations

import json
import pickle
import statistics
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from wellkept import Memory
from wellkept.models.protocol import Embedder
from wellkept.policy.text import dates
from wellkept.records import Draft

LIMIT = 10
NAMESPACE = "benchmark"
ROLES_ONLY = {"user", "assistant", ""}


@dataclass(slots=True)
class Score:
    """Sums over questions."""

    at_5: list[float] = field(default_factory=list)
    at_10: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def add(self, evidence: set[str], ranked: Sequence[set[str]], ms: float) -> None:
        """Counts one question: the corpus ids behind each result, best first."""
        self.at_5.append(len(evidence & set().union(*ranked[:5])) / len(evidence))
        self.at_10.append(len(evidence & set().union(*ranked[:10])) / len(evidence))
        self.first.append(next((1 / rank for rank, ids in enumerate(ranked, 1) if ids & evidence), 0.0))
        self.ms.append(ms)

    def row(self, name: str) -> str:
        """One line of the report."""
        at_10, at_5, mrr = (100 * statistics.fmean(part) for part in (self.at_10, self.at_5, self.first))
        return (
            f"{name:44} n={len(self.ms):4}  R@10 {at_10:5.1f}  R@5 {at_5:5.1f}  MRR {mrr:5.1f}"
            f"  {statistics.median(self.ms):6.1f} ms"
        )


class Cached:
    """An embedder that keeps its vectors in a file, because making them takes longer than all the rest."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder, self._path = embedder, path
        self.name, self.dimension, self.calibration = embedder.name, embedder.dimension, embedder.calibration
        self._known: dict[tuple[str, str], Sequence[float]] = (
            pickle.loads(path.read_bytes()) if path.exists() else {}
        )

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> list[Sequence[float]]:
        """See ``Embedder``."""
        for text in texts:
            if (kind, text) not in self._known:
                self._known[kind, text] = self._embedder.embed([text], kind=kind)[0]
        return [self._known[kind, text] for text in texts]

    def save(self) -> None:
        """Writes the file."""
        self._path.write_bytes(pickle.dumps(self._known))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def fill(memory: Memory, messages: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], dict[str, datetime]]:
    """Stores all messages; the corpus id of each event id, and the time of the last message of each group."""
    ids: dict[str, str] = {}
    last: dict[str, datetime] = {}
    in_session = lambda message: (message["group"], message["session"])  # noqa: E731
    for (group, _), talk in groupby(messages, key=in_session):
        batch = list(talk)
        when = [dates.parse(message["date"], "UTC") for message in batch]
        drafts = [
            Draft(
                role=message["role"],
                content=message["text"],
                speaker=None if message["speaker"] in ROLES_ONLY else message["speaker"],
                ts=ts,
            )
            for message, ts in zip(batch, when, strict=True)
        ]
        events = memory.session(namespace=NAMESPACE, user=group).append(drafts)
        ids |= {event.id: message["id"] for event, message in zip(events, batch, strict=True)}
        last[group] = max([ts for ts in when if ts], default=last.get(group)) or last[group]
    return ids, last


def ask(
    memory: Memory, query: Mapping[str, Any], now: datetime, ids: Mapping[str, str]
) -> tuple[list[set[str]], float]:
    """The corpus ids behind each result, and the milliseconds that the search took."""
    start = time.perf_counter()
    found = memory.user(query["group"], namespace=NAMESPACE).search(query["question"], limit=LIMIT, now=now)
    ms = 1000 * (time.perf_counter() - start)
    return [{ids[event] for event in result.events if event in ids} for result in found], ms


def measure(folder: Path, embedder: Embedder | None, half: int | None) -> dict[str, Score]:
    """The scores of each category of a folder, and of all under ""."""
    scores: dict[str, Score] = defaultdict(Score)
    with Memory(":memory:", embedder=embedder, worker=False) as memory:
        ids, last = fill(memory, lines(folder / "corpus.jsonl"))
        while memory.run_jobs():
            pass
        for query in lines(folder / "queries.jsonl"):
            mine = half is None or zlib.crc32(query["qid"].encode()) % 2 == half
            if not mine or not query["evidence"] or query["category"] == "adversarial":
                continue
            now = dates.parse(query["date"], "UTC") or last[query["group"]] + timedelta(days=1)
            ranked, ms = ask(memory, query, now, ids)
            for name in ("", query["category"]):
                scores[name].add(set(query["evidence"]), ranked, ms)
    return scores


@click.command(help=__doc__, context_settings={"max_content_width": 110})
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--vectors", is_flag=True, help="Search by meaning too, with the local embedder.")
@click.option("--cache", type=click.Path(path_type=Path), help="Keep the vectors in this file.")
@click.option("--categories", is_flag=True, help="Show each category.")
@click.option(
    "--half", type=click.IntRange(0, 1), help="Only one half of the questions, to see how stable it is."
)
def main(
    folders: Sequence[Path], vectors: bool, cache: Path | None, categories: bool, half: int | None
) -> None:
    embedder = local_embedder(cache) if vectors else None
    for folder in folders:
        scores = measure(folder, embedder, half)
        for name in sorted(scores) if categories else [""]:
            click.echo(scores[name].row(f"{folder.name} {name}"))
        if isinstance(embedder, Cached):
            embedder.save()


def local_embedder(cache: Path | None) -> Embedder:
    """The embedder of the extra "local", with a file for its vectors if one is named."""
    from wellkept.models.embedders import LocalEmbedder

    return Cached(LocalEmbedder(), cache) if cache else LocalEmbedder()


if __name__ == "__main__":
    main()
