"""More of the firmware's ways than its golden scenarios show: numbers of the specification, record types, error paths."""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.device import firmware_reader
from tests.device.golden import expand
from wellkept_flash import compact, errors, health, messages, text
from wellkept_flash.chats import Chat
from wellkept_flash.files import Disk
from wellkept_flash.folder import Folder
from wellkept_flash.longterm import LongTerm
from wellkept_flash.manager import PREAMBLE, Device, Settings
from wellkept_flash.session import Session, file_name

NOW = 1_750_000_000
MEMORY_FILES = (
    "soul.md",
    "identity.md",
    "user.md",
    "memory_records.jsonl",
    "memory_index.json",
    "MEMORY.md",
    "memory_digest.log",
)
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ROUND = (
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    [{"role": "tool", "tool_call_id": "c1", "content": "x" * 90, "is_error": False}],
)


def device(root: Path, **options: Any) -> Device:
    return Device(str(root), lambda: NOW, disk=Disk(sync=False), **options)


def session(root: Path, name: str = "s", **options: Any) -> Session:
    return Session(Disk(sync=False), f"{root}/sessions", name, **options)


def by_the_firmware(root: Path, *records: tuple[int, int, str], name: str = "s") -> Path:
    """A session as the firmware writes it: data and index, and nothing else. Records are (type, format, text)."""
    data = root / "sessions" / file_name(name)
    data.parent.mkdir(parents=True, exist_ok=True)
    index, content = b"CHDX" + struct.pack("<HH", 1, 10), b""
    for kind, style, source in records:
        line = source.encode() + b"\n"
        index += struct.pack("<IIBB", len(content), len(line), kind, style)
        content += line
    data.write_bytes(content)
    Path(f"{data}.idx").write_bytes(index)
    return data


def said(*words: str) -> list[tuple[int, int, str]]:
    """Alternating user and final records."""
    roles = itertools.cycle([(1, "user"), (2, "assistant")])
    return [
        (kind, 1, text.dumps([("role", role), ("content", word)]))
        for word, (kind, role) in zip(words, roles, strict=False)
    ]


def contents(root: Path, name: str = "s") -> list[str]:
    return [message["content"] for message in session(root, name).load().messages]


# ── golden 01 and 39: what is given to the model ──


def golden(shared: Path, number: str) -> Path:
    return next((shared / "espclaw" / "golden").glob(number + "-*"))


def test_01_a_fresh_device_has_the_firmwares_files(tmp_path: Path, shared: Path) -> None:
    device(tmp_path)
    theirs = golden(shared, "01") / "expected" / "fatfs" / "memory"
    for name in MEMORY_FILES:
        assert (tmp_path / "memory" / name).read_bytes() == (theirs / name).read_bytes(), name
    assert sorted(path.name for path in (tmp_path / "memory").iterdir() if path.suffix != ".sum") == sorted(
        MEMORY_FILES
    )


def test_39_profile_and_context_are_the_firmwares(tmp_path: Path, shared: Path) -> None:
    """Every text of the scenario word for word, but for the preamble, which is ours, and the folder's name."""
    scenario = golden(shared, "39")
    results = json.loads((scenario / "expected" / "results.json").read_text())
    one = device(tmp_path)
    for number, op in enumerate(map(expand, json.loads((scenario / "scenario.json").read_text())["ops"])):
        expected = results[number]
        if op["op"] == "provider":
            assert ours(one.profile.context(), tmp_path) == expected["content"]
            assert expected["section"] == one.providers()[0][0]
        elif op["op"] == "write_file":
            (tmp_path / op["path"].removeprefix("fatfs/")).write_text(op["text"])
        elif op["op"] == "delete_file":
            (tmp_path / op["path"].removeprefix("fatfs/")).unlink()
        elif op["op"] == "tool":
            assert one.tool(op["name"], op["input"]) == expected["output"]
        elif op["op"] == "user":
            one.session(op["session"]).user(op["text"])
        elif op["op"] == "final":
            one.final(op["session"], op["message"])
        elif op["op"] == "context":
            one.settings = Settings(lightweight=op.get("lightweight", False))
            system, history = one.context(op["session"], op["text"], "SYSTEM")
            assert expected["system_prompt"].startswith(ours(system, tmp_path) + "\n\n## Core Request\n")
            assert history == expected["messages"]
            titles = [title for title, _ in one.providers()]
            assert [*titles, "Session History"][: len(expected["providers"].split(","))] == expected[
                "providers"
            ].split(",")
        elif op["op"] == "reboot":
            one = device(tmp_path)
    theirs = scenario / "expected" / "fatfs" / "memory"
    for name in MEMORY_FILES[:3]:
        assert (tmp_path / "memory" / name).read_bytes() == (theirs / name).read_bytes(), name


