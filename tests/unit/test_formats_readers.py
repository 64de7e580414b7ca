from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wellkept.errors import InvalidInput
from wellkept.formats import FORMATS, BadLine, Entry, Item, Note, SessionStart, detect, read
from wellkept.records import Content, Image, Other, Text, Thinking, ToolCall, ToolResult, text_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "formats"
FILES = {
    "chatgpt.json": "chatgpt",
    "claude.json": "claude",
    "claude_code.jsonl": "claude-code",
    "openai.json": "openai",
    "openai_finetuning.jsonl": "openai",
    "anthropic.json": "anthropic",
    "bench.jsonl": "bench",
}


def items(name: str) -> list[Item]:
    return list(read(FIXTURES / name))


def entries(found: list[Item], session: str = "") -> list[Entry]:
    return [item for item in found if isinstance(item, Entry) and item.session.startswith(session)]


def said(found: list[Item], session: str = "") -> list[tuple[str, Content]]:
    return [(entry.draft.role, entry.draft.content) for entry in entries(found, session)]


def starts(found: list[Item]) -> list[SessionStart]:
    return [item for item in found if isinstance(item, SessionStart)]


def notes(found: list[Item]) -> list[str]:
    return [item.text for item in found if isinstance(item, Note)]


def bad(found: list[Item]) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in found if isinstance(item, BadLine)]


def lines_of(*values: Any) -> list[Item]:
    return list(read(io.StringIO("\n".join(json.dumps(value) for value in values))))


# ── all ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_format_has_a_fixture() -> None:
    assert {*FILES.values(), "wellkept"} == set(FORMATS)


@pytest.mark.parametrize("name, format", FILES.items())
def test_format_is_detected(name: str, format: str) -> None:
    found = detect(FIXTURES / name)
    assert found.format == format
    assert all(found.against.values())


@pytest.mark.parametrize("name, format", FILES.items())
def test_asking_for_another_format_says_why_not(name: str, format: str) -> None:
    for other in set(FORMATS) - {format}:
        if not detect(FIXTURES / name).against.get(other):
            continue
        with pytest.raises(InvalidInput, match=f"{other}: .*; it looks like"):
            list(read(FIXTURES / name, other))


def test_unknown_format() -> None:
    with pytest.raises(
        InvalidInput, match="auto, wellkept, chatgpt, claude, claude-code, bench, openai, anthropic"
    ):
        list(read(FIXTURES / "openai.json", "yaml"))


@pytest.mark.parametrize("name", FILES)
def test_keys_are_unique_and_the_same_again(name: str) -> None:
    keys = [entry.draft.idempotency_key for entry in entries(items(name))]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert keys == [entry.draft.idempotency_key for entry in entries(items(name))]


@pytest.mark.parametrize("name", FILES)
def test_an_entry_follows_the_start_of_its_session(name: str) -> None:
    begun: set[str] = set()
    for item in items(name):
        if isinstance(item, SessionStart):
            assert item.external_id not in begun
            begun.add(item.external_id)
        elif isinstance(item, Entry):
            assert item.session in begun


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "dress", [lambda text: text.encode("utf-16"), lambda text: b"\xef\xbb\xbf" + text.encode()]
)
def test_encoding_makes_no_difference(name: str, dress: Callable[[str], bytes]) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    assert list(read(io.BytesIO(dress(text)))) == items(name)


