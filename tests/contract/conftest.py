"""One suite for every store: a new kind of store joins by one more entry in ``OPENERS``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wellkept.policy.content import dumps
from wellkept.policy.words import index_tokens
from wellkept.records import Content, Role, Scope, text_of
from wellkept.store.protocol import NewEvent, SessionRef, Store
from wellkept.store.sqlite import SqliteStore

ALICE = Scope("acme", "alice")
BOB = Scope("acme", "bob")
TWIN = Scope("umbrella", "alice")

OPENERS: dict[str, Callable[[Path], Store]] = {
    "sqlite file": lambda folder: SqliteStore(str(folder / "chat.db")),
    "sqlite memory": lambda folder: SqliteStore(":memory:"),
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


def open_session(store: Store, scope: Scope, id: str, *, at: int = 1_000) -> SessionRef:
    return store.write(
        lambda tables: tables.sessions.create(scope, id, title=f"title of {id}", metadata={}, at=at)
    )


def said(
    content: Content = "hello 你好",
    *,
    role: Role = "user",
    ts: int = 1_000,
    tokens: int = 5,
    key: str | None = None,
) -> NewEvent:
    return NewEvent(
        role=role,
        content=content,
        stored=dumps(content),
        ts=ts,
        tokens=tokens,
        idempotency_key=key,
        terms=index_tokens(text_of(content)),
    )
