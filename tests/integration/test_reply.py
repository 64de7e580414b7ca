"""The loop as one call: nothing said is lost, nothing half is stored, and a failure goes on from where it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.provider_rules import check_anthropic, check_openai
from tests.upstream import Upstream, cut_stream, failing_stream, refuse, say
from wellkept import Answer, AsyncMemory, BudgetExceeded, InvalidInput, Memory, ModelError, Policy, Session
from wellkept.models import Anthropic, OpenAI, Reply, Usage
from wellkept.records import ToolCall
from wellkept.testing import Call, FakeModel

TOOL = {"name": "weather", "description": "天气", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture
def server() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture(params=["openai", "anthropic"])
def real(request: pytest.FixtureRequest, server: Upstream) -> Any:
    """An adapter on the provider's SDK, talking to the local server without pauses or second tries."""
    options: dict[str, Any] = {"api_key": "sk-test", "timeout": 5, "max_retries": 0}
    if request.param == "openai":
        return OpenAI("gpt-x", base_url=f"{server.url}/v1", **options)
    return Anthropic("claude-x", base_url=server.url, **options)


@pytest.fixture
def open_chat(tmp_path: Path) -> Iterator[Callable[..., Session]]:
    memories: list[Memory] = []

    def build(model: Any, policy: Policy | None = None) -> Session:
        memories.append(Memory(str(tmp_path / "chat.db"), model=model, worker=False, policy=policy))
        return memories[-1].session(namespace="acme", user="alice", session_id="s", create=True)

    yield build
    for memory in memories:
        memory.close()


Open = Callable[..., Session]


def said(chat: Session) -> list[tuple[str, Any]]:
    return [(event.role, event.content) for event in chat.get_recent(50)]


# ── with the providers' protocols ─────────────────────────────────────────────────────────────────────────


def test_the_question_the_context_and_the_answer_go_round(
    open_chat: Open, real: Any, server: Upstream
) -> None:
    server.script = [say("恐龙馆周六开。"), say("Bring water.")]
    chat = open_chat(real)
    answer = chat.reply("周末去哪玩？")
    assert (answer.text, answer.tool_calls) == ("恐龙馆周六开。", ())
    assert answer.event == chat.get_recent(1)[0]
    assert answer.event.metadata["usage"] == answer.usage.to_dict()
    assert answer.usage.output_tokens == 7
    assert answer.event.metadata["stop_reason"] == answer.stop_reason
    chat.reply("And what do I need?")
    words = [
        message["content"] for message in server.requests[1].body["messages"] if message["role"] != "system"
    ]
    assert [part if isinstance(part, str) else part[0]["text"] for part in words] == [
        "周末去哪玩？",
        "恐龙馆周六开。",
        "And what do I need?",
    ]


def test_tool_calls_are_stored_answered_and_gone_on_with(
    open_chat: Open, real: Any, server: Upstream
) -> None:
    server.script = [
        say(
            "看一下",
            calls=[("c1", "weather", {"city": "北京"}), ("c2", "weather", {"city": "上海"})],
            thinking="…",
        ),
        say("北京 5 度，上海 12 度"),
    ]
    chat = open_chat(real)
    answer = chat.reply("两地天气？", tools=[TOOL])
    assert [(call.id, call.name) for call in answer.tool_calls] == [("c1", "weather"), ("c2", "weather")]
    with pytest.raises(InvalidInput, match="results of the tools"):
        chat.reply()
    chat.add_messages([{"role": "tool", "tool_call_id": id, "content": "ok"} for id in ("c1", "c2")])
    assert chat.reply(tools=[TOOL]).text == "北京 5 度，上海 12 度"
    body = server.requests[1].body
    if isinstance(real, OpenAI):
        check_openai(body["messages"])
    else:
        check_anthropic({"system": body.get("system", ""), "messages": body["messages"]})
    assert [event.role for event in chat.get_recent(9)] == ["user", "assistant", "tool", "tool", "assistant"]


