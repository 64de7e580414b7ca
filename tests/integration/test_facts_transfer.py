"""What is known of a user goes with the export: into an empty store it is the same, and twice it is there once."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wellkept import Memory, Policy, formats
from wellkept.cli.clock import StoryClock
from wellkept.cli.exports import items, oldest_first
from wellkept.cli.importer import Importer, Report
from wellkept.errors import InvalidInput
from wellkept.facts.copies import book_of
from wellkept.records import Scope
from wellkept.testing import Call, FakeModel
from wellkept.user import UserMemory

ALICE = Scope("acme", "alice")
SAID = ("I am allergic to peanuts.", "I live in Lyon.", "My dog is called Rex.")


def model(call: Call) -> str:
    """Everything that was said is a memory."""
    found = [text for text in SAID if text in call.text]
    memories = [
        {
            "attribute": "",
            "content": text,
            "labels": ["Said"],
            "keywords": [],
            "quote": text,
        }
        for text in found
    ]
    return (
        json.dumps({"intent": "none", "memories": memories})
        if "Existing labels" in call.text
        else "- nothing"
    )


def lived() -> Memory:
    """A memory in which facts were made, replaced, retired, archived, pinned, used, undone, asked about and forgotten, and
    the profile was written again and again."""
    memory = Memory(":memory:", worker=False, policy=Policy(max_facts=5))
    alice = memory.user("alice", namespace="acme")
    chat = memory.session(namespace="acme", user="alice")
    for text in SAID:
        chat.add_message("user", text)
        chat.add_message("assistant", "I see.")
    alice.add("Lives in Berlin", infer=False, labels=["home"], attribute="home", metadata={"agent_id": "a"})
    alice.add("Lives in Lyon", infer=False, labels=["home"], attribute="home", keywords=["Lyon"])
    tea = alice.add("喜欢喝绿茶", infer=False, labels=["饮食"])["results"][0]["id"]
    alice.pin(tea)
    alice.add("Owns a kayak", infer=False)
    sold = alice.add("Owns a violin", infer=False)["results"][0]["id"]
    alice.undo(alice.delete(sold).id)
    for number in range(4):
        alice.add(f"Collects stamps of the series {number} from Bergen", infer=False)
    alice.used([alice.get(tea)])
    alice.delete(sold)
    alice.forget(alice.forget("kayak"))
    for text in ("用户叫小明，对青霉素过敏", "用户叫王小明"):
        alice.pin(alice.add(text, infer=False)["results"][0]["id"])
    assert [doubt.kind for doubt in alice.review()] == ["replace"]
    for text in ("Likes 恐龙", "Likes 恐龙 and tea", "Likes tea", ""):
        alice.profile["user"] = text
    alice.profile["soul"] = "Be kind"
    return memory


def exported(memory: Memory, scope: Scope = ALICE) -> str:
    stream = io.StringIO()
    infos = oldest_first(memory.user(scope.user, namespace=scope.namespace))
    formats.write(items(memory, scope, infos, book_of(memory._core, scope)), stream)
    return stream.getvalue()


def imported(text: str, memory: Memory, *, user: str | None = None) -> Report:
    importer = Importer(memory, StoryClock(), namespace=None, user=user, skip_bad=False)
    return importer.run(formats.read(io.BytesIO(text.encode())))


def known(alice: UserMemory) -> dict[str, Any]:
    """All that can be asked about a user's facts, without the numbers that a store gives its changes."""
    facts = alice.get_all(states=("active", "archived", "retired"))
    changes = [
        (change.fact_id, change.action, change.actor, change.at, change.before, change.after)
        for change in alice.changes()
    ]
    profile = [
        (document.name, document.version, document.text, document.hash, document.updated_at)
        for name in alice.profile
        for document in alice.profile.versions(name)
    ]
    found = {
        query: [(hit.id, hit.text, round(hit.score, 6)) for hit in alice.search(query, kinds=["fact"])]
        for query in ("绿茶", "Lyon", "stamps", "violin")
    }
    return {
        "facts": [fact.to_dict() for fact in facts],
        "labels": alice.labels(),
        "changes": changes,
        "digest": alice.memory_digest(),
        "markdown": alice.memory_md(),
        "found": found,
        "review": [(doubt.kind, doubt.facts, doubt.text, doubt.at) for doubt in alice.review()],
        "receipts": [(each.at, each.removed, each.left, each.resumed) for each in alice.receipts()],
        "profile": profile,
    }


def test_an_export_into_an_empty_store_knows_the_same_of_the_user() -> None:
    with lived() as memory, Memory(":memory:", worker=False) as other:
        report = imported(exported(memory), other)
        alice, copy = memory.user("alice", namespace="acme"), other.user("alice", namespace="acme")
        states = {fact.state for fact in copy.get_all(states=("active", "archived", "retired"))}
        assert states == {"active", "archived", "retired"}
        assert (report.facts, report.known_facts) == (
            len(alice.get_all(states=("active", "archived", "retired"))),
            0,
        )
        assert known(copy) == known(alice)
        assert exported(other).splitlines()[:-1] != []
        assert other.doctor().findings == ()


