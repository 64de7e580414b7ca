"""Dates and times in digits, the same in every language."""

from __future__ import annotations

from wellkept.policy.text.datewords.rules import Match, Rules, clock, day_of

rules = Rules()


@rules.add(
    "-|/|.",
    r"(?<![\d.\-/])(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?!\d|[-/]\d)",
)
def _year_first(match: Match) -> str | None:
    return day_of(match["year"], match["month"], match["day"])


@rules.add("-", r"(?<![\d.\-/])(?P<year>(?:19|20)\d\d)-(?P<month>0\d|1[0-2])(?![\d-])")
def _year_and_month(match: Match) -> str | None:
    return day_of(match["year"], match["month"])


@rules.add(
    "/|-|.",
    r"(?<![\d.\-/])(?P<one>\d{1,2})([-/.])(?P<other>\d{1,2})\2(?P<year>(?:19|20)\d\d)(?!\d|[-/.]\d)",
)
def _year_last(match: Match) -> str | None:
    one, other = match["one"], match["other"]
    return day_of(match["year"], one, other) or day_of(match["year"], other, one)


@rules.add(
    "/",
    r"""(?P<lead>\b(?i:on|by|before|after|since|until|from|due|to)\s)?
    (?<![\d.\-/$])(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/%]|\.\d)""",
)
def _month_and_day(match: Match) -> str | None:
    fraction = int(match["month"]) < int(match["day"]) <= 10
    return None if fraction and not match["lead"] else day_of(None, match["month"], match["day"])


@rules.add(
    ":",
    r"""(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d:])
    (?:\s?(?P<pm>[apAP])\.?[mM]\b\.?)?(?P<zone>Z\b|[+-]\d\d:?\d\d\b)?""",
    "clock",
)
def _clock(match: Match) -> str | None:
    sure = match["hour"].startswith("0")
    value = clock(int(match["hour"]), int(match["minute"]), pm=match["pm"] or "", sure=sure)
    return value and value + (match["zone"] or "")