def test_a_signature_comes_back_unchanged(open_chat: Open, server: Upstream) -> None:
    server.script = [say("五岁", thinking="小孩的年龄")]
    chat = open_chat(Anthropic("claude-x", base_url=server.url, api_key="sk-test"))
    chat.reply("几岁？")
    [_, message] = chat.get_context().to_anthropic()["messages"]
    assert message["content"][0] == {"type": "thinking", "thinking": "小孩的年龄", "signature": "sig"}


@pytest.mark.parametrize("streamed", [False, True])
def test_when_the_model_fails_the_question_stays_and_is_not_said_twice(
    open_chat: Open, real: Any, server: Upstream, streamed: bool
) -> None:
    server.script = [refuse(503), say("now")]
    chat = open_chat(real)
    with pytest.raises(ModelError):
        list(chat.stream("在吗？")) if streamed else chat.reply("在吗？")
    assert said(chat) == [("user", "在吗？")]
    answer = list(chat.stream())[-1] if streamed else chat.reply()
    assert isinstance(answer, Answer)
    assert said(chat) == [("user", "在吗？"), ("assistant", "now")]  # as text, whichever the provider


@pytest.mark.parametrize("streamed", [False, True])
def test_whatever_a_model_of_ones_own_raises_is_a_model_error(streamed: bool) -> None:
    with Memory(":memory:", model=FakeModel([ConnectionError("cut off"), "here"])) as memory:
        chat = memory.session(namespace="acme", user="alice")
        with pytest.raises(ModelError, match=r"fake:model failed \(ConnectionError: cut off") as caught:
            list(chat.stream("在吗？")) if streamed else chat.reply("在吗？")
        assert caught.value.retryable
        assert said(chat) == [("user", "在吗？")]
        assert chat.reply().text == "here"


def test_an_answer_that_cannot_be_stored_is_not_lost() -> None:
    with Memory(":memory:", model=FakeModel(["half an emoji \ud83d", "whole"])) as memory:
        chat = memory.session(namespace="acme", user="alice")
        with pytest.raises(ModelError, match="cannot be stored") as caught:
            chat.reply("hi")
        assert caught.value.raw_reply == "half an emoji \ud83d"
        assert chat.reply().text == "whole"


@pytest.mark.parametrize("model", ["openai:gpt-5", print, object()])
def test_what_is_no_model_is_refused_at_once(model: Any) -> None:
    with pytest.raises(InvalidInput, match=r"models\.load"):
        Memory(":memory:", model=model)


def test_a_stream_gives_pieces_and_then_the_stored_answer(
    open_chat: Open, real: Any, server: Upstream
) -> None:
    server.script = [say("恐龙馆周六开。", calls=[("c1", "weather", {})])]
    chat = open_chat(real)
    *pieces, answer = chat.stream("周末去哪玩？", tools=[TOOL])
    assert len(pieces) > 1
    assert "".join(map(str, pieces)) == "恐龙馆周六开。"
    assert isinstance(answer, Answer)
    assert [call.id for call in answer.tool_calls] == ["c1"]
    assert answer.event == chat.get_recent(1)[0]


@pytest.mark.parametrize("broken", [cut_stream("half an ans"), failing_stream])
def test_a_broken_stream_stores_no_half_answer(
    open_chat: Open, real: Any, server: Upstream, broken: Any
) -> None:
    server.script = [broken, say("whole")]
    chat = open_chat(real)
    heard: list[Any] = []
    with pytest.raises(ModelError) as caught:
        heard.extend(chat.stream("?"))
    assert said(chat) == [("user", "?")]
    assert caught.value.raw_reply is None or caught.value.raw_reply in "half an answer hello"
    assert chat.reply().text == "whole"


# ── with a model of one's own ─────────────────────────────────────────────────────────────────────────────