def ours(words: str, root: Path) -> str:
    return words.replace(f"{root}/", "fatfs/").replace(PREAMBLE, "<LONG-TERM-PREAMBLE>\n")


# ── sessions ──


def cut_compaction(data: bytes, index: bytes, kept: list[int], steps: int) -> tuple[bytes, bytes]:
    """SPEC 1.9, step 5: each kept record is moved and its entry written; cut after ``steps`` file writes."""
    entries = list(struct.iter_unpack("<IIBB", index[8:]))
    new_data, new_index, at = bytearray(data), bytearray(index), 0
    writes: Iterator[int] = iter(range(steps))
    for place, number in enumerate(kept):
        offset, length, kind, style = entries[number]
        if offset != at:
            if next(writes, None) is None:
                return bytes(new_data), bytes(new_index)
            new_data[at : at + length] = data[offset : offset + length]
        if next(writes, None) is None:
            return bytes(new_data), bytes(new_index)
        new_index[8 + 10 * place : 18 + 10 * place] = struct.pack("<IIBB", at, length, kind, style)
        at += length
    if next(writes, None) is not None:
        del new_data[at:]
    if next(writes, None) is not None:
        del new_index[8 + 10 * len(kept) :]
    return bytes(new_data), bytes(new_index)


def test_44_a_compaction_of_the_firmware_that_was_cut_loses_no_word(tmp_path: Path) -> None:
    """The firmware erases the session at 23 of 31 such cuts."""
    tools = [(3, 1, text.dumps(ROUND[0])), (4, 1, text.dumps(ROUND[1]))]
    records: list[tuple[int, int, str]] = []
    for turn in range(4):
        user, final = said(f"question {turn} " + "q" * 40, f"answer {turn} " + "a" * 60)
        records += [user, *tools, final]
    kept = [number for number, record in enumerate(records) if record[0] < 3 or number > 12]
    words = [json.loads(source)["content"] for kind, _, source in records if kind < 3]
    for steps in range(2 * len(kept) + 3):
        root = tmp_path / str(steps)
        path = by_the_firmware(root, *records)
        data, index = cut_compaction(path.read_bytes(), Path(f"{path}.idx").read_bytes(), kept, steps)
        path.write_bytes(data)
        Path(f"{path}.idx").write_bytes(index)
        found = [m["content"] for m in session(root).load().messages if m["role"] in ("user", "assistant")]
        assert set(words) <= set(found), f"cut after {steps} writes"
        session(root).user("and on")
        assert firmware_reader.load_session(path)[-1]["content"] == "and on"
        assert set(words) <= {m["content"] for m in firmware_reader.load_session(path)}


def test_45_an_index_with_a_gap_hides_a_record_from_the_firmware_only(tmp_path: Path) -> None:
    path = by_the_firmware(tmp_path, *said("one", "two", "three"))
    index = Path(f"{path}.idx")
    whole = index.read_bytes()
    index.write_bytes(whole[:18] + whole[28:])
    assert [m["content"] for m in firmware_reader.load_session(path)] == ["one", "three"]
    assert contents(tmp_path) == ["one", "two", "three"]
    session(tmp_path).user("four")
    assert [m["content"] for m in firmware_reader.load_session(path)] == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    "entry",
    [(0, 0, 1, 1), (0xFFFFFFFF, 0xFFFFFFFF, 1, 1), (5, 20, 1, 1), (0, 31, 4, 1), (0, 31, 1, 255)],
)
def test_46_entries_that_lie_are_not_believed(tmp_path: Path, entry: tuple[int, int, int, int]) -> None:
    path = by_the_firmware(tmp_path, *said("one", "two"))
    Path(f"{path}.idx").write_bytes(b"CHDX" + struct.pack("<HH", 1, 10) + struct.pack("<IIBB", *entry))
    assert contents(tmp_path) == ["one", "two"]
    assert session(tmp_path).load(1).messages[-1]["content"] == "two"
    session(tmp_path).user("on")
    assert [m["content"] for m in firmware_reader.load_session(path)] == ["one", "two", "on"]


