"""A conversation that ships with the package, to try things on; ``README.md`` says what is in it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path() -> Path:
    """The sample conversation, an export in the format ``wellkept``: 63 turns over nine days in June 2026."""
    return Path(str(files(__name__) / "conversation.jsonl"))


def facts() -> Path:
    """Facts that were taken from the conversation, with their sources, in the same format."""
    return Path(str(files(__name__) / "facts.jsonl"))
