"""Ids made in Python: unique without a central counter, and sortable by the time they were made."""

from __future__ import annotations

import os
import time

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


def is_number(id: str) -> bool:
    """Whether ``id`` has the form of those that stand for a number of the store: 12 digits of base 32."""
    return isinstance(id, str) and len(id) == 12 and set(id) <= set(DIGITS)


def new_id(prefix: str = "") -> str:
    """A fresh id of 26 characters (48 bits of milliseconds, 80 random bits, as a ULID has), after
    ``prefix_``."""
    number = (int(time.time() * 1000) << 80) | int.from_bytes(os.urandom(10), "big")
    text = "".join(DIGITS[(number >> shift) & 31] for shift in range(125, -1, -5))
    return f"{prefix}_{text}" if prefix else text
