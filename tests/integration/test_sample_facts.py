"""The facts that come with the sample: said in it, there once, and nobody's change to them is taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from wellkept import Memory
from wellkept.cli.serve import SAMPLE_NAMESPACE, SAMPLE_USER, _load_sample
from wellkept.records import text_of
from wellkept.user import UserMemory

STATES = ("active", "retired")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "sample.db")


def linyue(memory: Memory) -> UserMemory:
    return memory.user(SAMPLE_USER, namespace=SAMPLE_NAMESPACE)


def test_each_is_quoted_from_a_message_of_hers(path: str) -> None:
    _load_sample(path)
    with Memory(path, worker=False) as memory:
        facts = linyue(memory).get_all(states=STATES).results
        assert len(facts) >= 5 and {fact.state for fact in facts} == set(STATES)
        for fact in facts:
            [source] = fact.sources
            chat = memory.session(
                namespace=SAMPLE_NAMESPACE, user=SAMPLE_USER, session_id=source.rpartition(":")[0]
            )
            event = chat.get_event(source)
            assert event.role == "user" and event.speaker == "林悦"
            assert fact.quote in text_of(event.content)
            assert fact.labels and linyue(memory).history(fact.id)


def test_a_second_start_changes_nothing_and_keeps_what_was_done_since(path: str) -> None:
    _load_sample(path)
    with Memory(path, worker=False) as memory:
        user = linyue(memory)
        edited, retired, erased, *_ = user.get_all()
        user.update(edited.id, "朵朵对花生和芝麻过敏", actor="user")
        user.delete(retired.id)
        user.forget(user.forget(ids=[erased.id]))
        before = user.get_all(states=STATES).results, user.changes()
    _load_sample(path)
    with Memory(path, worker=False) as memory:
        assert (linyue(memory).get_all(states=STATES).results, linyue(memory).changes()) == before


def test_an_edited_fact_is_in_the_next_context(path: str) -> None:
    _load_sample(path)
    with Memory(path, worker=False) as memory:
        user = linyue(memory)
        chat = memory.session(namespace=SAMPLE_NAMESPACE, user=SAMPLE_USER, session_id=user.sessions()[0].id)
        fact = next(fact for fact in user.get_all() if "花生" in fact.text)
        assert fact.text in chat.get_context("推荐点吃的").system
        user.update(fact.id, "朵朵对花生和腰果过敏")
        assert "腰果" in chat.get_context("推荐点吃的").system
