"""The firmware's scenarios 30 to 43, replayed through our verbs: equal where it is right, better where it is not.

``docs/espclaw-facts.md`` says for each what the firmware does, what wellkept does, and why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from wellkept import Memory
from wellkept.testing import Call, FakeClock, FakeModel

START = 1_750_000_000


class Replay:
    """One scenario on a store of its own. A canned reply gets the user's text as its quote: the firmware asks for none."""

    def __init__(self, shared: Path, folder: Path, name: str) -> None:
        [self.folder] = (shared / "espclaw" / "golden").glob(f"{name}-*")
        self.path = str(folder / "chat.db")
        self.clock = FakeClock(datetime.fromtimestamp(START, tz=timezone.utc))
        self.reply: Any = None
        self.ids: list[str] = []
        self.answers: list[dict[str, Any]] = []
        self.open()

    def open(self) -> None:
        self.memory = Memory(self.path, worker=False, clock=self.clock, model=FakeModel(self._answer))
        self.alice = self.memory.user("alice", namespace="acme")
        self.chat = self.memory.session(namespace="acme", user="alice", session_id="s", create=True)

    def _answer(self, call: Call) -> str:
        return self.reply if isinstance(self.reply, str) else json.dumps(self.reply, ensure_ascii=False)

    def run(self) -> Replay:
        for op in json.loads((self.folder / "scenario.json").read_text("utf-8"))["ops"]:
            if "at" in op:
                self.clock.set(datetime.fromtimestamp(op["at"], tz=timezone.utc))
            self.clock.advance(seconds=op.get("advance", 1))
            getattr(self, f"op_{op['op']}", lambda op: None)(op)
        return self

    def op_reboot(self, op: dict[str, Any]) -> None:
        self.memory.close()
        self.open()

    def op_tool(self, op: dict[str, Any]) -> None:
        given = _text(op.get("input", {}))
        if isinstance(given, dict):
            given = dict(given)
            for theirs, ours in (("tags", "labels"), ("summary_labels", "labels")):
                if theirs in given:
                    tags = given.pop(theirs)
                    given[ours] = re.split(r"[,;/|]", tags) if isinstance(tags, str) else tags
            if op["name"] == "memory_store":
                given.pop("memory_id", None)
            given.pop("source", None)
        self.answers.append(json.loads(self.alice.call_tool(op["name"], given)))

    def op_extract(self, op: dict[str, Any]) -> None:
        self.reply = _quoted(op["reply"], op["text"])
        self.chat.add_message("user", op["text"])
        self.memory.run_jobs()

    @property
    def texts(self) -> list[str]:
        return [fact.text for fact in self.alice.get_all(limit=1000)]


def _text(value: Any) -> Any:
    if isinstance(value, dict) and "$repeat" in value:
        part, times = value["$repeat"]
        return _text(part) * times
    if isinstance(value, dict) and "$join" in value:
        return "".join(map(_text, value["$join"]))
    return {key: _text(item) for key, item in value.items()} if isinstance(value, dict) else value


def _quoted(reply: Any, text: str) -> Any:
    if isinstance(reply, str):
        quoted = f'{{"quote": {json.dumps(text)}, "content"'
        return reply.replace('{"content"', quoted)
    memories = reply if isinstance(reply, list) else (reply or {}).get("memories", [])
    for memory in memories:
        memory["quote"] = text
        memory.pop("keywords", None)
    return reply if reply is not None else "no answer"


@pytest.fixture
def replay(shared: Path, tmp_path: Path) -> Iterator[Any]:
    made: list[Replay] = []

    def run(name: str) -> Replay:
        made.append(Replay(shared, tmp_path, name))
        return made[-1].run()

    yield run
    for each in made:
        each.memory.close()


def test_30_metadata_is_kept_and_labels_are_whole(replay: Any) -> None:
    here = replay("30")
    assert here.texts == [
        "The user's daughter Lina turns nine on 3 March.",
        "用户每天早上七点喝一杯无糖拿铁。",
        "Gate code is 4711",
        "no tags at all",
    ]
    assert here.alice.get_all()[0].labels == ("family", "birthday", "kids")
    assert here.alice.get_all()[1].labels == ("咖啡习惯", "早餐", "饮品")
    assert [answer["ok"] for answer in here.answers] == [True, True, True, True, False, False, True]


def test_31_duplicates_go_and_different_facts_stay(replay: Any) -> None:
    here = replay("31")
    assert here.texts == [
        "The user prefers window seats on trains and planes",
        "用户喜欢喝龙井茶，尤其是明前的",
        "用户喜欢茶",
        "用户每周三下午三点要去接女儿放学",
        "用户每周三下午三点要去接女儿练琴",
        "我不吃辣",
        "!!! ???",
        "... ...",
        "— —",
    ]


def test_32_recall_counts_at_once(replay: Any) -> None:
    here = replay("32")
    recalled = [answer for answer in here.answers if "items" in answer]
    assert recalled and all(len(answer["items"]) <= 50 for answer in recalled)
    assert any(fact.uses for fact in here.alice.get_all())


def test_33_an_update_keeps_the_id(replay: Any) -> None:
    here = replay("33")
    [id] = [fact.id for fact in here.alice.get_all() if "parks" in fact.text]
    here.alice.update(id, "The user parks on level 3")
    assert [change.action for change in here.alice.history(id)] == ["store", "update"]
    assert all(not answer["ok"] for answer in here.answers if answer.get("error") == "not_found")


def test_34_nothing_has_to_be_compacted(replay: Any) -> None:
    assert len(replay("34").texts) >= 6


def test_35_the_least_used_retire_to_the_archive(replay: Any) -> None:
    here = replay("35")
    assert len(here.texts) == 128
    archived = here.alice.get_all(states=["archived"], limit=1000)
    assert len(archived) > 0
    assert all(change.action != "evict" or change.after for change in here.alice.changes(limit=1000))


def test_36_what_the_message_does_not_say_is_not_stored(replay: Any) -> None:
    here = replay("36")
    assert here.texts == ["用户名叫阿岚", "用户住在无锡"] or here.texts == ["用户住在无锡"]
    assert "must not be stored" not in here.texts
    assert [fact.text for fact in here.alice.get_all(states=["retired"])][-1] in (
        "用户住在苏州",
        "用户名叫阿岚",
    )


def test_37_a_correction_leaves_the_allergy_alone(replay: Any) -> None:
    here = replay("37")
    assert "The user is allergic to peanuts" in here.texts
    assert "The user dislikes olives" in here.texts


def test_40_long_facts_survive(replay: Any) -> None:
    here = replay("40")
    assert here.texts == [("The user keeps a detailed garden log. " * 6).strip(), "short one"]
    assert here.alice.get_all()[0].labels[0] == "gardening-notes-long-label"


def test_42_no_character_is_cut(replay: Any) -> None:
    assert replay("42").texts == ["A" + "温" * 100]


def test_43_ids_do_not_collide_without_a_clock(replay: Any) -> None:
    assert replay("43").texts == ["The user is called Noor", "The user drives a tram"]