@pytest.mark.parametrize("name", FILES)
def test_cut_anywhere_never_crashes_and_never_invents(name: str) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    whole = {(entry.draft.idempotency_key, text_of(entry.draft.content)) for entry in entries(items(name))}
    for at in range(0, len(text), max(1, len(text) // 60)):
        try:
            found = list(read(io.StringIO(text[:at]), FILES[name]))
        except InvalidInput:
            continue
        told = {text_of(entry.draft.content) for entry in entries(found)}
        assert told <= {words for _, words in whole} | {""}, at


# ── ChatGPT ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_chatgpt_follows_the_current_branch() -> None:
    found = items("chatgpt.json")
    assert said(found, "c-001") == [
        (
            "user",
            (
                Image(
                    "sediment://file_0001",
                    {
                        "content_type": "image_asset_pointer",
                        "asset_pointer": "sediment://file_0001",
                        "size_bytes": 12,
                        "width": 3,
                        "height": 4,
                    },
                ),
                Text("四月 212 元，五月 187.5 元，六月 305 元，平均多少？"),
            ),
        ),
        ("assistant", (Thinking("Add up\n212 + 187.5 + 305"),)),
        ("assistant", (ToolCall("c1", "python", "(212 + 187.5 + 305) / 3"),)),
        ("tool", (ToolResult("c1", "234.83333333333334"),)),
        ("tool", (ToolResult("r2", "chart drawn"),)),
        ("assistant", "平均每月约 234.83 元。"),
    ]
    assert notes(found) == [
        "'电费': hidden messages left out: 2",
        "'电费': messages on other branches left out: 2",
    ]


def test_chatgpt_keeps_titles_times_and_origins() -> None:
    found = items("chatgpt.json")
    assert [(start.external_id, start.title) for start in starts(found)] == [
        ("c-001", "电费"),
        ("c-002", "Broken"),
    ]
    assert starts(found)[0].created_at == entries(found)[0].draft.ts.replace(
        minute=0, second=0, microsecond=0
    )
    assert [entry.draft.metadata for entry in entries(found, "c-001")][-1] == {
        "source_id": "a2",
        "model": "o3",
    }


def test_chatgpt_bad_messages_cost_only_themselves() -> None:
    found = items("chatgpt.json")
    assert said(found, "c-002") == [("assistant", "No.")]
    (first, second) = bad(found)
    assert "U+D83D" in first[1]
    assert "'Broken', message 'n2': role must be one of" in second[1]


def chatgpt(mapping: dict[str, Any], **fields: Any) -> list[Item]:
    return lines_of([{"id": "c", "title": "t", "mapping": mapping, **fields}])


def chat_node(
    name: str, parent: str | None, content: Any, role: str = "user", **fields: Any
) -> dict[str, Any]:
    return {
        "parent": parent,
        "children": fields.pop("children", []),
        "message": {"id": name, "author": {"role": role}, "content": content, **fields},
    }


def test_chatgpt_circle_is_reported() -> None:
    content = {"content_type": "text", "parts": ["x"]}
    found = chatgpt({"a": chat_node("a", "b", content), "b": chat_node("b", "a", content)}, current_node="a")
    assert "form no tree" in bad(found)[0][1]


@pytest.mark.parametrize(
    "content, expected",
    [
        ({"content_type": "tether_quote", "text": "quoted", "url": "u"}, "quoted"),
        ({"content_type": "hologram", "depth": 3}, (Other({"content_type": "hologram", "depth": 3}),)),
        ({"content_type": "text", "parts": ["a", "", "b"]}, (Text("a"), Text("b"))),
        (
            {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "audio_transcription", "text": "嗯"}],
            },
            "嗯",
        ),
    ],
)
def test_chatgpt_contents(content: Any, expected: Content) -> None:
    assert said(chatgpt({"a": chat_node("a", None, content)})) == [("user", expected)]


@pytest.mark.parametrize("content", [None, {"content_type": "text", "parts": [""]}, {"content_type": "text"}])
def test_chatgpt_empty_messages_say_nothing(content: Any) -> None:
    assert said(chatgpt({"a": chat_node("a", None, content)})) == []


# ── Claude ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_claude_answer_with_tools_becomes_its_events() -> None:
    found = items("claude.json")
    assert said(found, "k-001") == [
        (
            "user",
            (
                Text("What should I pack for Qingdao in July?"),
                Text("[plan.txt]\nThree days by the sea."),
                Image("f-1", {"file_name": "beach.jpg", "file_uuid": "f-1"}),
            ),
        ),
        (
            "assistant",
            (
                Thinking("Weather first."),
                Text("Let me look at the weather."),
                ToolCall("m2/2", "get_weather", '{"city": "青岛"}'),
                ToolCall("m2/3", "get_tide", "{}"),
            ),
        ),
        ("tool", (ToolResult("m2/2", "22—27℃, fog", False), ToolResult("m2/3", (), True))),
        ("assistant", (Text("A light jacket: mornings are foggy."), Other({"type": "token_budget"}))),
        ("user", "谢谢"),
    ]


def test_claude_tells_what_it_left_out() -> None:
    found = items("claude.json")
    assert notes(found) == [
        "message m4 of 'k-001' is empty and was left out",
        "'Packing list': messages on other branches left out: 1",
    ]
    assert bad(found) == [(1, "message o2: 'sender' must be human or assistant, not 'robot'")]
    assert said(found, "k-002") == [("user", "old style"), ("assistant", "fine")]


# ── Claude Code ─────────────────────────────────────────────────────────────────────────────────────────────


