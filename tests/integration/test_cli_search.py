"""Search and evaluation from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept import Memory, samples
from wellkept.cli import cli
from wellkept.cli.highlight import marked

Run = Callable[..., Result]
SCOPE = ("--namespace", "demo", "--user", "linyue")
SESSION = "sample-launch-and-birthday"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "chat.db"
    CliRunner().invoke(cli, ["import", str(samples.path()), "--store", str(path)])
    return path


@pytest.fixture
def run(store: Path) -> Run:
    env = {"COLUMNS": "120"}
    return lambda *args: CliRunner(env=env).invoke(cli, [*args, *SCOPE, "--store", str(store)])


@pytest.mark.parametrize(
    ("question", "answer"), [("朵朵对什么过敏", "花生"), ("When does Daniel's vacation start?", "June 29")]
)
def test_an_answer_is_found_with_what_stands_around_it(run: Run, question: str, answer: str) -> None:
    first = json.loads(run("search", question, "--json", "--limit", "1").stdout)[0]
    assert answer in first["text"]
    shown = run("search", question, "--limit", "1").stdout
    seq = int(first["id"].rpartition(":")[2])
    assert f"#{seq - 1} " in shown and f"#{seq + 1} " in shown
    assert f"#{seq - 1} " not in run("search", question, "--limit", "1", "--no-around").stdout


def test_options_narrow_the_search(run: Run) -> None:
    found = json.loads(
        run("search", "蛋糕", "--json", "--since", "2026-06-10", "--until", "2026-06-20").stdout
    )
    assert found
    assert all("2026-06-10" <= result["ts"][:10] <= "2026-06-20" for result in found)
    assert run("search", "蛋糕", "--session", "no such").exit_code == 1
    assert run("search", "蛋糕", "--kind", "poem").exit_code == 2


def test_explain_says_what_a_score_is_made_of_and_what_was_dropped(run: Run) -> None:
    shown = run("search", "花生", "--limit", "1", "--explain").stdout
    assert "score " in shown and "text " in shown and "over the limit of 1" in shown


def test_nothing_relevant_is_said_plainly(run: Run) -> None:
    result = run("search", "xyzzyplugh")
    assert result.exit_code == 0 and "Nothing was found" in result.stdout


@pytest.mark.parametrize(
    ("text", "query", "spots"),
    [
        ("朵朵对花生过敏", "花生", ["花生"]),
        ("兩種過敏藥", "过敏", ["過敏"]),
        ("Three allergies, no peanuts.", "allergy PEANUT", ["allergies,", "peanuts."]),
        ("我家的猫叫芝麻", "猫", ["猫"]),
        ("用Python3写代码", "python3", ["Python3"]),
        ("nothing here", "花生", []),
        ("控制\x1b[2J花生", "花生", ["花生"]),
    ],
)
def test_hits_are_marked_as_the_index_sees_them(text: str, query: str, spots: list[str]) -> None:
    shown = marked(text, query)
    assert [shown.plain[span.start : span.end] for span in shown.spans] == spots


# ── eval ─────────────────────────────────────────────────────────────────────────────────────────────


def golden(tmp_path: Path, *questions: object) -> str:
    path = tmp_path / "golden.jsonl"
    path.write_text(
        "\n".join(json.dumps(question, ensure_ascii=False) for question in questions), encoding="utf-8"
    )
    return str(path)


def test_questions_are_scored_and_misses_listed(run: Run, tmp_path: Path) -> None:
    file = golden(
        tmp_path,
        {"question": "朵朵对什么过敏？", "expected": ["花生"]},
        {"question": "When does Daniel's vacation start?", "expected": ["JUNE 29", "火星"]},
        {"question": "订单号", "expected": [f"{SESSION}:112"]},
    )
    data = json.loads(run("eval", file, "--json").stdout)
    assert data["recall"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert data["questions"][1]["missing"] == ["火星"]
    shown = run("eval", file).stdout
    assert "line 2" in shown and "火星" in shown and "recall@10 0.833" in shown


def test_a_floor_makes_it_a_check(run: Run, tmp_path: Path) -> None:
    file = golden(
        tmp_path, {"question": "花生", "expected": ["花生"]}, {"question": "花生", "expected": ["火星"]}
    )
    assert run("eval", file, "--at-least", "0.5").exit_code == 0
    failed = run("eval", file, "--at-least", "0.6")
    assert failed.exit_code == 1 and "0.500" in failed.stderr


@pytest.mark.parametrize("line", ["{", "[]", '{"question": "x"}', '{"question": "x", "expected": []}', ""])
def test_a_line_that_is_no_question_is_named(run: Run, tmp_path: Path, line: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(line, encoding="utf-8")
    result = run("eval", str(path))
    assert result.exit_code == 1 and result.stderr.count("\n") == 1


def test_another_users_words_are_not_found(run: Run, store: Path) -> None:
    with Memory(str(store), worker=False) as memory:
        memory.session(namespace="demo", user="mallory").add_message("user", "zebrafish 斑马鱼")
    assert "Nothing was found" in run("search", "zebrafish 斑马鱼").stdout
