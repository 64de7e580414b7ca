"""What the contract tests share: two users of one name, sessions and events in short."""

from __future__ import annotations

from wellkept.policy.content import dumps
from wellkept.records import Content, Role, Scope
from wellkept.store.events import NewEvent
from wellkept.store.protocol import SessionRef, Store

ALICE = Scope("acme", "alice")
BOB = Scope("acme", "bob")
TWIN = Scope("umbrella", "alice")


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
    )
