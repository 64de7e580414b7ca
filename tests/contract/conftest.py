"""One suite for every store: a new kind of store joins by one more entry in ``OPENERS``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.scene import ALICE, open_session
from wellkept.policy.tokens import estimate
from wellkept.store.flash import FlashStore
from wellkept.store.protocol import SessionRef, Store
from wellkept.store.sqlite import SqliteStore
from wellkept.store.sqlite.tally import tally

OPENERS: dict[str, Callable[[Path], Store]] = {
    "sqlite file": lambda folder: SqliteStore(str(folder / "chat.db")),
    "sqlite memory": lambda folder: SqliteStore(":memory:"),
    "flash": lambda folder: FlashStore(f"flash:{folder}/device", tally=tally(estimate)),
}


@pytest.fixture(params=list(OPENERS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = OPENERS[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def ref(store: Store) -> SessionRef:
    """A session of Alice's."""
    return open_session(store, ALICE, "s1")
