"""The newest messages are in no text index yet, and nobody notices: they are found, taken away and looked over as others."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept import Memory
from wellkept.policy.text import words
from wellkept.recall import Result
from wellkept.store.sqlite import tail
from wellkept.store.sqlite.maintenance import doctor
from wellkept.testing import FakeClock

NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)
WORDS = ["cats and dogs", "我家的猫爱吃鱼", "the budget is 12,500", "猫", "…", "Paris in May 🎉", "dogs"]
STEPS = st.tuples(
    st.sampled_from(["say", "say", "say", "pop", "delete", "forget", "search"]),
    st.integers(0, 2),
    st.sampled_from(WORDS),
)


def erase(memory: Memory, what: str) -> int:
    """How many messages went."""
    user = memory.user("ann", namespace="n")
    preview = user.forget(what)
    return user.forget(preview).removed.get("events", 0) if preview.reason is None else 0


def outcomes(steps: list[tuple[str, int, str]]) -> list[list[Result]]:
    """What the searches among ``steps``, and one for each word after them, find."""
    found = []
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "a.db")
        with Memory(path, worker=False, clock=FakeClock(NOW)) as memory:
            user = memory.user("ann", namespace="n")
            for kind, number, text in [*steps, *(("search", 0, text) for text in WORDS)]:
                chat = memory.session(namespace="n", user="ann", session_id=f"s{number}", create=True)
                if kind == "say":
                    chat.add_message("user", text, speaker="Ann" if number else None)
                elif kind == "pop":
                    chat.pop_turn()
                elif kind == "delete":
                    chat.delete()
                elif kind == "forget":
                    erase(memory, text)
                else:
                    found.append(user.search(text, now=NOW, explain=True))
                    found.append(user.search(text, now=NOW, filters={"role": "user"}, explain=True))
        assert doctor(path).findings == ()
    return found


@settings(max_examples=20, deadline=None)
@given(st.lists(STEPS, max_size=16))
def test_a_search_finds_the_same_whatever_is_indexed(steps: list[tuple[str, int, str]]) -> None:
    with patch.object(tail, "LONGEST", 10_000):
        unindexed = outcomes(steps)
    with patch.object(tail, "LONGEST", 3), patch.object(tail, "LOOK_EVERY", 2):
        partly = outcomes(steps)
    with patch.object(tail, "LONGEST", 1), patch.object(tail, "is_due", lambda *_: True):
        indexed = outcomes(steps)
    assert unindexed == indexed == partly


def waiting(path: Path) -> int:
    connection = apsw.Connection(str(path))
    count = connection.execute("SELECT count(*) FROM events WHERE terms < 0").get
    connection.close()
    return int(count)


def test_the_tail_stays_short_in_one_session_and_in_many(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(namespace="n", user="one")
        for number in range(100):
            chat.add_message("user", f"number {number}")
        assert waiting(path) < tail.LONGEST + tail.LOOK_EVERY
        for number in range(100):
            memory.session(namespace="n", user="many").add_message("user", f"number {number}")
        assert waiting(path) < 2 * (tail.LONGEST + tail.LOOK_EVERY)
        memory.session(namespace="n", user="bulk").add_messages(
            [{"role": "user", "content": f"number {number}"} for number in range(100)]
        )
        assert waiting(path) < 2 * (tail.LONGEST + tail.LOOK_EVERY)
    assert doctor(str(path)).findings == ()


def test_a_message_that_is_long_to_read_is_indexed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(namespace="n", user="ann")
        chat.add_message("user", "short")
        assert waiting(path) == 1
        chat.add_message("user", "long " * 1_000)
        assert waiting(path) == 0
        assert memory.user("ann", namespace="n").search("short")[0].text == "short"


def test_a_message_that_is_long_to_read_is_read_before_its_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_inside(*_: object) -> list[str]:
        raise AssertionError("the write lock is held")

    monkeypatch.setattr(tail, "event_terms", read_inside)
    with Memory(str(tmp_path / "a.db"), worker=False) as memory:
        chat = memory.session(namespace="n", user="ann")
        event = chat.add_message("user", "long " * 1_000 + "and its end")
        assert memory.user("ann", namespace="n").search("end")[0].id == event.id


def test_a_message_of_countless_words_is_found_by_its_first_ones_and_leaves_the_index_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MAX_VOCABULARY", 20)
    path = tmp_path / "a.db"
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(namespace="n", user="ann")
        dump = " ".join(f"w{'x' * (number % 7)}q{number}" for number in range(1_000))
        chat.add_messages([{"role": "user", "content": text} for text in ("hello", dump)])
        user = memory.user("ann", namespace="n")
        assert dump.split()[0] in user.search(dump.split()[0])[0].text
        assert user.search(dump.split()[-1], threshold=0.5) == []
        chat.pop_turn()
        assert user.search(dump.split()[0]) == []
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM event_postings WHERE doc & 0xffffff = 2").get == 0
    connection.close()
    assert doctor(str(path)).findings == ()


@pytest.mark.parametrize("said", [1, 40])
def test_what_is_forgotten_leaves_the_file_whether_indexed_or_not(tmp_path: Path, said: int) -> None:
    path = tmp_path / "a.db"
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(namespace="n", user="ann")
        for number in range(said):
            chat.add_message("user", f"the kangaroo jumped {number} times")
        chat.add_message("user", "something else")
        user = memory.user("ann", namespace="n")
        assert erase(memory, "kangaroo") == said
        assert user.search("kangaroo") == []
        data = path.read_bytes() + Path(f"{path}-wal").read_bytes()
        assert b"kangaroo" not in data
    assert doctor(str(path)).findings == ()
