"""What the text index holds of an event."""

from __future__ import annotations

from wellkept.policy.text.words import index_tokens
from wellkept.records import Content, text_of

HEAVY = 4_000
"""Characters of a message, as it is stored, from which on neither a search nor a transaction should have to read it."""


def event_terms(content: Content, speaker: str | None) -> list[str]:
    """Index terms of a message, each as often as it occurs: of its text and of who said it."""
    text = text_of(content)
    return index_tokens(text if speaker is None else f"{speaker} {text}")


def terms_ahead(content: Content, stored: str, speaker: str | None) -> list[str] | None:
    """The terms of a heavy message, for whoever appends it; None for all others."""
    return event_terms(content, speaker) if len(stored) > HEAVY else None
