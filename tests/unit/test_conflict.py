"""What a new claim does to those that stand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.policy.facts.claims import Claim
from wellkept.policy.facts.conflict import Decision, decide, handles, same_content
from wellkept_flash import rules


def claims(*texts: str, attribute: str = "") -> list[Claim]:
    return [Claim(text=text, attribute=attribute) for text in texts]


REPLACED = [
    ("用户住在无锡", ["用户对花生过敏", "用户住在苏州"], 1),
    ("用户搬到无锡", ["用户住在苏州"], 0),
    ("The user moved to Munich", ["The user's parents live in Rome", "The user lives in Berlin"], 1),
    (
        "User's favourite player is Messi",
        ["User's favourite player is Ronaldo", "User's favourite city is Oslo"],
        0,
    ),
    ("用户最喜欢的球星是梅西", ["用户最喜欢的球星是C罗"], 0),
    ("儿子6岁", ["女儿5岁", "儿子5岁"], 1),
    ("User does not like cilantro", ["User likes cilantro"], 0),
    ("用户不吃辣", ["用户吃辣"], 0),
    ("User's name is Tom", ["User's name is Bob"], 0),
    ("用户住在北京，朝阳区", ["用户住在北京"], 0),
]


@pytest.mark.parametrize(("new", "olds", "at"), REPLACED)
def test_it_takes_the_place_of_just_the_one_that_it_is_about(new: str, olds: Sequence[str], at: int) -> None:
    assert decide(claims(new)[0], claims(*olds)) == Decision(replaces=(at,))


COMPOUND = [
    ("用户住在北京，对花生过敏", "用户住在上海"),
    ("用户住在北京并且对花生过敏", "用户住在上海"),
    ("The user lives in Berlin and is allergic to peanuts", "The user lives in Munich"),
    ("用户叫小明，对青霉素过敏", "用户叫王小明"),
]


@pytest.mark.parametrize(("old", "new"), COMPOUND)
def test_what_says_more_than_is_corrected_is_asked_about(old: str, new: str) -> None:
    assert decide(*_one(new, old)) == Decision(doubts=(0,))


def test_the_rest_of_an_address_goes_with_it() -> None:
    assert decide(*_one("用户住在上海", "用户住在北京，朝阳区")) == Decision(replaces=(0,))


KEPT = [
    ("Two", ["One"]),
    ("用户喜欢喝咖啡", ["用户喜欢喝可乐"]),
    ("The user likes tea", ["The user likes coffee", "The user dislikes milk"]),
    ("用户对花生过敏", ["用户最喜欢的汤是罗宋汤", "女儿对花生过敏"]),
    ("Owns boat number 6", ["Owns boat number 5"]),
    ("用户2026-03-01跑了马拉松", ["用户2025-03-02跑了马拉松"]),
    ("User works as a nurse", ["User lives in Berlin"]),
    ("The user used to live in Oslo", ["The user lives in Berlin"]),
]


@pytest.mark.parametrize(("new", "olds"), KEPT)
def test_others_stay(new: str, olds: Sequence[str]) -> None:
    assert decide(claims(new)[0], claims(*olds)) == Decision()


def test_what_is_known_or_says_less_changes_nothing() -> None:
    assert decide(*_one("用户讨厌吃辣", "用户不吃辣")) == Decision(same=0)
    assert decide(*_one("用户住在北京", "用户住在北京，朝阳区")) == Decision(same=0)


def _one(new: str, old: str) -> tuple[Claim, list[Claim]]:
    return claims(new)[0], claims(old)


def test_a_key_alone_is_not_enough_and_a_correction_of_it_is_asked_about() -> None:
    new = Claim(text="The user's favourite soup is tom yum", attribute="allergy")
    old = Claim(text="The user is allergic to peanuts", attribute="allergy")
    assert decide(new, [old]) == Decision()
    assert decide(new, [old], correction=True, source="actually it is tom yum") == Decision(doubts=(0,))


def test_a_correction_replaces_the_same_key_where_the_words_bear_it_out() -> None:
    new, old = claims("用户喝咖啡", "用户喝可乐", attribute="drink")
    other = Claim(text="用户喝茶", attribute="tea")
    assert decide(new, [other, old], correction=True, source="我改喝咖啡了") == Decision(replaces=(1,))
    assert decide(new, [old], correction=True, source="我喝咖啡") == Decision(doubts=(0,))
    assert decide(new, [old], source="我不喝可乐了，喝咖啡") == Decision(replaces=(0,))


def test_another_number_replaces_one_value_of_one_thing() -> None:
    new, old = claims("项目预算是五十万", "项目预算是三十万", attribute="budget")
    assert decide(new, [old]) == Decision(replaces=(0,))
    new, old = claims("Deadline is 2026-06-15", "Deadline is 2026-05-30", attribute="deadline")
    assert decide(new, [old], source="the deadline is 2026-06-15") == Decision()
    assert decide(new, [old], source="no wait, the deadline is 2026-06-15 now") == Decision(replaces=(0,))


def test_two_that_fit_equally_well_are_asked_about() -> None:
    new, *olds = claims("用户喝咖啡", "用户喝可乐", "用户喝茶", attribute="drink")
    assert decide(new, olds, correction=True, source="我改喝咖啡了") == Decision(doubts=(0, 1))


def test_speakers_are_kept_apart() -> None:
    bob = Claim(text="Bob: likes chess", subject="Bob", attribute="game")
    eve = Claim(text="Eve: does not like chess", subject="Eve", attribute="game")
    assert decide(bob, [eve], correction=True, source="actually I like chess") == Decision()


WORDS = st.sampled_from(
    "user likes hates not lives in Berlin Oslo tea dogs 5 6 five and , from used".split()
    + "用户 不 喜欢 喝 茶 可乐 住在 苏州 姑苏区 和 ， 岁".split()
)
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


@given(TEXTS, TEXTS, st.sampled_from(["", "diet"]))
def test_whatever_is_decided_about_is_found_by_its_handles(new: str, old: str, attribute: str) -> None:
    """A store looks only at claims that share a handle: nothing that matters may be missed."""
    a, b = Claim(text=new, attribute=attribute), Claim(text=old, attribute=attribute)
    decision = decide(a, [b], correction=True, source=f"actually {new}")
    if decision != Decision() and rules.fingerprint(new) != rules.fingerprint(old):
        assert set(handles(a).sought) & set(handles(b).stored)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The user sells maps in Bergen", "The user sells maps of Lyon"),
        ("The user collects clocks from Kyoto", "The user repairs kayaks from Kyoto"),
        ("用户的妈妈住在苏州", "用户的爸爸住在苏州"),
    ],
)
def test_what_cannot_matter_is_not_looked_at(new: str, old: str) -> None:
    """Common beginnings and topics of other holders would make each new fact slower than the last."""
    a, b = claims(new, old)
    assert decide(a, [b]) == Decision()
    assert not set(handles(a).sought) & set(handles(b).stored)


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_nothing_is_replaced_that_shares_no_word(new: str, olds: list[str]) -> None:
    decision = decide(claims(new)[0], claims(*olds), correction=True, source=new)
    for at in decision.replaces:
        assert set(handles(claims(new)[0]).sought) & set(handles(claims(olds[at])[0]).stored)


def test_the_same_content_in_other_words() -> None:
    a, b = claims("The user is allergic to peanuts", "Allergic to peanuts")
    assert same_content(a, b)
    assert not same_content(*claims("The user likes tea", "The user lives in Berlin"))
