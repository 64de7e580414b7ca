"""How an event's row key is made: ``session << SEQ_BITS | seq``."""

from __future__ import annotations

SEQ_BITS = 24
MAX_SEQ = (1 << SEQ_BITS) - 1
