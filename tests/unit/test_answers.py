"""The gateway's copy of an answer holds what the caller got of it, whatever stands between."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wellkept.server.answers import AnthropicAnswer, OpenAIAnswer
from wellkept.server.ask import body_of, mended


def chunk(text: str, stop: str | None = None) -> str:
    return json.dumps(
        {"model": "m", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": stop}]}
    )


SPREAD = chunk("day", "stop").replace(", ", ",\ndata: ")


def read(*parts: str) -> OpenAIAnswer:
    answer = OpenAIAnswer(stream=True)
    for part in parts:
        answer.feed(part.encode())
    answer.end()
    return answer


@pytest.mark.parametrize(
    "stream",
    [
        f"data: {chunk('good ')}\n\ndata: {chunk('day', 'stop')}\n\ndata: [DONE]\n\n",
        f"data: {chunk('good ')}\r\n\r\ndata: {chunk('day', 'stop')}\r\n\r\ndata: [DONE]\r\n\r\n",
        f"data:\n\n: ping\n\ndata: {chunk('good ')}\n\nevent: x\ndata: {chunk('day', 'stop')}\n\ndata: [DONE]",
        f"data: {chunk('good ')}\n\ndata: {SPREAD}\n\ndata: [DONE]\n\n",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_server_sent_events_are_read_as_their_standard_says(stream: str, size: int) -> None:
    answer = read(*[stream[place : place + size] for place in range(0, len(stream), size)])
    assert answer.message() == {"role": "assistant", "content": "good day"}
    assert answer.complete
    assert answer.fault is None


def test_what_cannot_be_read_takes_nothing_else_with_it() -> None:
    answer = read(f"data: {{broken\n\ndata: {chunk('good day', 'stop')}\n\ndata: [DONE]\n\n")
    assert answer.message() == {"role": "assistant", "content": "good day"}
    assert not answer.complete
    assert answer.fault is not None


def test_an_event_that_is_cut_is_no_fault_of_the_answer() -> None:
    answer = read(f"data: {chunk('good ')}\n\ndata: {chunk('day')[:20]}")
    assert answer.message() == {"role": "assistant", "content": "good "}
    assert (answer.complete, answer.fault) == (False, None)


def test_a_message_of_anthropic_that_was_cut_is_not_complete() -> None:
    answer = AnthropicAnswer(stream=True)
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi"}}
    answer.feed(f"data: {json.dumps(start)}\n\n".encode())
    answer.end()
    assert answer.message() == {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    assert not answer.complete


@pytest.mark.parametrize(
    ("pieces", "given"),
    [
        ([], {}),
        ([""], {}),
        (['{"city": ', '"柏林"}'], {"city": "柏林"}),
        (['{"city": "柏'], {"arguments": '{"city": "柏'}),
    ],
)
def test_a_call_whose_input_ran_out_of_tokens_is_kept_as_it_came(
    pieces: list[str], given: dict[str, str]
) -> None:
    use = {"type": "tool_use", "id": "c1", "name": "weather", "input": {}}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Let me see."}},
        {"type": "content_block_start", "index": 1, "content_block": use},
        *(
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": it},
            }
            for it in pieces
        ),
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        {"type": "message_stop"},
    ]
    answer = AnthropicAnswer(stream=True)
    answer.feed("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode())
    message = answer.message()
    assert message is not None
    assert message["content"] == [{"type": "text", "text": "Let me see."}, {**use, "input": given}]
    assert answer.complete
    assert answer.is_cut_short


@pytest.mark.parametrize(
    ("halves", "whole"),
    [
        ("\ud83e\udd95", "🦕"),
        ("cut \ud83e", "cut \ufffd"),
        (["a", {"b\udd95": "\ud83e\udd95"}, 5, None], ["a", {"b\ufffd": "🦕"}, 5, None]),
        ("恐龙 🦕", "恐龙 🦕"),
    ],
)
def test_halves_of_a_character_are_put_together_or_replaced(halves: Any, whole: Any) -> None:
    assert mended(halves) == whole
    assert body_of(json.dumps({"it": halves}).encode()) == {"it": whole}