def test_a_copy_goes_on_where_the_other_was() -> None:
    with lived() as memory, Memory(":memory:", worker=False) as other:
        imported(exported(memory), other)
        copy = other.user("alice", namespace="acme")
        sold = [change for change in copy.changes() if change.action == "retire"][-1]
        assert copy.get(sold.fact_id).state == "retired"
        copy.undo(sold.id)
        assert copy.get(sold.fact_id).state == "archived"
        assert [hit.text for hit in copy.search("violin", kinds=["fact"])] == ["Owns a violin"]
        assert copy.add("喜欢喝绿茶", infer=False)["results"][0]["event"] == "NONE"


def test_twice_it_is_there_once() -> None:
    with lived() as memory, Memory(":memory:", worker=False) as other:
        text = exported(memory)
        imported(text, other)
        before = known(other.user("alice", namespace="acme"))
        again = imported(text, other)
        assert (again.facts, again.known_facts) == (0, len(before["facts"]))
        assert known(other.user("alice", namespace="acme")) == before


def test_a_copy_for_another_user_of_the_same_store_has_ids_of_its_own() -> None:
    with lived() as memory:
        text = exported(memory)
        imported(text, memory, user="bob")
        again = imported(text, memory, user="bob")
        assert again.facts == 0
        alice, bob = memory.user("alice", namespace="acme"), memory.user("bob", namespace="acme")
        assert [fact.text for fact in bob.get_all()] == [fact.text for fact in alice.get_all()]
        assert not {fact.id for fact in bob.get_all()} & {fact.id for fact in alice.get_all()}
        old = next(fact for fact in bob.get_all(states=("retired",)) if fact.superseded_by)
        assert bob.get(str(old.superseded_by)).text == "Lives in Lyon"
        assert memory.doctor().findings == ()


def test_what_was_forgotten_here_does_not_come_back_with_an_older_export() -> None:
    with lived() as memory:
        alice = memory.user("alice", namespace="acme")
        text = exported(memory)
        alice.forget(alice.forget("绿茶"))
        report = imported(text, memory)
        assert report.facts == 0
        assert [
            fact for fact in alice.get_all(states=("active", "archived", "retired")) if "绿茶" in fact.text
        ] == []


def test_what_was_decided_here_is_not_asked_again() -> None:
    with lived() as memory, Memory(":memory:", worker=False) as other:
        text = exported(memory)
        imported(text, other)
        copy = other.user("alice", namespace="acme")
        copy.settle(copy.review()[0].id, accept=False)
        imported(text, other)
        assert copy.review() == []


def test_a_question_that_was_forgotten_here_does_not_come_back() -> None:
    wish = {"intent": "forget", "memories": []}
    said = "Please forget what I said about the kayak."
    with extracting(lambda _: json.dumps(wish)) as memory, Memory(":memory:", worker=False) as other:
        alice = memory.user("alice", namespace="acme")
        memory.session(namespace="acme", user="alice").add_message("user", said)
        alice.extract()
        memory.run_jobs()
        text = exported(memory)
        imported(text, other)
        copy = other.user("alice", namespace="acme")
        assert [doubt.text for doubt in copy.review()] == [said]
        copy.forget(copy.forget("kayak"))
        assert copy.review() == []
        imported(text, other)
        assert copy.review() == []


def test_a_profile_that_is_another_here_stays_with_its_own_history() -> None:
    with lived() as memory, Memory(":memory:", worker=False) as other:
        copy = other.user("alice", namespace="acme")
        copy.profile["soul"] = "Be brief"
        report = imported(exported(memory), other)
        assert [note.text for note in report.notes] == [
            "the profile document 'soul' that is in the store was kept"
        ]
        assert [document.text for document in copy.profile.versions("soul")] == ["Be brief"]
        assert len(copy.profile.versions("user")) == 4


def test_an_export_of_an_earlier_version_brings_the_profile_without_its_history() -> None:
    header = {"kind": "header", "format": "wellkept", "version": "1.0"}
    whose = {"namespace": "acme", "user": "alice"}
    line = {"kind": "profile", **whose, "name": "user", "text": "Likes tea"}
    text = "\n".join(json.dumps(each) for each in (header, line))
    with Memory(":memory:", worker=False) as memory:
        imported(text, memory)
        imported(text, memory)
        profile = memory.user("alice", namespace="acme").profile
        assert [(it.version, it.text) for it in profile.versions("user")] == [(1, "Likes tea")]
        profile["user"] = ""
        imported(text, memory)
        assert profile["user"] == "Likes tea"