def test_the_question_is_durable_before_the_model_is_asked(open_chat: Open, tmp_path: Path) -> None:
    seen: list[list[tuple[str, Any]]] = []

    def look(call: Call) -> str:
        with Memory(str(tmp_path / "chat.db"), worker=False) as other:
            seen.append(said(other.session(namespace="acme", user="alice", session_id="s")))
        return "yes"

    open_chat(FakeModel(look)).reply("持久吗？")
    assert seen == [[("user", "持久吗？")]]


def test_a_stream_that_nobody_reads_to_its_end_stores_no_answer(open_chat: Open) -> None:
    chat = open_chat(FakeModel("a long answer"))
    pieces = chat.stream("?")
    assert said(chat) == [("user", "?")]
    assert next(pieces) == "a lo"
    pieces.close()  # type: ignore[attr-defined]
    assert said(chat) == [("user", "?")]


def test_without_a_model_nothing_is_stored_and_the_error_says_what_to_do(open_chat: Open) -> None:
    chat = open_chat(None)
    for call in (chat.reply, chat.stream):
        with pytest.raises(InvalidInput, match=r"Memory\(…, model="):
            call("hello")
    assert said(chat) == []


def test_there_must_be_something_to_answer(open_chat: Open) -> None:
    chat = open_chat(FakeModel("hi"))
    with pytest.raises(InvalidInput, match="Nothing waits"):
        chat.reply()
    chat.reply("hello")
    with pytest.raises(InvalidInput, match="Nothing waits"):
        chat.reply()
    with pytest.raises(InvalidInput, match="empty"):
        chat.reply("  ")


def test_a_question_too_large_for_the_budget_stays_and_is_answered_under_a_larger_one(
    open_chat: Open,
) -> None:
    chat = open_chat(FakeModel("ok"))
    with pytest.raises(BudgetExceeded) as caught:
        chat.reply("很长的问题" * 100, budget=50)
    assert chat.reply(budget=50 + caught.value.missing).text == "ok"
    assert len(said(chat)) == 2


def test_recall_asks_with_the_question_with_other_words_or_not_at_all(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "r.db"), model=FakeModel("ok"), worker=False) as memory:
        memory.session(namespace="acme", user="alice").add_message("user", "My son loves dinosaurs")
        chat = memory.session(namespace="acme", user="alice")
        assert "loves" in chat.reply("dinosaurs?").context.system
        assert "loves" not in chat.reply("dinosaurs?", query=False).context.system
        assert "loves" not in chat.reply("anything new?").context.system
        assert "loves" in chat.reply("anything new?", query="dinosaurs").context.system


def test_a_reply_of_no_known_shape_is_kept_by_its_content(open_chat: Open) -> None:
    odd = Reply(
        content=(ToolCall("c1", "weather", "{}"),),
        usage=Usage(input_tokens=3),
        raw={"generated": "whatever"},
        model="mine",
    )
    answer = open_chat(FakeModel(odd)).reply("?")
    assert answer.event.content == (ToolCall("c1", "weather", "{}"),)
    assert answer.event.metadata["model"] == "mine"


def test_a_model_whose_stream_never_ends_in_a_reply_is_an_error(open_chat: Open) -> None:
    class Careless(FakeModel):
        def stream(self, *args: Any, **kwargs: Any) -> Iterator[str | Reply]:
            yield "some"

    chat = open_chat(Careless())
    with pytest.raises(ModelError, match="without a reply"):
        list(chat.stream("?"))
    assert said(chat) == [("user", "?")]


def test_the_async_face_answers_and_streams(tmp_path: Path) -> None:
    async def main() -> tuple[str, list[Any]]:
        async with AsyncMemory(str(tmp_path / "a.db"), model=FakeModel("你好，世界"), worker=False) as memory:
            chat = await memory.session(namespace="acme", user="alice")
            first = await chat.reply("hi")
            return first.text, [piece async for piece in chat.stream("again")]

    text, pieces = asyncio.run(main())
    assert text == "你好，世界"
    assert "".join(pieces[:-1]) == "你好，世界"
    assert pieces[-1].text == "你好，世界"
