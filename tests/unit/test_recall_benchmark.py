from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks.recall import main

CORPUS = [
    ("a1", "ann", "s1", "Ann", "2024/01/02 (Tue) 10:00", "I adopted a parrot named Coco."),
    ("a2", "ann", "s1", "Bo", "2024/01/02 (Tue) 10:01", "Lovely! Does it talk?"),
    ("b1", "bea", "s2", "user", "2024-03-05", "我对花生过敏"),
]
QUERIES = [
    ("q1", "ann", "What is the parrot called?", "plain", ["a1"]),
    ("q2", "bea", "花生能吃吗", "plain", ["b1"]),
    ("q3", "bea", "What is the parrot called?", "foreign", ["a1"]),
    ("q4", "ann", "Does Ann own a plane?", "plain", []),
]


def write(path: Path, keys: str, rows: list[tuple[object, ...]], **more: str) -> None:
    objects = [{**dict(zip(keys.split(), row, strict=True)), **more} for row in rows]
    path.write_text("\n".join(json.dumps(item) for item in objects), encoding="utf-8")


def test_recall_of_a_small_folder(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", "id group session speaker date text", [*CORPUS], role="user")
    write(tmp_path / "queries.jsonl", "qid group question category evidence", [*QUERIES], date="")
    result = CliRunner().invoke(main, [str(tmp_path), "--categories"], catch_exceptions=False)
    rows = {line.split()[1]: line for line in result.output.splitlines() if "n=" in line}
    assert "n=   2  R@10 100.0  R@5 100.0  MRR 100.0" in rows["plain"]
    assert "n=   1  R@10   0.0" in rows["foreign"]
