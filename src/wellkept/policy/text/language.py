"""The language of a text, told by its script, and in Latin script by its commonest words: enough to refuse a
summary in the wrong one."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from wellkept.policy.text import lazy

Language: TypeAlias = Literal["zh", "ja", "ko", "latin", "cyrillic", "arabic", "thai", "devanagari"]

_ASIDE = lazy.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\S+@\S+", re.DOTALL)
_KANA = lazy.compile("[\u3041-\u30fa\u31f0-\u31ff\uff66-\uff9d]+")
_HAN = lazy.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_WORDS: dict[Language, re.Pattern[str]] = {
    "latin": lazy.compile("[A-Za-z\u00c0-\u024f]+"),
    "ko": lazy.compile("[\uac00-\ud7a3]+"),
    "cyrillic": lazy.compile("[\u0400-\u04ff]+"),
    "arabic": lazy.compile("[\u0600-\u06ff]+"),
    "thai": lazy.compile("[\u0e00-\u0e7f]{1,4}"),
    "devanagari": lazy.compile("[\u0900-\u097f]+"),
}
# The words by which languages in Latin script are told apart. One that several share counts for each of them.
_COMMON_WORDS = {
    "en": "the and of to that with is are was has have for from they this their he she not it by in on at i my you",
    "fr": "le la les des est et une un dans pour avec sur qui pas du au aux il elle sont de à en je vous son sa",
    "de": "der die das und ist ein eine einen mit nicht für von zu den dem im auf sich sie er hat wird in ich",
    "es": "el la los las es y una un en para con por que no del al su se tiene está de yo lo",
    "it": "il lo la gli le è e una un in per con che non del della al si ha sono di i nel",
    "pt": "o a os as é e uma um em para com por que não do da no na se tem está de ele ela",
    "nl": "de het een en is van met niet voor op dat zijn heeft in te naar hij zij ik aan",
}
_COMMON = {tongue: frozenset(words.split()) for tongue, words in _COMMON_WORDS.items()}
_FEWEST = 4  # common words; fewer tell nothing
_CLEARLY = 2  # times as many as of any language of the source
_LOOKED_AT = 4_000
_SIGNS_PER_WORD = 1.6  # of Chinese, so that mixed texts are weighed by words
_SPOKEN = 0.2


def shares(text: str) -> dict[Language, float]:
    """The share of each language in the words of ``text``, largest first; empty for a text without words.

    Code, URLs and addresses are left out. Of a long text the first and last 4,000 characters are read.
    """
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    prose = _ASIDE.sub(" ", text)
    weights: dict[Language, float] = {name: len(words.findall(prose)) for name, words in _WORDS.items()}
    kana, han = (sum(map(len, signs.findall(prose))) for signs in (_KANA, _HAN))
    weights["ja" if kana > 0.1 * han else "zh"] = (han + kana) / _SIGNS_PER_WORD
    total = sum(weights.values())
    ordered = sorted(weights.items(), key=lambda item: -item[1])
    return {name: weight / total for name, weight in ordered if weight}


def language(text: str) -> Language | None:
    """The language with the largest share in ``text``, or None where there are no words."""
    return next(iter(shares(text)), None)


def fits(summary: str, source: str) -> bool:
    """Whether ``summary`` is in a language of at least a fifth of ``source``, or has no words.

    Languages in Latin script are told apart only where both texts show clearly what they are in.
    """
    spoken = {name for name, share in shares(source).items() if share >= _SPOKEN}
    written = language(summary)
    if written is None or not spoken:
        return True
    return written in spoken and (written != "latin" or _same_tongue(summary, source))


def _same_tongue(summary: str, source: str) -> bool:
    there, here = _common(source), _common(summary)
    most = max(there.values())
    if most < _FEWEST:
        return True
    spoken = max(here[tongue] for tongue, hits in there.items() if hits >= most / 2)
    return max(here.values()) < max(_FEWEST, _CLEARLY * spoken)


def _common(text: str) -> dict[str, int]:
    """How many of the commonest words of each language ``text`` uses; names (Los Angeles) are no words of it."""
    found = set(_WORDS["latin"].findall(_ASIDE.sub(" ", text[: 2 * _LOOKED_AT])))
    return {tongue: len(words & found) for tongue, words in _COMMON.items()}
