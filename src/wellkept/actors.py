"""Who may be said to have done something."""

from __future__ import annotations

from typing import get_args

from wellkept.errors import InvalidInput
from wellkept.store.facts import Actor


def check_actor(actor: Actor) -> Actor:
    """``actor``, if it is one. Raises InvalidInput."""
    if actor not in get_args(Actor):
        raise InvalidInput(f"The actor is {actor!r}; it must be one of: {', '.join(get_args(Actor))}.")
    return actor