def test_claude_code_puts_an_answer_together() -> None:
    found = items("claude_code.jsonl")
    assert said(found) == [
        ("user", "Fix the thumbnail of HEIC photos"),
        (
            "assistant",
            (
                Thinking("look first", "sig=="),
                Text("I will read both files."),
                ToolCall("t1", "Read", '{"path": "thumb.py"}'),
                ToolCall("t2", "Read", '{"path": "缺.py"}'),
            ),
        ),
        ("tool", (ToolResult("t1", "def thumbnail(): ..."),)),
        ("tool", (ToolResult("t2", "no such file", True),)),
        ("assistant", (Text("Always write JPEG."),)),
        ("user", "Use WebP instead"),
        ("user", "Use JPEG, quality 85"),
    ]


def test_claude_code_tells_what_it_left_out() -> None:
    found = items("claude_code.jsonl")
    assert notes(found) == [
        "a prompt starts again from an earlier message; both branches are kept",
        "lines left out, sidechains: 2",
        "lines left out, type file-history-snapshot: 1",
        "lines left out, type system: 1",
        "lines left out, written by the program itself: 2",
    ]
    ((line, reason),) = bad(found)
    assert line == 18
    assert "cut off" in reason
    assert starts(found)[0].title == "Thumbnails for HEIC"


# ── message lists ───────────────────────────────────────────────────────────────────────────────────────────


def test_openai_bare_list_is_one_conversation() -> None:
    found = items("openai.json")
    assert len(starts(found)) == 1
    assert [role for role, _ in said(found)] == ["user", "assistant", "user"]
    ((line, reason),) = bad(found)
    assert line == 10
    assert "message 3: message role must be one of" in reason


def test_openai_log_that_has_grown_goes_on_where_it_stopped() -> None:
    log = [{"role": "user", "content": f"第 {number} 句"} for number in range(6)]
    before, after = entries(lines_of(*log[:5])), entries(lines_of(*log))
    assert after[:5] == before
    assert len(after) == 6


def test_openai_finetuning_lines_are_conversations() -> None:
    found = items("openai_finetuning.jsonl")
    first, second = starts(found)
    assert first.external_id != second.external_id
    assert second.metadata["request"]["tools"][0]["function"]["name"] == "weather"
    assert [role for role, _ in said(found, second.external_id)] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]


def test_openai_lists_line_by_line() -> None:
    chats = [
        [{"role": "user", "content": word}, {"role": "assistant", "content": "ok"}] for word in ("一", "二")
    ]
    found = lines_of(*chats)
    assert len(starts(found)) == 2
    assert [text for role, text in said(found) if role == "user"] == ["一", "二"]


def test_same_conversation_twice_has_the_same_keys() -> None:
    chat = {"messages": [{"role": "user", "content": "hi"}]}
    first, second = entries(lines_of(chat, chat))
    assert first == second


def test_anthropic_request() -> None:
    found = items("anthropic.json")
    assert starts(found)[0].external_id == "req-7"
    assert [role for role, _ in said(found)] == ["system", "user", "assistant", "tool", "assistant"]
    assert said(found)[3][1] == (ToolResult("t1", "7"),)


@pytest.mark.parametrize("broken", [{"messages": "x"}, {"messages": [5]}, {"messages": [{"role": "user"}]}])
def test_bad_conversation_costs_only_itself(broken: Any) -> None:
    good = {"messages": [{"role": "user", "content": "hi"}]}
    found = lines_of(good, broken, {"id": "later", **good})
    assert [line for line, _ in bad(found)] == [2]
    assert len(entries(found)) == 2


# ── benchmark lines ─────────────────────────────────────────────────────────────────────────────────────────


def test_bench_groups_are_users() -> None:
    found = items("bench.jsonl")
    assert [(start.external_id, start.user) for start in starts(found)] == [("g1/S1", "g1"), ("g2/S1", "g2")]
    first = entries(found)[0].draft
    assert (first.speaker, first.metadata) == ("Ada", {"source_id": "g1/1"})
    assert [entry.draft.ts and entry.draft.ts.date().isoformat() for entry in entries(found)] == [
        "2026-03-01",
        "2026-03-15",
        "2026-03-01",
        None,
    ]
    assert "Look!\n[image: a cat on a sofa]" in [content for _, content in said(found)]
    assert bad(found) == [(4, "'date' 'someday' cannot be read; write it as 2026-06-01 09:30")]


def test_bench_sets_are_read_whole(shared: Path) -> None:
    for corpus in sorted(shared.glob("bench/*/corpus.jsonl")):
        found = list(read(corpus))
        assert not bad(found), corpus
        assert len(entries(found)) == len(corpus.read_text(encoding="utf-8").splitlines())
        assert all(entry.draft.ts for entry in entries(found))
