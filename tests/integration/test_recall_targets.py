"""Recall does not fall: the least that is found without a model, on the parts of the recall data that are quick to run.

The data is no part of the project. It is looked for in ``shared/bench`` beside the clone, or in ``WELLKEPT_RECALL_DATA``.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest

from benchmarks.recall import measure

DATA = Path(os.environ.get("WELLKEPT_RECALL_DATA", Path(__file__).parents[3] / "shared" / "bench"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no recall data: set WELLKEPT_RECALL_DATA")

LOCOMO_CONVERSATION = "conv-26"


def recall(folder: Path) -> tuple[float, float]:
    """Recall@10 and recall@5 of all questions, in percent."""
    score = measure(folder, None, None)[""]
    return 100 * statistics.fmean(score.at_10), 100 * statistics.fmean(score.at_5)


@pytest.mark.parametrize(("part", "at_10", "at_5"), [("madial_zh", 57, 47), ("eventmem_zh", 81, 81)])
def test_recall_in_chinese_is_what_it_is_said_to_be(part: str, at_10: float, at_5: float) -> None:
    found = recall(DATA / part)
    assert found[0] >= at_10
    assert found[1] >= at_5


def test_recall_of_an_english_conversation_is_no_less_than_it_was(tmp_path: Path) -> None:
    for name in ("corpus.jsonl", "queries.jsonl"):
        lines = (DATA / "locomo" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        mine = [line for line in lines if f'"group": "{LOCOMO_CONVERSATION}"' in line]
        (tmp_path / name).write_text("".join(mine), encoding="utf-8")
    found = recall(tmp_path)
    assert found[0] >= 79
    assert found[1] >= 69
