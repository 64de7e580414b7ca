"""Looking after a store from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner, Result

from wellkept import Memory, samples
from wellkept.cli import cli

Run = Callable[..., Result]
SCOPE = ("--namespace", "demo", "--user", "linyue")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "病历 store.db"
    CliRunner().invoke(cli, ["import", str(samples.path()), "--store", str(path)])
    return path


@pytest.fixture
def run(store: Path) -> Run:
    return lambda *args: CliRunner().invoke(cli, [*args, "--store", str(store)])


def damage(store: Path, page: int) -> None:
    """Overwrite three pages of the file."""
    with store.open("r+b") as file:
        file.seek(page * 4096)
        file.write(b"\xff" * 3 * 4096)


def test_a_sound_store_is_said_to_be_sound(run: Run) -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "is sound" in result.stdout
    assert json.loads(run("doctor", "--json").stdout)["healthy"] is True


def test_a_lost_index_is_found_and_made_anew(run: Run, store: Path) -> None:
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE sessions SET events = 7")
    connection.close()
    found = run("doctor")
    assert found.exit_code == 1 and "--repair" in found.stdout
    assert run("doctor", "--repair").exit_code == 0
    assert run("doctor").exit_code == 0
    assert json.loads(run("sessions", *SCOPE, "--json").stdout)[0]["events"] == 149


def test_a_damaged_file_is_salvaged_beside_and_left_as_it_is(run: Run, store: Path) -> None:
    damage(store, store.stat().st_size // 4096 - 8)
    before = store.read_bytes()
    assert run("doctor").exit_code == 1
    report = json.loads(run("doctor", "--repair", "--json").stdout)
    assert store.read_bytes() == before
    with Memory(report["salvaged"], worker=False) as memory:
        (info,) = memory.user("linyue", namespace="demo").sessions()
        assert info.events > 0


def test_what_cannot_be_saved_is_said_with_the_next_step(run: Run, store: Path) -> None:
    damage(store, 0)
    result = run("doctor", "--repair")
    assert result.exit_code == 1
    assert result.stdout == "" and result.stderr.count("\n") == 1


def test_doctor_makes_no_file(tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    result = CliRunner().invoke(cli, ["doctor", "--store", str(missing)])
    assert result.exit_code == 1 and not missing.exists()


def test_a_backup_is_a_store_of_its_own(run: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    result = run("backup", str(copy))
    assert result.exit_code == 0, result.output
    with Memory(str(copy), worker=False) as memory:
        (info,) = memory.user("linyue", namespace="demo").sessions()
    assert info.events == 149


def test_a_backup_onto_the_store_itself_is_refused(run: Run, store: Path) -> None:
    result = run("backup", str(store))
    assert result.exit_code == 1 and result.stderr.count("\n") == 1
    assert json.loads(run("sessions", *SCOPE, "--json").stdout)[0]["events"] == 149
