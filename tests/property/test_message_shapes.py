"""Hard promises about messages: nothing is lost either way, and any cut of any history can be sent."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.provider_rules import check_anthropic, check_openai
from wellkept.policy.context.messages import dumps, loads, parse, repair, to_anthropic, to_openai
from wellkept.records import Event, Image, Other, Text, Thinking, ToolCall, ToolResult

WORDS = [
    "hello",
    "恐龙特别着迷",
    " 5 月 3 日 \n",
    "",
    "  ",
    "🦕 €99.50",
    "\x1e[1]",
    "\x00",
    '{"a": 1}',
    "end \n",
]
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
words = st.sampled_from(WORDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
said = words.filter(lambda text: text.strip() != "")
ids = st.sampled_from(["call_0", "call_1", "toolu_01A", "functions.天气:0", "x" * 60])
scalars = st.none() | st.booleans() | st.integers() | words
plain_json = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2)
)
arguments = st.dictionaries(words, plain_json, max_size=2).map(json.dumps) | st.sampled_from(
    ["", "{broken", "[1]", '{"a": NaN}']
)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def with_fields(
    required: dict[str, st.SearchStrategy[Any]], **extra: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required, optional=extra)


# ── messages as the providers write them ──────────────────────────────────────────────────────────────────

URLS = st.sampled_from(["https://example.org/a.png", "data:image/png;base64,iVBORw0KGgo="])
openai_text = with_fields({"type": st.just("text"), "text": words}, prompt_cache_breakpoint=plain_json)
openai_part = st.one_of(
    openai_text,
    with_fields(
        {"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": URLS, "detail": words})}
    ),
    with_fields({"type": st.just("input_audio"), "input_audio": plain_json}),
    with_fields({"type": st.just("file"), "file": plain_json}, note=plain_json),
)
openai_call = st.one_of(
    with_fields(
        {
            "id": ids,
            "type": st.just("function"),
            "function": with_fields({"name": said, "arguments": arguments}, strict=scalars),
        },
        extra_content=plain_json,
        index=st.integers(),
    ),
    with_fields(
        {
            "id": ids,
            "type": st.just("custom"),
            "custom": st.fixed_dictionaries({"name": said, "input": words}),
        }
    ),
)
calls = st.lists(openai_call, min_size=1, max_size=3, unique_by=lambda call: call["id"])
NAMES = st.from_regex(r"[^\s<|\\/>]{1,64}", fullmatch=True)  # those that OpenAI takes
openai_messages = st.one_of(
    with_fields(
        {
            "role": st.sampled_from(["user", "system", "developer"]),
            "content": words | st.lists(openai_part, max_size=3),
        },
        name=NAMES,
        unknown=plain_json,
    ),
    with_fields(
        {"role": st.just("assistant"), "content": st.none() | words | st.lists(openai_text, max_size=2)},
        name=NAMES,
        tool_calls=calls | st.none() | st.just([]),
        refusal=st.none() | words,
        reasoning_content=st.none() | words,
        annotations=plain_json,
    ),
    with_fields({"role": st.just("assistant"), "tool_calls": calls}),
    with_fields(
        {
            "role": st.just("tool"),
            "tool_call_id": ids,
            "content": words | st.lists(openai_text, min_size=1, max_size=2),
        },
        name=said,
    ),
)

mark = st.just({"type": "ephemeral"})
anthropic_text = with_fields(
    {"type": st.just("text"), "text": words}, cache_control=mark, citations=plain_json
)
source = st.sampled_from(
    [
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
        {"type": "url", "url": "https://example.org/a.png"},
        {"type": "file", "file_id": "file_1"},
    ]
)
anthropic_image = with_fields({"type": st.just("image"), "source": source}, cache_control=mark)
document = with_fields({"type": st.just("document"), "source": plain_json}, title=words)
novelty = with_fields({"type": st.just("not_invented_yet"), "payload": plain_json})
anthropic_result = with_fields(
    {"type": st.just("tool_result"), "tool_use_id": ids},
    content=words | st.lists(anthropic_text | anthropic_image, max_size=2),
    is_error=st.booleans(),
    cache_control=mark,
)
anthropic_messages = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": words}),
    st.builds(
        lambda results, rest: {"role": "user", "content": results + rest},
        st.lists(anthropic_result, max_size=2, unique_by=lambda block: block["tool_use_id"]),
        st.lists(anthropic_text | anthropic_image | document | novelty, max_size=2),
    ),
    st.builds(
        lambda thoughts, texts, uses: {"role": "assistant", "content": thoughts + texts + uses},
        st.lists(
            with_fields({"type": st.just("thinking"), "thinking": words, "signature": words})
            | with_fields({"type": st.just("redacted_thinking"), "data": words}),
            max_size=2,
        ),
        st.lists(anthropic_text | novelty, max_size=2),
        st.lists(
            with_fields(
                {
                    "type": st.just("tool_use"),
                    "id": st.sampled_from(["toolu_1", "toolu_2", "a-b"]),
                    "name": st.just("look_up"),
                    "input": st.dictionaries(words, plain_json, max_size=2),
                },
                cache_control=mark,
            ),
            max_size=2,
            unique_by=lambda block: block["id"],
        ),
    ),
)


@calm
@given(st.lists(openai_messages, max_size=5))
def test_openai_messages_come_back_equal(messages: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(messages)
    drafts = [parse(message, shape="openai") for message in messages]
    assert to_openai(drafts) == before
    assert messages == before


@calm
@given(anthropic_messages)
def test_an_anthropic_message_comes_back_equal(message: dict[str, Any]) -> None:
    before = copy.deepcopy(message)
    safe = message["role"] == "assistant" or all(
        "." not in str(block.get("tool_use_id")) for block in message["content"] if isinstance(block, dict)
    )
    draft = parse(message, shape="anthropic")
    if safe:
        assert to_anthropic([draft])["messages"] == [before]
    assert message == before


@calm
@given(st.lists(openai_messages | anthropic_messages, max_size=4))
def test_content_survives_the_store(messages: list[dict[str, Any]]) -> None:
    for message in messages:
        content = parse(message).content
        assert loads(dumps(content)) == content


# ── histories as a store may hold them: cut, shuffled, broken ─────────────────────────────────────────────

anthropic_extra = st.sampled_from([None, {"anthropic": {"cache_control": {"type": "ephemeral"}}}])
blocks = st.one_of(
    st.builds(Text, words, anthropic_extra),
    st.builds(Text, said, st.just({"openai": {"field": "refusal"}})),
    st.builds(Thinking, words, st.none() | words),
    st.builds(ToolCall, ids, said, arguments, anthropic_extra),
    st.builds(
        ToolResult,
        ids,
        words | st.lists(st.builds(Text, words), max_size=2).map(tuple),
        st.none() | st.booleans(),
    ),
    st.builds(Image, st.sampled_from(["https://example.org/a.png", "file_1"])),
    st.just(Other({"type": "redacted_thinking", "data": "x"})),
    st.just(
        Image(
            "sha256:0",
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
        )
    ),
    st.just(Image("sha256:0", {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}})),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    roles = draw(st.lists(st.sampled_from(["system", "user", "assistant", "tool"]), max_size=10))
    return [
        event(seq, role, draw(words | st.lists(fitting(role), max_size=4).map(tuple)))
        for seq, role in enumerate(roles)
    ]


def fitting(role: str) -> st.SearchStrategy[Any]:
    """Blocks that can occur under ``role``: a provider's own image stands in no assistant message."""
    if role in ("user", "tool"):
        return blocks
    return blocks.filter(lambda block: not (isinstance(block, Image) and block.raw is not None))


