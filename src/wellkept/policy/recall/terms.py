"""What the text index holds of an event."""

from __future__ import annotations

from wellkept.policy.text.words import index_tokens
from wellkept.records import Content, text_of


def event_terms(content: Content, speaker: str | None) -> list[str]:
    """Index terms of a message, each as often as it occurs: of its text and of who said it."""
    text = text_of(content)
    return index_tokens(text if speaker is None else f"{speaker} {text}")
