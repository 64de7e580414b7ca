from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest

from tests.provider_rules import check_anthropic, check_openai
from wellkept.errors import InvalidInput, StoreCorrupt
from wellkept.policy.content import MARK
from wellkept.policy.context.messages import dumps, loads, parse, repair, to_anthropic, to_openai
from wellkept.policy.context.repair import EMPTY, OPENING, PLACEHOLDER, unanswered
from wellkept.records import Draft, Event, Image, Other, Text, Thinking, ToolCall, ToolResult

CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "上海"'}}


def said(*messages: dict[str, Any]) -> list[Draft]:
    return [parse(message) for message in messages]


# ── reading OpenAI's shape ────────────────────────────────────────────────────────────────────────────────


def test_plain_text_stays_a_string_without_metadata() -> None:
    assert parse({"role": "user", "content": "你好"}) == Draft(role="user", content="你好")


def test_tool_calls_keep_their_arguments_as_they_came_even_broken() -> None:
    draft = parse({"role": "assistant", "content": None, "tool_calls": [CALL]})
    assert draft == Draft(role="assistant", content=(ToolCall("call_1", "weather", '{"city": "上海"'),))


def test_a_tool_message_is_one_result() -> None:
    draft = parse({"role": "tool", "tool_call_id": "call_1", "content": "晴"})
    assert draft == Draft(role="tool", content=(ToolResult("call_1", "晴"),))


def test_name_is_the_speaker_and_developer_is_system() -> None:
    assert parse({"role": "user", "content": "hi", "name": "Ada"}).speaker == "Ada"
    developer = parse({"role": "developer", "content": "be brief"})
    assert developer.role == "system"
    assert to_openai([developer]) == [{"role": "developer", "content": "be brief"}]


def test_reasoning_and_refusal_become_blocks() -> None:
    draft = parse({"role": "assistant", "content": "4", "reasoning_content": "2 + 2", "refusal": "No."})
    kinds = [type(block) for block in draft.content]
    assert kinds == [Thinking, Text, Text]
    assert to_anthropic([draft])["messages"][0]["content"] == [
        {"type": "text", "text": "4"},
        {"type": "text", "text": "No."},
    ]


def test_an_image_is_kept_by_reference_with_its_data_in_raw() -> None:
    data = "data:image/png;base64," + "A" * 1000
    (image,) = parse({"role": "user", "content": [{"type": "image_url", "image_url": {"url": data}}]}).content
    assert isinstance(image, Image)
    assert image.ref.startswith("sha256:")
    assert len(image.ref) == 71
    assert to_anthropic([Draft(role="user", content=(image,))])["messages"][0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 1000}}
    ]


# ── reading Anthropic's shape ─────────────────────────────────────────────────────────────────────────────


def test_tool_results_of_a_user_message_make_it_a_tool_event() -> None:
    draft = parse(
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "no such city", "is_error": True},
                {"type": "text", "text": "and tomorrow?"},
            ],
        }
    )
    assert draft == Draft(
        role="tool", content=(ToolResult("t1", "no such city", True), Text("and tomorrow?"))
    )


def test_thinking_keeps_its_signature_and_redacted_thinking_its_data() -> None:
    redacted = {"type": "redacted_thinking", "data": "EmwK"}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "EqQB"}
    draft = parse({"role": "assistant", "content": [thinking, redacted, {"type": "text", "text": "ok"}]})
    assert draft.content == (Thinking("hm", "EqQB"), Other(redacted), Text("ok"))
    assert to_openai([draft]) == [{"role": "assistant", "content": "ok"}]


def test_cache_marks_do_not_reach_openai() -> None:
    marked = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    draft = parse({"role": "user", "content": [marked]})
    assert to_openai([draft]) == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    assert to_anthropic([draft])["messages"][0]["content"] == [marked]


