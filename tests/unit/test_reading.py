from __future__ import annotations

import pytest

from wellkept.policy.recall import feedback, reading


def test_what_is_read_of_a_text() -> None:
    its = reading.read("The cat sleeps.\nWho feeds the cat?")
    assert its.sentences == ({"the", "cat", "sleep"}, {"who", "feed", "the", "cat"})
    assert its.tokens == {"the", "cat", "sleep", "who", "feed"}
    assert its.asking == pytest.approx(18 / 33)


@pytest.mark.parametrize("text", ["", "\n", "?!"])
def test_a_text_without_words(text: str) -> None:
    assert reading.read(text) == (frozenset(), (), 0)


def test_only_telling_words_are_looked_up_and_none_of_the_question() -> None:
    worth = feedback.candidates([("the cat and the canary", 2.0), ("一只猫和鹦鹉", 1.0)], {"cat"})
    assert worth.keys() == {"canari", "一只", "只猫", "猫和", "和鹦", "鹦鹉"}


def test_the_likeliest_words_are_looked_up() -> None:
    many = " ".join(f"word{chr(97 + number)}" for number in range(feedback.LOOKED_UP))
    worth = feedback.candidates([(f"tiny pets {many} parrots parrots", 1.0)], set())
    assert len(worth) == feedback.LOOKED_UP
    assert max(worth, key=worth.__getitem__) == "parrot"
    assert "pet" not in worth
