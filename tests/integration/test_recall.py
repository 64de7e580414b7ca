"""Recall through the public face: the right memory, in both languages, in scope, explained."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept import InvalidInput, Memory, ModelError, NotFound, Policy, Session
from wellkept.models.protocol import Embedder
from wellkept.policy.text import words
from wellkept.testing import FakeClock, FakeEmbedder

NOW = datetime(2026, 6, 15, 9, 0, tzinfo=timezone.utc)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(":memory:", clock=FakeClock(NOW), worker=False) as memory:
        yield memory


@pytest.fixture
def chat(memory: Memory) -> Session:
    chat = memory.session(namespace="acme", user="alice")
    chat.add_message("user", "我小孩今年五岁，对恐龙特别着迷", ts=NOW - timedelta(days=1))
    chat.add_message("assistant", "自贡有一座恐龙博物馆", ts=NOW - timedelta(days=1))
    chat.add_message(
        "user", "用Python3写脚本，order A-1029 is late", ts=NOW, metadata={"topic": "work", "stars": 4}
    )
    chat.add_message("user", "家里养了一只猫 🐈", ts=NOW, speaker="Bob", metadata={"tags": ["pet", "home"]})
    return chat


def texts(memory: Memory, query: str, **more: object) -> list[str]:
    return [hit.text for hit in memory.user("alice", namespace="acme").search(query, **more)]


@pytest.mark.parametrize(
    "query", ["恐龙", "恐龍", "Python", "python3", "A-1029", "猫", "🐈", "order", "ORDERS"]
)
def test_words_of_every_kind_are_found(memory: Memory, chat: Session, query: str) -> None:
    assert texts(memory, query)


def test_nothing_relevant_is_an_answer(memory: Memory, chat: Session) -> None:
    assert texts(memory, "volcano 火山") == []
    assert "recall" not in chat.get_context("volcano 火山").parts


@pytest.mark.parametrize(
    "query", ["", "   ", "?!。，", '"', "NEAR(恐", "* OR -", "'; DROP TABLE events; --", "\x00", "的" * 50]
)
def test_a_query_is_plain_text(memory: Memory, chat: Session, query: str) -> None:
    assert isinstance(texts(memory, query), list)
    assert len(chat.get_recent()) == 4


def test_a_long_query_and_a_broken_one(memory: Memory, chat: Session) -> None:
    assert texts(memory, "恐龙 " * 50_000)
    assert isinstance(texts(memory, "恐龙\ud800"), list)


def test_narrowing(memory: Memory, chat: Session) -> None:
    other = memory.session(namespace="acme", user="alice")
    other.add_message("user", "恐龙展览门票 120 元", ts=NOW)
    assert len(texts(memory, "恐龙", kinds=["event"])) >= 3
    assert texts(memory, "恐龙", session_id=other.id) == ["恐龙展览门票 120 元"]
    assert "恐龙展览门票 120 元" not in texts(memory, "恐龙", until=NOW)
    assert texts(memory, "恐龙", since=NOW) == ["恐龙展览门票 120 元"]


def test_filters_are_compiled_or_refused(memory: Memory, chat: Session) -> None:
    assert texts(memory, "写 猫 恐龙", filters={"topic": "work"}) == ["用Python3写脚本，order A-1029 is late"]
    assert texts(memory, "写 猫 恐龙", filters={"stars": {"gte": 4, "lt": 5}}) == [
        "用Python3写脚本，order A-1029 is late"
    ]
    assert texts(memory, "写 猫 恐龙", filters={"speaker": "Bob"}) == ["家里养了一只猫 🐈"]
    assert texts(memory, "写 猫 恐龙", filters={"tags": {"contains": "pet"}}) == ["家里养了一只猫 🐈"]
    assert texts(memory, "恐龙", filters={"role": {"in": ["assistant"]}}) == ["自贡有一座恐龙博物馆"]
    assert (
        texts(memory, "恐龙", filters={"NOT": [{"role": "assistant"}]})[0] == "我小孩今年五岁，对恐龙特别着迷"
    )
    assert texts(
        memory, "写 猫 恐龙", filters={"OR": [{"topic": "work"}, {"speaker": "Bob"}]}, kinds=["event"]
    )
    assert texts(memory, "恐龙", filters={"no such field": 1}) == []
    for bad in ({"a": {"near": 1}}, {"a": object()}, {'a"b': 1}, {"": 1}, {"a": {"in": 3}}, ["a"]):
        with pytest.raises(InvalidInput):
            texts(memory, "恐龙", filters=bad)


METADATA: list[dict[str, Any]] = [
    {},
    {"stars": 5},
    {"stars": "unknown"},
    {"stars": None},
    {"stars": {"of": 5}},
    {"stars": [2, 4]},
    {"tags": ["pet", "cat"]},
    {"tags": ["petrol"]},
    {"tags": "pet"},
    {"city": "ORLÉANS"},
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"stars": {"gt": 3}}, [1, 5]),
        ({"stars": {"lt": "v"}}, [2]),
        ({"NOT": [{"stars": {"gt": 3}}]}, [0, 2, 3, 4, 6, 7, 8, 9]),
        ({"stars": math.nan}, []),
        ({"tags": "pet"}, [6, 8]),
        ({"tags": {"ne": "pet"}}, [0, 1, 2, 3, 4, 5, 7, 9]),
        ({"tags": {"contains": "pet"}}, [6, 8]),
        ({"city": {"icontains": "orléans"}}, [9]),
    ],
)
def test_a_filter_means_the_same_for_messages_and_facts(wanted: dict[str, Any], found: list[int]) -> None:
    with Memory(":memory:", worker=False) as memory:
        session, user = memory.session(namespace="n", user="u"), memory.user("u", namespace="n")
        for number, metadata in enumerate(METADATA):
            session.add_message("user", f"dinosaur number {number}", metadata=metadata)
            user.add(f"Likes dinosaur number {number}", infer=False, metadata=metadata)
        for kind in ("event", "fact"):
            results = user.search("dinosaur", kinds=[kind], filters=wanted, limit=50)
            assert sorted(int(result.text[-1]) for result in results) == found, kind


def test_bad_arguments_are_typed_errors(memory: Memory, chat: Session) -> None:
    for bad in (
        {"limit": 0},
        {"kinds": ["thing"]},
        {"kinds": []},
        {"threshold": 2},
        {"since": NOW.replace(tzinfo=None)},
    ):
        with pytest.raises(InvalidInput):
            texts(memory, "恐龙", **bad)
    with pytest.raises(NotFound):
        texts(memory, "恐龙", session_id="nobody's")


def test_time_words_favour_that_day(memory: Memory, chat: Session) -> None:
    chat.add_message("user", "周末还去看了恐龙", ts=NOW + timedelta(days=20))
    alice = memory.user("alice", namespace="acme")
    first = alice.search("恐龙 6月14日", now=NOW + timedelta(days=21))[0]
    assert first.ts < NOW
    assert first.parts["date"] > 1


def test_explained(memory: Memory, chat: Session) -> None:
    found = memory.user("alice", namespace="acme").search("恐龙", limit=1, explain=True)
    assert found[0].dropped is None
    assert found[0].parts
    assert found[0].events == (found[0].id,)
    assert all(it.dropped for it in found[1:])
    assert found[1:]


def test_summaries_and_the_ledger_are_found(memory: Memory) -> None:
    chat = memory.session(namespace="acme", user="alice")
    for number in range(40):
        chat.add_message("user", f"第{number}天花了{100 + number}元买书")
        chat.add_message("assistant", "记下了")
    memory.run_jobs()
    found = memory.user("alice", namespace="acme").search("100元买书", kinds=["summary"])
    assert found
    assert found[0].session_id == chat.id
    assert found[0].events
    assert "100元" in found[0].text
    assert all(hit.score > 0 and hit.relevance > 0 for hit in found)


def test_what_is_derived_stands_behind_what_was_said(memory: Memory) -> None:
    chat = memory.session(namespace="acme", user="alice")
    for number in range(40):
        chat.add_message("user", f"第{number}天花了{100 + number}元买书")
        chat.add_message("assistant", "记下了")
    alice = memory.user("alice", namespace="acme")
    said = alice.search("第7天花了107元买书", limit=10)
    memory.run_jobs()
    assert [it.text for it in alice.search("第7天花了107元买书", limit=10)] == [it.text for it in said]
    every = alice.search("第7天花了107元买书", limit=100)
    kinds = [it.kind for it in every]
    assert "summary" in kinds and kinds == sorted(kinds)
    scores = [it.score for it in every]
    assert scores == sorted(scores, reverse=True)


def test_recalled_text_stands_behind_the_boundary(memory: Memory, chat: Session) -> None:
    later = memory.session(namespace="acme", user="alice")
    later.add_message("user", "孩子喜欢什么？恐龙吗")
    context = later.get_context("恐龙")
    assert "五岁" in context.system[context.boundary :]
    assert context.parts["recall"] > 0
    assert later.get_context().system == ""


# ── meaning ──────────────────────────────────────────────────────────────────────────────────────────────────


def embedded(embedder: Embedder) -> tuple[Memory, Session]:
    memory = Memory(":memory:", clock=FakeClock(NOW), worker=False, embedder=embedder)
    chat = memory.session(namespace="acme", user="alice")
    chat.add_message("user", "dinosaurs are great")
    chat.add_message("user", "the volcano erupted")
    return memory, chat


def test_an_append_never_waits_for_the_embedder() -> None:
    memory, _ = embedded(FakeEmbedder())
    assert memory.jobs.list(kind="embed", state="ready")
    assert [hit.text for hit in memory.user("alice", namespace="acme").search("dinosaurs")]
    memory.run_jobs()
    hits = memory.user("alice", namespace="acme").search("dinosaurs")
    assert hits[0].parts["meaning"] > 0


def test_vectors_of_another_model_are_ignored_and_made_again() -> None:
    memory, chat = embedded(FakeEmbedder())
    memory.run_jobs()
    core = memory._core
    assert core.store.read(lambda tables: tables.vectors.counts())[0][2] == 2
    other = FakeEmbedder(dimension=core.embedder.dimension * 2)
    object.__setattr__(core, "embedder", other)
    alice = memory.user("alice", namespace="acme")
    assert "meaning" not in alice.search("dinosaurs")[0].parts
    assert alice.reembed() == 2
    memory.run_jobs()
    assert "meaning" in alice.search("dinosaurs")[0].parts


@pytest.mark.parametrize("fault", ["short", "nan", "zeros", "raise", "missing"])
def test_a_bad_embedder_is_a_failed_job_and_a_typed_error(fault: str) -> None:
    embedder = FakeEmbedder()
    embedder.fault = fault
    memory, _ = embedded(embedder)
    memory.run_jobs()
    job = memory.jobs.list(kind="embed")[0]
    assert job.state in ("failed", "ready")
    assert job.last_error
    with pytest.raises(ModelError):
        memory.user("alice", namespace="acme").search("dinosaurs")


@pytest.mark.parametrize("fault", ["short", "nan", "raise"])
def test_a_chat_goes_on_by_words_alone_when_the_embedder_fails(fault: str) -> None:
    embedder = FakeEmbedder()
    memory, _ = embedded(embedder)
    embedder.fault = fault
    other = memory.session(namespace="acme", user="alice")
    other.add_message("user", "What did I say?")
    context = other.get_context("dinosaurs")
    assert "dinosaurs are great" in context.system
    (note,) = [candidate for candidate in context.trace if candidate.id == "meaning"]
    assert not note.kept
    assert "words alone" in note.reason


class Broken:
    """An application's own embedder that does not keep to its protocol."""

    name, dimension, calibration = "own", 2, (0.0, 1.0)

    def __init__(self, embed: Callable[[int], Any]) -> None:
        self._embed = embed

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> Any:
        return self._embed(len(texts))


