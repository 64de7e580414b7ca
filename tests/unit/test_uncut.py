"""What is new goes to the model whole."""

from __future__ import annotations

from datetime import datetime, timezone

from wellkept.policy.context.uncut import latest, uncut
from wellkept.records import Content, Event, Role, ToolCall, ToolResult

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)


def event(seq: int, role: Role, content: Content) -> Event:
    return Event(id=f"e{seq}", session_id="s", seq=seq, role=role, content=content, ts=NOW, tokens=9)


ASKED = event(1, "user", "What is in the file?")
CALLED = event(2, "assistant", (ToolCall("a", "read"), ToolCall("b", "read")))
FIRST, SECOND = (event(3 + at, "tool", (ToolResult(id, "long " * 9),)) for at, id in enumerate("ab"))
CUT = event(4, "tool", (ToolResult("b", "lo…"),))


def test_the_latest_is_what_was_said_since_the_answer() -> None:
    more = [event(seq, "user", "hi") for seq in (3, 4, 5)]
    stored = [ASKED, event(2, "assistant", "ok"), *more]
    assert latest(stored, 3) == more
    assert latest(stored, 9) == more
    assert latest(stored, 1) == more[-1:]
    assert latest(stored[:2], 1) == []
    assert latest([ASKED], 1) == [ASKED]


def test_a_result_brings_its_call() -> None:
    assert latest([ASKED, CALLED, FIRST, SECOND], 1) == [CALLED, FIRST, SECOND]


def test_what_was_cut_or_left_out_is_put_back() -> None:
    said = [CALLED, FIRST, SECOND]
    assert uncut([ASKED, CALLED, FIRST, CUT], said) == [ASKED, *said]
    assert uncut([ASKED], said) == [ASKED, *said]


def test_what_is_whole_stays_as_it_is() -> None:
    shown = [ASKED, CALLED, FIRST, SECOND]
    assert uncut(shown, [SECOND]) is shown
    assert uncut(shown, []) is shown
