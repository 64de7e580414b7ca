from __future__ import annotations

import math
import threading
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from wellkept.errors import InvalidInput, ModelError
from wellkept.models.protocol import Embedder, Model, Reply
from wellkept.records import ToolCall
from wellkept.testing import FakeClock, FakeEmbedder, FakeModel, FakeTokenizer, garbage, half

ASKED = [{"role": "user", "content": "first line\n第二行\nthird line"}]


def test_fakes_fit_the_seams() -> None:
    assert isinstance(FakeModel(), Model)
    assert isinstance(FakeEmbedder(), Embedder)


def test_a_script_is_followed_in_order_and_its_end_is_an_error() -> None:
    model = FakeModel(["one", {"facts": ["二"]}, (ToolCall("a", "f"),), Reply(content="four", model="m")])
    replies = [model.complete("", ASKED) for _ in range(4)]
    assert [reply.content for reply in replies] == ["one", '{"facts": ["二"]}', (ToolCall("a", "f"),), "four"]
    with pytest.raises(ModelError, match="5 times and its script has 4"):
        model.complete("", ASKED)


def test_a_scripted_exception_is_raised_and_the_call_recorded() -> None:
    model = FakeModel([ModelError("busy", retryable=True), "ok"])
    with pytest.raises(ModelError, match="busy"):
        model.complete("be brief", ASKED, max_tokens=5, schema={"type": "object"})
    assert model.complete("", ASKED).content == "ok"
    assert (model.calls[0].system, model.calls[0].max_tokens) == ("be brief", 5)
    assert model.calls[0].schema == {"type": "object"}


def test_half_drops_every_other_line() -> None:
    assert FakeModel(half).complete("", ASKED).content == "first line\nthird line"
    assert FakeModel(half).complete("", [{"role": "user", "content": "abcdef"}]).content == "abc"


def test_garbage_is_neither_empty_nor_json() -> None:
    assert "{" in str(FakeModel(garbage).complete("", ASKED).content)


def test_the_stream_adds_up_to_the_reply() -> None:
    *pieces, reply = FakeModel("恐龙 and more").stream("", ASKED)
    assert "".join(map(str, pieces)) == "恐龙 and more"
    assert isinstance(reply, Reply)
    assert reply.usage.output_tokens == 4


def test_a_closed_gate_makes_the_model_hang() -> None:
    model, replies = FakeModel(), list[Any]()
    model.gate.clear()
    thread = threading.Thread(target=lambda: replies.append(model.complete("", ASKED)))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    assert not replies
    model.gate.set()
    thread.join()
    assert len(replies) == 1


def cosine(a: str, b: str) -> float:
    one, other = FakeEmbedder().embed([a, b])
    return sum(x * y for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("I am allergic to peanuts", "The user is allergic to peanuts", "Her flight leaves on Monday"),
        ("我小孩今年五岁，对恐龙特别着迷", "孩子五岁，特别喜欢恐龙", "每周三晚上上瑜伽课"),
    ],
)
def test_similar_texts_are_near(text: str, near: str, far: str) -> None:
    assert cosine(text, near) > 0.35 > 0.25 > cosine(text, far)


def test_vectors_are_unit_length_and_the_same_each_time() -> None:
    texts = ["", "a", "恐龙", "\ud83d"]
    vectors = FakeEmbedder(8).embed(texts)
    assert vectors == FakeEmbedder(8).embed(texts, kind="query")
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0] * 4)


def test_an_embedder_can_be_told_to_misbehave() -> None:
    embedder = FakeEmbedder(4)
    embedder.fault = "nan"
    assert all(map(math.isnan, embedder.embed(["a"])[0]))
    embedder.fault = "zeros"
    assert embedder.embed(["a"]) == [[0.0] * 4]
    embedder.fault = "short"
    assert len(embedder.embed(["a"])[0]) == 3
    embedder.fault = "missing"
    assert len(embedder.embed(["a", "b"])) == 1
    embedder.fault = "raise"
    with pytest.raises(ModelError):
        embedder.embed(["a"])


def test_the_clock_moves_when_told() -> None:
    clock = FakeClock()
    start = clock()
    assert clock() == start
    assert clock.advance(1, minutes=1, hours=1, days=1) - start == timedelta(
        days=1, hours=1, minutes=1, seconds=1
    )
    clock.set(datetime(2020, 1, 1, tzinfo=timezone.utc))
    assert clock().year == 2020
    with pytest.raises(InvalidInput, match="aware"):
        clock.set(datetime(2020, 1, 1))  # noqa: DTZ001


def test_the_tokenizer_counts_characters() -> None:
    count = FakeTokenizer()
    assert count("恐龙!") == 3
    assert count.texts == ["恐龙!"]