def test_47_two_ids_with_one_hash_are_kept_apart(tmp_path: Path) -> None:
    first, second = "chat:a:6ns2", "chat:a:6ns2"
    names: dict[str, str] = {}
    for number in itertools.count():
        second = "x" * 24 + str(number)
        first = names.setdefault(file_name(second), second)
        if first != second:
            break
    session(tmp_path, first).user("for one pair of eyes")
    with pytest.raises(errors.InvalidInput, match="another id"):
        session(tmp_path, second)
    assert contents(tmp_path, first) == ["for one pair of eyes"]


def test_48_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = by_the_firmware(tmp_path, *said("one", "two"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert contents(tmp_path) == ["one", "two"]
    session(tmp_path).user("three")
    assert [m["content"] for m in firmware_reader.load_session(path)] == ["one", "two", "three"]


@pytest.mark.parametrize("depth", [64, 65, 300])
def test_49_a_deep_record_of_the_firmware_is_whole(tmp_path: Path, depth: int) -> None:
    deep = '{"role":"assistant","content":"deep","extra":' + "[" * depth + "]" * depth + "}"
    path = by_the_firmware(tmp_path, said("one")[0], (2, 1, deep))
    assert contents(tmp_path) == ["one", "deep"]
    session(tmp_path).user("on")
    assert health.check(str(tmp_path))["healthy"]
    assert len(firmware_reader.load_session(path)) == 3


def test_50_calls_without_results_reach_no_provider(tmp_path: Path) -> None:
    """The firmware sends what is there: the provider answers 400 to every later request."""
    by_the_firmware(tmp_path, *said("go"), (3, 1, text.dumps(ROUND[0])), (1, 1, said("still there?")[0][2]))
    loaded = session(tmp_path).load().messages
    assert [m["role"] for m in messages.to_openai(loaded)] == ["user", "assistant", "tool", "user"]
    blocks = [
        block for m in messages.to_anthropic(loaded) for block in m["content"] if isinstance(block, dict)
    ]
    assert [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"] == ["c1"]


def test_51_only_a_marker_or_an_empty_pair_is_left(tmp_path: Path) -> None:
    path = by_the_firmware(tmp_path)
    Path(f"{path}.blocked").touch()
    with pytest.raises(errors.NotFound):
        session(tmp_path).load()
    [found] = Folder(str(tmp_path)).sessions()
    assert "lift_block" in found.findings()[0]
    path.unlink()
    Path(f"{path}.idx").unlink()
    one = session(tmp_path)
    one.lift_block()
    one.user("anew")
    assert [m["content"] for m in firmware_reader.load_session(path)] == ["anew"]
    assert health.check(str(tmp_path))["healthy"]


def test_52_a_blocked_session_of_the_firmware_goes_on(tmp_path: Path) -> None:
    records = [one for number in range(50) for one in said(f"{number} " + "长" * 1100, "ok")]
    path = by_the_firmware(tmp_path, *records)
    Path(f"{path}.blocked").touch()
    assert path.stat().st_size > compact.LIMIT
    assert health.check(str(tmp_path))["sessions"][0]["firmware"] == "refuses every request: blocked"
    one = device(tmp_path)
    one.session("s").user("go on")
    one.final("s", words="gladly")
    assert not Path(f"{path}.blocked").exists() and path.stat().st_size <= compact.LIMIT
    loaded = firmware_reader.load_session(path)
    assert loaded[0]["content"].startswith(compact.SUMMARY_MARK)
    assert [m["content"] for m in loaded[-2:]] == ["go on", "gladly"]


@pytest.mark.parametrize(("length", "grows"), [(0, False), (1, True)])
def test_53_a_session_of_exactly_the_limit_is_left_alone(tmp_path: Path, length: int, grows: bool) -> None:
    one = device(tmp_path, settings=Settings(session_limit=400))
    for number in range(3):
        one.session("s").user(f"{number}")
    frame = len('{"role":"assistant","content":""}\n')
    one.final("s", words="a" * (400 - one.session("s").size() - frame + length))
    assert ("Summary" in contents(tmp_path)[0]) == grows


# ── long-term memory ──


def test_54_a_line_that_the_firmware_passes_over_is_read_and_said(tmp_path: Path) -> None:
    memory = LongTerm(Disk(sync=False), str(tmp_path), lambda: NOW)
    memory.begin()
    memory.store("The user lives in Wuxi", "city")
    memory.store('"\n' * 127, ",".join('"' * 31 for _ in range(3)), "x")
    long = {"id": "mem-1-1", "source": "manual", "content": "kept " + "长" * 400, "deleted": False}
    with Path(memory.records.path).open("ab") as file:
        file.write(json.dumps(long, ensure_ascii=False).encode() + b"\n")
    again = LongTerm(Disk(sync=False), str(tmp_path), lambda: NOW)
    assert [item.content[:4] for item in again.items()][-1] == "kept"
    assert "mem-1-1" not in firmware_reader.load_memories(tmp_path)
    assert "passes over 1 lines" in health.check(str(tmp_path))["memory"]["firmware"]


def test_55_an_id_of_the_callers_own_is_changed_and_not_doubled(tmp_path: Path) -> None:
    one = device(tmp_path)
    one.tool("memory_store", {"memory_id": "mine", "content": "The user drinks tea", "tags": "drink"})
    answer = json.loads(
        one.tool("memory_store", {"memory_id": "mine", "content": "The user drinks mate", "tags": "drink"})
    )
    assert (answer["memory_id"], answer["changed"]) == ("mine", True)
    one.memory.flush()
    theirs = firmware_reader.load_memories(tmp_path / "memory")
    assert [(key, item["content"]) for key, item in theirs.items()] == [("mine", "The user drinks mate")]
    index = json.loads((tmp_path / "memory" / "memory_index.json").read_text())
    assert [label["ref_count"] for label in index["summaries"]] == [1]


@pytest.mark.parametrize("junk", [b"\x00\xff\n\n", b"1\trecall\n", b"x\trecall\tmem-1\n" * 3, b"\t" * 5000])
def test_56_junk_in_the_digest_counts_nothing(tmp_path: Path, junk: bytes) -> None:
    memory = LongTerm(Disk(sync=False), str(tmp_path), lambda: NOW)
    memory.store("The user owns a telescope", "hobby")
    memory.recall(["hobby"])
    with Path(memory.digest).open("ab") as file:
        file.write(junk)
    again = LongTerm(Disk(sync=False), str(tmp_path), lambda: NOW)
    again.recall(["hobby"])
    assert [item.access_count for item in again.items()] == [2]
    assert [item.access_count for item in LongTerm(Disk(sync=False), str(tmp_path), lambda: NOW).items()] == [
        2
    ]


@pytest.mark.parametrize("given", ['{"limit":null}', '{"limit":0}', '{"limit":-3}', '{"limit":"2"}', "{}"])
def test_57_a_recall_without_a_sound_limit_gives_eight(tmp_path: Path, given: str) -> None:
    one = device(tmp_path)
    for number in range(12):
        one.tool("memory_store", {"content": f"Box {number} holds {number * 7} books", "tags": "box"})
    assert len(json.loads(one.tool("memory_recall", given))["items"]) == 8


def test_58_a_broken_alias_file_costs_the_names_and_no_session(tmp_path: Path) -> None:
    one = device(tmp_path)
    one.command("cli", "c1", "/session new work")
    one.session(one.chat("cli", "c1").session_id).user("kept")
    [names] = (tmp_path / "sessions").glob("chat_*.json")
    names.write_bytes(b'{"chat"')
    assert one.chat("cli", "c1").session_id == "chat:cli:c1:default_01"
    one.command("cli", "c1", "/session new work")
    assert contents(tmp_path, Chat(one.disk, f"{tmp_path}/sessions", "cli", "c1").session_id) == ["kept"]


@pytest.mark.parametrize("texts", [(), ("a", ""), ("a", "b", "c", "d", "e")])
def test_59_a_batch_of_user_texts_is_one_to_four(tmp_path: Path, texts: tuple[str, ...]) -> None:
    one = session(tmp_path)
    with pytest.raises(errors.InvalidInput, match="1 to 4"):
        one.user(*texts)
    assert not (tmp_path / "sessions").exists()
    one.user("a", "b", "c", "d")
    assert [m["content"] for m in firmware_reader.load_session(Path(one.path))] == ["a", "b", "c", "d"]
