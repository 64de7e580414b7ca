"""What is done by hand stands in a log: each verb once, with its actor, and nobody's words."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from wellkept import Memory, Policy
from wellkept.errors import Conflict, InvalidInput, NotFound
from wellkept.store.sqlite import schema
from wellkept.store.sqlite.connection import Connections
from wellkept.testing import FakeModel
from wellkept.user import UserMemory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    policy = Policy(recent_window_size=1, summarize_every=2)
    with Memory(str(path), worker=False, policy=policy, model=FakeModel("no")) as opened:
        yield opened


@pytest.fixture
def alice(memory: Memory) -> UserMemory:
    return memory.user("alice", namespace="acme")


def done(user: UserMemory) -> list[tuple[str, str, str | None]]:
    return [(each.action, each.actor, each.subject) for each in reversed(user.actions())]


def test_each_verb_leaves_one_line(memory: Memory, alice: UserMemory) -> None:
    chat = memory.session(namespace="acme", user="alice", session_id="trip", create=True)
    for number in range(6):
        chat.add_message("user", f"Message {number}")
    chat.rename("The trip", actor="user")
    alice.profile.set("user", "Likes tea", actor="tool")
    alice.profile["user"] = "Likes tea"  # is there already
    chat.rebuild_summaries(actor="user")
    job = next(job.id for job in memory.jobs.list() if job.state == "ready")
    memory.jobs.cancel(job, actor="user")
    memory.jobs.retry(job)
    alice.add("Likes tea", infer=False)
    alice.forget(alice.forget("tea"), actor="user")
    assert done(alice) == [
        ("rename_session", "user", "trip"), ("write_profile", "tool", "user"), ("rebuild_summaries", "user", "trip"),
        ("cancel_job", "user", str(job)), ("retry_job", "app", str(job)), ("forget", "user", None),
    ]  # fmt: skip
    assert memory.user("bob", namespace="acme").actions() == []
    assert memory.user("alice", namespace="other").actions() == []


@pytest.mark.parametrize("accept, action", [(True, "accept_doubt"), (False, "refuse_doubt")])
def test_a_decision_is_logged_whichever_it_is(
    memory: Memory, alice: UserMemory, accept: bool, action: str
) -> None:
    old, new = (alice.add(text, infer=False)["results"][0]["id"] for text in ("Drinks tea", "Drinks coffee"))
    store = memory._core.store
    store.write(lambda tables: tables.doubts.add(alice.scope, "replace", facts=(new, old), at=1))
    [doubt] = alice.review()
    alice.settle(doubt.id, accept=accept, actor="user")
    assert done(alice) == [(action, "user", str(doubt.id))]


def test_what_fails_is_not_logged(memory: Memory, alice: UserMemory) -> None:
    chat = memory.session(namespace="acme", user="alice")
    with pytest.raises(InvalidInput, match="actor"):
        chat.rename("x", actor="somebody")  # type: ignore[arg-type]
    with pytest.raises(Conflict):
        alice.profile.set("user", "x", if_hash="of another")
    chat.delete()
    with pytest.raises(NotFound):
        chat.rename("x")
    with pytest.raises(NotFound):
        chat.rebuild_summaries()
    assert done(alice) == [("delete_session", "app", None)]


def test_a_session_that_is_deleted_leaves_no_word_of_its_id(
    memory: Memory, alice: UserMemory, path: Path
) -> None:
    chat = memory.session(namespace="acme", user="alice", session_id="about-marzipan", create=True)
    chat.add_message("user", "Marzipan it is")
    chat.rename("On marzipan")
    chat.delete(actor="user")
    assert done(alice) == [("rename_session", "app", None), ("delete_session", "user", None)]
    memory.close()
    files = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"marzipan" not in files.lower()


def test_words_of_the_log_itself_are_not_taken_for_what_was_forgotten(alice: UserMemory) -> None:
    alice.profile["soul"] = "calm"
    alice.add("Plays soul records of the user group", infer=False)
    assert "actions" not in alice.forget(alice.forget("soul")).left


def test_a_file_of_an_older_version_gets_the_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = itertools.takewhile(lambda migration: migration[0] != "actions", schema.MIGRATIONS)
    with monkeypatch.context() as then:
        then.setattr(schema, "MIGRATIONS", list(before))
        connections = Connections(str(path))
        schema.prepare(connections)
        connections.close()
    with Memory(str(path), worker=False) as memory:
        memory.session(namespace="acme", user="alice").rename("x")
        assert len(memory.user("alice", namespace="acme").actions()) == 1
        assert memory.doctor().findings == ()
