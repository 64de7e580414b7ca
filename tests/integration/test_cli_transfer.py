"""Import and export through the command line: once each, in order, and back without loss."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept import Memory, samples
from wellkept.cli import cli

Run = Callable[..., Result]
SCOPE = ("--namespace", "demo", "--user", "linyue")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "对话 store.db"


@pytest.fixture
def run(store: Path) -> Run:
    def invoke(*args: str, input: bytes | None = None) -> Result:
        return CliRunner().invoke(cli, [*args, "--store", str(store)], input=input)

    return invoke


def sample_lines() -> list[str]:
    return samples.path().read_text(encoding="utf-8").splitlines()


def test_an_import_stores_every_message_and_keeps_the_times_of_the_story(run: Run, store: Path) -> None:
    result = run("import", str(samples.path()), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["added"] == 149
    with Memory(str(store), worker=False) as memory:
        (info,) = memory.user("linyue", namespace="demo").sessions()
    assert (info.events, info.turns, info.title) == (149, 63, "上线与朵朵的生日")
    assert info.created_at.date().isoformat() == "2026-06-01"
    assert info.last_activity.date().isoformat() == "2026-06-24"


def test_the_same_import_again_adds_nothing(run: Run) -> None:
    run("import", str(samples.path()))
    result = run("import", str(samples.path()), "--json")
    report = json.loads(result.stdout)
    assert (report["added"], report["known"]) == (0, 149)
    assert "149 were there already" in run("import", str(samples.path())).stdout


def test_standard_input_is_a_file_too(run: Run) -> None:
    result = run("import", "-", "--json", input=samples.path().read_bytes())
    assert json.loads(result.stdout)["added"] == 149


def test_a_bad_line_stops_the_import_with_its_number(run: Run, tmp_path: Path) -> None:
    lines = sample_lines()
    lines[11] = lines[11][:40]
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join(lines), encoding="utf-8")

    stopped = run("import", str(broken))
    assert stopped.exit_code == 1
    assert "Line 12:" in stopped.stderr and "--skip-bad" in stopped.stderr
    assert stopped.stderr.count("\n") == 1
    shown = json.loads(run("show", "sample-launch-and-birthday", *SCOPE, "--json").stdout)
    assert [event["seq"] for event in shown["events"]] == list(range(1, 10))

    skipped = run("import", str(broken), "--skip-bad", "--json")
    report = json.loads(skipped.stdout)
    assert skipped.exit_code == 0
    assert (report["known"], report["added"]) == (9, 139)
    assert 12 in [bad["line"] for bad in report["skipped"]]


def test_a_message_that_cannot_be_stored_is_a_bad_line_and_its_neighbours_are_kept(
    run: Run, tmp_path: Path
) -> None:
    messages = [{"role": "user", "content": text} for text in ("你好", " ", "再见")]
    file = tmp_path / "messages.jsonl"
    file.write_text("\n".join(json.dumps(message) for message in messages), encoding="utf-8")
    result = run("import", str(file), "--namespace", "n", "--user", "u", "--skip-bad", "--json")
    report = json.loads(result.stdout)
    assert (report["added"], [bad["line"] for bad in report["skipped"]]) == (2, [2])


def test_whose_conversations_they_are_must_be_known(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text('{"role": "user", "content": "hi"}\n', encoding="utf-8")
    result = run("import", str(file))
    assert result.exit_code == 1
    assert "--namespace and --user" in result.stderr


def test_options_decide_whose_they_become(run: Run) -> None:
    run("import", str(samples.path()), "--namespace", "acme", "--user", "bob")
    listed = json.loads(run("sessions", "--namespace", "acme", "--user", "bob", "--json").stdout)
    assert [info["events"] for info in listed] == [149]
    assert json.loads(run("sessions", *SCOPE, "--json").stdout) == []


def test_export_and_import_are_inverse(run: Run, tmp_path: Path) -> None:
    run("import", str(samples.path()))
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert run("export", str(first), *SCOPE).exit_code == 0
    other = ("--store", str(tmp_path / "other.db"))
    assert CliRunner().invoke(cli, ["import", str(first), *other]).exit_code == 0
    assert CliRunner().invoke(cli, ["export", str(second), *SCOPE, *other]).exit_code == 0
    assert first.read_bytes() == second.read_bytes()
    assert not list(tmp_path.glob("*.part"))


def test_export_to_standard_output_is_utf8_json_lines(run: Run) -> None:
    run("import", str(samples.path()))
    result = run("export", *SCOPE, "--session", "sample-launch-and-birthday")
    kinds = [json.loads(line)["kind"] for line in result.stdout_bytes.decode("utf-8").splitlines()]
    assert kinds == ["header", "session", *["event"] * 149, "end"]


def test_an_export_read_into_the_store_that_it_came_from_doubles_nothing(
    run: Run, store: Path, tmp_path: Path
) -> None:
    with Memory(str(store), worker=False) as memory:
        chat = memory.session(namespace="demo", user="linyue")
        for text in ("one", "two", "two", "三"):
            chat.add_message("user", text)
    file = tmp_path / "export.jsonl"
    run("export", str(file), *SCOPE)
    report = json.loads(run("import", str(file), "--json").stdout)
    assert (report["added"], report["known"]) == (0, 4)


def test_the_profile_goes_along_and_never_overwrites_another_one(
    run: Run, store: Path, tmp_path: Path
) -> None:
    with Memory(str(store), worker=False) as memory:
        profile = memory.user("linyue", namespace="demo").profile
        profile["user"] = "喜欢恐龙"
        memory.session(namespace="demo", user="linyue").add_message("user", "你好")
    file = tmp_path / "export.jsonl"
    run("export", str(file), *SCOPE)

    other = str(tmp_path / "other.db")
    CliRunner().invoke(cli, ["import", str(file), "--store", other])
    with Memory(other, worker=False) as memory:
        profile = memory.user("linyue", namespace="demo").profile
        assert profile["user"] == "喜欢恐龙"
        profile["user"] = "changed since"
    again = CliRunner().invoke(cli, ["import", str(file), "--store", other])
    assert "was kept" in again.stderr
    with Memory(other, worker=False) as memory:
        assert memory.user("linyue", namespace="demo").profile["user"] == "changed since"


def test_a_killed_import_is_completed_by_the_next_one(run: Run, store: Path) -> None:
    lines = sample_lines()
    command = [sys.executable, "-m", "wellkept.cli", "import", "-", "--store", str(store)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert process.stdin
    # Larger than any buffer on the way, so that messages are stored before the end of the file is seen.
    big = [json.dumps(json.loads(line) | {"metadata": {"filler": "字" * 3000}}) for line in lines[2:-1]]
    process.stdin.write("\n".join([lines[0], lines[1], *big]).encode())
    process.stdin.flush()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()

    text = "\n".join([lines[0], lines[1], *big, lines[-1]]).encode()
    result = run("import", "-", "--json", input=text)
    report = json.loads(result.stdout)
    assert report["added"] + report["known"] == 149
    with Memory(str(store), worker=False) as memory:
        chat = memory.session(namespace="demo", user="linyue", session_id="sample-launch-and-birthday")
        said = [int(event.ts.timestamp() * 1000) for event in chat.get_events(limit=1000)]
    assert said == [json.loads(line)["ts"] for line in big]


def test_a_new_conversation_without_a_date_begins_now(run: Run, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text('{"role": "user", "content": "hi"}\n', encoding="utf-8")
    before = datetime.now(timezone.utc)
    run("import", str(file), "--namespace", "n", "--user", "u")
    with Memory(str(store), worker=False) as memory:
        (info,) = memory.user("u", namespace="n").sessions()
    assert abs((info.created_at - before).total_seconds()) < 120
