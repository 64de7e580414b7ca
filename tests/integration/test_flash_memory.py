"""``Memory("flash:DIR")``: the loop on a device's files, and a device that goes on in between."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.device.firmware_reader import load_memories, load_session
from tests.provider_rules import check_anthropic, check_openai
from wellkept import Memory, Policy, samples
from wellkept.cli.clock import StoryClock
from wellkept.cli.importer import Importer
from wellkept.errors import Conflict, InvalidInput, SchemaTooNew, StoreBusy, StoreReadOnly, Unsupported
from wellkept.formats import read
from wellkept.store.flash import FlashStore
from wellkept.testing import FakeClock, FakeEmbedder
from wellkept_flash import compact, files, health
from wellkept_flash.longterm import LongTerm
from wellkept_flash.manager import Device
from wellkept_flash.session import Session, file_name

NS, USER = "家", "小明"
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": "恐龙"}'}}
ROUND = [
    {"role": "user", "content": "我小孩今年五岁，对恐龙特别着迷"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "三角龙"},
    {"role": "assistant", "content": "三角龙怎么样？"},
]


@contextmanager
def opened(root: Path, query: str = "", **options: Any) -> Iterator[Memory]:
    with Memory(f"flash:{root}{query}", worker=False, **options) as memory:
        yield memory


def session_files(root: Path) -> list[Path]:
    return sorted((root / "sessions").glob("*.log"))


def on_device(root: Path, session_id: str) -> Session:
    return Session(files.Disk(sync=False), f"{root}/sessions", session_id)


def memories(root: Path) -> LongTerm:
    return LongTerm(files.Disk(sync=False), f"{root}/memory", lambda: 1_770_000_000)


# ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_long_conversation_has_contexts_inside_the_budget_that_both_providers_take(tmp_path: Path) -> None:
    clock = StoryClock()
    with opened(tmp_path / "设备", clock=clock) as memory:
        Importer(memory, clock, namespace=None, user=None, skip_bad=False).run(read(str(samples.path())))
        memory.run_jobs()
        [scope] = memory.scopes()
        [info] = memory.user(scope.user, namespace=scope.namespace).sessions()
        chat = memory.session(namespace=scope.namespace, user=scope.user, session_id=info.id)
        assert chat.summaries()
        for budget in (600, 1500, 4000):
            context = chat.get_context("过敏 预算", budget)
            assert context.tokens <= budget
            check_openai(context.to_openai())
            check_anthropic(context.to_anthropic())
        before = chat.get_context("过敏").text
    with opened(tmp_path / "设备", clock=clock) as memory:
        chat = memory.session(namespace=scope.namespace, user=scope.user, session_id=info.id)
        assert chat.get_context("过敏").text == before
        assert memory.user(scope.user, namespace=scope.namespace).search("过敏")


def test_recall_finds_chinese_facts_and_events_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER).add_messages(ROUND)
        memory.user(USER, namespace=NS).add("用户对花生过敏", infer=False, labels=["饮食"])
    with opened(tmp_path) as memory:
        user = memory.user(USER, namespace=NS)
        assert user.search("恐龙")[0].text == ROUND[0]["content"]
        assert [hit.kind for hit in user.search("花生")] == ["fact"]
        assert user.labels() == ["饮食"]


def test_the_firmware_reads_what_was_said_and_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER, session_id="chat:qq:1:default_01", create=True).add_messages(
            ROUND
        )
        user = memory.user(USER, namespace=NS)
        user.add("Allergic to peanuts", infer=False, labels=["dietary restrictions"], keywords=["peanuts"])
        user.profile["soul"] = "# Soul\n\nBrief.\n"
    [data] = session_files(tmp_path)
    assert data.name == "s_chat_qq_1_default_01_" + data.name[-12:]
    assert load_session(data) == [*ROUND[:2], {**ROUND[2], "is_error": False}, ROUND[3]]
    [item] = load_memories(tmp_path / "memory").values()
    assert (item["content"], item["tags"]) == ("Allergic to peanuts", "dietary restrictions")
    assert (tmp_path / "memory" / "soul.md").read_text() == "# Soul\n\nBrief.\n"
    assert "Allergic to peanuts" in (tmp_path / "memory" / "MEMORY.md").read_text()
    assert health.check(str(tmp_path))["healthy"]


def test_the_words_of_a_message_are_written_once(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER).add_messages(
            [*ROUND, {"role": "user", "content": "x" * 5000}]
        )
    kept = (tmp_path / "wellkept.journal").read_text()
    assert "恐龙" not in kept and "三角龙" not in kept and "xxx" not in kept


def test_what_no_record_can_hold_comes_back_all_the_same(tmp_path: Path) -> None:
    anthropic = {"role": "assistant", "content": [{"type": "thinking", "thinking": "嗯", "signature": "s"},
                                                  {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1.0}}]}  # fmt: skip
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER)
        chat.add_message("system", "Be brief.")
        chat.add_message(
            "user",
            "hi",
            speaker="小红",
            metadata={"k": [1, "二"]},
            ts=datetime(2020, 1, 1, tzinfo=timezone.utc),
        )
        chat.add_messages([anthropic])
        before = chat.get_events(after=0)
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER, session_id=chat.id)
        assert chat.get_events(after=0) == before
    [data] = session_files(tmp_path)
    assert load_session(data)[0] == {"role": "user", "content": "[system] Be brief."}


def test_each_user_has_a_directory_of_a_device(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER, session_id="s", create=True).add_message("user", "mine")
        memory.session(namespace=NS, user="客人", session_id="s", create=True).add_message(
            "user", "a guest's"
        )
    [other] = (tmp_path / "users").iterdir()
    assert load_session(session_files(tmp_path)[0])[0]["content"] == "mine"
    assert load_session(session_files(other)[0])[0]["content"] == "a guest's"
    with opened(tmp_path) as memory:
        [event] = memory.session(namespace=NS, user="客人", session_id="s").get_recent()
        assert event.content == "a guest's"


def test_erased_words_are_in_no_file(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER)
        chat.add_messages(ROUND)
        chat.add_message("user", "I am allergic to peanuts.")
        user = memory.user(USER, namespace=NS)
        user.add("Allergic to peanuts", infer=False)
        session = on_device(tmp_path, chat.id)
        Path(session.damaged).write_text("peanuts, set aside", encoding="utf-8")
        receipt = user.forget(user.forget("peanuts"))
        assert receipt.left == {} and receipt.removed["events"] == 1 and receipt.removed["facts"] == 1
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"eanuts" not in path.read_bytes(), path


def test_an_erasure_that_was_cut_off_is_ended_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: object) -> int:
        raise KeyboardInterrupt

    clock = FakeClock()
    (tmp_path / "memory").mkdir()
    device = LongTerm(files.Disk(sync=False), f"{tmp_path}/memory", lambda: 1_770_000_000, 2)
    for texts in (("Allergic to peanuts", "Grows tomatoes"), ("Has a dog", "Lives in Wuxi")):
        for text in texts:
            device.store(text)
        with opened(tmp_path, clock=clock) as memory:
            chat = memory.session(namespace="device", user="default", session_id="s", create=True)
            chat.add_message("user", "I am allergic to peanuts")
    Path(on_device(tmp_path, "s").damaged).write_text("peanuts, set aside", encoding="utf-8")
    with opened(tmp_path, clock=clock) as memory, monkeypatch.context() as patched:
        patched.setattr(FlashStore, "scrub", cut_off)
        user = memory.user("default", namespace="device")
        with pytest.raises(KeyboardInterrupt):
            user.forget(user.forget("peanuts"))
    assert len(list(device.archive.lines_by_scan())) == 2
    clock.advance(61)
    with opened(tmp_path, clock=clock) as memory:
        assert memory.run_jobs() == 1
        user = memory.user("default", namespace="device")
        assert [(receipt.resumed, receipt.left) for receipt in user.receipts()] == [(True, {})]
        assert user.search("tomatoes")[0].text == "Grows tomatoes"
    [line] = device.archive.lines_by_scan()
    assert b"Grows tomatoes" in device.archive.text(line)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"eanuts" not in path.read_bytes(), path


def test_forgetting_finds_words_in_any_case_and_only_as_words(tmp_path: Path) -> None:
    """Tom is neither in tomorrow nor in tomatoes; TOM is he."""
    memory_folder = tmp_path / "memory"
    memory_folder.mkdir()
    small = LongTerm(files.Disk(sync=False), str(memory_folder), lambda: 1_770_000_000, 2)
    for content in ("TOM has a dog", "The market opens tomorrow", "Grows tomatoes", "Lives in Wuxi"):
        small.store(content)
    assert len(list(small.archive.lines_by_scan())) == 2
    with opened(tmp_path) as memory:
        chat = memory.session(namespace="device", user="default")
        chat.add_message("user", "Tom comes tomorrow")
        chat.add_message("user", "tomatoes for tomorrow")
        Path(on_device(tmp_path, "x").damaged).write_text("tomorrow, set aside", encoding="utf-8")
        user = memory.user("default", namespace="device")
        receipt = user.forget(user.forget("Tom"))
        assert receipt.left == {}
        assert [event.content for event in chat.get_events(after=0)] == ["tomatoes for tomorrow"]
        [line] = small.archive.lines_by_scan()
        assert b"opens tomorrow" in small.archive.text(line)
        assert Path(on_device(tmp_path, "x").damaged).exists()
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or not re.search(rb"(?i)\btom\b", path.read_bytes()), path


@pytest.mark.parametrize("word", ["role", "user", "content", "type", "deleted", "tags"])
def test_a_word_that_the_formats_use_is_not_taken_for_left(tmp_path: Path, word: str) -> None:
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER, session_id="other", create=True).add_message("user", "hi")
        chat = memory.session(namespace=NS, user=USER)
        chat.add_message("user", f"my {word} is blue")
        user = memory.user(USER, namespace=NS)
        user.add("Lives in Wuxi", infer=False, labels=["city"])
        assert user.forget(user.forget(word)).left == {}


# ── a device in between ──────────────────────────────────────────────────────────────────────────────────────


def test_a_device_that_was_there_first(tmp_path: Path) -> None:
    device = Device(str(tmp_path), lambda: 1_770_000_000)
    device.session("chat:qq:1:default_01").user("我小孩今年五岁，对恐龙特别着迷")
    device.final("chat:qq:1:default_01", words="三角龙怎么样？")
    device.tool("memory_store", {"content": "用户住在无锡", "tags": "城市"})
    device.profile.write("user", "# User\n\n小明\n")
    before = session_files(tmp_path)[0].read_bytes()
    with opened(tmp_path) as memory:
        chat = memory.session(namespace="device", user="default", session_id="chat:qq:1:default_01")
        assert [event.content for event in chat.get_events(after=0)] == [
            "我小孩今年五岁，对恐龙特别着迷",
            "三角龙怎么样？",
        ]
        user = memory.user("default", namespace="device")
        assert [(fact.text, fact.labels) for fact in user.get_all()] == [("用户住在无锡", ("城市",))]
        assert user.profile["user"] == "# User\n\n小明\n" and user.profile["soul"] == ""
        assert user.search("无锡") and user.search("恐龙")
        chat.add_message("user", "and then?")
    assert session_files(tmp_path)[0].read_bytes().startswith(before)
    assert device.history("chat:qq:1:default_01")[-1]["content"] == "and then?"


def test_whose_memory_a_directory_is_can_be_said_once(tmp_path: Path) -> None:
    on_device(tmp_path, "s").user("hi")
    with opened(tmp_path, f"?namespace={NS}&user={USER}") as memory:
        assert [scope.user for scope in memory.scopes()] == [USER]
    with opened(tmp_path, "?namespace=other&user=one") as memory:
        assert [scope.user for scope in memory.scopes()] == [USER]


def test_a_firmware_that_goes_on_is_followed(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c", create=True)
        first = chat.add_message("user", "first", metadata={"k": 1}, idempotency_key="1")
        chat.add_messages(ROUND[1:])
    device = on_device(tmp_path, "c")
    device.user("second")
    device.final(text="yes")
    compact.compact(device, kept_tool_turns=0)
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c")
        assert [(event.seq, event.content) for event in chat.get_events(after=0)] == [
            (1, "first"), (4, "三角龙怎么样？"), (5, "second"), (6, "yes"),
        ]  # fmt: skip
        assert chat.get_event(first.id).metadata == {"k": 1}
        assert chat.add_message("user", "first", idempotency_key="1").id == first.id
        assert (chat.info().events, chat.info().turns) == (4, 2)
    compact.compact(on_device(tmp_path, "c"), limit=150)
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c")
        contents = [event.content for event in chat.get_events(after=0)]
        assert str(contents[0]).startswith("[Summary") and contents[1:] == ["second", "yes"]
        chat.add_message("user", "third")
    assert load_session(session_files(tmp_path)[0])[-1]["content"] == "third"


def test_a_session_that_the_device_deleted_or_began(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER, session_id="old", create=True).add_message(
            "user", "old words"
        )
    on_device(tmp_path, "old").remove()
    on_device(tmp_path, "new").user("new words")
    with opened(tmp_path) as memory:
        user = memory.user(USER, namespace=NS)
        assert [info.id for info in user.sessions()] == ["new"]
        assert user.search("old") == [] and user.search("new")


def test_memories_that_the_device_changed(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        user = memory.user(USER, namespace=NS)
        for text in ("用户住在无锡", "The user likes tea", "The user has a cat"):
            user.add(text, infer=False, labels=["x"])
        ids = {fact.text: fact.id for fact in user.get_all()}
    device = memories(tmp_path)
    device.update(ids["用户住在无锡"], "用户住在苏州")
    device.forget(ids["The user has a cat"])
    device.store("The user plays squash", "sport", "", "auto_llm")
    device.flush()
    with opened(tmp_path) as memory:
        user = memory.user(USER, namespace=NS)
        assert [fact.text for fact in user.get_all()] == [
            "用户住在苏州",
            "The user likes tea",
            "The user plays squash",
        ]
        assert user.get(ids["用户住在无锡"]).text == "用户住在苏州"
        assert [change.action for change in user.history(ids["The user has a cat"])] == ["store", "retire"]
        squash = user.get_all().results[-1]
        user.update(squash.id, "The user plays tennis")
        assert user.search("tennis") and not user.search("squash")
    assert [item.content for item in memories(tmp_path).items()] == [
        "用户住在苏州", "The user likes tea", "The user plays tennis",
    ]  # fmt: skip


def test_memories_that_a_firmware_lost_in_a_cut_are_put_back(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        user = memory.user(USER, namespace=NS)
        user.add("用户住在无锡", infer=False)
        user.profile["soul"] = "Kind."
    (tmp_path / "memory" / "memory_records.jsonl").write_bytes(b"")
    (tmp_path / "memory" / "soul.md").unlink()
    with opened(tmp_path) as memory:
        assert [fact.text for fact in memory.user(USER, namespace=NS).get_all()] == ["用户住在无锡"]
    assert [item.content for item in memories(tmp_path).items()] == ["用户住在无锡"]
    assert (tmp_path / "memory" / "soul.md").read_text() == "Kind."


def test_damage_costs_the_damaged_record_only(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c", create=True)
        for number in range(9):
            chat.add_message("user", f"message number {number}")
    [data] = session_files(tmp_path)
    data.write_bytes(data.read_bytes().replace(b"number 4", b"\xffumber 4"))
    Path(f"{data}.idx").unlink()
    journal = tmp_path / "wellkept.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b'"set"', b'"sat"')
    journal.write_bytes(b"".join(lines))
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c")
        assert [str(event.content)[-1] for event in chat.get_events(after=0)] == list("01235678")
    assert "sat" in (tmp_path / "wellkept.journal.damaged").read_text()
    assert health.check(str(tmp_path))["sessions"][0]["firmware"] == "reads it"


def test_without_the_journal_the_words_are_there(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER, session_id="c", create=True).add_messages(ROUND)
    (tmp_path / "wellkept.journal").unlink()
    with opened(tmp_path, f"?namespace={NS}&user={USER}") as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c")
        assert [event.role for event in chat.get_events(after=0)] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]


def test_without_the_journal_everybody_has_their_own_words(tmp_path: Path) -> None:
    people = (("家", "林悦"), ("home", "bob"), ("home", "eve"))
    with opened(tmp_path) as memory:
        for namespace, user in people:
            memory.session(namespace=namespace, user=user).add_message("user", f"I am {user}")
    (tmp_path / "wellkept.journal").unlink()
    with opened(tmp_path) as memory:
        for namespace, user in people:
            (found,) = memory.user(user, namespace=namespace).sessions()
            chat = memory.session(namespace=namespace, user=user, session_id=found.id)
            assert [event.content for event in chat.get_recent()] == [f"I am {user}"]


def test_whose_a_directory_is_is_not_guessed(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        for user in ("ann", "bob"):
            memory.session(namespace=NS, user=user).add_message("user", f"I am {user}")
    (tmp_path / "wellkept.journal").unlink()
    [word] = (tmp_path / "users").glob("*/wellkept.owner")
    word.write_bytes(word.read_bytes().replace(b'"bob"', b'"bod"'))
    with opened(tmp_path) as memory:
        assert [scope.user for scope in memory.scopes()] == ["ann"]
    assert b"I am bob" in b"".join(path.read_bytes() for path in (tmp_path / "users").rglob("*.log"))


def test_every_golden_directory_opens_and_is_left_readable(shared: Path, tmp_path: Path) -> None:
    for scenario in sorted((shared / "espclaw" / "golden").glob("*/expected/fatfs")):
        root = tmp_path / scenario.parent.parent.name
        shutil.copytree(scenario, root)
        loaded = {path.name: load_session(path) for path in session_files(root) if path.stat().st_size}
        for _ in range(2):
            with opened(root) as memory:
                user = memory.user("default", namespace="device")
                for info in user.sessions():
                    chat = memory.session(namespace="device", user="default", session_id=info.id)
                    for event in chat.get_events(after=0, limit=1000):
                        assert event.content or event.role in ("assistant", "user")
        for name, messages in loaded.items():
            if not (root / "sessions" / f"{name}.blocked").exists():
                there = iter(load_session(root / "sessions" / name))
                assert all(message in there for message in messages), root


# ── care ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_doctor_says_what_was_mended_and_what_the_firmware_makes_of_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c", create=True)
        chat.add_messages(ROUND)
        assert memory.doctor().findings == ()
    [data] = session_files(tmp_path)
    data.write_bytes(data.read_bytes() + b"torn")
    with opened(tmp_path) as memory:
        report = memory.doctor()
        assert report.healthy and "torn" in Path(f"{data}.damaged").read_text()
        assert any("damaged" in finding.text for finding in report.findings)


def test_a_backup_is_a_directory_of_its_own(tmp_path: Path) -> None:
    steps = []
    with opened(tmp_path / "device") as memory:
        chat = memory.session(namespace=NS, user=USER, session_id="c", create=True)
        chat.add_messages(ROUND)
        memory.backup(str(tmp_path / "copy"), lambda done, total: steps.append((done, total)))
        chat.add_message("user", "after it")
        with pytest.raises(InvalidInput, match="already"):
            memory.backup(str(tmp_path / "copy"))
    assert steps[-1][0] == steps[-1][1] > 0
    with opened(tmp_path / "copy") as memory:
        assert len(memory.session(namespace=NS, user=USER, session_id="c").get_events(after=0)) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "device"]


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────


def test_vectors_are_a_typed_error_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="SQLite"):
        Memory(f"flash:{tmp_path}/device", embedder=FakeEmbedder())
    assert not (tmp_path / "device").exists()
    with opened(tmp_path) as memory, pytest.raises(Unsupported, match="SQLite"):
        memory.vectors()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    script = "import sys; from wellkept import Memory; Memory('flash:' + sys.argv[1])"
    with opened(tmp_path):
        with pytest.raises(StoreBusy, match="one writer"), opened(tmp_path):
            pass
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, env=environment
        )
        assert "StoreBusy" in done.stderr
    with opened(tmp_path):
        pass


def test_threads_share_a_directory(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        chats = [memory.session(namespace=NS, user=USER, session_id=f"c{n}", create=True) for n in range(3)]

        def talk(number: int) -> None:
            for turn in range(15):
                chats[number % 3].add_message("user", f"{number}: {turn}")
                chats[number % 3].get_context()

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(talk, range(6)))
        before = [chat.get_events(after=0) for chat in chats]
        assert [len(events) for events in before] == [30, 30, 30]
    with opened(tmp_path) as memory:
        for events in before:
            chat = memory.session(namespace=NS, user=USER, session_id=events[0].session_id)
            assert chat.get_events(after=0) == events


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_write(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        chat = memory.session(namespace=NS, user=USER)
        chat.add_message("user", "the parent's")
        child = os.fork()
        if child == 0:
            try:
                chat.add_message("user", "the child's")
            except StoreBusy:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert len(chat.get_recent()) == 1


def test_two_sessions_never_share_a_file(tmp_path: Path) -> None:
    """The firmware's names have a hash of 32 bits, and these two ids have the same one."""
    first, second = "chat:telegram:group-1:x-457028", "chat:telegram:group-1:x-1079704"
    assert file_name(first) == file_name(second)
    with opened(tmp_path) as memory:
        memory.session(namespace=NS, user=USER, session_id=first, create=True).add_message("user", "mine")
        with pytest.raises(Conflict, match="another id"):
            memory.session(namespace=NS, user=USER, session_id=second, create=True)
        memory.session(namespace=NS, user="客人", session_id=second, create=True).add_message(
            "user", "a guest's"
        )
        assert len(memory.user(USER, namespace=NS).sessions()) == 1


def test_a_newer_journal_is_left_as_it_is(tmp_path: Path) -> None:
    from zlib import crc32

    line = json.dumps({"wellkept": 1, "migrations": ["from the future"]}).encode()
    whole = b"%08x %s\n" % (crc32(line), line)
    (tmp_path / "wellkept.journal").write_bytes(whole)
    with pytest.raises(SchemaTooNew, match="from the future"), opened(tmp_path):
        pass
    assert (tmp_path / "wellkept.journal").read_bytes() == whole


@pytest.mark.parametrize("location", ["flash:", "flash:x?nobody=1", "flash:x?backend=other"])
def test_a_location_that_makes_no_sense(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="flash:DIR"):
        Memory(location)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_the_right_to_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreReadOnly), opened(tmp_path):
        pass


def test_a_device_set_to_anthropic_gets_its_shape(tmp_path: Path) -> None:
    with opened(tmp_path, "?backend=anthropic_compatible", policy=Policy(durability="normal")) as memory:
        memory.session(namespace=NS, user=USER, session_id="c", create=True).add_messages(ROUND)
    messages = load_session(session_files(tmp_path)[0], backend=2)
    assert messages[1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"q": "恐龙"}}
    ]
