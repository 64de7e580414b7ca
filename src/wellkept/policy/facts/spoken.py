"""The words of statements, brought to one form, so that those of a claim can be found in a message."""

from __future__ import annotations

from wellkept.policy.facts.plainwords import FRAME, SAID_BY
from wellkept.policy.text.words import index_tokens
from wellkept_flash import rules, words


def content(text: str) -> list[str]:
    """The stems of ``text`` that claim something by themselves."""
    statement = rules.Statement(text)
    kept = [
        token.text for token in statement.core if token.kind == words.WORD and not words.is_subject(token)
    ]
    return [each for each in map(stem, kept) if each not in FRAME]


def stems(text: str) -> list[str]:
    """The stems of all words of ``text`` that are more than filler."""
    return [stem(token.text) for token in words.tokens(text) if token.kind != words.SKIP]


def stem(word: str) -> str:
    """``word``, as a token gives it, without its ending."""
    if words.is_han(word[0]) or not word.isascii():
        return word
    found = index_tokens("go" if word == "goes" else word)
    return found[0] if found else word


def is_said(wanted: str, spoken: set[str]) -> bool:
    """Whether one of the stems ``spoken`` says ``wanted``, as it is or in one of the words that count for it."""
    if wanted in spoken:
        return True
    return any(
        other == told or (len(told) > 3 and other.startswith(told))
        for told in SAID_BY.get(wanted, ())
        for other in spoken
    )
