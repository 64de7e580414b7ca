from __future__ import annotations

import io
from datetime import timedelta, timezone

from wellkept import samples
from wellkept.formats import Entry, SessionStart, read, write
from wellkept.records import Image, Thinking, ToolCall, ToolResult, blocks_of, text_of

LAUNCH = "6月28日"


def conversation() -> tuple[SessionStart, list[Entry]]:
    start, *entries = read(samples.path())
    assert isinstance(start, SessionStart)
    assert all(isinstance(entry, Entry) for entry in entries)
    return start, [entry for entry in entries if isinstance(entry, Entry)]


def turns() -> list[list[Entry]]:
    found: list[list[Entry]] = []
    for entry in conversation()[1]:
        if entry.draft.role == "user":
            found.append([])
        found[-1].append(entry)
    return found


def words(turn: int) -> str:
    return "\n".join(text_of(entry.draft.content) for entry in turns()[turn - 1])


def test_it_is_long_and_ordered() -> None:
    start, entries = conversation()
    assert (start.namespace, start.user) == ("demo", "linyue")
    assert len(turns()) == 63
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1)) == list(range(1, 150))
    times = [entry.draft.ts for entry in entries if entry.draft.ts]
    assert len(times) == len(entries)
    assert times == sorted(times)
    assert len({time.astimezone(timezone(timedelta(hours=8))).date() for time in times}) == 9


def test_every_turn_ends_with_an_answer() -> None:
    for number, turn in enumerate(turns(), start=1):
        assert turn[-1].draft.role == "assistant", number
        assert not any(isinstance(block, ToolCall) for block in blocks_of(turn[-1].draft.content)), number


def test_the_date_of_turn_3_is_never_said_after_turn_12() -> None:
    assert LAUNCH in words(3)
    assert LAUNCH in words(12)
    later = [words(turn) for turn in range(13, 64)]
    assert not any("28" in text or "月底" in text for text in later)


def test_calls_have_their_results() -> None:
    blocks = [block for entry in conversation()[1] for block in blocks_of(entry.draft.content)]
    calls = [block.id for block in blocks if isinstance(block, ToolCall)]
    results = [block for block in blocks if isinstance(block, ToolResult)]
    assert sorted(calls) == sorted(result.id for result in results)
    assert len(set(calls)) == len(calls)
    assert sum(result.is_error is True for result in results) == 2
    assert any(isinstance(block, Image) for block in blocks)
    assert any(isinstance(block, Thinking) for block in blocks)


def test_what_the_readme_promises() -> None:
    assert "花生" in words(7)
    assert "7月11日" in words(14)
    assert "7月12日，不是11日" in words(29)
    assert "可乐" in words(8) and "咖啡" in words(28) and "无糖" in words(47)
    assert "739204" in words(23)
    assert "彻底忘掉" in words(45) and "739204" not in words(45)
    assert "下周三" in words(6)
    assert "E20260603-5517" in words(19)
    assert "```python" in words(24)
    assert "snake_case" in words(25)
    speakers = {entry.draft.speaker for entry in conversation()[1]}
    assert speakers == {"林悦", "Daniel", None}
    (secret,) = (entry for entry in conversation()[1] if "739204" in text_of(entry.draft.content))
    assert secret.draft.role == "user"


def test_it_is_written_as_we_write() -> None:
    stream = io.StringIO()
    write(read(samples.path()), stream)
    assert stream.getvalue() == samples.path().read_text(encoding="utf-8")
