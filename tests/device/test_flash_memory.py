from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.device import firmware_reader
from wellkept_flash import errors, extract, search, tools
from wellkept_flash.files import Disk
from wellkept_flash.items import Item, short, terms
from wellkept_flash.longterm import LongTerm
from wellkept_flash.session import Session


class Clock:
    def __init__(self, now: int = 1_750_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> LongTerm:
    found = LongTerm(Disk(sync=False), str(tmp_path), clock)
    found.begin()
    return found


def again(memory: LongTerm, clock: Clock, **settings: int) -> LongTerm:
    return LongTerm(memory.disk, memory.folder, clock, **settings)


def contents(memory: LongTerm) -> list[str]:
    return [item.content for item in memory.items()]


def test_30_the_files_are_the_firmwares(memory: LongTerm, clock: Clock, shared: Path) -> None:
    scenario = shared / "espclaw" / "golden" / "30-store-metadata"
    for op in json.loads((scenario / "scenario.json").read_text())["ops"]:
        clock.now += op.get("advance", 0)
        if op["op"] == "tool":
            tools.call(memory, op["name"], op["input"])
    memory.flush()
    for name in ("memory_records.jsonl", "MEMORY.md", "memory_digest.log", "memory_index.json"):
        mine = Path(memory.folder, name).read_text()
        theirs = (scenario / "expected" / "fatfs" / "memory" / name).read_text()
        if name.endswith(".json"):
            mine, theirs = json.loads(mine), json.loads(theirs)
        assert mine == theirs


@pytest.mark.parametrize("fn", ["labels", "metadata"])
def test_terms_and_labels_are_the_firmwares(shared: Path, fn: str) -> None:
    for line in (shared / "espclaw" / "golden" / "unit_vectors.jsonl").read_text().splitlines():
        vector = json.loads(line)
        given = vector["in"]
        if given["fn"] != fn:
            continue
        if fn == "labels":
            assert short(terms(given["tags"])) == vector["out"]
        else:
            item = Item("x", given["content"], given["tags"], given["keywords"])
            assert {"tags": item.tags, "keywords": item.keywords} == vector["out"]


def test_31_only_what_says_the_same_is_merged(memory: LongTerm) -> None:
    memory.store("The user prefers window seats on trains.", "travel")
    assert not memory.store("the USER prefers window seats, on trains!!", "travel").changed
    wider = memory.store("The user prefers window seats on trains and planes", "travel")
    assert wider.replaced is not None and wider.item.id == wider.replaced.id
    for text in (
        "用户每周三下午三点要去接女儿放学",
        "用户每周三下午三点要去接女儿练琴",
        "!!! ???",
        "... ...",
    ):
        assert memory.store(text, "x").changed
    assert memory.store("我不吃辣", "口味").changed
    assert not memory.store("我讨厌吃辣", "口味").changed
    assert len(contents(memory)) == 6


def test_the_opposite_is_kept_beside_and_named(memory: LongTerm) -> None:
    first = memory.store("The user likes cilantro", "food")
    second = memory.store("The user does not like cilantro", "food")
    assert second.changed and second.conflicts == [first.item.id]
    third = memory.store("The user does not like cilantro at all", "food", replaces=True)
    assert third.changed


def test_32_uses_count_at_once_and_survive(memory: LongTerm, clock: Clock) -> None:
    memory.store("The user owns a telescope", "hobby")
    memory.store("The user hates cilantro", "food")
    for _ in range(3):
        memory.recall(["hobby"])
    assert [item.access_count for item in memory.listed()] == [3, 0]
    assert [item.access_count for item in again(memory, clock).listed()] == [3, 0]
    memory.compact()
    memory.recall(["food"])
    Path(memory.folder, "memory_index.json").unlink()
    assert [item.access_count for item in again(memory, clock).listed()] == [3, 1]


def test_recall_takes_whole_labels_and_the_firmwares(memory: LongTerm) -> None:
    memory.store("The user eats no pork", "dietary_preferences")
    memory.store("The user must avoid gluten", "dietary_restrictions")
    assert [item.content for item in memory.recall(["dietary_restrictions"])] == [
        "The user must avoid gluten"
    ]
    assert len(memory.recall(["dietary_"])) == 2
    assert memory.recall(["nothing"]) == []
    assert [label for label, _ in memory.labels()] == ["dietary_preferences", "dietary_restrictions"]
    memory.flush()
    index = json.loads(Path(memory.folder, "memory_index.json").read_text())
    assert index["summaries"] == [{"summary_id": 1, "label": "dietary_", "ref_count": 2}]


def test_33_an_update_keeps_its_id_and_a_forgotten_text_leaves_the_flash(memory: LongTerm) -> None:
    stored = memory.store("The user parks on level 2", "car,parking", "level 2")
    changed = memory.update(stored.item.id, "The user parks on level 3", keywords="level 3")
    assert changed.item.id == stored.item.id
    assert not memory.update(stored.item.id, "The user parks on level 3").changed
    memory.forget(stored.item.id)
    memory.flush()
    assert not contents(memory)
    for path in Path(memory.folder).iterdir():
        assert b"parks" not in path.read_bytes()
    for call in (memory.forget, memory.get, memory.update):
        with pytest.raises(errors.NotFound):
            call(stored.item.id)


def test_34_compaction_keeps_every_live_item(memory: LongTerm, clock: Clock) -> None:
    for number in range(20):
        memory.store(f"Word {number} is on the user's vocabulary list", f"words,w{number}")
    for item in list(memory.items())[:10]:
        memory.forget(item.id)
    memory.flush()
    lines = Path(memory.records.path).read_bytes().splitlines()
    assert len(lines) == 10
    assert contents(again(memory, clock)) == contents(memory)


def test_35_over_capacity_the_least_valuable_goes_to_the_archive(memory: LongTerm, clock: Clock) -> None:
    small = again(memory, clock, max_items=3)
    for number in range(3):
        clock.now += 3600
        small.store(f"Shelf {number} holds box {number}", f"box{number}")
    small.recall(["box0"])
    clock.now += 3600
    small.store("Shelf 9 holds box 9", "box9")
    assert contents(small) == ["Shelf 0 holds box 0", "Shelf 2 holds box 2", "Shelf 9 holds box 9"]
    assert b"Shelf 1 holds box 1" in Path(small.archive.path).read_bytes()


def test_40_long_items_survive_a_compaction(memory: LongTerm, clock: Clock) -> None:
    tags = "gardening-notes-long-label,plant-watering-schedule,greenhouse-temperature"
    for number in range(20):
        memory.store(f"{number} " + "The user keeps a detailed garden log. " * 6, tags, "garden")
    before = contents(memory)
    memory.compact()
    assert len(before) == 20
    assert contents(again(memory, clock)) == before


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff\xfe", b'{"version":3}'])
def test_41_a_broken_index_bricks_nothing(memory: LongTerm, clock: Clock, damage: bytes) -> None:
    memory.store("The user lives in Hangzhou", "city")
    Path(memory.folder, "memory_index.json").write_bytes(damage)
    reopened = again(memory, clock)
    assert [label for label, _ in reopened.labels()] == ["city"]
    assert reopened.store("something else", "t").changed
    reopened.flush()
    assert json.loads(Path(memory.folder, "memory_index.json").read_text())["next_summary_id"] == 3
    Path(memory.folder, "memory_index.json").write_bytes(damage)
    again(memory, clock).flush()
    assert firmware_reader.load_memories(Path(memory.folder))


def test_42_content_is_cut_between_characters(memory: LongTerm) -> None:
    memory.store("A" + "温" * 100, "温")
    Path(memory.records.path).read_text()
    assert contents(memory) == ["A" + "温" * 84]


def test_43_ids_do_not_collide_without_a_clock(memory: LongTerm, clock: Clock) -> None:
    clock.now = 40
    again(memory, clock).store("The user is called Noor", "name")
    second = again(memory, clock)
    second.store("The user drives a tram", "job")
    assert contents(second) == ["The user is called Noor", "The user drives a tram"]


def test_a_damaged_line_costs_itself(memory: LongTerm, clock: Clock) -> None:
    for text in ("我住在无锡", "The user has two cats", "用户名叫阿岚"):
        memory.store(text, "x")
    path = Path(memory.records.path)
    data = bytearray(path.read_bytes())
    data[data.index(b"cats")] ^= 4
    path.write_bytes(data)
    reopened = again(memory, clock)
    assert contents(reopened) == ["我住在无锡", "用户名叫阿岚"]
    assert "left out" in reopened.findings[0]
    reopened.compact()
    assert b"two" in Path(memory.records.damaged).read_bytes()


def test_the_list_tool_gives_whole_pages(memory: LongTerm) -> None:
    for number in range(60):
        memory.store(f"{number} " + '"' * 240, f"tag{number}")
    seen, offset = 0, 0
    while offset is not None:
        answer, _ = tools.call(memory, "memory_list", {"offset": offset})
        assert len(answer.encode()) <= tools.OUTPUT_BYTES
        page = json.loads(answer)
        seen += len(page["items"])
        offset = page.get("next_offset")
    assert seen == 60


def test_tools_answer_in_the_firmwares_words(memory: LongTerm) -> None:
    stored = json.loads(
        tools.call(memory, "memory_store", {"content": "The user likes fado", "tags": "music"})[0]
    )
    assert stored == {
        "ok": True,
        "action": "memory_store",
        "changed": True,
        "memory_id": "mem-1750000000-0001",
        "summary": "music",
    }
    unknown = json.loads(tools.call(memory, "memory_recall", {"summary_labels": ["jazz"]})[0])
    assert unknown["invalid_label"] == "jazz" and unknown["available_summary_labels"] == ["music"]
    for name, given, error in [
        ("memory_store", "{broken", "invalid_json"),
        ("memory_forget", {}, "memory_id is required"),
        ("memory_forget", {"memory_id": "mem-9-9"}, "memory_forget_failed"),
        ("memory_nothing", {}, "no such tool: memory_nothing"),
    ]:
        assert json.loads(tools.call(memory, name, given)[0]) == {"ok": False, "error": error} | (
            {"code": "ESP_ERR_NOT_FOUND"} if error.endswith("failed") else {}
        )
    assert "content is required" in tools.call(memory, "memory_store", {"content": " "})[0]


def proposed(memory: LongTerm, said: str, reply: object) -> extract.Applied:
    return extract.apply(memory, said, extract.parse(reply if isinstance(reply, str) else json.dumps(reply)))


def test_36_extraction_stores_what_was_said(memory: LongTerm) -> None:
    applied = proposed(
        memory,
        "我叫阿岚，住在苏州，记一下",
        {
            "intent": "none",
            "memories": [
                {"content": "用户名叫阿岚", "tags": ["姓名"], "keywords": ["阿岚", "昵称"]},
                {"content": "用户住在苏州", "tags": ["城市"], "keywords": ["苏州", "江苏"]},
            ],
        },
    )
    assert applied.labels == ["姓名", "城市"]
    fenced = (
        '好的：\n```json\n{"intent":"replace","memories":[{"content":"用户住在无锡","tags":["城市"]}]}\n```'
    )
    proposed(memory, "其实我搬到无锡了", fenced)
    assert contents(memory) == ["用户名叫阿岚", "用户住在无锡"]
    forget = {"intent": "forget", "memories": [{"content": "用户名叫阿岚"}]}
    assert proposed(memory, "忘了我的名字", forget).labels == ["姓名"]
    assert contents(memory) == ["用户住在无锡"]
    for reply in ("sorry, I cannot", '{"intent":"none"}', ""):
        with pytest.raises(ValueError, match="no memories"):
            extract.parse(reply)


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("what time is it?", "The user grows chillies"),
        ("我女儿五岁", "女儿6岁"),
        ("I paid 30 for the bike", "The user paid 300 for a bike"),
        ("在吗", "用户住在北京"),
    ],
)
def test_what_was_not_said_is_not_stored(memory: LongTerm, said: str, content: str) -> None:
    applied = proposed(memory, said, [{"content": content, "tags": ["x"]}, {"content": ""}])
    assert len(applied.refused) == 2 and not contents(memory)


