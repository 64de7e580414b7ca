"""Needles: other endings of a word are found, and the short way to "no" never says it wrongly."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from wellkept.policy.privacy.needles import Needle
from wellkept.policy.text.words import index_tokens

ENDINGS = """
s es ed d ing ings ly er ers est ness ful fulness less ment ments ize izes izing ization isation ation ational tional
ability ability's able ible ity ities ive iveness ous ously ousness al ally ance ence ic ical ion ions ies ied y ying
""".split()
IRREGULAR = "skis ski skies sky dying die dies lying lie lies tying tie ties idly gently ugly early only singly news".split()


def vocabulary() -> list[str]:
    """The words of the README, with whatever ending on whatever stem."""
    text = Path(__file__).parents[2].joinpath("README.md").read_text("utf-8")
    known = sorted(set(re.findall(r"[a-z]{3,}", text.lower())))
    bare = {word.rstrip("ey") for word in known}
    return [*known, *IRREGULAR, *(stem + ending for stem in sorted(bare) if stem for ending in ENDINGS)]


def test_every_ending_of_a_word_is_found() -> None:
    families = defaultdict(list)
    for word in vocabulary():
        if word.isalpha():
            families[index_tokens(word)[0]].append(word)
    tried = 0
    for family in families.values():
        needle = Needle(family[0], inflected=True)
        for word in family:
            assert needle.stands_in(f"we {word} it"), (family[0], word)
            tried += 1
    assert tried > 10_000


def test_numbers_and_other_writing_are_found() -> None:
    assert Needle("2nd", inflected=True).stands_in("the 2nd")
    assert Needle("Smørrebrød", inflected=True).stands_in("smorrebrod or smørrebrød")
    assert Needle("peanut allergy", inflected=True).stands_in("PEANUT ALLERGIES")
    assert not Needle("peanut allergy", inflected=True).stands_in("allergic to a peanut")
