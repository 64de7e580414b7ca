from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept_flash import compact, errors, folder, health, messages, text
from wellkept_flash.files import Disk
from wellkept_flash.manager import Device, Settings
from wellkept_flash.session import Session, file_name
from wellkept_flash.shape import Malformed, Shape


class Counting(Disk):
    """Counts what is read and what is written, file by file."""

    def __init__(self) -> None:
        super().__init__(sync=False)
        self.read_bytes = 0
        self.writes: dict[str, int] = {}

    def read(self, path: str, offset: int = 0, size: int = -1) -> bytes:
        data: bytes = super().read(path, offset, size)
        self.read_bytes += len(data)
        return data

    def open(self, path: str) -> Any:
        return Watched(super().open(path), self)

    def _open(self, path: str, mode: str) -> Any:
        self.writes.setdefault(path, 0)
        return super()._open(path, mode)

    def _write(self, file: Any, data: bytes) -> None:
        self.writes[file.name] += len(data)
        super()._write(file, data)


class Watched:
    def __init__(self, file: Any, disk: Counting) -> None:
        self._file, self._disk = file, disk

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def seek(self, offset: int) -> None:
        self._file.seek(offset)

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._file.read(size)
        self._disk.read_bytes += len(data)
        return data


@pytest.fixture
def disk() -> Counting:
    return Counting()


def new(disk: Disk, root: Path, name: str = "s", **more: Any) -> Session:
    return Session(disk, str(root), name, **more)


def call(number: int, size: int = 20) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    tool = {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": f"c{number}", "content": "x" * size, "is_error": False}
    return {"role": "assistant", "content": None, "tool_calls": [tool]}, [result]


# ── text ──


@given(st.binary(max_size=60))
def test_clean_text_is_strict_utf8_and_loses_no_valid_character(data: bytes) -> None:
    assert text.clean(data).decode() == data.decode("utf-8", "ignore")


@given(st.text(max_size=60), st.integers(0, 50))
def test_a_cut_counts_code_points(words: str, limit: int) -> None:
    assert text.cut(words, limit).decode() == words.encode("utf-8", "ignore").decode()[:limit]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.booleans(), st.sampled_from([None, 2]))
def test_json_is_written_again_without_loss(value: Any, ascii_only: bool, indent: int | None) -> None:
    source = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    line = text.canonical(source)
    assert json.loads(line) == value
    assert "\n" not in line
    assert json.loads(text.dumps(value)) == value


@given(json_values, st.integers(0, 200), st.binary(min_size=1, max_size=2), st.integers(1, 9))
def test_a_shape_is_found_whole_exactly_where_json_is_valid(
    value: Any, at: int, flip: bytes, step: int
) -> None:
    source = bytearray(json.dumps([value]).encode())
    source[at % len(source) : at % len(source) + 1] = flip
    try:
        source.decode()
        json.loads(bytes(source), parse_constant=lambda name: 1 / 0)
        valid = b"\n" not in source
    except (ValueError, ZeroDivisionError):
        valid = False
    shape, used = Shape(), 0
    try:
        while used < len(source) and not shape.done:
            used += shape.feed(bytes(source[used : used + step]))
        whole = shape.done and not bytes(source[used:]).strip()
    except Malformed:
        whole = False
    assert whole == valid or not bytes(source).isascii()


# ── appending, loading ──


def test_an_empty_id_is_refused(disk: Disk, tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidInput, match="needs an id"):
        new(disk, tmp_path, "")


