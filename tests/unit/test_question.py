from __future__ import annotations

import pytest

from wellkept.policy.recall import question
from wellkept.policy.text.words import Term


@pytest.mark.parametrize(
    ("text", "time", "past", "assistant"),
    [
        ("When did she move?", True, True, False),
        ("How many weeks was the trip?", True, False, False),
        ("什么时候搬家的", True, True, False),
        ("什麼時候搬家的", True, True, False),
        ("What was my first car?", False, True, False),
        ("我原本住在哪裡", False, True, False),
        ("What restaurant did you recommend?", False, False, True),
        ("WHEN DID YOU TELL ME THAT YOU SAID SO?", True, True, True),
        ("Can you remind me of the recipe", False, False, True),
        ("你推荐的书是哪本", False, False, True),
        ("What is her favourite colour?", False, False, False),
        ("她喜欢什么颜色", False, False, False),
    ],
)
def test_what_a_question_is_about(text: str, time: bool, past: bool, assistant: bool) -> None:
    asked = question.read(text)
    assert (asked.about_time, asked.about_past, asked.about_assistant) == (time, past, assistant)


def test_the_speaker_is_no_search_word() -> None:
    asked = question.read("What does Ann paint?", ["Ann", "Bo Li"])
    assert asked.speaker == "Ann"
    assert list(asked.terms) == [Term("paint")]
    assert question.read("Does Li paint?", ["Ann", "Bo Li"]).speaker == "Bo Li"
    assert question.read("Do Ann and Bo paint?", ["Ann", "Bo Li"]).speaker is None
    assert question.read("Ann?", ["Ann"]).terms == {Term("ann"): 1.0}


def test_the_weights_of_chinese_terms() -> None:
    weights = question.read("我的猫爱吃鱼").terms
    assert weights[Term("爱吃")] == 1.0
    assert weights[Term("的猫")] == 0.5
    assert Term("我的") not in weights
    assert question.read("猫").terms == {Term("猫", prefix=True): 1.0}


def test_an_emoji_that_nobody_used_is_no_part_of_what_was_asked() -> None:
    terms = question.read("鱼 🦕").terms
    emoji = next(term for term in terms if term.text != "鱼")
    assert terms[emoji] == 0.5
    missing: dict[Term, dict[int, int]] = {term: {} for term in terms}
    assert question.counted(terms, missing) == {Term("鱼", prefix=True): 1.0}
    assert question.counted(terms, missing | {emoji: {1: 1}}) == terms


def test_characters_are_looked_up_alone_where_their_pairs_are_rare() -> None:
    terms = question.read("的猫爱吃鱼").terms
    held = {Term("的猫"): {}, Term("猫爱"): {}, Term("爱吃"): {1: 1, 2: 1, 3: 1}, Term("吃鱼"): {4: 1}}
    assert question.lone(terms, held) == {Term("猫", prefix=True): 0.25, Term("鱼", prefix=True): 0.25}
    alone = question.read("鱼").terms
    assert question.lone(alone, {term: {} for term in alone}) == {}


@pytest.mark.parametrize(
    ("sentences", "share"),
    [([], 0), (["Why?"], 1), (["No.", "Why"], 0), (["I am.", "Are u?"], 6 / 11), (["好？"], 1)],
)
def test_the_share_of_questions(sentences: list[str], share: float) -> None:
    assert question.share_asked(sentences) == pytest.approx(share)


@pytest.mark.parametrize(
    "text",
    [
        "last Friday",
        "LAST FRIDAY",
        "in 2023",
        "on May 5th and March 3",
        "two weeks ago",
        "昨天去的",
        "上周三",
        "3月5日",
        "去年",
    ],
)
def test_time_words(text: str) -> None:
    assert question.tells_time(text)


@pytest.mark.parametrize("text", ["", "I like tea", "天气很好", "may I", "room 12"])
def test_no_time_words(text: str) -> None:
    assert not question.tells_time(text)