@pytest.mark.parametrize(
    "embed",
    [
        lambda count: None,
        lambda count: [1.0] * count,
        lambda count: [["a", "b"]] * count,
        lambda count: [[None, None]] * count,
        lambda count: {}["embedding"],
    ],
)
def test_whatever_an_embedder_of_ones_own_does_is_a_typed_error(embed: Callable[[int], Any]) -> None:
    memory, _ = embedded(Broken(embed))
    memory.run_jobs()
    assert "own failed" in (memory.jobs.list(kind="embed")[0].last_error or "")
    with pytest.raises(ModelError, match="own failed"):
        memory.user("alice", namespace="acme").search("dinosaurs")


@pytest.mark.parametrize("number", [1e300, 1e39, 1e-60, 3])
def test_the_length_of_a_vector_does_not_matter(number: float) -> None:
    memory, _ = embedded(Broken(lambda count: [[number, 0]] * count))
    memory.run_jobs()
    hits = memory.user("alice", namespace="acme").search("dinosaurs")
    assert all(math.isfinite(hit.score) for hit in hits)
    assert hits[0].relevance == 1.0


def test_nothing_waits_for_an_embedder_that_hangs() -> None:
    called, go_on = threading.Event(), threading.Event()

    def hang(count: int) -> list[list[float]]:
        called.set()
        assert go_on.wait(60)
        return [[1.0, 0.0]] * count

    memory, chat = embedded(Broken(hang))
    searching = threading.Thread(target=memory.user("alice", namespace="acme").search, args=("dinosaurs",))
    searching.start()
    assert called.wait(60)
    chat.add_message("user", "and volcanoes")
    assert chat.get_context().messages[-1]["content"] == "and volcanoes"
    go_on.set()
    searching.join(60)
    assert not searching.is_alive()