def test_invalid_utf8_never_reaches_the_disk(disk: Disk, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    session.user(b"a\xff\xed\xa0\x80b", "lone \ud800 half")
    session.final('{"role":"assistant","content":"\\ud83d\\ude00 \\ud83d"}')
    session.final({"role": "assistant", "content": "half \udfff"})
    for path in tmp_path.glob("*.log"):
        path.read_text(encoding="utf-8")
    assert [m["content"] for m in session.load().messages] == ["ab", "lone  half", "😀 \ufffd", "half "]


def test_pretty_json_stays_on_one_line(disk: Disk, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    session.final(json.dumps({"role": "assistant", "content": "é\n"}, indent=2))
    assert session.load().messages == [{"role": "assistant", "content": "é\n"}]
    assert Path(session.path).read_bytes().count(b"\n") == 1


def test_an_append_writes_its_record_and_a_few_bytes(disk: Counting, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    session.user("first")
    before = disk.written
    session.user("x" * 1000)
    record = len('{"role":"user","content":""}\n') + 1000
    assert disk.written - before == record + 10 + 16


def test_reading_writes_nothing(disk: Counting, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    session.user("hello")
    Path(session.index).write_bytes(b"broken")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    written = disk.written
    again = new(disk, tmp_path)
    assert again.load().messages and again.load(1).messages
    assert list(health.check(str(tmp_path), disk)["sessions"])
    assert disk.written == written
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_newest_records_are_read_from_the_end(disk: Counting, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    for start in range(0, 10_000, 500):
        session.persist(session.encode([(1, None, f"message {n}") for n in range(start, start + 500)]))
    disk.read_bytes = 0
    loaded = session.load(20).messages
    assert [m["content"] for m in loaded] == [f"message {n}" for n in range(9980, 10_000)]
    assert disk.read_bytes < session.size() / 20


@pytest.mark.parametrize("last", [0, 2])
def test_a_lost_newline_is_healed(disk: Disk, tmp_path: Path, last: int) -> None:
    session = new(disk, tmp_path)
    session.user("一")
    session.user("二")
    session.user("三")
    for replacement in (b"", b"X"):
        path = Path(session.path)
        whole = path.read_bytes()
        at = whole.index(b"\n")
        path.write_bytes(whole[:at] + replacement + whole[at + 1 :])
        loaded = session.load(last)
        assert [m["content"] for m in loaded.messages] == ["一", "二", "三"][-last:]
        assert session.repair() == {"good": 2, "healed": 1, "damaged": 0}
        assert path.read_bytes() == whole


def test_a_record_moved_by_the_firmware_keeps_its_claim(disk: Disk, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    for number in range(6):
        session.user(f"text {number}")
        session.final(text=f"answer {number}")
    data = Path(session.path)
    lines = data.read_bytes().splitlines(keepends=True)
    data.write_bytes(b"".join(lines[4:]))
    assert all(line.claimed and line.state == "good" for line in session.scan())


def test_a_full_disk_is_a_typed_error_and_loses_nothing(tmp_path: Path) -> None:
    class Full(Disk):
        room = 10**9

        def _write(self, file: Any, data: bytes) -> None:
            if len(data) > self.room:
                file.write(data[: self.room])
                raise OSError(28, "No space left on device")
            self.room -= len(data)
            super()._write(file, data)

    disk = Full(sync=False)
    session = new(disk, tmp_path)
    session.user("kept")
    disk.room = 20
    with pytest.raises(errors.StorageFull, match="free some"):
        session.user("does not fit")
    assert [m["content"] for m in session.load().messages] == ["kept"]
    disk.room = 10**9
    session.user("goes on")
    assert [m["content"] for m in session.load().messages] == ["kept", "goes on"]


def test_a_file_is_replaced_by_a_beginning_of_itself(disk: Disk, tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    for content in (b"Calm. Kind.", b"Calm.", b"", b"x" * 2000):
        disk.write(path, content)
        assert disk.read(path) == content
    assert [one.name for one in tmp_path.iterdir()] == ["f"]


# ── compaction ──


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 700)), min_size=1, max_size=40),
    st.integers(300, 3000),
)
def test_a_session_never_outgrows_its_limit(
    tmp_path_factory, turns: list[tuple[int, int]], limit: int
) -> None:
    session = new(Disk(sync=False), tmp_path_factory.mktemp("s"))
    for number, (rounds, size) in enumerate(turns):
        session.user(f"question {number} " + "长" * (size // 8))
        for one in range(rounds):
            session.tool_round(*call(number * 10 + one, size))
        session.final(text=f"answer {number}")
        if session.size() > limit:
            compact.compact(session, limit)
            # What cannot shrink: the last question, the last answer and one line of the summary.
            assert session.size() <= max(limit, 1200)
        found = session.load()
        assert not found.findings
        assert found.messages[-1]["content"] == f"answer {number}"
        assert messages.to_openai(found.messages)


def test_a_folded_turn_stays_as_a_line_and_the_firmware_reads_it(disk: Disk, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    for number in range(40):
        session.user(f"问题 {number}，预算 {number * 100} 元")
        session.final(text=f"回答 {number}")
        if session.size() > 2000:
            compact.compact(session, 2000)
    loaded = session.load().messages
    assert loaded[0]["content"].startswith(compact.SUMMARY_MARK)
    assert "- 问题 20，预算 2000 元 → 回答 20" in loaded[0]["content"]
    assert health.firmware_view(session) == health.READS


def test_a_block_can_be_lifted(disk: Disk, tmp_path: Path) -> None:
    session = new(disk, tmp_path)
    session.user("hello")
    Path(session.blocked).touch()
    assert "lift_block" in session.load().findings[0]
    session.lift_block()
    assert not session.load().findings


# ── pairs ──


def test_calls_and_results_come_in_pairs() -> None:
    assistant, results = call(1)
    lone = {"role": "tool", "tool_call_id": "gone", "content": "x", "is_error": False}
    shaped = messages.to_openai(
        [lone, {"role": "user", "content": "a"}, assistant, {"role": "user", "content": "b"}]
    )
    assert [m["role"] for m in shaped] == ["user", "assistant", "tool", "user"]
    assert shaped[2] == {"role": "tool", "tool_call_id": "c1", "content": messages.NO_RESULT}
    assert messages.to_openai([assistant, *results])[1]["content"] == "x" * 20


def test_anthropic_gets_one_user_message_for_a_round() -> None:
    uses = [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in ("t1", "t2")]
    result = {"role": "tool", "tool_call_id": "t2", "content": "ok", "is_error": True}
    shaped = messages.to_anthropic([{"role": "assistant", "content": uses}, result])
    assert [m["role"] for m in shaped] == ["user", "assistant", "user"]
    blocks = shaped[2]["content"]
    assert [(b["tool_use_id"], b.get("is_error")) for b in blocks] == [("t1", True), ("t2", True)]
    assert blocks[1]["content"] == "ok"


def test_the_history_keeps_whole_turns_within_a_budget(tmp_path: Path) -> None:
    one = device(tmp_path, settings=Settings(context_tokens=120))
    for number in range(6):
        one.session("s").user(f"问题 {number}")
        one.session("s").tool_round(*call(number, 60))
        one.final("s", words=f"answer {number}")
    roles = [message["role"] for message in one.history("s")]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert one.history("s")[0]["content"] == "问题 5"
    assert len(device(tmp_path).history("s")) == 24


def test_tokens_are_estimated_as_the_firmware_does(shared: Path) -> None:
    for line in (shared / "espclaw" / "golden" / "token_vectors.jsonl").read_text().splitlines():
        vector = json.loads(line)
        assert text.tokens(vector["text"]) == vector["tokens"]


# ── the manager ──


def device(root: Path, **more: Any) -> Device:
    return Device(str(root), lambda: 1_750_000_000, disk=Disk(sync=False), **more)


def test_39_context_in_the_firmwares_order(tmp_path: Path) -> None:
    one = device(tmp_path)
    one.profile.write("soul", "\n  # Soul\n\nCalm, brief, kind.  \n\n")
    one.profile.write("identity", "  \n")
    one.profile.write("user", "")
    one.tool("memory_store", {"content": "The user calls the robot Pip", "tags": "nickname"})
    one.session("q").user("早上好")
    one.final("q", words="早！")
    one.session("q").user("what is your name?")
    system, history = one.context("q", "what is your name?", "SYSTEM")
    soul = f"Agent Soul ({tmp_path}/memory/soul.md):\n# Soul\n\nCalm, brief, kind.\n\n"
    assert system.startswith(f"SYSTEM\n\n## Editable Profile Memory\n{soul}\n\n## Long-term Memory\n")
    assert system.endswith("- nickname\n")
    assert [m["content"] for m in history] == ["早上好", "早！", "what is your name?"]
    assert one.context("empty", "new chat")[1] == [{"role": "user", "content": "new chat"}]
    light = device(tmp_path, settings=Settings(lightweight=True))
    assert "The user calls the robot Pip" in light.context("q", "")[0]


def test_38_a_note_never_waits_and_a_write_by_hand_wins(tmp_path: Path) -> None:
    replies: list[Any] = []

    def model(system: str, user: str) -> str:
        reply = replies.pop(0)
        if reply is None:
            raise OSError("no network")
        return json.dumps({"intent": "none", "memories": reply})

    one = device(tmp_path, model=model)
    replies += [
        [{"content": "The user lives in Porto", "tags": ["Porto"]}],
        [{"content": "The user likes fado music"}],
    ]
    assert one.request(1, "n", "I moved to Porto")
    assert one.stage_note("n") is None
    one.work()
    assert one.stage_note("n") == "Memory update: [Porto]"
    assert one.stage_note("n") is None
    one.request(2, "n", "remember I like fado")
    one.tool("memory_store", {"content": "The user likes fado", "tags": "music,fado"}, 2, "n")
    one.work()
    assert one.stage_note("n") == "Memory update: [music;fado]"
    assert [item.content for item in one.memory.items()] == ["The user lives in Porto", "The user likes fado"]
    replies.append(None)
    one.request(3, "n", "llm fails")
    one.work()
    assert "no network" in one.refused[-1]
    assert not one.request(0, "n", "id zero")
    assert [one.request(number, "n", "x") for number in range(4, 9)] == [True] * 4 + [False]


def test_chat_commands(tmp_path: Path) -> None:
    one = device(tmp_path)
    assert one.command("cli", "c1", "hello") is None
    assert one.command("cli", "c1", "/session list") == "* default_01"
    assert one.command("cli", "c1", "/session new work") == "New session: work"
    one.session(one.chat("cli", "c1").session_id).user("in work")
    assert one.chat("cli", "c1").session_id == "chat:cli:c1:work"
    assert "taken" not in str(one.command("cli", "c1", "/session switch default_01"))
    assert "already" in str(one.command("cli", "c1", "/session new work")) or "switch" in str(
        one.command("cli", "c1", "/session new work")
    )
    assert "letters" in str(one.command("cli", "c1", "/session new bad/name"))
    assert one.command("cli", "c1", "/session delete work") == "Deleted: work. Session: default_01"
    assert not list((tmp_path / "sessions").glob("s_chat_cli_c1_work*"))
    assert "No session" in str(one.command("cli", "c1", "/session switch work")).capitalize()
    assert "Use /session" in str(one.command("cli", "c1", "/session what"))


def test_every_setting_is_known() -> None:
    assert Settings(session_limit=10).session_limit == 10
    with pytest.raises(errors.InvalidInput, match="no such setting"):
        Settings(nonsense=1)


# ── directories ──


def test_a_directory_is_written_read_and_looked_through(tmp_path: Path) -> None:
    assistant, results = call(1)
    folder.write(
        str(tmp_path),
        [
            (
                "chat:web:小明",
                "openai_compatible",
                [(1, None, "你好"), (3, assistant, None), (4, results, None)],
            )
        ],
        [{"content": "用户住在无锡", "tags": "城市", "updated_at": 5, "access_count": 2, "id": "mem-1-0001"}],
        {"soul": "Calm."},
        Disk(sync=False),
    )
    found = folder.Folder(str(tmp_path))
    [session] = found.sessions()
    assert session.id == "chat:web:小明"
    assert [record["type"] for record in found.records(session)] == ["user", "tool_call", "tool_result"]
    [fact] = found.facts()
    assert (fact["id"], fact["updated_at"], fact["access_count"], fact["labels"]) == (
        "mem-1-0001",
        5,
        2,
        ["城市"],
    )
    assert found.profile()["soul"] == "Calm." and "# User" in found.profile()["user"]
    report = health.check(str(tmp_path))
    assert report["healthy"] and report["sessions"][0]["records"] == 3
    assert health.show(str(tmp_path))["sessions"] == [
        {"id": "chat:web:小明", "messages": [{"role": "user", "text": "你好"}]}
    ]
    with pytest.raises(errors.InvalidInput, match="already"):
        folder.write(str(tmp_path), [("chat:web:小明", "", [(1, None, "x")])])
    with pytest.raises(errors.NotFound, match="give the directory"):
        folder.Folder(str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("12", "15 damaged bytes"),
        ("19", "blocked"),
        ("42", "invalid UTF-8"),
        ("43", "stored twice"),
    ],
)
def test_check_tells_what_ails_a_firmware_directory(shared: Path, name: str, words: str) -> None:
    golden = next((shared / "espclaw" / "golden").glob(name + "*"))
    report = health.check(str(golden / "expected" / "fatfs"))
    assert not report["healthy"]
    assert words in str(report)


def test_check_calls_the_other_golden_directories_healthy(shared: Path) -> None:
    for golden in sorted((shared / "espclaw" / "golden").glob("[0-9]*")):
        if golden.name[:2] not in ("12", "19", "42", "43"):
            assert health.check(str(golden / "expected" / "fatfs"))["healthy"], golden.name


def test_repair_makes_a_directory_healthy(tmp_path: Path) -> None:
    folder.write(
        str(tmp_path), [("s", "", [(1, None, f"text {n}") for n in range(5)])], [{"content": "用户养猫"}]
    )
    data = next((tmp_path / "sessions").glob("*.log"))
    data.write_bytes(data.read_bytes().replace(b"text 2", b"text\x002"))
    (tmp_path / "memory" / "memory_index.json").write_bytes(b"")
    report = health.check(str(tmp_path))
    assert report["sessions"][0]["damaged_bytes"] == len('{"role":"user","content":"text 2"}\n')
    assert "erases" in report["sessions"][0]["firmware"] and "fails" in report["memory"]["firmware"]
    done = health.repair(str(tmp_path))
    assert done["sessions"][data.name] == {"good": 4, "healed": 0, "damaged": 1}
    after = done["after"]
    assert after["sessions"][0]["firmware"] == after["memory"]["firmware"] == health.READS
    assert after["sessions"][0]["notes"] == [f"damaged records were set aside in {data}.damaged"]
    assert after["healthy"]


# ── fuzz ──


def fuzz(root: Path, rounds: int, seed: int) -> int:
    """Damage random files, read and repair; returns how many rounds were run. Asserts what must hold."""
    rng = random.Random(seed)
    pristine = {path: path.read_bytes() for path in root.glob("*/*")}
    names = {root / "sessions" / file_name(name): name for name in ("s", "t")}
    lines = {path: pristine[path].splitlines(keepends=True) for path in names}
    for number in range(rounds):
        for path in root.glob("*/*"):
            if path not in pristine:
                path.unlink()
        for path, data in pristine.items():
            path.write_bytes(data)
        touched: dict[Path, list[int]] = {}
        for _ in range(rng.randint(1, 4)):
            path = rng.choice(sorted(pristine))
            data = bytearray(path.read_bytes())
            if data:
                at = rng.randrange(len(data))
                data[at] = rng.randrange(256)
                path.write_bytes(data)
                touched.setdefault(path, []).append(at)
        for path, whole in lines.items():
            session = Session(Disk(sync=False), str(root / "sessions"), names[path])
            expected, offset = [], 0
            for line in whole:
                if not any(offset <= at < offset + len(line) for at in touched.get(path, [])):
                    expected.append(json.loads(line))
                offset += len(line)
            flat = [m for one in expected for m in (one if isinstance(one, list) else [one])]
            try:
                found = session.load().messages
            except errors.NotFound:
                found = []
            kept = iter(found)
            assert all(message in kept for message in flat), f"round {number}: {touched}"
            if number % 10 == 0:
                session.repair()
                session.user("goes on")
                assert session.load().messages[-1]["content"] == "goes on"
        memory = folder.Folder(str(root)).memory()
        if not any("memory_records.jsonl" in path.name for path in touched):
            assert len(list(memory.items())) == 8
        health.check(str(root))
    return rounds


def fuzzed_directory(root: Path) -> None:
    for name in ("s", "t"):
        session = Session(Disk(sync=False), str(root / "sessions"), name)
        for number in range(6):
            session.user(f'问题 {number} \\ "quoted"')
            if number % 2:
                session.tool_round(*call(number))
            session.final(text=f"answer {number}")
    one = Device(str(root), lambda: 1_750_000_000, disk=Disk(sync=False))
    for number in range(8):
        one.tool("memory_store", {"content": f"The box {number} holds tea", "tags": f"box{number}"})
    one.memory.flush()


def test_random_damage_costs_only_what_it_hits(tmp_path: Path) -> None:
    fuzzed_directory(tmp_path)
    assert fuzz(tmp_path, 150, 7) == 150
