"""``wellkept trace``: what was given and why, and the same moment under another budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept import Memory, Policy
from wellkept.cli import cli

Run = Callable[..., Result]


@pytest.fixture
def made(tmp_path: Path) -> tuple[str, Run]:
    """The newest of two traces, and a way to run commands on their store."""
    path = str(tmp_path / "chat.db")
    with Memory(path, worker=False, policy=Policy(debug_trace=-1, summarize_every=4)) as memory:
        chat = memory.session(namespace="acme", user="alice", session_id="s1", create=True)
        for number in range(12):
            chat.add_message("user", f"恐龙馆第 {number} 号厅的票价是 {100 + number} 元吗？\x1b[31m")
            chat.add_message(
                "assistant", f"Hall {number} costs {100 + number} yuan, open until 17:{number:02}."
            )
        memory.run_jobs()
        chat.get_context()
        id = chat.get_context("恐龙馆 105 元").trace_id
    scope = ("--store", path, "--namespace", "acme", "--user", "alice")
    assert id
    return id, lambda *args: CliRunner(env={"COLUMNS": "160"}).invoke(cli, ["trace", *args, *scope])


def test_list_names_them_newest_first(made: tuple[str, Run]) -> None:
    id, run = made
    first, second = json.loads(run("list", "--json").stdout)
    assert (first["id"], first["query"], second["query"]) == (id, "恐龙馆 105 元", None)
    assert first["tokens"] == sum(first["parts"].values()) or first["tokens"] > 0
    line = run("list", "s1").stdout.splitlines()[1]
    assert id in line and "s1" in line and "3,000" in line
    assert [each["id"] for each in json.loads(run("list", "--before", id, "--json").stdout)] == [second["id"]]


def test_show_prints_the_text_and_every_candidate(made: tuple[str, Run]) -> None:
    id, run = made
    shown = run("show", id).stdout
    assert "111 yuan" in shown and "recalled for: 恐龙馆 105 元" in shown and "fits" in shown
    assert "\x1b[31m" not in shown
    data = json.loads(run("show", id, "--json").stdout)
    assert data["messages"][-1]["content"].startswith("Hall 11 costs")


def test_replay_is_the_same_or_says_what_differs(made: tuple[str, Run]) -> None:
    id, run = made
    assert "The same, byte for byte." in run("replay", id).stdout
    small = run("replay", id, "--budget", "400").stdout
    assert "--- then" in small and "total" in small
    data = json.loads(run("replay", id, "--budget", "400", "--json").stdout)
    assert data["after"]["tokens"] <= 400 < data["before"]["tokens"]
    bare = json.loads(
        run("replay", id, "--set", "summary_share=0", "--set", "recall_share=0.3", "--json").stdout
    )
    assert "summary" not in bare["after"]["parts"] and "summary" in bare["before"]["parts"]
    assert run("replay", id, "--today").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["show", "nonsense"], "No trace 'nonsense' here", 1),
        (["replay", "ID", "--set", "nonsense=1"], "These are: context_budget", 2),
        (["replay", "ID", "--set", "summary_share=much"], "'much' is no number", 2),
        (["replay", "ID", "--set", "summary_share=2"], "between 0 and 1", 1),
        (["replay", "ID", "--budget", "0"], "at least 1", 1),
    ],
)
def test_mistakes_are_one_line(made: tuple[str, Run], arguments: list[str], said: str, code: int) -> None:
    id, run = made
    result = run(*(id if word == "ID" else word for word in arguments))
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr and len(result.stderr.splitlines()) == 1


def test_without_traces_it_says_how_to_get_them(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    Memory(path, worker=False).close()
    result = CliRunner().invoke(cli, ["trace", "list", "--store", path, "--namespace", "a", "--user", "b"])
    assert "debug_trace" in result.stdout