def test_a_removed_event_leaves_no_vector() -> None:
    memory, chat = embedded(FakeEmbedder())
    memory.run_jobs()
    chat.pop_turn()
    assert memory._core.store.read(lambda tables: tables.vectors.counts())[0][2] == 1


# ── promises ─────────────────────────────────────────────────────────────────────────────────────────────────

MESSAGES = st.lists(
    st.text(st.sampled_from("恐龙猫犬 abcdeé123-_.🐈\"'*()"), min_size=1, max_size=24).filter(str.strip),
    min_size=1, max_size=8,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(MESSAGES, st.data())
def test_every_event_with_a_term_of_the_query_can_be_found(messages: list[str], data: st.DataObject) -> None:
    with Memory(":memory:", worker=False, policy=Policy(age_discount=1.0)) as memory:
        chat = memory.session(namespace="acme", user="alice")
        for message in messages:
            chat.add_message("user", message)
        tokens = sorted({token for message in messages for token in words.index_tokens(message)})
        if not tokens:
            return
        query = data.draw(st.sampled_from(messages))
        terms = words.query_terms(query)
        asked = {term.text for term in terms if not term.stop} or {term.text for term in terms}
        expected = {message for message in messages if asked & set(words.index_tokens(message))}
        found = {
            hit.text for hit in memory.user("alice", namespace="acme").search(query, limit=100, explain=True)
        }
        assert expected <= found


@settings(deadline=None, max_examples=40)
@given(MESSAGES)
def test_two_users_with_the_same_texts_never_see_each_other(messages: list[str]) -> None:
    with Memory(":memory:", worker=False, embedder=FakeEmbedder()) as memory:
        chats = {}
        for namespace, user in (("acme", "alice"), ("acme", "bob"), ("other", "alice")):
            chats[namespace, user] = memory.session(namespace=namespace, user=user)
            chats[namespace, user].add_messages(
                [{"role": "user", "content": message} for message in messages]
            )
        memory.run_jobs()
        for (namespace, user), chat in chats.items():
            for query in messages:
                hits = memory.user(user, namespace=namespace).search(query, limit=100, explain=True)
                assert {hit.session_id for hit in hits} <= {chat.id}
                for other in chats.values():
                    if other is not chat:
                        with pytest.raises(NotFound):
                            memory.user(user, namespace=namespace).search(query, session_id=other.id)


def test_an_index_of_other_rules_for_words_is_made_anew_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "chat.db"
    with Memory(str(path), worker=False) as memory:
        memory.session(namespace="acme", user="alice").add_message("user", "new running shoes")
    assert caplog.messages == []
    monkeypatch.setattr(words, "TOKENS_VERSION", words.TOKENS_VERSION + 1)
    words.tokens_version.cache_clear()
    try:
        with Memory(str(path), worker=False) as memory:
            assert [found.text for found in memory.user("alice", namespace="acme").search("shoe")]
    finally:
        words.tokens_version.cache_clear()
    assert len(caplog.messages) == 1 and str(path) in caplog.messages[0]