def extracting(reply: Callable[[Call], str]) -> Memory:
    return Memory(":memory:", model=FakeModel(reply), worker=False)


def test_what_was_forgotten_and_what_was_read_is_not_extracted_again_elsewhere() -> None:
    with extracting(model) as memory, extracting(model) as other:
        alice = memory.user("alice", namespace="acme")
        chat = memory.session(namespace="acme", user="alice")
        for text in SAID:
            chat.add_message("user", text)
        alice.extract()
        memory.run_jobs()
        assert len(alice.get_all()) == 3
        alice.delete(alice.get_all()[0].id)
        alice.forget(alice.forget("Rex"))
        imported(exported(memory), other)
        copy = other.user("alice", namespace="acme")
        assert copy.extract() == 0, "all was read where it comes from"
        # The message comes again, from a source that still has it.
        there = other.session(namespace="acme", user="alice", session_id=chat.id)
        there.add_message("user", SAID[2], ts=there.get_recent(1)[0].ts)
        copy.extract()
        other.run_jobs()
        assert [fact.text for fact in copy.get_all()] == [fact.text for fact in alice.get_all()]


def test_facts_keep_their_messages_where_a_conversation_has_others_already() -> None:
    with extracting(model) as memory, extracting(model) as other:
        alice = memory.user("alice", namespace="acme")
        chat = memory.session(namespace="acme", user="alice")
        for text in SAID:
            chat.add_message("user", text)
        alice.extract()
        memory.run_jobs()
        there = other.session(namespace="acme", user="alice", session_id=chat.id, create=True)
        there.add_message("user", "What is new?")
        imported(exported(memory), other)
        copy = other.user("alice", namespace="acme")
        assert [fact.sources for fact in copy.get_all()] == [(f"{chat.id}:{seq}",) for seq in (2, 3, 4)]
        assert [there.get_events(after=1)[at].content for at in range(3)] == list(SAID)
        assert copy.extract() == 0


@pytest.mark.parametrize(
    "line",
    [
        {"kind": "fact", "id": "x", "text": "a", "state": "active", "created_at": 1, "changed_at": 1},
        {
            "kind": "fact",
            "id": "0000000000g0",
            "text": "a",
            "state": "gone",
            "created_at": 1,
            "changed_at": 1,
        },
        {"kind": "fact", "id": "0000000000g0", "text": "a", "state": "active", "changed_at": 1 << 80},
        {
            "kind": "change",
            "id": 1,
            "operation": 1,
            "fact": "0000000000g0",
            "action": "store",
            "actor": "god",
            "at": 1,
        },
        {"kind": "tombstones", "origins": [["salt"]], "graves": [["zz", 1]]},
        {"kind": "tombstones", "origins": [], "graves": [["00", 1 << 70]]},
        {"kind": "extracted", "session": 5, "seq": 1},
        {"kind": "extracted", "session": "s", "seq": 1 << 60},
        {
            "kind": "fact",
            "id": "0000000000g0",
            "text": " ",
            "state": "active",
            "created_at": 1,
            "changed_at": 1,
        },
        {"kind": "extracted", "session": "s", "seq": 1, "namespace": []},
        {"kind": "profile", "name": "diary", "text": "a"},
        {"kind": "profile_version", "name": "user", "text": "a", "version": -1, "at": 1},
        {"kind": "doubt", "asks": "what", "facts": [], "text": "a", "at": 1},
        {"kind": "doubt", "asks": "erase", "facts": ["x"], "text": "a", "at": 1},
        {"kind": "receipt", "at": 1, "removed": {"events": "two"}, "left": {}},
        {"kind": "receipt", "removed": {}, "left": {}},
    ],
)
def test_a_line_that_is_none_is_said_with_its_number(line: dict[str, Any]) -> None:
    whose = {"namespace": "acme", "user": "alice"}
    text = "\n".join(
        json.dumps(each)
        for each in ({"kind": "header", "format": "wellkept", "version": "1.0"}, {**whose, **line})
    )
    with Memory(":memory:", worker=False) as memory:
        with pytest.raises(InvalidInput, match="Line 2"):
            imported(text, memory)
        assert memory.user("alice", namespace="acme").get_all(states=("active", "retired")).results == ()


def test_a_device_takes_a_book_too(tmp_path: Path) -> None:
    with lived() as memory, Memory(f"flash:{tmp_path}/device", worker=False) as device:
        imported(exported(memory), device)
        before = known(memory.user("alice", namespace="acme"))
        assert known(device.user("alice", namespace="acme"))["facts"] == before["facts"]
    with Memory(f"flash:{tmp_path}/device", worker=False) as again:
        assert known(again.user("alice", namespace="acme"))["changes"] == before["changes"]
