"""What was said in some messages, to be asked whether it bears out the numbers and dates of a note on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from wellkept.policy.summaries.digest import Entry
from wellkept.policy.text import days, lazy
from wellkept.policy.text.dates import parse
from wellkept.policy.text.keydata import HARD, KeyDatum, extract, teller

_DAY = lazy.compile(r"(?:(\d{4})|-)(?:-(\d\d))?(?:-(\d\d))?")
_CURRENCY = lazy.compile(r"[A-Z]{3}")


class Heard:
    """The key data of ``entries``; days that they name relatively ("tomorrow") are also the days that are meant."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.text = "\n".join(f"[{entry.date}] {entry.speaker}: {entry.text}" for entry in entries)
        self._says = teller(self.text)
        self._units: dict[str, set[str]] = {}
        self._parts: set[tuple[int, str]] = set()
        for item in extract(self.text):
            if item.kind in ("number", "amount"):
                number, _, unit = item.value.partition(" ")
                self._units.setdefault(number, set()).add(unit)
            elif item.kind == "date":
                self._know([item.value])
        for entry in entries:
            at = parse(entry.date, "UTC") if entry.date else None
            self._know(days.known(entry.text, at, "UTC") if at else ())

    def _know(self, values: Iterable[str]) -> None:
        self._parts |= {part for value in values for day in value.split("/") for part in _parts(day)}

    def strange(self, note: str) -> KeyDatum | None:
        """The first hard datum or id of ``note`` that was not said; None when all was."""
        asked = (item for item in extract(note) if item.kind == "id" or item.kind in HARD)
        return next((item for item in asked if not self._says(item) and not self._has(item)), None)

    def _has(self, item: KeyDatum) -> bool:
        if item.kind == "date":
            return self._parts.issuperset(_parts(item.value))
        if item.kind == "time":
            return not re.search(r"\d", item.value)  # 晚上
        return item.kind != "id" and self._counts(item)

    def _counts(self, item: KeyDatum) -> bool:
        """Whether the number was said, with whatever it counts; of money the currency must be the same."""
        number, _, unit = item.value.partition(" ")
        units = self._units.get(number)
        if units is not None:
            return not (_CURRENCY.fullmatch(unit) and any(map(_CURRENCY.fullmatch, units)))
        digits = item.text.strip("".join(set(item.text) - set("0123456789")))
        return bool(digits) and re.search(rf"(?<!\d){re.escape(digits)}(?!\d)", self.text) is not None


def _parts(value: str) -> set[tuple[int, str]]:
    """Year, month and day of a date, each by itself: "12 June" is said by "8 to 12 June". A relative one has none."""
    if value.startswith("---"):
        return {(3, value[3:5])}
    found = _DAY.fullmatch(value)
    return {(place, part) for place, part in enumerate(found.groups(), 1) if part} if found else set()
