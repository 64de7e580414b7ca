"""One suite for every store: a new kind of store joins by one more entry in ``OPENERS``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from tests.contract.scene import ALICE, open_session
from wellkept.policy.text.tokens import estimate
from wellkept.store.flash import FlashStore, FlashTables
from wellkept.store.protocol import SessionRef, Store
from wellkept.store.sqlite import SqliteStore
from wellkept.store.sqlite.tally import tally

T = TypeVar("T")


class Reopened:
    """A device's directory that is opened for each call and closed after it: all that is known lies in its files."""

    def __init__(self, location: str) -> None:
        self.location = location

    def read(self, work: Callable[[FlashTables], T]) -> T:
        with closing(self._open()) as store:
            return store.read(work)

    def write(self, work: Callable[[FlashTables], T]) -> T:
        with closing(self._open()) as store:
            return store.write(work)

    def scrub(self, texts: Sequence[str]) -> int:
        with closing(self._open()) as store:
            return store.scrub(texts)

    def empty_log(self) -> bool:
        with closing(self._open()) as store:
            return store.empty_log()

    def _open(self) -> FlashStore:
        return FlashStore(self.location, tally=tally(estimate))

    def close(self) -> None:
        """It is closed."""


OPENERS: dict[str, Callable[[Path], Store]] = {
    "sqlite file": lambda folder: SqliteStore(str(folder / "chat.db")),
    "sqlite memory": lambda folder: SqliteStore(":memory:"),
    "flash": lambda folder: FlashStore(f"flash:{folder}/device", tally=tally(estimate)),
    "flash reopened": lambda folder: Reopened(f"flash:{folder}/device"),
}


@pytest.fixture(params=list(OPENERS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "flash reopened" and request.module.__name__.endswith("test_transactions"):
        pytest.skip("it is open for one call at a time")
    opened = OPENERS[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def ref(store: Store) -> SessionRef:
    """A session of Alice's."""
    return open_session(store, ALICE, "s1")
