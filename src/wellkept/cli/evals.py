"""``wellkept eval``: your own questions, asked of your own store, made for your CI. No model is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from wellkept.cli.output import clean, print_json, progress
from wellkept.cli.target import Target, target_options
from wellkept.errors import InvalidInput
from wellkept.recall import Result
from wellkept.records import Record
from wellkept.user import UserReader


@dataclass(frozen=True, slots=True)
class Question(Record):
    """A line of a golden file.

    Attributes:
        line: where it stands.
        expected: ids of events, or pieces of text, each of which a result must come from or hold.
    """

    line: int
    text: str
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score(Record):
    """How one question did: the part of ``expected`` that was found, 1 / rank of the first, and what is missing."""

    question: Question
    recall: float
    reciprocal_rank: float
    missing: tuple[str, ...]


@click.command("eval")
@click.argument("golden", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@target_options
@click.option("--k", default=10, show_default=True, help="How many results count.")
@click.option("--at-least", type=float, metavar="RECALL", help="End with exit code 1 below this mean recall.")
def eval_command(target: Target, golden: Path, k: int, at_least: float | None) -> None:
    """Ask the questions in GOLDEN of a user's memory; print recall@k, MRR and what was not found.

    GOLDEN has one question a line: {"question": "What is she allergic to?", "expected": ["peanuts"]}. Each expected string is
    the id of an event, or a piece of text; it counts as found when one of the first k results is that event or holds that text.
    """
    questions = list(_questions(golden))
    with target.open() as memory, progress() as bars:
        user = target.reader(memory)
        scores = [score(user, question, k) for question in bars.track(questions, description="asking")]
    recall = sum(one.recall for one in scores) / len(scores)
    mrr = sum(one.reciprocal_rank for one in scores) / len(scores)
    if target.json:
        print_json({"k": k, "recall": recall, "mrr": mrr, "questions": [one.to_dict() for one in scores]})
    else:
        _print(scores, k, recall, mrr)
    if at_least is not None and recall < at_least:
        raise click.ClickException(
            f"The recall is {recall:.3f}, less than the {at_least} that was asked for."
        )


def _questions(path: Path) -> Iterator[Question]:
    empty = True
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            empty = False
            yield _question(number, line)
    if empty:
        raise InvalidInput(f"{path} holds no question.")


def _question(number: int, line: str) -> Question:
    try:
        data: Any = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"Line {number} is no JSON: {error}") from error
    if (
        not isinstance(data, Mapping)
        or not isinstance(data.get("question"), str)
        or not _texts(data.get("expected"))
    ):
        raise InvalidInput(f'Line {number} must be like {{"question": "…", "expected": ["…"]}}.')
    return Question(number, data["question"], tuple(data["expected"]))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) and text for text in value)


def score(user: UserReader, question: Question, k: int) -> Score:
    """How a user's memory does on one question."""
    found = user.search(question.text, limit=k)
    ranks = {text: _rank(text, found) for text in question.expected}
    reached = [rank for rank in ranks.values() if rank]
    return Score(
        question,
        recall=len(reached) / len(ranks),
        reciprocal_rank=1 / min(reached) if reached else 0.0,
        missing=tuple(text for text, rank in ranks.items() if not rank),
    )


def _rank(expected: str, found: Sequence[Result]) -> int:
    """The place of the first result that gives what is expected, from 1; 0 when none does."""
    wanted = expected.casefold()
    for place, result in enumerate(found, 1):
        if expected in result.events or wanted in result.text.casefold():
            return place
    return 0


def _print(scores: Sequence[Score], k: int, recall: float, mrr: float) -> None:
    for one in scores:
        if one.missing:
            missing = ", ".join(one.missing)
            click.echo(clean(f"line {one.question.line}: {one.question.text} — not found: {missing}"))
    click.echo(f"{len(scores):,} questions: recall@{k} {recall:.3f}, MRR {mrr:.3f}")
