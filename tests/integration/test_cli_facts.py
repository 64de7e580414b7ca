"""Facts from the command line: kept, corrected, taken back, and erased with a receipt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept import Memory
from wellkept.cli import cli

Run = Callable[..., Result]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "chat.db"
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(namespace="acme", user="alice")
        chat.add_message("user", "我对花生过敏，我家的猫叫芝麻")
        chat.add_message("assistant", "记住了，不放花生。")
        memory.session(namespace="acme", user="bob").add_message("user", "我爱吃花生")
    return path


@pytest.fixture
def run(store: Path) -> Run:
    def invoke(*args: str, user: str = "alice") -> Result:
        scope = ["--namespace", "acme", "--user", user, "--store", str(store)]
        return CliRunner(env={"COLUMNS": "160"}).invoke(cli, [*args, *scope])

    return invoke


def add(run: Run, text: str, *options: str) -> str:
    made = json.loads(run("facts", "add", text, "--json", *options).stdout)
    identity: str = made["results"][0]["id"]
    return identity


def texts(run: Run, *options: str) -> list[str]:
    return [fact["text"] for fact in json.loads(run("facts", "list", "--json", *options).stdout)]


def test_a_fact_is_kept_listed_and_only_its_users(run: Run) -> None:
    add(run, "对花生过敏", "--label", "健康")
    add(run, "Lives in Hangzhou", "--label", "home")
    assert texts(run) == ["对花生过敏", "Lives in Hangzhou"]
    assert texts(run, "--label", "健康") == ["对花生过敏"]
    assert "对花生过敏" in run("facts", "list").stdout
    assert run("facts", "list", "--markdown").stdout.startswith("#")
    assert run("facts", "list", user="bob").stdout == "No facts.\n"


def test_a_retired_fact_comes_back_with_undo(run: Run) -> None:
    fact = add(run, "喜欢喝咖啡")
    retired = run("facts", "retire", fact).stdout
    assert texts(run) == [] and texts(run, "--all") == ["喜欢喝咖啡"]
    number = re.match(r"\d+", retired)
    assert number
    assert "undo" in run("undo", number[0]).stdout
    assert texts(run) == ["喜欢喝咖啡"]
    history = json.loads(run("facts", "history", fact, "--json").stdout)
    assert [change["action"] for change in history] == ["store", "retire", "undo"]


def test_what_is_not_there_is_an_error(run: Run) -> None:
    for command in (["facts", "retire", "nothing"], ["facts", "history", "nothing"], ["undo", "99"]):
        result = run(*command)
        assert result.exit_code == 1 and result.stderr.count("\n") == 1
    foreign = add(run, "Lives in Hangzhou")
    assert run("facts", "retire", foreign, user="bob").exit_code == 1
    assert texts(run) == ["Lives in Hangzhou"]


def test_forget_shows_first_and_does_nothing_without_a_yes(run: Run) -> None:
    add(run, "对花生过敏")
    shown = run("forget", "花生")
    assert shown.exit_code == 0
    assert "1 facts and 2 messages" in shown.stdout and "Nothing was erased" in shown.stdout
    assert texts(run) == ["对花生过敏"]
    assert [fact["text"] for fact in json.loads(run("forget", "花生", "--json").stdout)["facts"]] == [
        "对花生过敏"
    ]
    assert texts(run) == ["对花生过敏"]


def test_forget_erases_with_a_receipt_and_only_here(run: Run, store: Path) -> None:
    add(run, "对花生过敏")
    add(run, "Lives in Hangzhou")
    result = run("forget", "花生", "--yes")
    assert result.exit_code == 0, result.output
    assert "nothing left" in result.stdout and "2 events" in result.stdout
    assert texts(run) == ["Lives in Hangzhou"]
    assert "Nothing was found" in run("search", "花生").stdout
    assert "花生" in run("search", "花生", user="bob").stdout
    with Memory(str(store), worker=False) as memory:
        assert memory.user("alice", namespace="acme").receipts()[0].left == {}


def test_forget_by_id_and_what_cannot_be_forgotten(run: Run) -> None:
    fact = add(run, "Lives in Hangzhou")
    assert json.loads(run("forget", "--id", fact, "--yes", "--json").stdout)["removed"]["facts"] == 1
    nothing = run("forget", "火星", "--yes")
    assert nothing.exit_code == 1 and "火星" in nothing.stderr
    assert run("forget").exit_code == 1


def test_an_empty_review_list_says_so(run: Run) -> None:
    assert "Nothing waits" in run("facts", "review").stdout
    assert json.loads(run("facts", "review", "--json").stdout) == []
    assert run("facts", "settle", "1", "--accept").exit_code == 1
