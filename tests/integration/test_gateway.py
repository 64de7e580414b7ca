"""The gateway between the official SDKs and an upstream that speaks both protocols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.service import Running, running
from tests.upstream import Upstream, cut_body, cut_stream, failing_stream, garbled_stream, refuse, reply, say
from wellkept.server import Settings

SESSION = {"X-Wellkept-Session": "chat-1"}
ASKED = "我小孩今年五岁，对恐龙特别着迷"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def service(upstream: Upstream) -> Iterator[Running]:
    settings = Settings(
        namespace="acme", user="alice", port=0, key_seconds=0.0, upstream_seconds=1.0,
        openai_upstream=upstream.url + "/v1", anthropic_upstream=upstream.url + "/v1",
    )  # fmt: skip
    with running(settings=settings) as service:
        yield service


class OpenAISide:
    """The official OpenAI client, pointed at the gateway."""

    shape = "openai"

    def __init__(self, service: Running) -> None:
        self.client = openai.OpenAI(
            base_url=service.url + "/openai/v1", api_key="their-key", default_headers=SESSION, max_retries=0
        )

    def ask(self, messages: Any, **options: Any) -> str:
        done = self.client.chat.completions.create(model="gpt-x", messages=messages, **options)
        return done.choices[0].message.content or ""

    def stream(self, messages: Any, **options: Any) -> str:
        chunks = self.client.chat.completions.create(model="gpt-x", messages=messages, stream=True, **options)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


class AnthropicSide:
    """The official Anthropic client, pointed at the gateway."""

    shape = "anthropic"

    def __init__(self, service: Running) -> None:
        self.client = anthropic.Anthropic(
            base_url=service.url + "/anthropic", api_key="their-key", default_headers=SESSION, max_retries=0
        )

    def ask(self, messages: Any, **options: Any) -> str:
        done = self.client.messages.create(model="claude-x", max_tokens=99, messages=messages, **options)
        return "".join(block.text for block in done.content if block.type == "text")

    def stream(self, messages: Any, **options: Any) -> str:
        arguments = {"model": "claude-x", "max_tokens": 99, "messages": messages, **options}
        with self.client.messages.stream(**arguments) as stream:
            return "".join(stream.text_stream)


Side = OpenAISide | AnthropicSide


@pytest.fixture(params=[OpenAISide, AnthropicSide])
def side(request: pytest.FixtureRequest, service: Running) -> Iterator[Side]:
    made: Side = request.param(service)
    with made.client:
        yield made


@pytest.fixture(params=["ask", "stream"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def user(text: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def stored(service: Running, session: str = "chat-1") -> list[tuple[str, Any]]:
    chat = service.memory.session(namespace="acme", user="alice", session_id=session)
    return [(event.role, event.content) for event in chat.get_recent()]


def shown(upstream: Upstream, number: int = -1) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in upstream.requests[number].body["messages"]]


# ── the main way
# ─────────────────────────────────────────────────────────────────────────────────────────────


def test_question_and_answer_are_remembered(
    service: Running, upstream: Upstream, side: Side, way: str
) -> None:
    upstream.script = [say("恐龙展在周六"), say("Saturday")]
    assert getattr(side, way)(user(ASKED)) == "恐龙展在周六"
    assert getattr(side, way)(user("When?")) == "Saturday"
    assert stored(service) == [
        ("user", ASKED), ("assistant", "恐龙展在周六"), ("user", "When?"), ("assistant", "Saturday"),
    ] or [text for _, text in stored(service)][::2] == [ASKED, "When?"]  # fmt: skip
    assert shown(upstream)[-1][0] == "user"
    assert ASKED in str(shown(upstream))
    assert "恐龙展在周六" in str(shown(upstream))


def test_the_callers_own_key_goes_to_the_upstream_and_ours_does_not(
    service: Running, upstream: Upstream, side: Side
) -> None:
    _, secret = service.memory.keys.create(namespace="acme", user="alice")
    side.ask(user("hi"), extra_headers={"X-Wellkept-Key": secret})
    headers = {name.lower(): value for name, value in upstream.requests[0].headers.items()}
    assert "their-key" in (headers.get("authorization", "") + headers.get("x-api-key", ""))
    assert secret not in str(headers)
    assert not [name for name in headers if name.startswith("x-wellkept")]


def test_an_application_that_sends_all_of_it_every_time_doubles_nothing(
    service: Running, upstream: Upstream, side: Side, way: str
) -> None:
    history: list[dict[str, Any]] = []
    for number in range(4):
        upstream.script = [say(f"answer {number}")]
        history += user(f"question {number}")
        answer = getattr(side, way)(history)
        history.append({"role": "assistant", "content": answer})
    assert len(stored(service)) == 8


def test_the_applications_instructions_come_first_and_are_not_remembered(
    service: Running, upstream: Upstream, side: Side
) -> None:
    alice = service.memory.user("alice", namespace="acme")
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


def test_what_the_caller_asks_beside_messages_goes_through(upstream: Upstream, side: Side) -> None:
    side.ask(
        user("hi"), temperature=0.5, extra_body={"something_new": {"a": [1]}}, extra_query={"beta": "true"}
    )
    asked = upstream.requests[0]
    assert asked.body["temperature"] == 0.5
    assert asked.body["something_new"] == {"a": [1]}
    assert asked.path.endswith("?beta=true")


def test_the_bytes_of_an_answer_are_those_of_the_upstream(service: Running, upstream: Upstream) -> None:
    body = {"model": "m", "messages": user("hi"), "stream": True}
    upstream.script = [say("same 一样"), say("same 一样")]
    direct = service.client.post(upstream.url + "/v1/chat/completions", json=body)
    through = service.client.post("/openai/v1/chat/completions", json=body, headers=SESSION)
    assert through.content == direct.content
    assert through.headers["content-type"] == direct.headers["content-type"]
    assert through.headers["x-wellkept-session"] == "chat-1"
    assert int(through.headers["x-wellkept-context-tokens"]) > 0


def test_without_a_session_it_is_a_plain_door(service: Running, upstream: Upstream) -> None:
    raw = b'{"model":"m",  "messages":[{"role":"user","content":"hi"}]}'
    done = service.client.post(
        "/openai/v1/chat/completions", content=raw, headers={"content-type": "application/json"}
    )
    assert done.status_code == 200
    assert upstream.requests[0].body["messages"] == user("hi")
    assert service.memory.user("alice", namespace="acme").sessions() == []


def test_the_list_of_models_is_the_upstreams(service: Running) -> None:
    from wellkept.server.fake import MODEL, FakeUpstream

    with FakeUpstream() as fake:
        settings = Settings(namespace="acme", user="alice", port=0, openai_upstream=fake.url + "/v1")
        with running(settings=settings) as other:
            client = openai.OpenAI(base_url=other.url + "/openai/v1", api_key="k", max_retries=0)
            with client:
                assert [model.id for model in client.models.list()] == [MODEL]


# ── tools and images
# ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_round_of_tools_openai(service: Running, upstream: Upstream, way: str) -> None:
    side = OpenAISide(service)
    upstream.script = [say(calls=[("c1", "weather", {"city": "北京"})]), say("晴")]
    history = user("天气？")
    function = {"name": "weather", "parameters": {"type": "object", "properties": {}}}
    tools = [{"type": "function", "function": function}]
    with side.client as client:
        if way == "ask":
            done = client.chat.completions.create(model="m", messages=history, tools=tools)  # type: ignore[call-overload]
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


def test_a_round_of_tools_anthropic(service: Running, upstream: Upstream, way: str) -> None:
    side = AnthropicSide(service)
    upstream.script = [
        say("Let me look.", calls=[("toolu_1", "weather", {"city": "北京"})], thinking="hm"),
        say("晴"),
    ]
    tools = [{"name": "weather", "input_schema": {"type": "object"}}]
    with side.client:
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


def test_images_go_through(service: Running, upstream: Upstream, side: Side) -> None:
    openai_part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    part = openai_part if side.shape == "openai" else {"type": "image", "source": source}
    side.ask(user([{"type": "text", "text": "what is it?"}, part]))
    assert upstream.requests[0].body["messages"][-1]["content"][1] == part


# ── what goes wrong upstream
# ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_errors_of_the_upstream_are_the_callers(
    service: Running, upstream: Upstream, side: Side, way: str, status: int
) -> None:
    upstream.script = [refuse(status, {"retry-after": "7", "x-request-id": "r1"})]
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        getattr(side, way)(user("hi"))
    assert caught.value.status_code == status
    assert caught.value.response.headers["retry-after"] == "7"
    assert f"told to answer {status}" in str(caught.value)
    assert stored(service) == [("user", "hi")], "it was said, whether it was answered or not"


def test_a_question_that_was_not_answered_is_asked_again_once(
    service: Running, upstream: Upstream, side: Side
) -> None:
    upstream.script = [refuse(500), say("now")]
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)):
        side.ask(user("hi"))
    assert side.ask(user("hi")) == "now"
    assert [role for role, _ in stored(service)] == ["user", "assistant"]


def test_an_upstream_that_hangs_is_a_timeout(service: Running, upstream: Upstream, side: Side) -> None:
    from tests.upstream import hang

    upstream.script = [hang]
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        side.ask(user("hi"))
    assert caught.value.status_code == 504
    upstream.released.set()


def test_an_upstream_that_is_not_there_is_a_bad_gateway() -> None:
    settings = Settings(namespace="acme", user="alice", port=0, anthropic_upstream="http://127.0.0.1:9")
    with running(settings=settings) as service, AnthropicSide(service).client as client:
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
        assert caught.value.status_code == 502
        assert caught.value.body["error"]["type"] == "api_error"  # type: ignore[index]


def settled(service: Running, count: int) -> list[tuple[str, Any]]:
    """What is stored, when as much is there as is expected; cut answers are recorded behind the response."""
    import time

    deadline = time.monotonic() + 5
    while len(stored(service)) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    return stored(service)


def test_a_stream_that_is_cut_is_cut_for_the_caller_and_kept_as_far_as_it_came(
    service: Running, upstream: Upstream, side: Side
) -> None:
    upstream.script = [cut_stream("half of it", reset=True)]
    with pytest.raises(Exception) as caught:  # each SDK has its own for this
        side.stream(user("hi"))
    assert "Error" in type(caught.value).__name__
    events = settled(service, 2)
    assert [role for role, _ in events] == ["user", "assistant"]
    assert "half of it".startswith(
        str(events[1][1]) if isinstance(events[1][1], str) else events[1][1][0].text
    )
    chat = service.memory.session(namespace="acme", user="alice", session_id="chat-1")
    assert chat.get_recent()[1].metadata["gateway"]["incomplete"]


def test_a_whole_answer_that_is_cut_is_cut_for_the_caller(
    service: Running, upstream: Upstream, side: Side
) -> None:
    upstream.script = [cut_body]
    with pytest.raises((openai.APIConnectionError, anthropic.APIConnectionError)):
        side.ask(user("hi"))
    assert stored(service) == [("user", "hi")]


@pytest.mark.parametrize("step", [garbled_stream, failing_stream])
def test_garbage_and_errors_in_a_stream_go_through(
    service: Running, upstream: Upstream, step: Any, side: Side
) -> None:
    path = "/openai/v1/chat/completions" if side.shape == "openai" else "/anthropic/v1/messages"
    body = {"model": "m", "messages": user("hi"), "stream": True, "max_tokens": 9}
    upstream.script = [step, step]
    direct = service.client.post(
        upstream.url + path.replace("/openai", "").replace("/anthropic", ""), json=body
    )
    through = service.client.post(path, json=body, headers=SESSION)
    assert through.content == direct.content
    assert [role for role, _ in settled(service, 2)] == ["user", "assistant"]
    chat = service.memory.session(namespace="acme", user="alice", session_id="chat-1")
    assert chat.get_recent()[1].metadata["gateway"]["incomplete"]


def test_an_answer_that_is_no_json_goes_through(service: Running, upstream: Upstream) -> None:
    upstream.script = [reply(b"<html>oops")]
    body = {"model": "m", "messages": user("hi")}
    done = service.client.post("/openai/v1/chat/completions", json=body, headers=SESSION)
    assert (done.status_code, done.content) == (200, b"<html>oops")
    assert stored(service) == [("user", "hi")]


# ── what goes wrong with memory
# ──────────────────────────────────────────────────────────────────────────────


def test_a_request_goes_through_when_memory_fails(
    service: Running, upstream: Upstream, side: Side, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wellkept import StoreBusy
    from wellkept.session import Session

    def busy(*_: Any, **__: Any) -> None:
        raise StoreBusy("Another process\r\nholds the lock 锁.")

    monkeypatch.setattr(Session, "append", busy)
    assert getattr(side, way)(user("hi")) == "ok"
    assert upstream.requests[0].body["messages"] == user("hi")
    metrics = service.client.get("/metrics").text
    assert f'memory_errors_total{{error="StoreBusy",provider="{side.shape}"}} 1.0' in metrics


def test_the_answer_says_that_memory_failed(service: Running, upstream: Upstream) -> None:
    raw = b'{"model":"m","messages":"none at all"}'
    done = service.client.post("/openai/v1/chat/completions", content=raw, headers=SESSION)
    assert done.headers["x-wellkept-error"].startswith("InvalidInput: ")
    assert upstream.requests[0].body["messages"] == "none at all"


def test_a_question_larger_than_the_budget_goes_through(service: Running, upstream: Upstream) -> None:
    body = {"model": "m", "messages": user("long " * 5000)}
    headers = {**SESSION, "X-Wellkept-Budget": "20"}
    done = service.client.post("/openai/v1/chat/completions", json=body, headers=headers)
    assert done.headers["x-wellkept-error"].startswith("BudgetExceeded")
    assert upstream.requests[0].body == body


# ── incognito
# ────────────────────────────────────────────────────────────────────────────────────────────────


def dump(service: Running) -> list[str]:
    return list(service.memory._core.store._connections.get().execute("SELECT sql FROM sqlite_schema")) + [
        str(row)
        for (table,) in service.memory._core.store._connections.get()
        .execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .fetchall()
        for row in service.memory._core.store._connections.get().execute(f'SELECT * FROM "{table}"')
    ]


def test_incognito_reads_memory_and_writes_nothing(
    service: Running, upstream: Upstream, side: Side, way: str
) -> None:
    side.ask(user(ASKED))
    before = dump(service)
    secret = {"X-Wellkept-Mode": "read-only"}
    assert getattr(side, way)(user("what does my child like?"), extra_headers=secret) == "ok"
    assert ASKED in str(shown(upstream)), "it was given what is remembered"
    assert "what does my child like?" in str(shown(upstream)[-1])
    assert dump(service) == before


def test_incognito_in_a_session_that_is_not_there_makes_none(service: Running, upstream: Upstream) -> None:
    body = {"model": "m", "messages": user("hi")}
    headers = {**SESSION, "X-Wellkept-Mode": "read-only"}
    done = service.client.post("/openai/v1/chat/completions", json=body, headers=headers)
    assert done.headers["x-wellkept-memory"] == "none"
    assert upstream.requests[0].body == body
    assert service.memory.user("alice", namespace="acme").sessions() == []


# ── whose memory
# ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_session_id_of_another_user_is_another_session(service: Running, upstream: Upstream) -> None:
    body = {"model": "m", "messages": user("my secret is 4711")}
    other = {**SESSION, "X-Wellkept-User": "%E5%B0%8F%E6%98%8E"}
    service.client.post("/openai/v1/chat/completions", json=body, headers=SESSION)
    service.client.post("/openai/v1/chat/completions", json={**body, "messages": user("hi")}, headers=other)
    assert "4711" not in str(upstream.requests[1].body)
    scopes = {(scope.namespace, scope.user) for scope in service.memory.scopes()}
    assert scopes == {("acme", "alice"), ("acme", "小明")}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Wellkept-Mode": "incognito"}, 422),
        ({"X-Wellkept-Budget": "many"}, 422),
        ({"X-Wellkept-Tools": "yes"}, 422),
        ({"X-Wellkept-Key": "wk_wrong"}, 401),
    ],
)
def test_headers_that_make_no_sense_are_refused(
    service: Running, upstream: Upstream, side: Side, headers: dict[str, str], status: int
) -> None:
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        side.ask(user("hi"), extra_headers=headers)
    assert caught.value.status_code == status
    assert upstream.requests == []


def test_keys_bind_namespace_user_and_role(service: Running, upstream: Upstream) -> None:
    keys = service.memory.keys
    _, writer = keys.create(namespace="acme", user="alice")
    _, reader = keys.create(namespace="acme", user="alice", role="reader")
    body = {"model": "m", "messages": user("hi")}

    def ask(**headers: str) -> int:
        sent = {
            **SESSION,
            **{f"X-Wellkept-{name.title().replace('_', '-')}": v for name, v in headers.items()},
        }
        return service.client.post("/openai/v1/chat/completions", json=body, headers=sent).status_code

    assert ask() == 401
    assert ask(key=writer) == 200
    assert ask(key=reader) == 403
    assert ask(key=reader, mode="read-only") == 200
    assert ask(key=writer, user="bob") == 404
    assert ask(key=writer, namespace="umbrella") == 404