def test_sdk_objects_are_taken() -> None:
    class Block:
        def model_dump(self, **options: object) -> dict[str, str]:
            return {"type": "text", "text": "hi"}

    assert parse({"role": "assistant", "content": [Block()]}).content == (Text("hi"),)


def test_parsing_takes_a_copy() -> None:
    raw = {"role": "user", "content": [{"type": "file", "file": {"file_id": "f1"}}]}
    draft = parse(raw)
    raw["content"][0]["file"]["file_id"] = "changed"  # type: ignore[index]
    assert draft.content == (Other({"type": "file", "file": {"file_id": "f1"}}),)
    to_openai([draft])[0]["content"][0]["file"]["file_id"] = "changed"
    assert draft.content == (Other({"type": "file", "file": {"file_id": "f1"}}),)


# ── bad shapes ────────────────────────────────────────────────────────────────────────────────────────────

USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
BAD = [
    ("hello", "message must be a mapping"),
    ({"content": "hi"}, "role must be one of"),
    ({"role": "robot", "content": "hi"}, "role must be one of .* not 'robot'"),
    ({"role": "user"}, "content of a user message"),
    ({"role": "user", "content": 5}, "content must be text or a list of parts, not int"),
    ({"role": "user", "content": b"hi"}, "not bytes"),
    ({"role": "user", "content": ["hi"]}, "content must be a mapping"),
    ({"role": "user", "content": [{"type": "text"}]}, "text of a text part must be a string"),
    ({"role": "user", "content": [{"text": "hi"}]}, "type of a content"),
    ({"role": "user", "content": "hi", "tool_calls": [CALL]}, "belong in an assistant message"),
    ({"role": "tool", "content": "hi"}, "tool_call_id of a tool message"),
    ({"role": "tool", "tool_call_id": "a", "content": None}, "content must be text"),
    ({"role": "assistant", "tool_calls": {"id": "a"}}, "tool_calls must be a list"),
    (
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]},
        r"tool_calls\[\].function must be",
    ),
    (
        {"role": "assistant", "tool_calls": [{**CALL, "id": ""}]},
        r"tool_calls\[\].id must be a non-empty string",
    ),
    (
        {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]},
        "JSON as a string",
    ),
    ({"role": "assistant", "tool_calls": [CALL, CALL]}, "'call_1' stands twice"),
    ({"role": "assistant", "content": [USE, USE]}, "'t1' stands twice"),
    ({"role": "user", "content": [USE]}, "tool_use block belongs in an assistant message"),
    (
        {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "t1"}]},
        "belongs in a user message",
    ),
    ({"role": "user", "content": [{"type": "tool_result"}]}, "tool_use_id"),
    ({"role": "assistant", "content": [{**USE, "input": "{}"}]}, "input of a tool_use block"),
]


@pytest.mark.parametrize(("message", "reason"), BAD)
def test_a_bad_shape_says_what_is_wrong(message: Any, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse(message)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


def test_system_text_comes_first_for_openai_and_beside_for_anthropic() -> None:
    draft = Draft(role="user", content="hi")
    assert to_openai([draft], "facts")[0] == {"role": "system", "content": "facts"}
    assert to_anthropic([draft], "facts") == {
        "system": "facts",
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_the_stable_part_of_the_system_text_is_marked_when_asked() -> None:
    assert to_anthropic([], "stablenew", 6, cache=True)["system"] == [
        {"type": "text", "text": "stable", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "new"},
    ]
    assert to_anthropic([], "stable", 6, cache=True)["system"] == [
        {"type": "text", "text": "stable", "cache_control": {"type": "ephemeral"}}
    ]


def test_parallel_results_are_one_user_message_for_anthropic_and_one_each_for_openai() -> None:
    second = {**CALL, "id": "call_2"}
    log = said(
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": "Looking.", "tool_calls": [CALL, second]},
        {"role": "tool", "tool_call_id": "call_1", "content": "晴"},
        {"role": "tool", "tool_call_id": "call_2", "content": "雨"},
    )
    results = to_anthropic(log)["messages"][2]["content"]
    assert [block["tool_use_id"] for block in results] == ["call_1", "call_2"]
    together = Draft(
        role="tool", content=(ToolResult("call_1", "晴"), ToolResult("call_2", "雨"), Text("so?"))
    )
    assert to_openai([together]) == [
        {"role": "tool", "tool_call_id": "call_1", "content": "晴"},
        {"role": "tool", "tool_call_id": "call_2", "content": "雨"},
        {"role": "user", "content": [{"type": "text", "text": "so?"}]},
    ]


def test_system_events_are_fenced_for_anthropic() -> None:
    log = said({"role": "user", "content": "hi"}, {"role": "system", "content": "be brief"})
    assert to_anthropic(log)["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "text", "text": "<system>\nbe brief\n</system>"},
            ],
        }
    ]