def event(seq: int, role: Any, content: Any) -> Event:
    now = datetime(2026, 5, 3, tzinfo=timezone.utc)
    return Event(id=f"e{seq}", session_id="s", seq=seq, role=role, content=content, ts=now, tokens=5)


@settings(calm, max_examples=400)
@given(histories(), st.booleans())
def test_any_history_can_be_sent_after_repair(events: list[Event], cache: bool) -> None:
    before = copy.deepcopy(events)
    repaired = repair(events, placeholder="(none)")
    check_openai(to_openai(repaired, "memory"))
    check_anthropic(to_anthropic(repaired, "memory 记忆", 6, cache=cache))
    assert events == before


@calm
@given(st.lists(openai_messages, max_size=6) | st.lists(anthropic_messages, max_size=6), st.data())
def test_a_cut_of_parsed_messages_can_be_sent_to_the_other_provider(
    messages: Any, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(messages)))
    drafts = repair([parse(message) for message in messages[start:]])
    payload = to_anthropic(drafts)
    roles = [message["role"] for message in payload["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    called = [
        b["id"]
        for m in payload["messages"]
        for b in m["content"]
        if isinstance(b, dict) and b["type"] == "tool_use"
    ]
    answered = [m["tool_call_id"] for m in to_openai(drafts) if m["role"] == "tool"]
    assert len(called) == len(set(called)) == len(answered)


@calm
@given(histories())
def test_repair_is_done_after_once(events: list[Event]) -> None:
    once = repair(events)
    assert repair(once) == once


@calm
@given(histories())
def test_repair_keeps_all_words(events: list[Event]) -> None:
    repaired = repair(events)
    kept = json.dumps([to_openai(repaired), to_anthropic(repaired)], ensure_ascii=False)
    for one in events:
        if isinstance(one.content, str) and one.role != "tool" and one.content.strip():
            assert json.dumps(one.content.strip(), ensure_ascii=False)[1:-1] in kept


@calm
@given(histories())
def test_a_whole_event_is_passed_on_as_it_is(events: list[Event]) -> None:
    talk = [replace(one, role="user", content="words") for one in events]
    assert all(a is b for a, b in zip(repair(talk), talk, strict=True))


# ── histories as an application writes them ───────────────────────────────────────────────────────────────


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Whole turns in OpenAI's shape: question, rounds of parallel calls with their results, answer."""
    messages: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 4))):
        messages.append({"role": "user", "content": draw(said)})
        for _ in range(draw(st.integers(0, 2))):
            names = [f"call_{len(messages)}_{index}" for index in range(draw(st.integers(1, 3)))]
            function = {"name": "look_up", "arguments": '{"q": "恐龙"}'}
            calls = [{"id": name, "type": "function", "function": function} for name in names]
            messages.append({"role": "assistant", "content": draw(st.none() | said), "tool_calls": calls})
            messages += [{"role": "tool", "tool_call_id": name, "content": draw(words)} for name in names]
        messages.append({"role": "assistant", "content": draw(said.map(str.strip).filter(bool))})
    return messages


@calm
@given(conversations())
def test_whole_turns_are_sent_as_they_are(messages: list[dict[str, Any]]) -> None:
    check_openai(messages)
    drafts = [parse(message) for message in messages]
    assert repair(drafts) == drafts
    assert to_openai(repair(drafts)) == messages
    check_anthropic(to_anthropic(drafts))


@calm
@given(conversations(), st.data())
def test_a_cut_keeps_each_pair_that_is_whole(messages: list[dict[str, Any]], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(messages) - 1))
    cut = messages[start : data.draw(st.integers(start + 1, len(messages)))]
    repaired = repair([parse(message) for message in cut], placeholder="(none)")
    sent = to_openai(repaired)
    check_openai(sent)
    check_anthropic(to_anthropic(repaired))
    called = {call["id"] for message in cut for call in message.get("tool_calls", ())}
    whole = [message for message in cut if message["role"] == "tool" and message["tool_call_id"] in called]
    assert [m for m in sent if m["role"] == "tool" and m["content"] != "(none)"] == whole
