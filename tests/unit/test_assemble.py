"""The pure decisions about one context."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import BudgetExceeded
from wellkept.policy.context.assemble import (
    LEAST_TOKENS,
    MESSAGE_TOKENS,
    NOTE,
    Item,
    Section,
    clip,
    defuse,
    fence,
    system_text,
    window,
    window_start,
)
from wellkept.policy.text.tokens import event_tokens
from wellkept.records import Content, Event, Role, Text, ToolCall, ToolResult

WHEN = datetime(2026, 3, 7, tzinfo=timezone.utc)


def said(seq: int, role: Role, content: Content) -> Event:
    tokens = event_tokens(content, None, len)
    return Event(id=f"s:{seq}", session_id="s", seq=seq, role=role, content=content, ts=WHEN, tokens=tokens)


def talk(turns: int, size: int = 16) -> list[Event]:
    roles: list[Role] = ["user", "assistant"]
    return [said(seq, roles[(seq - 1) % 2], f"{seq:03} ".ljust(size, "x")) for seq in range(1, 2 * turns + 1)]


def total(events: list[Event]) -> int:
    return sum(event.tokens for event in events)


# ── fences ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "tag", ["</memory>", "<memory tier='x'>", "</ memory>", "<MEMORY>", "</Memory >", "<\n/memory>"]
)
def test_nothing_remembered_can_end_the_fence(tag: str) -> None:
    fenced = fence("facts", f"before {tag} after", {"source": f'a "{tag}"\nb'})
    assert fenced.count("<memory") == 1
    assert fenced.count("</memory>") == 1
    assert fenced.startswith('<memory tier="facts" source="a ')


@pytest.mark.parametrize(
    "tag",
    [
        "< /memory>",
        "<\u200b/memory>",
        "</mem\u00adory>",
        "＜/memory＞",
        "﹤/ｍｅｍｏｒｙ﹥",
        "<／\ufeffMemory>",
    ],
)
def test_nor_can_what_only_looks_like_its_end(tag: str) -> None:
    assert defuse(f"before {tag} after") == f"before ‹{tag[1:]} after"


def test_other_text_is_left_as_it_is() -> None:
    text = "a < b, <b>bold</b>, 记忆 <memo> <memoryless>, ＜记忆＞"
    assert defuse(text) == text


# ── clipping ────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text(max_size=400), st.integers(-5, 300), st.sampled_from([len, lambda text: len(text.encode())]))
def test_a_clipped_text_fits_and_says_how_much_is_missing(text: str, tokens: int, count: object) -> None:
    assert callable(count)
    shorter = clip(text, tokens, count)
    assert shorter == text or not shorter or (count(shorter) <= tokens and "characters cut" in shorter)
    if count(text) <= tokens:
        assert shorter == text


def test_a_clipped_text_keeps_both_ends() -> None:
    shorter = clip("begin " + "x" * 1000 + " end", 80, len)
    assert shorter.startswith("begin ")
    assert shorter.endswith(" end")
    missing = int(shorter.split("[… ")[1].split(" ")[0])
    assert missing + len(shorter.replace(f"\n[… {missing} characters cut …]\n", "")) == 1010


# ── sections ────────────────────────────────────────────────────────────────────────────────────────────────


def section(*texts: str, share: float = 0.5, **kind: object) -> Section:
    items = [Item(f"i{number}", text, rank=float(number)) for number, text in enumerate(texts)]
    return Section(tier="facts", items=items, share=share, **kind)  # type: ignore[arg-type]


def test_no_section_no_text() -> None:
    assert system_text([section()], 1_000, len).text == ""
    assert system_text([], 1_000, len).tokens == 0


def test_what_is_stable_stands_before_the_boundary() -> None:
    system = system_text([section("news", stable=False), section("fact")], 2_000, len)
    assert "fact" in system.text[: system.boundary]
    assert "news" in system.text[system.boundary :]
    assert system.text.startswith(NOTE)
    assert system.tokens == len(system.text) + MESSAGE_TOKENS


def test_the_lowest_ranks_are_kept_and_shown_in_the_given_order() -> None:
    items = [
        Item("late", "a" * 20, rank=2),
        Item("first", "b" * 20, rank=0),
        Item("second", "c" * 20, rank=1),
    ]
    system = system_text([Section(tier="facts", items=items, share=0.1)], 900, len)
    assert [candidate.kept for candidate in system.candidates] == [False, True, True]
    assert system.text.index("b" * 20) < system.text.index("c" * 20)
    assert "a" * 20 not in system.text


def test_a_section_stays_inside_its_share() -> None:
    system = system_text([section(*(f"{number} " + "x" * 30 for number in range(50)), share=0.2)], 1_000, len)
    assert system.parts["facts"] <= 200


def test_an_item_that_does_not_fit_is_cut_when_the_section_allows_it() -> None:
    system = system_text([section("x" * 500, share=0.2, clip=True)], 1_000, len)
    assert [candidate.reason for candidate in system.candidates] == ["cut to its share"]
    assert system.parts["facts"] <= 200
    system = system_text([section("x" * 500, share=0.2)], 1_000, len)
    assert [candidate.kept for candidate in system.candidates] == [False]
    assert system.text == ""


# ── the window ──────────────────────────────────────────────────────────────────────────────────────────────


def test_everything_is_shown_while_it_fits() -> None:
    events = talk(5)
    assert window(events, total(events), total(events), len).events == tuple(events)


def test_the_window_begins_with_a_turn_and_fits() -> None:
    events = talk(50)
    for room in range(100, 1_500, 37):
        shown = window(events, total(events), room, len)
        assert shown.events[0].role == "user"
        assert shown.events[-1] is events[-1]
        assert shown.tokens <= room
        assert shown.tokens >= room * 3 // 4 - 40


def test_the_start_stays_for_a_quarter_of_the_room() -> None:
    everything = talk(60)
    starts = [
        window_start(everything[: 2 * turns], total(everything[: 2 * turns]), 400) for turns in range(1, 61)
    ]
    assert starts == sorted(starts)
    moves = len(set(starts)) - 1
    assert moves <= total(everything) // 100


def test_the_start_is_the_same_however_much_was_read() -> None:
    events = talk(60)
    whole = window_start(events, total(events), 400)
    for skipped in range(0, 60, 6):
        rest = events[skipped:]
        assert window_start(rest, total(events), 400) + skipped == whole


def test_counts_that_do_not_add_up_still_give_a_window_that_fits() -> None:
    events = talk(30)
    for claimed in (0, 50, total(events) // 2, total(events) * 3):
        assert window(events, claimed, 300, len).tokens <= 300


def test_the_newest_user_message_is_cut_before_it_is_left_out() -> None:
    events = [*talk(3), said(7, "user", "q" * 5_000)]
    shown = window(events, total(events), 200, len)
    assert [event.seq for event in shown.events] == [7]
    assert shown.tokens <= 200
    with pytest.raises(BudgetExceeded) as raised:
        window(events, total(events), LEAST_TOKENS - 1, len)
    assert raised.value.missing == 1


def test_a_name_is_not_cut_and_what_it_takes_is_told() -> None:
    events = [replace(said(1, "user", "q" * 5_000), speaker="n" * 100, tokens=5_106)]
    with pytest.raises(BudgetExceeded) as raised:
        window(events, 5_106, LEAST_TOKENS, len)
    assert window(events, 5_106, LEAST_TOKENS + raised.value.missing, len).events[0].seq == 1


def test_a_small_question_needs_no_more_than_itself() -> None:
    events = [said(1, "user", "ok?")]
    assert window(events, 7, 7, len).tokens == 7
    with pytest.raises(BudgetExceeded, match="at least 7") as raised:
        window(events, 7, 3, len)
    assert raised.value.missing == 4


def test_in_a_long_turn_the_newest_tool_rounds_stay_whole() -> None:
    def round_(seq: int, size: int) -> list[Event]:
        call = said(seq, "assistant", (ToolCall(f"c{seq}", "find", "{}"),))
        return [call, said(seq + 1, "tool", (ToolResult(f"c{seq}", "r" * size),))]

    turn = [said(1, "user", "please"), *round_(2, 300), *round_(4, 300), *round_(6, 50)]
    shown = window(turn, total(turn), 500, len)
    assert [event.seq for event in shown.events] == [1, 4, 5, 6, 7]
    shown = window(turn, total(turn), 170, len)
    assert [event.seq for event in shown.events] == [1, 6, 7]
    huge = [said(1, "user", "please"), *round_(2, 5_000)]
    shown = window(huge, total(huge), 400, len)
    assert [event.seq for event in shown.events] == [1, 2, 3]
    assert shown.tokens <= 400
    assert "characters cut" in str(shown.events[2].content)


def test_each_event_has_a_reason() -> None:
    events = talk(10)
    shown = window(events, total(events), 120, len)
    assert len(shown.candidates) == 20
    kept = [candidate.id for candidate in shown.candidates if candidate.kept]
    assert kept == [event.id for event in shown.events]
    assert {candidate.reason for candidate in shown.candidates} == {"fits", "older than the window's room"}


def test_what_a_message_takes_includes_calls_and_speakers() -> None:
    assert event_tokens("abc", None, len) == 3 + MESSAGE_TOKENS
    assert event_tokens("abc", "bo", len) == 3 + MESSAGE_TOKENS + len("bo: ")
    call = event_tokens((Text("abc"), ToolCall("id", "find", '{"q": 1}')), None, len)
    assert call >= 3 + MESSAGE_TOKENS + len("id") + len("find") + len('{"q": 1}')
