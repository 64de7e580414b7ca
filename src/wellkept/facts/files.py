"""The files that people read: the facts of a user as Markdown, and the log of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from wellkept.policy.facts.evict import worth
from wellkept.store.facts import Change, Fact


def day(moment: datetime, zone: ZoneInfo) -> str:
    """The date in the users' zone."""
    return moment.astimezone(zone).date().isoformat()


def memory_md(facts: Sequence[Fact], zone: ZoneInfo) -> str:
    """Active facts as Markdown, the most used and latest first, with labels, date and uses."""
    lines = ["# Memory", ""]
    for fact in sorted(facts, key=lambda fact: (-worth(fact), fact.key)):
        labels = f" [{', '.join(fact.labels)}]" if fact.labels else ""
        pin = ", pinned" if fact.pinned else ""
        lines.append(f"- {fact.text}{labels} ({day(fact.changed_at, zone)}, used {fact.uses} times{pin})")
    return "\n".join([*lines, ""])


def digest_log(changes: Sequence[Change], zone: ZoneInfo) -> str:
    """The log of changes as text, a line each: when, who, what, which, and the statement."""
    lines = []
    for change in changes:
        fact = change.after or change.before
        when = change.at.astimezone(zone).isoformat(timespec="seconds")
        lines.append(
            f"{when} {change.actor} {change.action} {change.fact_id} {fact.text if fact else '(erased)'}"
        )
    return "\n".join([*lines, ""])
