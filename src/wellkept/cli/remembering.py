"""The demo's scene about facts: remembered, corrected, undone, forgotten, with a model that follows a script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rich.text import Text

from wellkept.cli import render
from wellkept.cli.output import clean
from wellkept.cli.stage import NAMESPACE, USER, Stage, stage
from wellkept.testing import Call, FakeModel

# What the script finds in a message: (attribute, statement, keyword, quote).
_SCRIPT: Mapping[str, Sequence[tuple[str, str, str, str]]] = {
    "先认识一下": [("name", "林悦在杭州一家做相册 App 的公司写后端", "后端", "我叫林悦，在杭州一家做相册 App 的公司写后端")],
    "女儿朵朵今年五岁": [
        ("age", "女儿朵朵五岁", "五岁", "女儿朵朵今年五岁"),
        ("dinosaur", "女儿朵朵最喜欢霸王龙", "霸王龙", "最喜欢霸王龙"),
        ("hobby", "女儿朵朵对恐龙和飞机特别着迷", "飞机", "对恐龙特别着迷"),
    ],
    "朵朵对花生过敏": [("allergy", "朵朵对花生过敏", "花生", "朵朵对花生过敏")],
    "临时密码是": [("lock", "大门门锁的临时密码是 739204", "临时密码", "大门门锁的临时密码是 739204")],
    "换成甲龙": [("dinosaur", "朵朵最喜欢的恐龙换成甲龙", "甲龙", "最喜欢的恐龙换成甲龙")],
}  # fmt: skip
_INTENTS = {"彻底忘掉": "forget", "换成甲龙": "replace"}
_BORROWED = "Nothing is taken on trust: the script also claims planes, which nobody mentioned."
SECRET = "739204"


def remembering(play: Stage) -> None:
    """Facts appear, one is corrected and the correction undone, and one is erased with a receipt."""
    alone = play.memory.user(USER, namespace=NAMESPACE)
    play.headline("What is remembered of 林悦, without a model and with one", _BORROWED)
    play.check(len(alone.get_all()) == 0, "without a model nothing is extracted")
    with stage(play.story, ":memory:", model=FakeModel(_scripted, name="a scripted model")) as other:
        other.out = play.out
        user = other.memory.user(USER, namespace=NAMESPACE)
        other.tell(40)
        _list(other)
        play.check(not any("飞机" in fact.text for fact in user.get_all()), "what was not said is not stored")
        _correct(other)
        other.tell(len(play.story))
        _forget(other)


def _list(play: Stage) -> None:
    for fact in play.memory.user(USER, namespace=NAMESPACE).get_all():
        quote = render.hint(
            f"  from {fact.sources[0].rpartition(':')[2] if fact.sources else 'by hand'}: “{clean(fact.quote)}”"
        )
        play.show(Text(f"· {clean(fact.text)}"), quote)


def _correct(play: Stage) -> None:
    user = play.memory.user(USER, namespace=NAMESPACE)
    doubt = next(each for each in user.review() if each.kind == "replace")
    new, old = (user.get(id) for id in doubt.facts)
    play.show(
        "", Text(f"To be decided: does “{clean(new.text)}” take the place of “{clean(old.text)}”?  → yes")
    )
    user.settle(doubt.id, accept=True)
    play.check(
        user.get(old.id).superseded_by == new.id, "the old statement is history, with what replaced it"
    )
    change = user.history(old.id)[-1]
    undone = user.undo(change.id)
    play.check(user.get(old.id).state == "active", f"undo({change.id}) brings it back")
    user.undo(undone[-1].id)
    play.check(user.get(old.id).state == "retired", "and the undo is undone as well")


def _forget(play: Stage) -> None:
    user = play.memory.user(USER, namespace=NAMESPACE)
    wish = next(each for each in user.review() if each.kind == "erase")
    play.show(
        "",
        Text(
            "林悦 asked to forget the code of the door. It is out of every context; shall it be erased?  → yes"
        ),
    )
    preview = user.forget(SECRET)
    play.show(render.hint(f"would go: {len(preview.facts)} facts, {len(preview.events)} messages"))
    receipt = user.forget(preview)
    play.show(Text("receipt: " + ", ".join(f"{rows} {table}" for table, rows in receipt.removed.items())))
    play.check(not receipt.left, "a second look finds nothing left")
    play.check(user.search(SECRET) == [], "and neither does a search")
    play.check(wish.id not in [each.id for each in user.review()], "the wish is settled")


def _scripted(call: Call) -> str:
    """Memories for a request to extract; short notes for a request to summarise."""
    if "Existing labels:" not in call.text:
        said = [
            line.partition("] ")[2]
            for line in call.messages[0]["content"].splitlines()
            if line.startswith("[")
        ]
        return "\n".join(f"- {line}" for line in said)
    found = [
        {
            "subject": "user",
            "attribute": attribute,
            "content": text,
            "labels": [],
            "keywords": [keyword],
            "quote": quote,
        }
        for cue, memories in _SCRIPT.items()
        if cue in call.text
        for attribute, text, keyword, quote in memories
    ]
    intent = next((intent for cue, intent in _INTENTS.items() if cue in call.text), "none")
    return json.dumps({"intent": intent, "memories": found}, ensure_ascii=False)
