"""A program that forgets a word and, when its rows are gone, says so and waits to be killed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from wellkept import Memory
from wellkept.store.sqlite import SqliteStore


def wait(_: SqliteStore, texts: Sequence[str] | None) -> int:
    print("rows are gone", flush=True)
    time.sleep(600)
    raise AssertionError("nobody killed this process")


def main(path: str, word: str) -> None:
    with Memory(path, worker=False) as memory:
        alice = memory.user("alice", namespace="acme")
        SqliteStore.scrub = wait  # type: ignore[method-assign]
        alice.forget(alice.forget(word))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
