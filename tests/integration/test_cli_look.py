"""The commands that look into a store, and what they say when something is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept import Memory, samples
from wellkept.cli import cli

Run = Callable[..., Result]
SCOPE = ("--namespace", "demo", "--user", "linyue")
WIDE = {"COLUMNS": "120"}
SESSION = "sample-launch-and-birthday"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "chat.db"
    result = CliRunner().invoke(cli, ["import", str(samples.path()), "--store", str(path)])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def run(store: Path) -> Run:
    return lambda *args: CliRunner(env=WIDE).invoke(cli, [*args, "--store", str(store)])


def test_sessions_lists_them_with_their_counts(run: Run) -> None:
    (listed,) = json.loads(run("sessions", *SCOPE, "--json").stdout)
    assert (listed["id"], listed["turns"], listed["events"]) == (SESSION, 63, 149)
    line = run("sessions", *SCOPE).stdout.splitlines()[1]
    assert SESSION in line and "上线与朵朵的生日" in line and "149" in line


@pytest.mark.parametrize("columns", ["20", "60", "80"])
def test_a_narrow_terminal_leaves_the_ids_whole(store: Path, columns: str) -> None:
    narrow = CliRunner(env={"COLUMNS": columns})
    assert SESSION in narrow.invoke(cli, ["sessions", *SCOPE, "--store", str(store)]).stdout
    assert narrow.invoke(cli, ["context", SESSION, *SCOPE, "--store", str(store)]).exit_code == 0


def test_show_prints_texts_calls_and_failed_results(run: Run) -> None:
    shown = run("show", SESSION, *SCOPE, "--before", "42", "--limit", "4").stdout
    assert "要 G9172，两张成人一张儿童" in shown
    assert "→ book_train(" in shown
    assert "failed 支付网关超时" in shown
    assert "--before 38" in shown


def test_show_gives_programs_the_whole_content(run: Run) -> None:
    data = json.loads(run("show", SESSION, *SCOPE, "--json", "--limit", "200").stdout)
    assert data["session"]["title"] == "上线与朵朵的生日"
    assert [event["seq"] for event in data["events"]] == list(range(1, 150))
    assert data["events"][39]["content"][0]["is_error"] is True


def test_context_shows_each_tier_inside_the_budget(run: Run) -> None:
    data = json.loads(run("context", SESSION, *SCOPE, "--budget", "1500", "--json").stdout)
    assert data["tokens"] <= 1500
    text = run("context", SESSION, *SCOPE, "--budget", "1500", "--trace").stdout
    assert f"{data['tokens']:,} of 1,500 tokens" in text
    for tier in data["parts"]:
        assert f"{tier} ·" in text
    assert "older than the window's room" in text


def test_context_of_an_earlier_moment(run: Run) -> None:
    by_seq = json.loads(run("context", SESSION, *SCOPE, "--as-of", "6", "--json").stdout)
    assert "6月28日" in by_seq["messages"][-1]["content"]
    by_time = json.loads(
        run("context", SESSION, *SCOPE, "--as-of", "2026-06-01T09:11:00+08:00", "--json").stdout
    )
    assert by_time["messages"] == by_seq["messages"]
    wrong = run("context", SESSION, *SCOPE, "--as-of", "yesterday")
    assert wrong.exit_code == 2 and "2026-06-24T20:00" in wrong.stderr


def test_a_budget_that_is_too_small_says_by_how_much(run: Run) -> None:
    result = run("context", SESSION, *SCOPE, "--budget", "5")
    assert result.exit_code == 1
    assert "Raise it by" in result.stderr and result.stderr.count("\n") == 1


# ── what is missing ──────────────────────────────────────────────────────────────────────────────────


def test_without_a_store_the_error_says_how_to_give_one() -> None:
    result = CliRunner().invoke(cli, ["sessions"], env={"WELLKEPT_STORE": ""})
    assert result.exit_code == 2
    assert "--store" in result.stderr and "WELLKEPT_STORE" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "args", [["nope"], ["show"], ["show", "x", "--limit", "many"], ["import", "no/such/file"]]
)
def test_what_is_not_understood_is_one_line_and_exit_code_2(args: list[str]) -> None:
    result = CliRunner().invoke(cli, args)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and "--help" in result.stderr


def test_the_store_may_come_from_the_environment(store: Path) -> None:
    env = {"WELLKEPT_STORE": str(store), "WELLKEPT_NAMESPACE": "demo", "WELLKEPT_USER": "linyue"}
    result = CliRunner().invoke(cli, ["sessions", "--json"], env=env)
    assert len(json.loads(result.stdout)) == 1


@pytest.mark.parametrize("command", [["sessions"], ["show", "x"], ["context", "x"], ["export"]])
def test_looking_never_makes_a_store(command: list[str], tmp_path: Path) -> None:
    missing = tmp_path / "typo.db"
    result = CliRunner().invoke(cli, [*command, *SCOPE, "--store", str(missing)])
    assert result.exit_code == 1 and str(missing) in result.stderr
    assert not missing.exists()


def test_without_a_scope_the_error_names_those_there_are(run: Run) -> None:
    result = run("sessions", "--namespace", "demo")
    assert result.exit_code == 2
    assert "Pass --user." in result.stderr and "--user linyue" in result.stderr


def test_another_users_session_is_not_found(run: Run) -> None:
    foreign = run("show", SESSION, "--namespace", "demo", "--user", "mallory")
    unknown = run("show", "nothing", "--namespace", "demo", "--user", "mallory")
    assert foreign.exit_code == unknown.exit_code == 1
    assert foreign.stderr.replace(SESSION, "nothing") == unknown.stderr
    assert "wellkept sessions" in foreign.stderr


def test_a_file_that_is_no_store_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("just notes\n" * 100, encoding="utf-8")
    result = CliRunner().invoke(cli, ["sessions", *SCOPE, "--store", str(text)])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    assert text.read_text(encoding="utf-8") == "just notes\n" * 100


# ── any terminal ─────────────────────────────────────────────────────────────────────────────────────


def shell(*args: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "wellkept.cli", *args]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk", "utf-8"])
def test_output_is_safe_in_any_encoding(store: Path, encoding: str) -> None:
    scope = (*SCOPE, "--store", str(store))
    shown = shell("show", SESSION, *scope, PYTHONIOENCODING=encoding)
    assert shown.returncode == 0, shown.stderr
    if encoding in ("gbk", "utf-8"):
        assert "霸王龙" in shown.stdout.decode(encoding)
    data = shell("show", SESSION, *scope, "--json", "--limit", "200", PYTHONIOENCODING=encoding)
    assert "霸王龙" in json.loads(data.stdout)["events"][2]["content"]


def test_stored_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(namespace="n", user="u", title="\x1b]0;owned\x07 [red]title[/red]")
        chat.add_message("user", "clear \x1b[2J\r and [bold]markup[/bold] :smile: \x9b31m")
    scope = ("--namespace", "n", "--user", "u", "--store", str(path))
    for command in (["show", chat.id], ["context", chat.id], ["sessions"]):
        printed = CliRunner(env=WIDE).invoke(cli, [*command, *scope], color=True).stdout
        assert not {"\x1b]", "\x1b[2J", "\x9b", "\x07"} & {
            printed[i : i + n] for i in range(len(printed)) for n in (1, 2, 4)
        }
        assert "[red]title[/red]" in printed or "[bold]markup[/bold] :smile:" in printed


def test_help_loads_neither_the_terminal_library_nor_a_command() -> None:
    code = (
        "import sys\nfrom wellkept.cli import cli\n"
        "try: cli(['--help'])\nexcept SystemExit: pass\n"
        "sys.stderr.write(','.join(m for m in sys.modules if m.startswith(('rich', 'wellkept.cli.'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert "import" in done.stdout
    assert done.stderr == ""
