"""What was found out of a text, remembered in a bounded memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")


def remembered(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """As ``functools.lru_cache`` for a function of a text, but ``most`` characters are kept, however few texts that are.

    For functions that always give the same; what they give is shared by threads and not to be changed.
    """

    def decorate(work: Callable[[str], T]) -> Callable[[str], T]:
        kept: OrderedDict[str, T] = OrderedDict()
        lock = threading.Lock()
        size = 0

        @wraps(work)
        def remember(text: str) -> T:
            nonlocal size
            with lock:
                if text in kept:
                    kept.move_to_end(text)
                    return kept[text]
            value = work(text)
            with lock:
                size += 0 if text in kept else len(text)
                kept[text] = value
                while size > most:
                    size -= len(kept.popitem(last=False)[0])
            return value

        return remember

    return decorate
