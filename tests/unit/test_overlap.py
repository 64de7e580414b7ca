"""Which messages of a list are new to a session, for every way in which applications send them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.policy.context.messages import parse
from wellkept.policy.context.overlap import fresh_from, reach
from wellkept.records import Draft, Text, Thinking


def said(text: str) -> list[Draft]:
    """``u:hello a:hi`` as drafts."""
    roles = {"u": "user", "a": "assistant", "s": "system"}
    return [Draft(role=roles[part[0]], content=part[2:]) for part in text.split()]  # type: ignore[arg-type]


def new(stored: str, sent: str) -> str:
    items = said(sent)
    return " ".join(f"{d.role[0]}:{d.content}" for d in items[fresh_from(said(stored), items) :])


@pytest.mark.parametrize(
    ("stored", "sent", "fresh"),
    [
        ("", "u:hi", "u:hi"),
        ("", "u:hi a:yo u:so", "u:hi a:yo u:so"),
        ("u:hi a:yo", "u:so", "u:so"),
        ("u:hi a:yo", "u:hi a:yo u:so", "u:so"),
        ("u:hi a:yo u:so a:well", "a:yo u:so a:well u:end", "u:end"),
    ],
)
def test_one_message_all_of_them_or_a_window(stored: str, sent: str, fresh: str) -> None:
    assert new(stored, sent) == fresh


@pytest.mark.parametrize(
    ("stored", "sent", "fresh"),
    [
        ("u:ok a:fine", "u:ok", "u:ok"),
        ("u:ok a:fine u:ok a:fine", "u:ok a:fine u:ok", "u:ok"),
        ("u:ok a:fine u:ok a:fine", "u:ok a:fine u:ok a:fine u:ok", "u:ok"),
        ("u:ok a:fine u:go a:fine", "u:go a:fine u:ok", "u:ok"),
    ],
)
def test_people_may_repeat_themselves(stored: str, sent: str, fresh: str) -> None:
    assert new(stored, sent) == fresh


def test_a_retry_after_a_failure_says_nothing_new() -> None:
    assert new("u:hi a:yo u:so", "u:so") == ""
    assert new("u:hi a:yo u:so", "u:hi a:yo u:so") == ""


def test_an_answer_may_be_asked_for_again() -> None:
    assert new("u:hi a:yo u:so a:well", "u:hi a:yo u:so") == ""


def test_a_message_that_was_edited_is_new_and_what_stands_before_it_is_not() -> None:
    assert new("u:hi a:yo u:so a:well", "u:hi a:yo u:so? ") == "u:so?"
    assert new("u:hi a:yo u:so", "u:hi a:yo u:other") == "u:other"


def test_what_the_application_puts_in_between_is_kept_once() -> None:
    assert new("u:1 a:1 s:rag u:2 a:2", "u:1 a:1 u:2 a:2 s:rag2 u:3") == "s:rag2 u:3"


def test_an_answer_that_the_application_changed_does_not_double_the_rest() -> None:
    assert new("u:1 a:OK u:2 a:OK", "u:1 a:OK u:2 a:OK! u:3") == "a:OK! u:3"


def test_form_thinking_and_white_space_make_no_difference() -> None:
    stored = [
        Draft(role="user", content="hello"),
        Draft(role="assistant", content=(Thinking("hm", "sig"), Text("Hi there "))),
    ]
    sent = [
        parse({"role": "user", "content": [{"type": "text", "text": "hello"}]}),
        parse({"role": "assistant", "content": "Hi there"}),
        parse({"role": "user", "content": "more"}),
    ]
    assert fresh_from(stored, sent) == 2


def test_tool_calls_are_known_by_what_they_ask() -> None:
    def call(arguments: str) -> Draft:
        function = {"name": "weather", "arguments": arguments}
        return parse(
            {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
        )

    result = parse({"role": "tool", "tool_call_id": "c1", "content": "晴"})
    stored = [Draft(role="user", content="天气？"), call('{"city": "北京", "day": 1}')]
    same = [Draft(role="user", content="天气？"), call('{"day":1,"city":"北京"}'), result]
    other = [Draft(role="user", content="天气？"), call('{"city": "上海"}'), result]
    assert fresh_from(stored, same) == 2
    assert fresh_from(stored, other) == 1


MESSAGES = st.lists(st.sampled_from(said("u:a u:b a:a a:b s:a")), max_size=8)
NEWEST = Draft(role="user", content="never said before")


@given(MESSAGES, MESSAGES)
def test_a_message_that_was_never_said_is_always_new(stored: list[Draft], sent: list[Draft]) -> None:
    assert fresh_from(stored, [*sent, NEWEST]) <= len(sent)


@given(MESSAGES, st.integers(0, 8))
def test_a_caller_that_sends_a_window_adds_only_what_is_new(stored: list[Draft], start: int) -> None:
    window = stored[start:]
    assert fresh_from(stored, [*window, NEWEST]) == len(window)


@given(MESSAGES, MESSAGES)
def test_no_more_of_the_session_is_read_than_it_takes(stored: list[Draft], sent: list[Draft]) -> None:
    assert fresh_from(stored[-reach(len(sent)) :], sent) == fresh_from(stored, sent)
