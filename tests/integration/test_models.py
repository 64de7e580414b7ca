"""The adapters against a real local server that speaks both protocols, and fails in all ways servers do."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.provider_rules import check_anthropic, check_openai
from tests.upstream import (
    Upstream,
    cut_body,
    cut_stream,
    failing_stream,
    garbled_stream,
    hang,
    refuse,
    reply,
    say,
)
from wellkept.errors import InvalidInput, MissingExtra, ModelError
from wellkept.models import Anthropic, Model, OpenAI, Reply, Usage, load
from wellkept.models.retry import Retry
from wellkept.policy.context.messages import parse
from wellkept.records import Text, Thinking, ToolCall

ASK = [{"role": "user", "content": "我小孩今年几岁？"}]
SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer"}},
    "required": ["age"],
    "additionalProperties": False,
}
TOOL = {
    "name": "look_up",
    "description": "Looks it up.",
    "input_schema": {"type": "object", "properties": {}},
}
Make = Callable[..., Any]


@pytest.fixture
def server() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def pauses() -> list[float]:
    """Seconds that the adapter under test wanted to sleep between tries."""
    return []


@pytest.fixture(params=["openai", "anthropic"])
def make(request: pytest.FixtureRequest, server: Upstream, pauses: list[float]) -> Make:
    """A factory of adapters for the server, each of which notes its pauses and does not sleep."""

    def build(**options: Any) -> Any:
        options = {"api_key": "sk-test", "timeout": 5, **options}
        if request.param == "openai":
            model: Any = OpenAI("gpt-x", base_url=f"{server.url}/v1", **options)
        else:
            model = Anthropic("claude-x", base_url=server.url, **options)
        model.retry = replace(model.retry, sleep=pauses.append)
        return model

    return build


# ── answers ───────────────────────────────────────────────────────────────────────────────────────────────


def test_text_and_usage(make: Make, server: Upstream) -> None:
    server.script = [say("五岁")]
    model = make()
    answer = model.complete("Be brief.", ASK, max_tokens=50)
    assert isinstance(model, Model)
    assert (answer.content, answer.usage) == ("五岁", Usage(input_tokens=11, output_tokens=7))
    assert answer.model == model.name.split(":")[1]
    assert answer.stop_reason in ("stop", "end_turn")
    (request,) = server.requests
    assert request.body["max_tokens"] == 50
    assert json.dumps(request.body).count("Be brief.") == 1


def test_tool_calls_and_thinking_can_be_appended_as_they_came(make: Make, server: Upstream) -> None:
    server.script = [
        say("Looking.", calls=[("t1", "look_up", {"a": "恐龙"}), ("t2", "look_up", {})], thinking="hm")
    ]
    answer = make().complete("", ASK, tools=[TOOL])
    thinking, text, *calls = answer.content
    assert isinstance(thinking, Thinking) and thinking.text == "hm"
    assert text == Text("Looking.")
    assert [(call.id, json.loads(call.arguments)) for call in calls] == [("t1", {"a": "恐龙"}), ("t2", {})]
    assert parse(answer.raw).content == answer.content


def test_a_tool_is_written_in_the_providers_shape_whichever_it_came_in(make: Make, server: Upstream) -> None:
    function = {"name": "look_up", "description": "Looks it up.", "parameters": TOOL["input_schema"]}
    for tool in (TOOL, {"type": "function", "function": function}):
        make().complete("", ASK, tools=[tool])
    first, second = (request.body["tools"] for request in server.requests)
    assert first == second
    assert first == [TOOL] or first == [{"type": "function", "function": function}]


def test_a_stream_gives_pieces_and_then_the_whole(make: Make, server: Upstream) -> None:
    server.script = [say("恐龙 facts", calls=[("t1", "look_up", {"a": "恐龙"})], thinking="think hard")]
    *pieces, answer = make().stream("", ASK)
    assert "".join(pieces) == "恐龙 facts"
    assert len(pieces) == 2
    assert isinstance(answer, Reply)
    assert [type(block) for block in answer.content] == [Thinking, Text, ToolCall]
    assert answer.content[0].text == "think hard"
    assert json.loads(answer.content[2].arguments) == {"a": "恐龙"}
    assert answer.usage == Usage(input_tokens=11, output_tokens=7)
    assert parse(answer.raw).content == answer.content


def test_a_streamed_text_is_a_string(make: Make, server: Upstream) -> None:
    server.script = [say("hello")]
    assert list(make().stream("", ASK))[-1].content == "hello"


def test_a_stream_may_be_left_early(make: Make, server: Upstream) -> None:
    model = make()
    stream = model.stream("", ASK)
    assert next(stream)
    stream.close()
    assert model.complete("", ASK).content == "ok"


def test_an_empty_answer_is_an_empty_string(make: Make, server: Upstream) -> None:
    server.script = [say("")]
    assert make().complete("", ASK).content == ""


def test_what_is_sent_keeps_the_providers_rules(make: Make, server: Upstream) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    log = [
        *ASK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "1"},
        {"role": "assistant", "content": "So it is."},
        *ASK,
    ]
    make().complete("Be brief.", log)
    body = server.requests[0].body
    if "system" in body:
        check_anthropic({"system": body["system"], "messages": body["messages"]})
    else:
        check_openai(body["messages"])


def test_a_schema_is_enforced_where_the_provider_can(make: Make, server: Upstream) -> None:
    model = make()
    anthropic = isinstance(model, Anthropic)
    server.script = [say(calls=[("t1", "answer", {"age": 5})]) if anthropic else say('{"age": 5}')]
    answer = model.complete("", ASK, schema=SCHEMA)
    assert json.loads(answer.content) == {"age": 5}
    body = server.requests[0].body
    if anthropic:
        assert body["tools"][0]["input_schema"] == SCHEMA
        assert body["tool_choice"] == {"type": "tool", "name": "answer"}
    else:
        assert body["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA, "strict": True}


def test_a_schema_beside_tools_is_a_hint(make: Make, server: Upstream) -> None:
    model = make()
    if isinstance(model, OpenAI):
        pytest.skip("OpenAI's interface takes both")
    model.complete("Be brief.", ASK, tools=[TOOL], schema=SCHEMA)
    body = server.requests[0].body
    assert body["tools"] == [TOOL]
    assert '"age"' in body["system"]


# ── failures ──────────────────────────────────────────────────────────────────────────────────────────────


def fails(action: Callable[[], Any]) -> ModelError:
    with pytest.raises(ModelError) as caught:
        action()
    return caught.value


def test_429_is_tried_again_after_the_time_it_asks_for(
    make: Make, server: Upstream, pauses: list[float]
) -> None:
    server.script = [refuse(429, {"retry-after": "7"}), say("hello")]
    assert make().complete("", ASK).content == "hello"
    assert pauses == [7.0]


def test_a_wait_that_is_too_long_is_the_callers_to_plan(
    make: Make, server: Upstream, pauses: list[float]
) -> None:
    server.script = [refuse(429, {"retry-after": "86400"})]
    error = fails(lambda: make().complete("", ASK))
    assert error.retryable
    assert not pauses
    assert len(server.requests) == 1


def test_5xx_is_tried_again_with_longer_pauses(make: Make, server: Upstream, pauses: list[float]) -> None:
    server.script = [refuse(status) for status in (500, 503, 529, 502)]
    error = fails(lambda: make().complete("", ASK))
    assert error.retryable
    assert "told to answer 502" in (error.raw_reply or "")
    assert len(server.requests) == 4
    assert [round(pause, 9) for pause in pauses] == sorted(round(pause, 9) for pause in pauses)
    assert 0.3 < pauses[0] <= 0.5 < 1.5 <= pauses[2] <= 2


def test_opening_a_stream_is_tried_again(make: Make, server: Upstream, pauses: list[float]) -> None:
    server.script = [refuse(500), say("hello")]
    assert "".join(list(make().stream("", ASK))[:-1]) == "hello"
    assert len(pauses) == 1


@pytest.mark.parametrize(("status", "advice"), [(401, "API key"), (404, "model's name"), (400, "refused")])
def test_what_cannot_be_mended_is_not_tried_again(
    make: Make, server: Upstream, pauses: list[float], status: int, advice: str
) -> None:
    server.script = [refuse(status)]
    error = fails(lambda: make().complete("", ASK))
    assert not error.retryable
    assert advice in str(error)
    assert "sk-test" not in str(error)
    assert not pauses


def test_a_spent_quota_is_not_tried_again(make: Make, server: Upstream) -> None:
    server.script = [refuse(429, body={"error": {"code": "insufficient_quota", "message": "pay"}})]
    assert not fails(lambda: make().complete("", ASK)).retryable


def test_a_cut_reply_is_tried_again(make: Make, server: Upstream, pauses: list[float]) -> None:
    server.script = [cut_body, say("hello")]
    assert make().complete("", ASK).content == "hello"
    assert len(pauses) == 1


@pytest.mark.parametrize(
    "body", [b"{not json", b"", b"<html>busy</html>", [], {}, {"choices": []}, "text", None]
)
def test_a_malformed_reply_is_a_model_error(make: Make, server: Upstream, body: Any) -> None:
    server.script = [reply(body)]
    assert isinstance(fails(lambda: make(max_retries=0).complete("", ASK)), ModelError)


@pytest.mark.parametrize("reset", [True, False])
def test_a_cut_stream_keeps_what_was_said(make: Make, server: Upstream, reset: bool) -> None:
    server.script = [cut_stream("hello there", reset=reset)]
    pieces: list[Any] = []
    error = fails(lambda: pieces.extend(make().stream("", ASK)))
    assert error.retryable
    assert len(server.requests) == 1
    if not reset:
        assert error.raw_reply == "hello"


@pytest.mark.parametrize("step", [garbled_stream, failing_stream])
def test_a_broken_stream_is_a_model_error(make: Make, server: Upstream, step: Any) -> None:
    server.script = [step]
    assert fails(lambda: list(make().stream("", ASK))).retryable


def test_a_silent_server_times_out(make: Make, server: Upstream, pauses: list[float]) -> None:
    server.script = [hang, hang]
    error = fails(lambda: make(timeout=0.1, max_retries=1).complete("", ASK))
    assert error.retryable
    assert "in time" in str(error)
    assert len(pauses) == 1


def test_no_server_at_all(make: Make, server: Upstream) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    model = OpenAI("m", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
    error = fails(lambda: model.complete("", ASK))
    assert error.retryable
    assert "is its server running" in str(error)


# ── OpenAI's relatives ────────────────────────────────────────────────────────────────────────────────────


def test_a_server_without_schemas_gets_them_as_words(server: Upstream) -> None:
    said = {"error": {"message": "This response_format type is unavailable now"}}
    server.script = [refuse(400, body=said), say('{"age": 5}'), say('{"age": 6}')]
    model = OpenAI("m", base_url=server.url)
    for age in (5, 6):
        assert json.loads(str(model.complete("Be brief.", ASK, schema=SCHEMA).content)) == {"age": age}
    assert ["response_format" in request.body for request in server.requests] == [True, False, False]
    assert '"age"' in server.requests[1].body["messages"][0]["content"]


def test_another_refusal_is_not_taken_for_one_of_schemas(server: Upstream) -> None:
    server.script = [refuse(400)]
    assert not fails(lambda: OpenAI("m", base_url=server.url).complete("", ASK, schema=SCHEMA)).retryable
    assert len(server.requests) == 1


def test_an_open_schema_is_not_asked_for_strictly(server: Upstream) -> None:
    OpenAI("m", base_url=server.url).complete("", ASK, schema={"type": "object", "properties": {"a": {}}})
    assert server.requests[0].body["response_format"]["json_schema"]["strict"] is False


def test_the_key_of_the_environment_goes_to_its_owner_only(
    server: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    OpenAI("m", base_url=server.url).complete("", ASK)
    Anthropic("m", base_url=server.url).complete("", ASK)
    assert len(server.requests) == 2
    assert "secret" not in repr([request.headers for request in server.requests])


def test_openai_itself_is_told_the_new_name_of_the_limit() -> None:
    model = OpenAI("gpt-5-mini", api_key="sk-test")
    assert model._request("", ASK, (), 7)["max_completion_tokens"] == 7


# ── construction ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-x", "ANTHROPIC_API_KEY"),
        ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY"),
        ("qwen:qwen-plus", "DASHSCOPE_API_KEY"),
    ],
)
def test_a_missing_key_is_named(spec: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(InvalidInput, match=variable):
        load(spec)
    monkeypatch.setenv(variable, "k")
    assert load(spec).name == spec
    monkeypatch.delenv(variable)
    assert load(spec, api_key="k").name == spec


@pytest.mark.parametrize("spec", ["ollama:qwen3:4b", "vllm:m", "llamacpp:m"])
def test_a_local_server_needs_no_key(spec: str) -> None:
    assert load(spec).name == spec


def test_a_preset_can_be_pointed_elsewhere(server: Upstream) -> None:
    load("ollama:qwen3", base_url=f"{server.url}/v1").complete("", ASK)
    assert server.requests[0].path == "/v1/chat/completions"


@pytest.mark.parametrize("spec", ["", "gpt-5", "openai:", "nobody:m"])
def test_an_unknown_model_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInput, match="provider:model"):
        load(spec)


@pytest.mark.parametrize(("package", "kind"), [("openai", OpenAI), ("anthropic", Anthropic)])
def test_a_missing_package_names_its_extra(package: str, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'wellkept\[{package}\]'"):
        kind("m", api_key="k")


def test_a_client_of_ones_own_is_used(server: Upstream) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="mine", base_url=server.url, default_headers={"x-team": "blue"})
    assert OpenAI("m", client=client).complete("", ASK).content == "ok"
    assert server.requests[0].headers["x-team"] == "blue"


def test_negative_retries_are_refused() -> None:
    with pytest.raises(InvalidInput, match="max_retries"):
        Retry(-1)
