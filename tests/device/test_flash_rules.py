from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept_flash import rules

PAIRS = [
    ("我不吃辣", "我讨厌吃辣", rules.SAME),
    ("用户不吃辣", "我不吃辣", rules.SAME),
    ("我吃辣", "我不吃辣", rules.CONFLICT),
    ("我吃辣", "我讨厌吃辣", rules.CONFLICT),
    ("我不讨厌吃辣", "我讨厌吃辣", rules.CONFLICT),
    ("我不讨厌吃辣", "我喜欢吃辣", rules.DIFFERENT),
    ("我不再抽烟", "我抽烟", rules.CONFLICT),
    ("我以前抽烟", "我抽烟", rules.DIFFERENT),
    ("我只喝茶", "我喝茶", rules.DIFFERENT),
    ("我妈妈不吃辣", "我不吃辣", rules.DIFFERENT),
    ("我特别喜欢恐龙", "我喜欢恐龙", rules.DIFFERENT),
    ("女儿五岁", "女儿 5 岁", rules.SAME),
    ("女儿５岁", "女儿 5 岁。", rules.SAME),
    ("我小孩今年五岁", "我小孩今年六岁", rules.CONFLICT),
    ("我有一只猫", "我有两只猫", rules.CONFLICT),
    ("用户喜欢喝龙井茶，尤其是明前的", "用户喜欢喝龙井茶", rules.NARROWER),
    ("用户喜欢喝龙井茶", "用户喜欢喝龙井茶，尤其是明前的", rules.BROADER),
    ("用户喜欢茶叶蛋", "用户喜欢茶", rules.DIFFERENT),
    ("用户住在北京朝阳区", "用户住在北京", rules.NARROWER),
    ("用户每周三下午三点要去接女儿放学", "用户每周三下午三点要去接女儿练琴", rules.DIFFERENT),
    ("用户喜欢猫，不喜欢狗", "用户喜欢猫", rules.DIFFERENT),
    ("The user likes cilantro", "The user does not like cilantro", rules.CONFLICT),
    ("The user hates cilantro", "The user doesn't like cilantro", rules.SAME),
    ("The user eats meat", "The user does not eat meat", rules.CONFLICT),
    ("The user does not smoke", "The user hates smoke", rules.DIFFERENT),
    ("The user is a vegetarian", "The user is not a vegetarian", rules.CONFLICT),
    ("The user used to smoke", "The user smokes", rules.DIFFERENT),
    ("The user no longer drinks coffee", "The user drinks coffee", rules.CONFLICT),
    ("I live in Beijing", "The user lives in Beijing", rules.SAME),
    ("The user lives in Beijing, Chaoyang", "The user lives in Beijing", rules.NARROWER),
    ("The user lives in New York", "The user lives in York", rules.DIFFERENT),
    ("The user likes coffee, but not black", "The user likes coffee", rules.DIFFERENT),
    ("The user likes coffee and hates tea", "The user likes tea and hates coffee", rules.DIFFERENT),
    ("The user knows C++", "The user knows C#", rules.DIFFERENT),
    ("The user has twenty-five cats", "The user has 25 cats", rules.SAME),
    ("The user's son is 5", "The user's son is 6", rules.CONFLICT),
    ("The user's son is 5 years old", "The user's son is five years old!", rules.SAME),
    ("The user's sister plays squash", "The user plays squash", rules.DIFFERENT),
    ("The budget is 3.5 million", "The budget is 35 million", rules.CONFLICT),
    ("!!! ???", "... ...", rules.DIFFERENT),
    ("🙂", "🙁", rules.DIFFERENT),
]


@pytest.mark.parametrize(("new", "old", "verdict"), PAIRS)
def test_relation(new: str, old: str, verdict: str) -> None:
    assert rules.relation(new, old) == verdict


def test_relation_read_the_other_way_round() -> None:
    swap = {rules.NARROWER: rules.BROADER, rules.BROADER: rules.NARROWER}
    for new, old, verdict in PAIRS:
        assert rules.relation(old, new) == swap.get(verdict, verdict)


ZH = "我 用户 不 没 喜欢 讨厌 吃 喝 辣 茶 女儿 五 6 岁 ， 但 只"
EN = "the user likes hates not does coffee tea five 7 , in York C++ C#"
statements = st.lists(st.sampled_from(f"{ZH} {EN}".split()), max_size=8).map(" ".join) | st.text(max_size=30)


@given(statements, statements)
def test_nothing_is_merged_across_polarity_or_numbers(new: str, old: str) -> None:
    verdict = rules.relation(new, old)
    if verdict in (rules.SAME, rules.NARROWER, rules.BROADER):
        assert rules.polarity(new) == rules.polarity(old)
        if verdict == rules.SAME:
            assert rules.numbers(new) == rules.numbers(old)
        else:
            longer, shorter = (new, old) if verdict == rules.NARROWER else (old, new)
            assert rules.numbers(longer)[: len(rules.numbers(shorter))] == rules.numbers(shorter)


@given(statements)
def test_a_text_is_the_same_as_itself_and_as_its_normal_form(text: str) -> None:
    assert rules.relation(text, text) == rules.SAME
    assert rules.normal(rules.normal(text)) == rules.normal(text)
    assert rules.fingerprint(rules.normal(text)) == rules.fingerprint(text)


def test_the_fingerprint_covers_the_whole_text() -> None:
    start = "用户每周三下午三点要去接女儿放学然后回家" * 20
    assert rules.fingerprint(start + "甲") != rules.fingerprint(start + "乙")
    assert rules.fingerprint("Hello, World! 123") == rules.fingerprint("hello world 123")
    assert len(rules.fingerprint("")) == 32


def test_numbers_in_all_their_spellings() -> None:
    assert rules.numbers("一百零五、二十三、十二、二零二四、三万五千") == ["105", "23", "12", "2024", "35000"]
    assert rules.numbers("two hundred, thirty-five, 1,234.50, -3, 2024-03-05, 7:30") == [
        "200",
        "35",
        "1234.5",
        "-3",
        "2024-03-05",
        "7:30",
    ]
    assert rules.numbers("一起去，一直，万一，四川") == []


def test_a_correction_replaces_only_what_it_is_about() -> None:
    facts = [
        "The user is allergic to peanuts",
        "The user dislikes olives",
        "The user's favourite soup is borscht",
    ]
    assert rules.target("The user's favourite soup is tom yum", facts, [True] * 3) == 2
    assert rules.target("The user likes tom yum best of all soups", facts, [True] * 3) is None
    assert rules.target("用户喜欢喝咖啡", ["用户住在上海", "用户喜欢喝可乐"], [False, True]) == 1
    assert rules.target("用户住在上海", ["用户住在无锡", "用户养猫"], [False, False]) == 0
    assert rules.target("My son is 6", ["The user's son is 5", "The user's daughter is 5"], [True, True]) == 0


def test_a_doubtful_correction_replaces_nothing() -> None:
    assert (
        rules.target("The user drinks water", ["The user drinks tea", "The user drinks milk"], [True, True])
        is None
    )


def test_eviction_prefers_the_used_and_the_recent() -> None:
    now = 1_750_000_000
    assert rules.score(1, now) > rules.score(0, now + 2 * 3600) > rules.score(0, now)
