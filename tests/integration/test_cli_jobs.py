"""Background work, seen and handled from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wellkept import Memory, ModelError
from wellkept.cli import cli
from wellkept.testing import FakeClock, FakeModel

WIDE = {"COLUMNS": "160"}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in which one user's summary has failed, and another one's waits."""
    path = tmp_path / "chat.db"
    clock = FakeClock()
    model = FakeModel(lambda call: ModelError("额度用完了 (HTTP 402)"))
    with Memory(str(path), model=model, clock=clock, worker=False) as memory:
        chatter(memory, "alice")
        memory.run_jobs()
        chatter(memory, "bob")
    return path


def chatter(memory: Memory, user: str) -> None:
    chat = memory.session(namespace="acme", user=user)
    for number in range(12):
        chat.add_message("user", f"第 {number} 件事：6月{number + 1}日付 {number * 100} 元")
        chat.add_message("assistant", "记下了。")


def run(store: Path, *args: str) -> Result:
    return CliRunner(env=WIDE).invoke(cli, ["jobs", *args, "--store", str(store)])


def bobs(store: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        run(store, "list", "--namespace", "acme", "--user", "bob", "--json").stdout
    )
    return found


def test_jobs_are_listed_with_their_last_error(store: Path) -> None:
    shown = run(store, "list").stdout
    assert "额度用完了" in shown and "acme/alice" in shown and "acme/bob" in shown
    assert {job["scope"]["user"] for job in bobs(store)} == {"bob"}
    assert run(store, "list", "--namespace", "other").stdout == "No jobs.\n"


def test_a_job_is_cancelled_and_retried(store: Path) -> None:
    job = bobs(store)[0]
    number = str(job["id"])
    assert "cancelled" in run(store, "cancel", number).stdout
    again = run(store, "cancel", number)
    assert again.exit_code == 1 and "cancelled" in again.stderr
    assert json.loads(run(store, "retry", number, "--json").stdout)["state"] == "ready"


def test_a_job_of_another_namespace_is_not_found(store: Path) -> None:
    job = bobs(store)[0]
    result = run(store, "cancel", str(job["id"]), "--namespace", "other")
    assert result.exit_code == 1 and "No job" in result.stderr
