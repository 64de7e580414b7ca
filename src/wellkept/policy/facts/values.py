"""Does a number or day of a claim belong to the words that the claim gives it to? "Two cats and three dogs" are no
three cats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from wellkept.policy.facts.plainwords import FRAME
from wellkept.policy.facts.spoken import stem
from wellkept.policy.text import dates, days, numbers
from wellkept_flash import words


def blank(text: str, mark: str = " , ") -> str:
    """``text`` without its dates and times, with ``mark`` in their places."""
    for phrase in reversed(list(dates.phrases(text))):
        text = f"{text[: phrase.start]}{mark}{text[phrase.end :]}"
    return text


def whole_dates(text: str) -> str:
    """``text`` without commas inside its dates, so that clauses do not part them."""
    for phrase in reversed(list(dates.phrases(text))):
        date = text[phrase.start : phrase.end].replace(",", " ").replace("，", " ")
        text = f"{text[: phrase.start]}{date}{text[phrase.end :]}"
    return text


def without_units(text: str, quote: str) -> str:
    """``text`` without the units that ``quote`` gives to the same numbers in another way, or that go without saying
    (月薪两万五)."""
    known = {(item.value, item.unit) for item in numbers.find(quote)}
    for item in reversed(list(numbers.find(text))):
        if item.unit and (
            (item.value, item.unit) in known or (item.unit == "CNY" and (item.value, "") in known)
        ):
            text = f"{text[: item.start]}{item.value} {text[item.end :]}"
    return text


def misplaced(text: str, run: Sequence[str], sentence: str, at: datetime, zone: str) -> str | None:
    """Why the clauses ``run`` of ``sentence``, which hold the words of the claim ``text``, do not give it its numbers
    and days; None when they do, or hold no others and the sentence does."""
    together = " , ".join(run)
    here, there = _days(together, at, zone), _days(sentence, at, zone)
    for day in _days(text, at, zone):
        if day in there and day not in here and here:
            return f"the date {day.strip('-')!r} is said of something else"
    near, far = _numbers(together), _numbers(sentence)
    for number in _numbers(text):
        if number not in far or (number not in near and near):
            return f"the number {number!r} is said of something else"
    return _swapped(text, together)


@lru_cache(maxsize=256)
def _days(text: str, at: datetime, zone: str) -> frozenset[str]:
    """The days of ``text``, without their years: a claim may leave them out or add them."""
    return frozenset((each.day or each.phrase.date)[-6:] for each in days.find(text, at, zone))


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(item.value for item in numbers.find(blank(text)) if not item.article)


def _swapped(text: str, together: str) -> str | None:
    """The number that the claim gives to a word beside which another one is said."""
    said, told = _beside(together), _beside(text)
    for word, value in told - said:
        given = {other for beside, other in said if beside == word}
        if given and any(other == value for _, other in said):
            return f"the number {value!r} is said of something else than {word.lstrip('<>')!r}"
    return None


def _beside(text: str) -> set[tuple[str, str]]:
    """The numbers of ``text``, each with the word that is counted (``>``), or else with the one before it (``<``)."""
    text = blank(text)
    found = set()
    last = 0
    items = list(numbers.find(text))
    for at, item in enumerate(items):
        until = items[at + 1].start if at + 1 < len(items) else len(text)
        counted = _words(text[item.end : until])[:1]
        if counted and not item.unit:
            found.add((f">{counted[0]}", item.value))
        if before := _words(text[last : item.start]):
            found.add((f"<{before[-1]}", item.value))
        last = item.end
    return found


def _words(text: str) -> list[str]:
    tokens = (
        token for token in words.tokens(text) if token.kind == words.WORD and not words.is_subject(token)
    )
    return [each for each in (stem(token.text) for token in tokens) if each not in FRAME]
