"""The demo keeps its promises, and says so when one is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from wellkept import Memory
from wellkept.cli import cli, scenes


def test_the_demo_shows_what_a_model_is_given_and_ends_well() -> None:
    result = CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["demo"])
    assert result.exit_code == 0, result.output
    for text in (
        "Turn 3",
        "inside the budget of 600",
        "Turn 63",
        "✓ 6月28日, said in turn 3",
        "window ·",
        "byte for byte",
        "completed with what they had lost",
    ):
        assert text in result.stdout


def test_a_broken_promise_ends_the_demo_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes, "DATE", "6月29日")
    result = CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["demo"])
    assert result.exit_code == 1
    assert "does not" in result.stderr


def test_the_store_can_be_kept_and_is_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "演示 demo"
    first = CliRunner().invoke(cli, ["demo", "--folder", str(folder)])
    assert first.exit_code == 0 and "wellkept show" in first.stdout
    with Memory(str(folder / "demo.db"), worker=False) as memory:
        (info,) = memory.user("linyue", namespace="demo").sessions()
    assert info.events == 149
    second = CliRunner().invoke(cli, ["demo", "--folder", str(folder)])
    assert second.exit_code == 1 and "Name another folder" in second.stderr