def test_an_id_that_anthropic_refuses_is_spelled_alike_in_call_and_result() -> None:
    log = [
        Draft(role="user", content="?"),
        Draft(role="assistant", content=(ToolCall("functions.f:0", "a.b", "[1]"),)),
        Draft(role="tool", content=(ToolResult("functions.f:0", "1"),)),
    ]
    payload = to_anthropic(log)
    check_anthropic(payload)
    assert payload["messages"][1]["content"] == [
        {"type": "tool_use", "id": "functions_f_0", "name": "a_b", "input": {"arguments": "[1]"}}
    ]


# ── repair ────────────────────────────────────────────────────────────────────────────────────────────────


def sendable(log: list[Draft]) -> list[dict[str, Any]]:
    repaired = repair(log)
    check_anthropic(to_anthropic(repaired))
    messages = to_openai(repaired)
    check_openai(messages)
    return messages


ASKING = {"role": "user", "content": "weather?"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "晴"}
ANSWER = {"role": "assistant", "content": "Sunny."}


def test_a_whole_history_is_left_alone() -> None:
    log = said(ASKING, CALLING, RESULT, ANSWER)
    assert repair(log) == log
    assert sendable(log) == [ASKING, CALLING, RESULT, ANSWER]


def test_a_missing_result_gets_a_placeholder() -> None:
    assert sendable(said(ASKING, CALLING))[2] == {**RESULT, "content": PLACEHOLDER}


def test_a_late_result_moves_to_its_call() -> None:
    impatient = {"role": "user", "content": "well?"}
    assert sendable(said(ASKING, CALLING, impatient, RESULT, ANSWER)) == [
        ASKING,
        CALLING,
        RESULT,
        impatient,
        ANSWER,
    ]


def test_orphan_and_second_results_are_left_out() -> None:
    log = said(ASKING, RESULT, CALLING, RESULT, {**RESULT, "content": "again"}, ANSWER)
    assert sendable(log) == [ASKING, CALLING, RESULT, ANSWER]


def test_a_reused_id_gets_a_name_of_its_own() -> None:
    log = said(ASKING, CALLING, RESULT, CALLING, {**RESULT, "content": "雨"}, ANSWER)
    messages = sendable(log)
    assert messages[3]["tool_calls"][0]["id"] == "call_1_2"
    assert messages[4] == {**RESULT, "tool_call_id": "call_1_2", "content": "雨"}


def test_a_reused_id_does_not_take_the_result_of_the_next_call() -> None:
    messages = sendable(said(ASKING, CALLING, CALLING, RESULT))
    assert [m["content"] for m in messages if m["role"] == "tool"] == [PLACEHOLDER, "晴"]


def test_a_history_that_begins_with_the_assistant_is_opened() -> None:
    assert sendable(said(ANSWER, ASKING)) == [{"role": "user", "content": OPENING}, ANSWER, ASKING]


