"""Keys of the service, logins and kept answers, as the library gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wellkept import Conflict, InvalidInput, Memory, NotFound
from wellkept.records import Scope
from wellkept.testing import FakeClock

ALICE = Scope("acme", "alice")


def test_a_secret_opens_its_key_and_is_nowhere_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with Memory(str(path), worker=False) as memory:
        key, secret = memory.keys.create(namespace="acme", role="reader", user="alice", label="phone")
        assert memory.keys.find(secret) == key
        assert memory.keys.find(secret + "x") is None
        assert len(secret) >= 43
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in held


def test_a_revoked_key_opens_nothing_and_leaves_the_door_shut() -> None:
    with Memory(":memory:", worker=False) as memory:
        key, secret = memory.keys.create(namespace="acme")
        memory.keys.revoke(key.id)
        assert memory.keys.find(secret) is None
        assert memory.keys.any()
        with pytest.raises(NotFound, match="wellkept keys list"):
            memory.keys.revoke(key.id)


def test_a_login_lasts_half_a_day_and_its_token_is_nowhere_in_the_file(tmp_path: Path) -> None:
    path, clock = tmp_path / "chat.db", FakeClock()
    with Memory(str(path), worker=False, clock=clock) as memory:
        key, secret = memory.keys.create(namespace="acme")
        token = memory.keys.log_in(secret)
        assert token is not None
        assert memory.keys.log_in(secret + "x") is None
        assert [memory.keys.logged_in(it) for it in (token, token + "x", secret)] == [key, None, None]
        clock.advance(hours=11, minutes=59)
        assert memory.keys.logged_in(token) == key
        clock.advance(minutes=1)
        assert memory.keys.logged_in(token) is None
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert token.encode() not in held


def test_a_key_has_so_many_logins_and_the_oldest_end() -> None:
    clock = FakeClock()
    with Memory(":memory:", worker=False, clock=clock) as memory:
        key, secret = memory.keys.create(namespace="acme")
        tokens = []
        for _ in range(101):
            tokens.append(memory.keys.log_in(secret) or "")
            clock.advance(seconds=1)
        assert [memory.keys.logged_in(token) for token in tokens] == [None, *[key] * 100]


@pytest.mark.parametrize(
    "wrong", [{"role": "root"}, {"namespace": ""}, {"user": "a\nb"}, {"label": "\ud800"}]
)
def test_a_key_of_nonsense_is_refused(wrong: dict[str, str]) -> None:
    with Memory(":memory:", worker=False) as memory, pytest.raises(InvalidInput):
        memory.keys.create(**{"namespace": "acme", **wrong})  # type: ignore[arg-type]


def test_a_request_that_comes_twice_is_done_once() -> None:
    with Memory(":memory:", worker=False) as memory:

        def work() -> tuple[int, bytes]:
            return 201, memory.session(namespace="acme", user="alice").id.encode()

        first = memory.replies.once(ALICE, "k", b"begin", work)
        assert memory.replies.once(ALICE, "k", b"begin", work) == (first[0], True)
        assert first[1] is False
        assert memory.replies.find(ALICE, "k", b"begin") == first[0]
        with pytest.raises(Conflict, match="another request"):
            memory.replies.once(ALICE, "k", b"begin another", work)
        assert len(memory.user("alice", namespace="acme").sessions()) == 1


def test_what_was_done_and_its_answer_are_there_together_or_not_at_all() -> None:
    with Memory(":memory:", worker=False) as memory:

        def work() -> tuple[int, bytes]:
            memory.session(namespace="acme", user="alice")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.replies.once(ALICE, "k", b"begin", work)
        assert memory.replies.find(ALICE, "k", b"begin") is None
        assert memory.user("alice", namespace="acme").sessions() == []
        assert memory.replies.once(ALICE, "k", b"begin", lambda: (201, b"")) == ((201, b""), False)


def test_an_answer_is_kept_for_a_day() -> None:
    clock = FakeClock()
    with Memory(":memory:", worker=False, clock=clock) as memory:
        memory.replies.keep(ALICE, "k", b"ask", (200, b"one"))
        clock.advance(hours=24)
        assert memory.replies.find(ALICE, "k", b"ask") == (200, b"one")
        clock.advance(seconds=1)
        assert memory.replies.find(ALICE, "k", b"ask") is None
