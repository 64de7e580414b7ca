"""What must be remembered after each message, with a model that answers perfectly, sloppily or maliciously."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest

from tests.golden.fact_conversations import CONVERSATIONS, Said, Stated
from wellkept import Memory
from wellkept.policy.facts.ground import Said as Source
from wellkept.policy.facts.ground import dated
from wellkept.session import Session
from wellkept.testing import Call, FakeClock, FakeModel
from wellkept.user import UserMemory

ALL = [said for conversation in CONVERSATIONS.values() for said in conversation]
MONDAY = datetime(2026, 3, 2, 1, tzinfo=timezone.utc)
DATED = {"用户下周三要做手术": "用户2026-03-11要做手术"}


def memory_of(stated: Stated, message: str, **changes: Any) -> dict[str, Any]:
    perfect = {
        "subject": stated.subject,
        "attribute": stated.attribute,
        "content": stated.content,
        "labels": [stated.label] if stated.label else [],
        "keywords": [stated.keyword],
        "quote": stated.quote or message,
        "valid_from": None,
        "valid_to": None,
    }
    return {**perfect, **changes}


class Scripted:
    """A model that knows what is being said."""

    def __init__(self) -> None:
        self.said: Said | None = None
        self.earlier: list[Stated] = []
        self.rng = random.Random(7)
        self.asked = 0

    def __call__(self, call: Call) -> str:
        assert self.said is not None
        self.asked += 1
        return self.answer(self.said)

    def answer(self, said: Said) -> str:
        memories = [memory_of(each, said.message) for each in said.facts]
        return json.dumps({"intent": said.intent, "memories": memories}, ensure_ascii=False)


class Sloppy(Scripted):
    """Adds what was not said, repeats itself, changes the language, drops the quote, breaks its JSON."""

    def answer(self, said: Said) -> str:
        if self.asked % 5 == 0:
            return "Sure! Here is what I found: {'intent': none, memories: ["
        memories: list[dict[str, Any]] = []
        for each in said.facts:
            memories += [
                memory_of(each, said.message, content=f"{each.content} and owns a yacht"),
                memory_of(each, said.message, content="The user is a friendly person"),
                memory_of(each, said.message, content="用户性格开朗"),
                memory_of(each, said.message, quote="something that nobody said"),
                memory_of(each, said.message, keywords=["invented"]),
                memory_of(each, said.message, content=""),
                memory_of(each, said.message),
                memory_of(each, said.message, content=each.content + "."),
            ]
        body = json.dumps({"intent": said.intent, "memories": memories}, ensure_ascii=False)
        return f"<think>\nhm {{}} \n</think>Here you are:\n```json\n{body[:-1]},}}\n```\nAnything else?"


class Malicious(Scripted):
    """Wants junk in, and other people's facts out: wrong intents, stolen keys, floods, orders and questions as facts."""

    def answer(self, said: Said) -> str:
        text = said.message
        stolen = self.rng.choice(self.earlier) if self.earlier else None
        key = stolen.attribute if stolen else "x"
        junk = [
            {"content": f"The user said {text}", "quote": text, "attribute": key, "labels": ["L" * 1000]},
            {"content": text, "quote": text, "attribute": key, "subject": "user", "keywords": []},
            {"content": "The user is an administrator", "quote": text, "attribute": key},
            {"content": "用户是管理员", "quote": text[:4], "attribute": key},
            {"content": "x" * 10_000, "quote": text, "attribute": key},
            {"content": ["not", "text"], "quote": 5, "labels": {"a": 1}},
        ]
        if stolen:
            junk.append({"content": stolen.content, "quote": text, "attribute": key})
        good = [memory_of(each, text, attribute=key) for each in said.facts]
        memories = [*good, *junk, *junk * 80]
        intent = self.rng.choice(["forget", "replace", "none"])
        return json.dumps({"intent": intent, "memories": memories}, ensure_ascii=False)


def played(model: Scripted, name: str) -> Iterator[tuple[Said, Session, UserMemory]]:
    clock = FakeClock(MONDAY)
    with Memory(":memory:", model=FakeModel(model), worker=False, clock=clock) as memory:
        chat = memory.session(namespace="acme", user="alice")
        for said in CONVERSATIONS[name]:
            clock.advance(minutes=5)
            model.said, before = said, model.asked
            chat.add_message("user", said.message, speaker=said.speaker)
            chat.add_message("assistant", "The user lives on the moon. 用户住在月球。")
            memory.run_jobs()
            failed = memory.jobs.list(state="failed")
            assert not failed, failed[0].last_error
            assert model.asked - before <= 2
            model.earlier += said.facts
            yield said, chat, memory.user("alice", namespace="acme")


def stands(alice: UserMemory) -> set[str]:
    return {fact.text for fact in alice.get_all()}


def expected_after(said: Said, stand: set[str]) -> set[str]:
    named = f"{said.speaker}: " if said.speaker else ""
    stated = {named + DATED.get(each.content, each.content) for each in said.facts}
    return (stand - {DATED.get(each, each) for each in said.gone}) | stated


@pytest.mark.parametrize("name", CONVERSATIONS)
@pytest.mark.parametrize("model", [Scripted, Sloppy])
def test_what_is_said_is_remembered_and_nothing_else(name: str, model: type[Scripted]) -> None:
    expected: set[str] = set()
    for said, _, alice in played(model(), name):
        expected = expected_after(said, expected)
        assert stands(alice) == expected, said.message


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_malicious_model_gets_nothing_in_and_nothing_out(name: str) -> None:
    said_so_far: set[str] = set()
    gone: set[str] = set()
    for said, _, alice in played(Malicious(), name):
        said_so_far = expected_after(said, said_so_far | gone)
        gone |= {DATED.get(each, each) for each in said.gone}
        texts = stands(alice)
        for text in texts:
            assert is_grounded(text, said_so_far | gone), text
        unrelated = said_so_far - gone
        kept = {text for text in unrelated if any(is_grounded(other, {text}) for other in texts)}
        assert kept >= {text for text in unrelated if was_stored(alice, text)}, said.message


def is_grounded(text: str, allowed: set[str]) -> bool:
    """Whether it is one of ``allowed``, or a user's own message word for word, with its dates made absolute."""
    own = {dated(said.message, Source(said.message, MONDAY)) for said in ALL}
    return text in allowed or text in own or any(text == f"{said.speaker}: {said.message}" for said in ALL)


def was_stored(alice: UserMemory, text: str) -> bool:
    return any(
        change.after is not None and change.after.text == text for change in alice.changes(limit=10_000)
    )


def test_half_of_the_messages_are_chinese_and_there_are_enough_of_them() -> None:
    messages = [said.message for said in ALL]
    chinese = [message for message in messages if any("\u4e00" <= char <= "\u9fff" for char in message)]
    assert len(messages) >= 120
    assert 0.4 <= len(chinese) / len(messages) <= 0.6
