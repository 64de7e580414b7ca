"""The firmware's golden scenarios: the same bytes where it is healthy, nothing lost where it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.device.golden import Run
from wellkept_flash import errors

SAME_BYTES = [
    "01-init-defaults",
    "02-plain-turns-zh-emoji",
    "03-parallel-tool-calls",
    "04-anthropic-blocks",
    "05-truncate-utf8",
    "06-session-file-names",
    "16-compaction-keeps-last-tool-turn",
    "17-compaction-edge-shapes",
    "20-backend-switch",
    "22-failure-note",
]
FIRST = {"role": "user", "content": "first question"}
HISTORY = [
    FIRST,
    {"role": "assistant", "content": "first answer"},
    {"role": "user", "content": "第二个问题"},
    {"role": "assistant", "content": "第二个回答"},
]


@pytest.fixture
def run(shared: Path, tmp_path: Path):
    def start(name: str) -> Run:
        return Run(next((shared / "espclaw" / "golden").glob(name + "*")), tmp_path)

    return start


@pytest.mark.parametrize("name", SAME_BYTES)
def test_session_files_and_loads_are_the_same(run, name: str) -> None:
    done = run(name)
    folder = done.expected / "fatfs" / "sessions"
    names = sorted(path.name for path in folder.glob("*"))
    assert [n for n in done.disk.names(f"{done.root}/sessions") if not n.endswith(".sum")] == names
    for name in names:
        assert (done.root / "sessions" / name).read_bytes() == (folder / name).read_bytes()
    assert done.loads == done.expected_loads()
    assert not any(done.findings.values())


@pytest.mark.parametrize(("name", "number"), [("07", 7), ("09", 8), ("10", 7), ("10", 8), ("11", 8)])
def test_a_broken_index_costs_nothing(run, name: str, number: int) -> None:
    done = run(name)
    assert done.loads[number][:4] == HISTORY
    if name != "09":  # where an append has put it right already
        assert "scanning" in done.findings[number][0]


def test_07_goes_on_behind_the_history_that_the_firmware_erases(run) -> None:
    done = run("07")
    assert [message["content"] for message in done.loads[11]][4:] == ["third", "third answer"]
    assert not done.findings[11]


def test_08_a_lost_data_file_starts_anew(run) -> None:
    done = run("08")
    assert isinstance(done.errors[7], errors.NotFound)
    assert len(done.loads[10]) == 2


def test_11_an_unknown_type_byte_and_a_newer_format_are_put_right(run) -> None:
    done = run("11")
    assert len(done.loads[12]) == 6


def test_12_an_orphan_is_kept_and_a_torn_tail_set_aside(run) -> None:
    done = run("12")
    assert done.loads[7][:4] == HISTORY
    assert done.loads[7][4]["content"] == "never indexed"
    assert done.loads[10][5:] == [
        {"role": "user", "content": "after the orphan"},
        {"role": "assistant", "content": "ok"},
    ]
    assert b'{"role":"assist' in Path(done.session("r").damaged).read_bytes()


def test_13_one_flipped_byte_costs_one_record(run) -> None:
    done = run("13")
    assert done.loads[7] == done.loads[8] == HISTORY[1:]
    assert "43 damaged bytes at 0 are left out" in done.findings[8]
    session = done.session("r")
    session.user("on we go")
    session.repair()
    assert session.load().messages == [*HISTORY[1:], {"role": "user", "content": "on we go"}]


def test_14_a_cut_record_costs_itself(run) -> None:
    assert run("14").loads[8] == [*HISTORY[:3], {"role": "user", "content": "next"}]


def test_15_data_without_entries_is_history(run) -> None:
    done = run("15")
    assert done.loads[3] == [{"role": "user", "content": "orphan"}]
    assert done.loads[7] == [{"role": "user", "content": "ok"}]


def test_18_a_long_tool_turn_is_clipped_and_the_session_goes_on(run) -> None:
    done = run("18")
    assert done.compactions[0]["clipped"] and not done.compactions[0]["folded"]
    assert done.session("b").size() < 153600
    assert not done.disk.size(done.session("b").blocked) >= 0
    last = max(done.loads)
    calls = [call["id"] for m in done.loads[last] for call in m.get("tool_calls", [])]
    results = [m["tool_call_id"] for m in done.loads[last] if m["role"] == "tool"]
    assert calls == results and len(calls) == 13
    assert not any("reasoning_content" in message for message in done.loads[last])


def test_19_long_user_texts_fold_into_a_summary(run) -> None:
    done = run("19")
    messages = done.loads[max(done.loads)]
    assert messages[0]["role"] == "user"
    assert messages[0]["content"].startswith("[Summary of the earlier conversation]\n- 0:长文")
    assert messages[-1]["content"] == "x"
    assert not done.errors
    assert done.compactions[0]["folded"] == 7


def test_21_a_bad_batch_writes_nothing_and_harms_nothing(run) -> None:
    done = run("21")
    assert sorted(done.errors) == [1, 2, 3, 4, 6, 7, 8]
    assert all(isinstance(done.errors[n], errors.InvalidInput) for n in (1, 3, 4, 6, 7, 8))
    assert [message["content"] for message in done.loads[9]] == ["a", "b", "c", "d"]
    assert done.loads[10] == done.loads[9]


def test_the_docs_speak_of_every_scenario(shared: Path) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "device-scenarios.md").read_text()
    first_cells = " ".join(line.split("|")[1] for line in docs.splitlines() if line.startswith("|"))
    for golden in (shared / "espclaw" / "golden").glob("[0-9]*"):
        assert golden.name[:2] in first_cells, golden.name


def test_each_scenario_of_the_docs_has_a_test() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "device-scenarios.md").read_text()
    first_cells = " ".join(line.split("|")[1] for line in docs.splitlines() if line.startswith("|"))
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    tested = {one for pair in re.findall(r'test_(\d\d)_|"(\d\d)["-]', tests) for one in pair}
    assert set(re.findall(r"\b\d\d\b", first_cells)) <= tested