def test_empty_messages_go_but_the_user_is_heard() -> None:
    empty = {"role": "assistant", "content": ""}
    assert sendable(said(ASKING, empty, {"role": "user", "content": " \n"})) == [
        ASKING,
        {"role": "user", "content": EMPTY},
    ]


def test_an_assistant_message_that_only_thinks_is_left_out() -> None:
    thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}
    assert sendable(said(ASKING, thinking)) == [ASKING]


def test_the_end_of_a_last_answer_is_trimmed() -> None:
    assert sendable(said(ASKING, {"role": "assistant", "content": "Sunny. \n"}))[-1] == ANSWER


def test_stored_cache_marks_do_not_add_up() -> None:
    part = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    sendable(said(*({"role": "user", "content": [part]} for _ in range(6))))


def test_fields_that_a_provider_refuses_are_left_out() -> None:
    dumped = {"role": "assistant", "content": "hi", "refusal": None, "annotations": [], "tool_calls": None}
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}],
    }
    assert sendable(said(ASKING, dumped))[-1] == {"role": "assistant", "content": "hi"}
    assert sendable(said(ASKING, answer))[-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}],
    }


def test_new_events_bound_their_tokens() -> None:
    now = datetime(2026, 5, 3, tzinfo=timezone.utc)
    call = Event(
        id="e1",
        session_id="s",
        seq=1,
        role="assistant",
        content=(ToolCall("a", "f"),),
        ts=now,
        tokens=9,
        speaker="bot",
    )
    opening, kept, placeholder = repair([call], placeholder="无结果")
    assert kept is call
    assert (opening.tokens, placeholder.tokens) == (len(OPENING), 9)
    assert (opening.speaker, placeholder.speaker) == (None, None)


# ── the store's form ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", "hello", "恐龙🦕", "a\x00b", '[{"type": "text"}]', f"{MARK}[]", MARK])
def test_text_comes_back_and_is_stored_as_it_is(text: str) -> None:
    assert loads(dumps(text)) == text
    assert text.startswith(MARK) or dumps(text) is text


def test_blocks_are_compact_json() -> None:
    stored = dumps((Text("恐龙"), ToolResult("a", (Image("u"),), False)))
    assert json.loads(stored[1:]) == [
        {"text": "恐龙", "type": "text"},
        {"id": "a", "content": [{"ref": "u", "type": "image"}], "is_error": False, "type": "tool_result"},
    ]
    assert "恐龙" in stored


def test_a_lone_surrogate_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"lone surrogate \(U\+D83D\)"):
        dumps("half an emoji: \ud83d")
    with pytest.raises(InvalidInput, match="lone surrogate"):
        dumps((Text("\udc00"),))


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidInput, match="plain JSON data"):
        dumps((Other({"type": "image", "data": b"bytes"}),))


@pytest.mark.parametrize(
    "stored", [f"{MARK}[", f"{MARK}5", f'{MARK}[{{"type": "poem"}}]', f'{MARK}[{{"text": "x"}}]']
)
def test_damage_is_told_from_content(stored: str) -> None:
    with pytest.raises(StoreCorrupt, match="doctor"):
        loads(stored)


def test_a_placeholder_gives_way_to_the_result_that_comes_later() -> None:
    now = datetime(2026, 5, 3, tzinfo=timezone.utc)
    calls = (ToolCall("a", "f"), ToolCall("b", "f"))
    asked = Event(id="e1", session_id="s", seq=1, role="assistant", content=calls, ts=now, tokens=9)
    results = [Draft(role="tool", content=(ToolResult("b", "晴"),))]
    kept = list(unanswered(repair([asked]), results))
    assert [event.role for event in kept] == ["user", "assistant", "tool"]
    assert kept[-1].content == (ToolResult("a", PLACEHOLDER),)
    assert list(unanswered(kept, results)) == kept
    whole = Draft(role="tool", content=(ToolResult("a", "雨"), *results[0].content))
    assert [event.role for event in unanswered(repair([asked]), [whole])] == ["user", "assistant"]
