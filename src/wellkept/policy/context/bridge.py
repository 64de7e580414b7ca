"""The bridge: what has left the window and no summary covers yet, shortened on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from wellkept.policy.context.assemble import Count, Item, Section, fence, name_of
from wellkept.records import Event, text_of

# What reads dates and numbers is imported when something has left the window.
if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from wellkept.policy.summaries.digest import Entry

TITLE = "earlier messages of this conversation, shortened"
MOST_READ = 20_000
"""So many characters of a message are read for a summary. What is longer was pasted: it can be searched, and is too long
for a context."""

_Said: TypeAlias = tuple[int, str, str, datetime]


def bridge(
    events: Sequence[Event], *, room: int, share: float, zone: ZoneInfo, count: Count
) -> list[Section]:
    """The section that stands for ``events`` (oldest first) inside ``share`` of ``room``; none where there is nothing to say."""
    if not events:
        return []
    attributes = {"source": TITLE, "events": f"{events[0].seq}-{events[-1].seq}"}
    limit = int(room * share) - count(fence("bridge", "", attributes)) - 1
    text = _digested(tuple([_said(event) for event in events]), limit, zone, count)
    if not text:
        return []
    return [
        Section(
            tier="bridge",
            items=[Item("bridge", text)],
            share=share,
            stable=False,
            clip=True,
            attributes=attributes,
        )
    ]


def entry(event: Event, zone: ZoneInfo) -> Entry:
    """An event as the summarisers read it: who, when (in the users' zone) and what."""
    return _entry(_said(event), zone)


def _said(event: Event) -> _Said:
    return event.seq, name_of(event.speaker, event.role), text_of(event.content)[:MOST_READ], event.ts


def _entry(said: _Said, zone: ZoneInfo) -> Entry:
    from wellkept.policy.summaries.digest import Entry

    seq, speaker, text, ts = said
    return Entry(seq, speaker, text, ts.astimezone(zone).date().isoformat())


@lru_cache(maxsize=32)
def _digested(said: tuple[_Said, ...], limit: int, zone: ZoneInfo, count: Count) -> str:
    """The digest, kept because the same events stand behind a window that does not move for many turns."""
    from wellkept.policy.summaries.digest import shortened

    return shortened([_entry(each, zone) for each in said], limit, count) if limit > 0 else ""