def test_37_a_correction_leaves_other_facts_alone(memory: LongTerm) -> None:
    memory.store("The user is allergic to peanuts", "food,health", "peanuts")
    memory.store("The user dislikes olives", "food", "olives")
    memory.store("The user's favourite soup is borscht", "food,soup", "borscht")
    for soup in ("tom yum", "tom kha"):
        reply = {
            "intent": "replace",
            "memories": [{"content": f"The user's favourite soup is {soup}", "tags": ["food"]}],
        }
        proposed(memory, f"Actually my favourite soup is {soup}", reply)
    assert contents(memory) == [
        "The user is allergic to peanuts",
        "The user dislikes olives",
        "The user's favourite soup is tom kha",
    ]


def test_a_change_back_and_forth_ends_where_the_user_ended(memory: LongTerm) -> None:
    for drink in ("可乐", "咖啡", "可乐"):
        reply = {
            "intent": "replace",
            "memories": [{"content": f"用户喜欢喝{drink}", "tags": ["饮料"], "keywords": [drink]}],
        }
        proposed(memory, f"我现在喜欢喝{drink}", reply)
    assert contents(memory) == ["用户喜欢喝可乐"]


def test_search_finds_words_and_pairs_of_han_characters(memory: LongTerm) -> None:
    squash, nuts = "The user plays squash on Fridays", "The user is allergic to peanuts"
    for content in ("用户的孩子五岁，喜欢恐龙", squash, "用户住在上海", nuts):
        memory.store(content, "x")
    for query, expected in [
        ("恐龙", "用户的孩子五岁，喜欢恐龙"),
        ("when does the user play SQUASH?", "The user plays squash on Fridays"),
        ("上海", "用户住在上海"),
        ("peanuts", "The user is allergic to peanuts"),
        ("5 岁", "用户的孩子五岁，喜欢恐龙"),
    ]:
        assert search.in_memory(memory, query)[0][2].startswith(expected)
    assert search.in_memory(memory, "量子") == []


def test_search_in_a_session(tmp_path: Path) -> None:
    session = Session(Disk(sync=False), str(tmp_path), "s")
    session.user("明天去北京出差")
    session.final(text="Noted.")
    session.user("book a table for Friday")
    assert "北京" in search.in_session(session, "北京")[0][2]
    assert len(search.in_session(session, "friday table")) == 1
