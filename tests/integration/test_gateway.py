"""The gateway between the official SDKs and an upstream that speaks both protocols."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.provider_rules import check_anthropic, check_openai
from tests.service import Running, running
from tests.upstream import (
    Handler,
    Upstream,
    _stream,
    cut_body,
    cut_chunks,
    failing_stream,
    garbled_stream,
    hang,
    refuse,
    reply,
    say,
    stall_chunks,
)
from wellkept import Event, Memory, Session, StoreBusy
from wellkept.records import text_of
from wellkept.server import Settings

ASKED = "我小孩今年五岁，对恐龙特别着迷"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass
class House:
    """One service and its upstream for all tests of this module; each test is about a user of its own."""

    running: Running
    upstream: Upstream
    openai: openai.OpenAI
    anthropic: anthropic.Anthropic


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with Upstream() as upstream:
        settings = Settings(
            namespace="acme", port=0, key_seconds=0.0, upstream_seconds=1.0,
            openai_upstream=upstream.url + "/v1", anthropic_upstream=upstream.url + "/v1",
        )  # fmt: skip
        with running(settings=settings) as service:
            first = openai.OpenAI(base_url=service.url + "/openai/v1", api_key="their-key", max_retries=0)
            second = anthropic.Anthropic(
                base_url=service.url + "/anthropic", api_key="their-key", max_retries=0
            )
            with first, second:
                yield House(service, upstream, first, second)


@pytest.fixture
def upstream(house: House) -> Iterator[Upstream]:
    house.upstream.requests, house.upstream.script = [], []
    house.upstream.released.clear()
    yield house.upstream
    house.upstream.released.set()


NUMBERS = itertools.count(1)


@dataclass
class Service:
    """The service, as one user has it."""

    house: House
    user: str

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Wellkept-Session": "chat-1", "X-Wellkept-User": self.user}

    @property
    def memory(self) -> Memory:
        memory: Memory = self.house.running.memory
        return memory

    @property
    def chat(self) -> Session:
        return self.memory.session(namespace="acme", user=self.user, session_id="chat-1")

    def sessions(self) -> list[Any]:
        return self.memory.user(self.user, namespace="acme").sessions()

    def post(self, path: str, headers: dict[str, str] | None = None, **options: Any) -> httpx2.Response:
        sent = self.headers if headers is None else headers
        return self.house.running.client.post(path, headers=sent, **options)


@pytest.fixture
def service(house: House, upstream: Upstream) -> Service:
    return Service(house, f"user-{next(NUMBERS)}")


class OpenAISide:
    """The official OpenAI client, pointed at the gateway."""

    shape = "openai"

    def __init__(self, service: Service) -> None:
        self.client = service.house.openai.with_options(default_headers=service.headers)

    def ask(self, messages: Any, **options: Any) -> str:
        done = self.client.chat.completions.create(model="gpt-x", messages=messages, **options)
        return done.choices[0].message.content or ""

    def stream(self, messages: Any, **options: Any) -> str:
        chunks = self.client.chat.completions.create(model="gpt-x", messages=messages, stream=True, **options)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


class AnthropicSide:
    """The official Anthropic client, pointed at the gateway."""

    shape = "anthropic"

    def __init__(self, service: Service) -> None:
        self.client = service.house.anthropic.with_options(default_headers=service.headers)

    def ask(self, messages: Any, **options: Any) -> str:
        done = self.client.messages.create(model="claude-x", max_tokens=99, messages=messages, **options)
        return "".join(block.text for block in done.content if block.type == "text")

    def stream(self, messages: Any, **options: Any) -> str:
        arguments = {"model": "claude-x", "max_tokens": 99, "messages": messages, **options}
        with self.client.messages.stream(**arguments) as stream:
            return "".join(stream.text_stream)


Side = OpenAISide | AnthropicSide


@pytest.fixture(params=[OpenAISide, AnthropicSide])
def side(request: pytest.FixtureRequest, service: Service) -> Side:
    made: Side = request.param(service)
    return made


@pytest.fixture(params=["ask", "stream"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def user(text: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def stored(service: Service) -> list[tuple[str, Any]]:
    return [(event.role, event.content) for event in service.chat.get_recent()]


def shown(upstream: Upstream, number: int = -1) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in upstream.requests[number].body["messages"]]


# ── the main way
# ─────────────────────────────────────────────────────────────────────────────────────────────


def test_question_and_answer_are_remembered(
    service: Service, upstream: Upstream, side: Side, way: str
) -> None:
    upstream.script = [say("恐龙展在周六"), say("Saturday")]
    assert getattr(side, way)(user(ASKED)) == "恐龙展在周六"
    assert getattr(side, way)(user("When?")) == "Saturday"
    said = [(event.role, text_of(event.content)) for event in service.chat.get_recent()]
    questions, answers = [("user", ASKED), ("user", "When?")], ["恐龙展在周六", "Saturday"]
    assert said == [questions[0], ("assistant", answers[0]), questions[1], ("assistant", answers[1])]
    assert shown(upstream)[-1][0] == "user"
    assert ASKED in str(shown(upstream))
    assert "恐龙展在周六" in str(shown(upstream))


def test_an_application_that_sends_all_of_it_every_time_doubles_nothing(
    service: Service, upstream: Upstream, side: Side, way: str
) -> None:
    history: list[dict[str, Any]] = []
    for number in range(4):
        upstream.script = [say(f"answer {number}")]
        history += user(f"question {number}")
        answer = getattr(side, way)(history)
        history.append({"role": "assistant", "content": answer})
    assert len(stored(service)) == 8


def test_the_applications_instructions_come_first_and_are_not_remembered(
    service: Service, upstream: Upstream, side: Side
) -> None:
    alice = service.memory.user(service.user, namespace="acme")
    alice.profile["user"] = "Speaks Chinese."
    if side.shape == "openai":
        side.ask([{"role": "system", "content": "Be brief."}, *user("hi")])
        system = upstream.requests[0].body["messages"][0]["content"]
    else:
        side.ask(user("hi"), system="Be brief.")
        system = upstream.requests[0].body["system"]
    assert system.startswith("Be brief.\n\n")
    assert "Speaks Chinese." in system
    assert [role for role, _ in stored(service)] == ["user", "assistant"]


@pytest.mark.parametrize("path", ["/openai/v1/chat/completions", "/anthropic/v1/messages"])
def test_what_the_caller_asks_beside_messages_goes_through(
    service: Service, upstream: Upstream, path: str
) -> None:
    more = {"model": "m", "temperature": 0.5, "something_new": {"a": [1]}}
    headers = {**service.headers, "anthropic-beta": "files"}
    service.post(path + "?beta=true&x=%20", headers, json={**more, "messages": user("hi")})
    asked = upstream.requests[0]
    assert asked.body == {**more, "messages": user("hi")}
    assert asked.path.endswith("?beta=true&x=%20")
    assert asked.headers["anthropic-beta"] == "files"


def test_cache_marks_of_the_application_stay(service: Service, upstream: Upstream) -> None:
    side, mark = AnthropicSide(service), {"cache_control": {"type": "ephemeral"}}
    question = user(
        [{"type": "text", "text": "A long document.", **mark}, {"type": "text", "text": "And a question."}]
    )
    side.ask(question)
    assert upstream.requests[0].body["messages"] == question
    more = [
        *question,
        {"role": "assistant", "content": "ok"},
        *user([{"type": "text", "text": "More?", **mark}]),
    ]
    side.ask(more)
    sent = upstream.requests[1].body["messages"]
    assert [part.get("cache_control") is not None for message in sent for part in message["content"]] == [
        True, False, False, True,
    ]  # fmt: skip
    side.ask(user("Without."))
    assert "cache_control" not in str(upstream.requests[2].body)


def test_the_bytes_of_an_answer_are_those_of_the_upstream(service: Service, upstream: Upstream) -> None:
    body = {"model": "m", "messages": user("hi"), "stream": True}
    upstream.script = [say("same 一样"), say("same 一样")]
    direct = service.post(upstream.url + "/v1/chat/completions", json=body)
    through = service.post("/openai/v1/chat/completions", json=body)
    assert through.content == direct.content
    assert through.headers["content-type"] == direct.headers["content-type"]
    assert through.headers["x-wellkept-session"] == "chat-1"
    assert int(through.headers["x-wellkept-context-tokens"]) > 0


def test_the_answer_says_what_memory_took(service: Service, upstream: Upstream) -> None:
    done = service.post("/openai/v1/chat/completions", json={"model": "m", "messages": user("hi")})
    assert re.fullmatch(r"memory;dur=\d+\.\d, upstream;dur=\d+\.\d", done.headers["server-timing"])


def test_without_a_session_it_is_a_plain_door(service: Service, upstream: Upstream) -> None:
    raw = b'{"model":"m",  "messages":[{"role":"user","content":"hi"}]}'
    done = service.post(
        "/openai/v1/chat/completions", content=raw, headers={"content-type": "application/json"}
    )
    assert done.status_code == 200
    assert upstream.requests[0].body["messages"] == user("hi")
    assert service.sessions() == []


# ── tools and images
# ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_round_of_tools_openai(service: Service, upstream: Upstream, way: str) -> None:
    side = OpenAISide(service)
    upstream.script = [say(calls=[("c1", "weather", {"city": "北京"})]), say("晴")]
    history = user("天气？")
    function = {"name": "weather", "parameters": {"type": "object", "properties": {}}}
    tools = [{"type": "function", "function": function}]
    if way == "ask":
        done = side.client.chat.completions.create(model="m", messages=history, tools=tools)  # type: ignore[call-overload]
        history.append(done.choices[0].message.model_dump(exclude_none=True))
    else:
        side.stream(history, tools=tools)
        call = {"name": "weather", "arguments": '{"city": "北京"}'}
        calls = [{"id": "c1", "type": "function", "function": call}]
        history.append({"role": "assistant", "tool_calls": calls})
    history.append({"role": "tool", "tool_call_id": "c1", "content": "晴 25°"})
    assert getattr(side, way)(history, tools=tools) == "晴"
    assert [role for role, _ in stored(service)] == ["user", "assistant", "tool", "assistant"]
    assert shown(upstream)[-1] == ("tool", "晴 25°")
    asked = upstream.requests[-1].body["messages"]
    assert asked[-2]["tool_calls"][0]["function"]["name"] == "weather"
    assert upstream.requests[-1].body["tools"] == tools


def test_a_round_of_tools_anthropic(service: Service, upstream: Upstream, way: str) -> None:
    side = AnthropicSide(service)
    upstream.script = [
        say("Let me look.", calls=[("toolu_1", "weather", {"city": "北京"})], thinking="hm"),
        say("晴"),
    ]
    tools = [{"name": "weather", "input_schema": {"type": "object"}}]
    getattr(side, way)(user("天气？"), tools=tools)
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "晴 25°", "is_error": False}
    assert getattr(side, way)(user([result]), tools=tools) == "晴"
    assert [role for role, _ in stored(service)] == ["user", "assistant", "tool", "assistant"]
    told, called, answered = upstream.requests[-1].body["messages"]
    assert told["content"] == "天气？"
    kinds = [block["type"] for block in called["content"]]
    assert kinds == ["thinking", "text", "tool_use"]
    assert called["content"][0]["signature"] == "sig"
    assert called["content"][2]["input"] == {"city": "北京"}
    assert answered["content"][0]["tool_use_id"] == "toolu_1"


def test_images_go_through(service: Service, upstream: Upstream, side: Side) -> None:
    openai_part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    part = openai_part if side.shape == "openai" else {"type": "image", "source": source}
    side.ask(user([{"type": "text", "text": "what is it?"}, part]))
    assert upstream.requests[0].body["messages"][-1]["content"][1] == part


# ── what goes wrong upstream
# ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_errors_of_the_upstream_are_the_callers(
    service: Service, upstream: Upstream, side: Side, way: str, status: int
) -> None:
    upstream.script = [refuse(status, {"retry-after": "7", "x-request-id": "r1"})]
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        getattr(side, way)(user("hi"))
    assert caught.value.status_code == status
    assert caught.value.response.headers["retry-after"] == "7"
    assert f"told to answer {status}" in str(caught.value)
    assert stored(service) == [("user", "hi")], "it was said, whether it was answered or not"


def test_a_question_that_was_not_answered_is_asked_again_once(
    service: Service, upstream: Upstream, side: Side
) -> None:
    upstream.script = [refuse(500), say("now")]
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)):
        side.ask(user("hi"))
    assert side.ask(user("hi")) == "now"
    assert [role for role, _ in stored(service)] == ["user", "assistant"]


def test_an_upstream_that_hangs_is_a_timeout(service: Service, upstream: Upstream, side: Side) -> None:
    upstream.script = [hang]
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        side.ask(user("hi"))
    assert caught.value.status_code == 504
    upstream.released.set()


def settled(service: Service, count: int) -> list[Event]:
    """What is stored, when as much is there as is expected; cut answers are recorded behind the response."""
    deadline = time.monotonic() + 10
    while len(service.chat.get_recent()) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    return service.chat.get_recent()


def test_a_stream_that_is_cut_is_cut_for_the_caller_and_kept_as_far_as_it_came(
    service: Service, upstream: Upstream, side: Side
) -> None:
    upstream.script = [cut_chunks("half of it")]
    with pytest.raises((httpx2.TransportError, openai.APIConnectionError, anthropic.APIConnectionError)):
        side.stream(user("hi"))
    asked, answered = settled(service, 2)
    assert asked.content == "hi"
    assert text_of(answered.content) == "half "
    assert answered.metadata["gateway"]["incomplete"] == "the connection was cut"


def test_a_stream_that_ends_without_its_mark_is_there_for_the_next_request(
    service: Service, upstream: Upstream
) -> None:
    def unmarked(handler: Handler) -> None:
        handler.send_events(list(_stream(handler, "all of it", (), ""))[:-1])

    for number in range(1, 6):
        upstream.script = [unmarked]
        body = {"model": "m", "messages": user(f"question {number}"), "stream": True}
        service.post("/openai/v1/chat/completions", json=body)
        assert len(stored(service)) == 2 * number


def test_a_caller_that_hangs_up_keeps_what_it_saw(service: Service, upstream: Upstream) -> None:
    upstream.script = [stall_chunks("half of it")]
    body = {"model": "m", "messages": user("hi"), "stream": True}
    client, headers = service.house.running.client, service.headers
    with client.stream("POST", "/openai/v1/chat/completions", json=body, headers=headers) as response:
        assert b"half" in next(response.iter_raw())
    assert text_of(settled(service, 2)[1].content) == "half "


def test_a_whole_answer_that_is_cut_is_cut_for_the_caller(
    service: Service, upstream: Upstream, side: Side
) -> None:
    upstream.script = [cut_body]
    with pytest.raises((openai.APIConnectionError, anthropic.APIConnectionError)):
        side.ask(user("hi"))
    assert stored(service) == [("user", "hi")]


@pytest.mark.parametrize("step", [garbled_stream, failing_stream])
def test_garbage_and_errors_in_a_stream_go_through(
    service: Service, upstream: Upstream, step: Any, side: Side
) -> None:
    path = "/openai/v1/chat/completions" if side.shape == "openai" else "/anthropic/v1/messages"
    body = {"model": "m", "messages": user("hi"), "stream": True, "max_tokens": 9}
    upstream.script = [step, step]
    direct = service.post(upstream.url + path.replace("/openai", "").replace("/anthropic", ""), json=body)
    through = service.post(path, json=body)
    assert through.content == direct.content
    time.sleep(0.2)
    later = settled(service, 1)[1:]
    assert all(event.metadata["gateway"]["incomplete"] for event in later)


def test_an_answer_that_is_no_json_goes_through(service: Service, upstream: Upstream) -> None:
    upstream.script = [reply(b"<html>oops")]
    body = {"model": "m", "messages": user("hi")}
    done = service.post("/openai/v1/chat/completions", json=body)
    assert (done.status_code, done.content) == (200, b"<html>oops")
    assert stored(service) == [("user", "hi")]


# ── what goes wrong with memory
# ──────────────────────────────────────────────────────────────────────────────


def test_a_request_goes_through_when_memory_fails(
    service: Service, upstream: Upstream, side: Side, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any, **__: Any) -> None:
        raise StoreBusy("Another process\r\nholds the lock 锁.")

    monkeypatch.setattr(Memory, "append_new", busy)
    assert getattr(side, way)(user("hi")) == "ok"
    assert upstream.requests[0].body["messages"] == user("hi")
    metrics = service.house.running.client.get("/metrics").text
    assert f'memory_errors_total{{error="StoreBusy",provider="{side.shape}"}}' in metrics


def test_the_answer_says_that_memory_failed(service: Service, upstream: Upstream) -> None:
    raw = b'{"model":"m","messages":"none at all"}'
    done = service.post("/openai/v1/chat/completions", content=raw)
    assert done.headers["x-wellkept-error"].startswith("InvalidInput: ")
    assert upstream.requests[0].body["messages"] == "none at all"


def test_a_question_larger_than_the_budget_goes_through(
    service: Service, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"model": "m", "messages": user("long " * 5000)}
    headers = {**service.headers, "X-Wellkept-Budget": "20"}
    done = service.post("/openai/v1/chat/completions", json=body, headers=headers)
    assert done.headers["x-wellkept-error"].startswith("BudgetExceeded")
    assert upstream.requests[0].body == body
    said = [record for record in caplog.records if "BudgetExceeded" in record.message]
    assert [record.exc_info for record in said] == [None]


LONG = "".join(f"第{number}行说的是别的。\n" for number in range(3_000)) + "完"


def test_what_is_new_goes_through_whole_and_what_is_older_within_the_budget(
    service: Service, upstream: Upstream, side: Side
) -> None:
    for number in range(6):
        side.ask(user(f"{number} {LONG[:2_000]}"))
    side.ask(user(LONG))
    assert shown(upstream)[-1] == ("user", LONG)
    side.ask(user("And now?"))
    assert len(str(shown(upstream))) < 12_000
    assert shown(upstream)[-1] == ("user", "And now?")


def test_a_tools_long_result_goes_through_whole(
    service: Service, upstream: Upstream, side: Side, way: str
) -> None:
    upstream.script = [say("Let me see.", calls=[("c1", "read", {}), ("c2", "read", {})])]
    side.ask(user("Read it."))
    results: list[Any] = [{"role": "tool", "tool_call_id": it, "content": it + LONG} for it in ("c1", "c2")]
    if side.shape == "anthropic":
        told = [{"type": "tool_result", "tool_use_id": it, "content": it + LONG} for it in ("c1", "c2")]
        results = user(told)
    getattr(side, way)(results)
    sent = upstream.requests[-1].body["messages"]
    if side.shape == "openai":
        check_openai(sent)
        assert [message["content"] for message in sent[-2:]] == ["c1" + LONG, "c2" + LONG]
    else:
        check_anthropic({"system": "", "messages": sent})
        assert [block["content"] for block in sent[-1]["content"]] == ["c1" + LONG, "c2" + LONG]


def test_an_answer_is_kept_only_behind_its_question(service: Service, upstream: Upstream) -> None:
    path = "/openai/v1/chat/completions"
    service.post(path, json={"model": "m", "messages": user("first")})
    broken = b'{"model": "m", "messages": [{"role": "user", "content": " "}]}'
    assert service.post(path, content=broken).headers["x-wellkept-error"].startswith("InvalidInput")
    assert stored(service) == [("user", "first"), ("assistant", "ok")]
    tight = {**service.headers, "X-Wellkept-Budget": "3"}
    service.post(path, json={"model": "m", "messages": user("a long question")}, headers=tight)
    assert stored(service)[2:] == [("user", "a long question"), ("assistant", "ok")]


def test_half_a_character_does_not_cost_the_message(service: Service, upstream: Upstream) -> None:
    cut = b'{"model": "m", "messages": [{"role": "user", "content": "a dino \\ud83e"}]}'
    done = service.post("/openai/v1/chat/completions", content=cut)
    assert "x-wellkept-error" not in done.headers
    assert stored(service) == [("user", "a dino \ufffd"), ("assistant", "ok")]


# ── incognito
# ────────────────────────────────────────────────────────────────────────────────────────────────


def dump(service: Service) -> bytes:
    """Every byte of the store."""
    connection = service.memory._core.store._connections.get()  # type: ignore[attr-defined]
    data: bytes = connection.serialize("main")
    return data


def test_incognito_reads_memory_and_writes_nothing(
    service: Service, upstream: Upstream, side: Side, way: str
) -> None:
    side.ask(user(ASKED))
    before = dump(service)
    secret = {"X-Wellkept-Mode": "read-only"}
    assert getattr(side, way)(user("what does my child like?"), extra_headers=secret) == "ok"
    assert ASKED in str(shown(upstream)), "it was given what is remembered"
    assert "what does my child like?" in str(shown(upstream)[-1])
    assert dump(service) == before


def test_a_tools_result_that_is_told_incognito_answers_its_call(
    service: Service, upstream: Upstream, side: Side, way: str
) -> None:
    upstream.script = [say("Let me see.", calls=[("c1", "weather", {}), ("c2", "weather", {})])]
    side.ask(user("天气？"))
    results: list[Any] = [{"role": "tool", "tool_call_id": it, "content": f"晴 {it}"} for it in ("c1", "c2")]
    if side.shape == "anthropic":
        told = [{"type": "tool_result", "tool_use_id": it, "content": f"晴 {it}"} for it in ("c1", "c2")]
        results = user(told)
    assert getattr(side, way)(results, extra_headers={"X-Wellkept-Mode": "read-only"}) == "ok"
    sent = upstream.requests[-1].body["messages"]
    if side.shape == "openai":
        check_openai(sent)
        assert [message["content"] for message in sent[-2:]] == ["晴 c1", "晴 c2"]
    else:
        check_anthropic({"system": "", "messages": sent})
        assert [block["content"] for block in sent[-1]["content"]] == ["晴 c1", "晴 c2"]


def test_incognito_in_a_session_that_is_not_there_makes_none(service: Service, upstream: Upstream) -> None:
    body = {"model": "m", "messages": user("hi")}
    headers = {**service.headers, "X-Wellkept-Mode": "read-only"}
    done = service.post("/openai/v1/chat/completions", json=body, headers=headers)
    assert done.headers["x-wellkept-memory"] == "none"
    assert upstream.requests[0].body == body
    assert service.sessions() == []


# ── answers that the caller begins
# ─────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_that_was_begun_is_remembered_whole(service: Service, upstream: Upstream, way: str) -> None:
    """Anthropic gives what follows the beginning, and the caller sends both back as one."""
    side = AnthropicSide(service)
    upstream.script = [say('"city": "柏林"}')]
    history = [*user("Where? As JSON."), {"role": "assistant", "content": "{"}]
    assert getattr(side, way)(history) == '"city": "柏林"}'
    assert shown(upstream)[-1] == ("assistant", "{")
    history[-1] = {"role": "assistant", "content": '{"city": "柏林"}'}
    assert text_of(service.chat.get_recent()[-1].content) == '{"city": "柏林"}'
    side.ask([*history, *user("And when?")])
    assert service.chat.info().events == 4


def test_an_answer_that_goes_on_is_not_said_twice(service: Service, upstream: Upstream, way: str) -> None:
    side = AnthropicSide(service)
    upstream.script = [say("Once upon"), say(" a time")]
    side.ask(user("Tell me a story."))
    history = [*user("Tell me a story."), {"role": "assistant", "content": "Once upon"}]
    assert getattr(side, way)(history) == " a time"
    assert [role for role, _ in shown(upstream)] == ["user", "assistant"]
    assert str(shown(upstream)).count("Once upon") == 1
    assert [text_of(event.content) for event in service.chat.get_recent()] == [
        "Tell me a story.",
        "Once upon",
        " a time",
    ]


# ── whose memory
# ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_session_id_of_another_user_is_another_session(service: Service, upstream: Upstream) -> None:
    body = {"model": "m", "messages": user("my secret is 4711")}
    other = {**service.headers, "X-Wellkept-User": "%E5%B0%8F%E6%98%8E"}
    service.post("/openai/v1/chat/completions", json=body)
    service.post("/openai/v1/chat/completions", json={**body, "messages": user("hi")}, headers=other)
    assert "4711" not in str(upstream.requests[1].body)
    assert {scope.user for scope in service.memory.scopes("acme")} >= {service.user, "小明"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Wellkept-Mode": "incognito"}, 422),
        ({"X-Wellkept-Budget": "many"}, 422),
        ({"X-Wellkept-Tools": "yes"}, 422),
        ({"X-Wellkept-Sesion": "trip"}, 422),
        ({"X-Wellkept-Session": "%ff"}, 422),
        ({"X-Wellkept-Session": "a%2Fb"}, 422),
        ({"X-Wellkept-Session": "."}, 422),
        ({"X-Wellkept-Session": "%2E%2E"}, 422),
        ({"X-Wellkept-User": "%ff"}, 422),
        ({"X-Wellkept-Key": "wk_wrong"}, 401),
    ],
)
def test_headers_that_make_no_sense_are_refused(
    service: Service, upstream: Upstream, side: Side, headers: dict[str, str], status: int
) -> None:
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        side.ask(user("hi"), extra_headers=headers)
    assert caught.value.status_code == status
    assert upstream.requests == []
