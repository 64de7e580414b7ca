"""Ids made in Python: unique without a central counter, and sortable by the time they were made."""

from __future__ import annotations

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


def new_id(prefix: str = "") -> str:
    """A fresh id of 26 characters (48 bits of milliseconds, 80 random bits, as a ULID has), after
    ``prefix_``."""
    number = (int(time.time() * 1000) << 80) | int.from_bytes(os.urandom(10), "big")
    text = "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
    return f"{prefix}_{text}" if prefix else text
