"""The panel's own words, one catalogue a language, and which of them a visitor reads."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = {"en": "English", "zh": "中文"}
DEFAULT = "en"


class Words:
    """The catalogue of one language: ``words("sessions.title")``, ``words("jobs.attempts", n=3)``."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.texts = _catalogue(language)

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text for a key, with the values put in. Raises KeyError for a key that is in no catalogue."""
        return self.texts[key].format(**values)

    def named(self, group: str, name: str) -> str:
        """The text for a name that the library gives (a state, a tier, an action); the name where there is none."""
        return self.texts.get(f"{group}.{name}", name)

    def reason(self, said: str) -> str:
        """A reason of the library in this language; as it was said where it is not known."""
        for key, start in REASONS.items():
            if said.startswith(start):
                return self(key, rest=said[len(start) :].strip())
        return said


REASONS = {
    "reason.fits": "fits",
    "reason.cut_share": "cut to its share",
    "reason.cut_turn": "the newest turn, cut to fit",
    "reason.over_share": "over its share of the budget",
    "reason.older": "older than the window's room",
    "reason.gave_way": "gave way to the conversation",
    "reason.same": "says the same as",
    "reason.limit": "over the limit of",
    "reason.no_word": "shares no word",
    "reason.weak": "relevance",
}


@cache
def _catalogue(language: str) -> dict[str, str]:
    text = (files(__package__) / "words" / f"{language}.json").read_text("utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def choose(wanted: str | None, accepted: str) -> str:
    """The language to speak: ``wanted`` where it is one, else the first known one of an Accept-Language header."""
    if wanted in LANGUAGES:
        return wanted
    ranked = sorted(map(_weighed, accepted.split(",")), key=lambda pair: -pair[1])
    return next((language for language, weight in ranked if language in LANGUAGES and weight > 0), DEFAULT)


def _weighed(part: str) -> tuple[str, float]:
    name, _, weight = part.partition(";q=")
    try:
        return name.strip().lower().partition("-")[0], float(weight or 1)
    except ValueError:
        return "", 0.0
