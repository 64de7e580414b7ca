"""Intents, labels, room, and reading a model's answer."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.policy.answers import MOST, Unreadable, read
from wellkept.policy.claims import Claim
from wellkept.policy.evict import surplus
from wellkept.policy.intent import sentences, states
from wellkept.policy.labels import OTHER, carries, catalogue, clean
from wellkept.policy.wish import named_by, wishes

FACTS = [
    Claim(text="User likes dogs"),
    Claim(text="用户名叫阿岚", labels=("姓名",), attribute="名字"),
    Claim(text="用户喜欢狗"),
    Claim(text="User dislikes cats"),
]


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Please forget that I like dogs.", ["User likes dogs"]),
        ("忘了我的名字", ["用户名叫阿岚"]),
        ("把我喜欢狗这件事忘掉吧", ["用户喜欢狗"]),
        ("别记住我喜欢狗", ["用户喜欢狗"]),
        ("forget that I hate dogs", []),
        ("Delete everything you know about me", []),
        ("忘掉一切", []),
    ],
)
def test_a_wish_names_what_holds_all_its_words_and_never_everything(message: str, named: list[str]) -> None:
    [wish] = wishes(message)
    assert not wish.last
    assert [FACTS[at].text for at in named_by(wish.text, FACTS)] == named


@pytest.mark.parametrize("message", ["forget what I just said", "忘掉刚才说的", "Don't remember that"])
def test_a_wish_may_mean_what_was_said_last(message: str) -> None:
    [wish] = wishes(message)
    assert wish.last


@pytest.mark.parametrize(
    "message",
    [
        "don't forget to call mom",
        "别忘了带伞",
        "我忘了带钥匙",
        "I forgot my keys",
        "never forget I love cats",
    ],
)
def test_other_uses_of_the_word_are_no_wish(message: str) -> None:
    assert wishes(message) == []


def test_questions_and_orders_state_nothing() -> None:
    text = "I like tea. Do I like tea? Please be brief. 你叫小白。我喜欢茶吗？我住在 3.5 公里外。"
    assert [states(sentence) for sentence in sentences(text)] == [True, False, False, False, False, True]


def test_labels_are_whole_words_reused_and_few() -> None:
    given = [
        "food ",
        "Ｆｏｏｄ",
        "daily_routine",
        "memory",
        "偏好",
        "x" * 41,
        "",
        "<b>",
        "饮食",
        "pets",
        "more",
    ]
    assert clean(given, ["Food", "daily routine"]) == ("Food", "daily routine", "b")
    assert clean(["dietary_preferences", "dietary_preference_list"]) == (
        "dietary preferences",
        "dietary preference list",
    )


def test_the_catalogue_lists_each_label_once_in_order() -> None:
    facts = [Claim(text="a", labels=("food", "home")), Claim(text="b"), Claim(text="c", labels=("food",))]
    assert catalogue(facts) == ["food", "home", OTHER]
    assert carries(facts[0], ["HOME"])
    assert carries(facts[1], [OTHER])


@dataclass(frozen=True)
class Kept:
    pinned: bool
    uses: int
    changed_at: datetime


NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.integers(0, 500)), max_size=12),
    st.integers(1, 12),
)
def test_the_least_used_and_oldest_make_room_and_pinned_ones_stay(
    rows: list[tuple[bool, int, int]], limit: int
) -> None:
    facts = [Kept(pinned, uses, NOW - timedelta(hours=hours)) for pinned, uses, hours in rows]
    gone = surplus(facts, limit)
    free = [fact for fact in facts if not fact.pinned]
    assert len(gone) == min(len(free), max(0, len(facts) - limit))
    assert not any(fact.pinned for fact in gone)
    stay = list(free)
    for fact in gone:
        stay.remove(fact)

    def worth(fact: Kept) -> int:
        return 3 * fact.uses + int(fact.changed_at.timestamp()) // 3600

    assert not gone or not stay or max(map(worth, gone)) <= min(map(worth, stay))


ONE = {"intent": "replace", "memories": [{"content": "x", "quote": "y"}]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ONE),
        f"<think>{{}} [] so</think>Sure:\n```json\n{json.dumps(ONE)}\n```\nbye }}",
        '{"intent": "replace", "memories": [{"content": "x", "quote": "y",},],}',
        'noise {"a": 1} {"intent": "replace", "memories": [{"content": "x", "quote": "y", "keywords": ["\\u12", "\\q"]}]}',
        '{"intent": "replace",\n"memories": [{"content": "x", "quote": "y", "note": "line\nbreak"}]}',
    ],
)  # fmt: skip
def test_an_answer_is_found_in_what_surrounds_it(text: str) -> None:
    answer = read(text)
    assert answer.intent == "replace"
    assert [(each.text, each.quote) for each in answer.proposals] == [("x", "y")]


@pytest.mark.parametrize(
    "text", ["", "no", "{}", "[]", '{"intent": "none"}', '{"memories": "none"}', "[1]", "{" * 5000]
)
def test_what_holds_no_answer_is_an_error_not_an_empty_list(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


def test_what_has_the_wrong_shape_is_counted() -> None:
    items = [
        {"content": 5},
        "x",
        None,
        {"content": "a" * 5000},
        {"content": "ok", "labels": "a, b", "tags": 3, "quote": []},
    ]
    answer = read(json.dumps({"intent": "destroy", "memories": items}))
    assert answer.intent == "none"
    assert answer.unusable == 4
    assert answer.proposals[0].labels == ("a", "b")
    assert len(read(json.dumps({"memories": [{"content": "x"}] * 500})).proposals) == MOST


@given(st.text(alphabet='{}[]",:\\ax0中 \n', max_size=60))
def test_any_answer_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Unreadable):
        read(text)
