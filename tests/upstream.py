"""A model server for tests: real HTTP on 127.0.0.1, both providers' interfaces, made to fail on demand.

    with Upstream() as server:
        server.script = [refuse(429, {"retry-after": "0"}), say("hello")]

Each request takes the next step of the script; after its end every request is answered with "ok".
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Step = Callable[["Handler"], None]


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Json


class Upstream:
    """The server; ``url`` is its address, ``requests`` what it was asked, ``script`` what it does next."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: list[Step] = []
        self.released = threading.Event()
        self.left = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.upstream = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # A short poll, so that leaving the block does not wait for the default half second.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Upstream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_step(self) -> Step:
        return self.script.pop(0) if self.script else say("ok")


class Handler(BaseHTTPRequestHandler):
    """One request: a step writes the reply through ``send_json``, ``send_events`` or by hand."""

    protocol_version = "HTTP/1.1"
    body: Json

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        self.body = json.loads(self.rfile.read(size))
        upstream: Upstream = self.server.upstream  # type: ignore[attr-defined]
        upstream.requests.append(Request(self.path, dict(self.headers.items()), self.body))
        upstream.next_step()(self)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: tests look at ``Upstream.requests``."""

    @property
    def is_anthropic(self) -> bool:
        return self.path.endswith("/messages")

    def send_bytes(
        self, status: int, data: bytes, headers: Mapping[str, str] = {}, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def send_json(self, status: int, body: Any, headers: Mapping[str, str] = {}) -> None:
        self.send_bytes(status, json.dumps(body).encode(), headers)

    def send_events(self, events: Iterable[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(event.encode())
            self.wfile.flush()
        self.close_connection = True

    def cut(self) -> None:
        """Break the connection with a reset, as a dying server does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        self.close_connection = True


# ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────


def say(
    text: str = "",
    *,
    calls: Sequence[tuple[str, str, Json]] = (),
    thinking: str = "",
    cut_short: bool = False,
) -> Step:
    """A whole answer, at once or as a stream, as it was asked for; calls are (id, name, input). One that is cut short came
    to the end of its tokens, a stream in the midst of the last call."""

    def step(handler: Handler) -> None:
        if handler.body.get("stream"):
            events = _stream(handler, text, calls, thinking)
            handler.send_events(_short(events) if cut_short else events)
        elif handler.is_anthropic:
            body = _anthropic(_anthropic_blocks(text, calls, thinking))
            handler.send_json(200, {**body, "stop_reason": "max_tokens"} if cut_short else body)
        else:
            body = _openai(_openai_message(text, calls, thinking))
            if cut_short:
                body["choices"][0]["finish_reason"] = "length"
            handler.send_json(200, body)

    return step


def refuse(status: int, headers: Mapping[str, str] = {}, body: Any = None) -> Step:
    """An error status."""
    said = {"type": "error", "error": {"type": "some_error", "message": f"told to answer {status}"}}
    return lambda handler: handler.send_json(status, said if body is None else body, headers)


def reply(body: Any) -> Step:
    """Status 200 with ``body``: JSON data, or bytes as they are."""
    if isinstance(body, bytes):
        return lambda handler: handler.send_bytes(200, body)
    return lambda handler: handler.send_json(200, body)


def cut_body(handler: Handler) -> None:
    """Half of a reply, then the connection breaks."""
    handler.send_bytes(200, b'{"id": "x", "choices": [', length=5000)
    handler.cut()


def cut_stream(text: str, *, reset: bool = True) -> Step:
    """A stream that says ``text`` and ends before its end: by a reset, or as if it were complete."""

    def step(handler: Handler) -> None:
        events = list(_stream(handler, text, (), ""))
        handler.send_events(events[: 3 if handler.is_anthropic else 1])
        if reset:
            handler.cut()

    return step


def garbled_stream(handler: Handler) -> None:
    """A stream of which the second event is no JSON."""
    events = list(_stream(handler, "hello", (), ""))
    name = "event: content_block_delta\n" if handler.is_anthropic else ""
    handler.send_events([*events[: 2 if handler.is_anthropic else 1], f'{name}data: {{"broken\n\n'])


def failing_stream(handler: Handler) -> None:
    """A stream with an error event in its midst."""
    events = list(_stream(handler, "hello", (), ""))
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    name = "event: error\n" if handler.is_anthropic else ""
    handler.send_events([*events[: 3 if handler.is_anthropic else 1], f"{name}data: {json.dumps(error)}\n\n"])


def hang(handler: Handler) -> None:
    """No reply until the test is over."""
    handler.server.upstream.released.wait()  # type: ignore[attr-defined]
    handler.close_connection = True


def outwait(handler: Handler) -> None:
    """No reply; ``Upstream.left`` says when nobody waits for one any more."""
    handler.connection.settimeout(10)
    if handler.rfile.read(1) == b"":
        handler.server.upstream.left.set()  # type: ignore[attr-defined]
    handler.close_connection = True


def open_chunks(handler: Handler, text: str) -> None:
    """The beginning of a chunked stream, as real providers send it."""
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    first = list(_stream(handler, text, (), ""))[: 3 if handler.is_anthropic else 1]
    for event in first:
        handler.wfile.write(f"{len(event.encode()):x}\r\n{event}\r\n".encode())
    handler.wfile.flush()


def cut_chunks(text: str) -> Step:
    def step(handler: Handler) -> None:
        open_chunks(handler, text)
        handler.cut()

    return step


def stall_chunks(text: str) -> Step:
    def step(handler: Handler) -> None:
        open_chunks(handler, text)
        hang(handler)

    return step


# ── the two protocols ─────────────────────────────────────────────────────────────────────────────────────


def _openai_message(text: str, calls: Sequence[tuple[str, str, Json]], thinking: str) -> Json:
    message: Json = {"role": "assistant", "content": text or None, "refusal": None, "annotations": []}
    if thinking:
        message["reasoning_content"] = thinking
    if calls:
        message["tool_calls"] = [_openai_call(*call) for call in calls]
    return message


def _openai_call(call_id: str, name: str, given: Json) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}


def _openai(message: Json) -> Json:
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
    }
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-x",
        "choices": [choice],
        "usage": usage,
    }


def _anthropic_blocks(text: str, calls: Sequence[tuple[str, str, Json]], thinking: str) -> list[Json]:
    blocks: list[Json] = [{"type": "thinking", "thinking": thinking, "signature": "sig"}] if thinking else []
    if text:
        blocks.append({"type": "text", "text": text, "citations": None})
    return blocks + [
        {"type": "tool_use", "id": call_id, "name": name, "input": given} for call_id, name, given in calls
    ]


def _anthropic(blocks: list[Json], stop_reason: str | None = "end_turn") -> Json:
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 2,
        "output_tokens": 7,
    }
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
    return {**head, "content": blocks, "stop_reason": stop_reason, "stop_sequence": None, "usage": usage}


def _stream(
    handler: Handler, text: str, calls: Sequence[tuple[str, str, Json]], thinking: str
) -> Iterable[str]:
    if handler.is_anthropic:
        events = _anthropic_events(_anthropic_blocks(text, calls, thinking))
        return (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    chunks = [json.dumps(chunk) for chunk in _openai_chunks(_openai_message(text, calls, thinking))]
    return (f"data: {chunk}\n\n" for chunk in [*chunks, "[DONE]"])


def _short(events: Iterable[str]) -> Iterable[str]:
    """The events of a stream without the last piece of a call, and with the reason."""
    events = list(events)
    last = max(
        at for at, event in enumerate(events) if '"partial_json"' in event or '"tool_calls": [' in event
    )
    for event in [*events[:last], *events[last + 1 :]]:
        ended = event.replace('"stop_reason": "end_turn"', '"stop_reason": "max_tokens"')
        yield ended.replace('"finish_reason": "tool_calls"', '"finish_reason": "length"')


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _openai_chunks(message: Json) -> Iterable[Json]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x"}

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    if "reasoning_content" in message:
        yield from (chunk({"reasoning_content": half}) for half in _halves(message["reasoning_content"]))
    yield from (chunk({"role": "assistant", "content": half}) for half in _halves(message["content"] or ""))
    for index, call in enumerate(message.get("tool_calls", ())):
        name, (first, second) = call["function"]["name"], _halves(call["function"]["arguments"])
        opening = {
            "index": index,
            "id": call["id"],
            "type": "function",
            "function": {"name": name, "arguments": first},
        }
        yield chunk({"tool_calls": [opening]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    yield chunk({}, "tool_calls" if "tool_calls" in message else "stop")
    yield {**head, "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}


def _anthropic_events(blocks: list[Json]) -> Iterable[Json]:
    yield {"type": "message_start", "message": _anthropic([], stop_reason=None)}
    for index, block in enumerate(blocks):
        empty, deltas = _anthropic_deltas(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def _anthropic_deltas(block: Json) -> tuple[Json, list[Json]]:
    if block["type"] == "thinking":
        said = [{"type": "thinking_delta", "thinking": half} for half in _halves(block["thinking"])]
        return {**block, "thinking": "", "signature": ""}, [
            *said,
            {"type": "signature_delta", "signature": "sig"},
        ]
    if block["type"] == "tool_use":
        halves = _halves(json.dumps(block["input"]))
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": half} for half in halves]
    return {**block, "text": ""}, [{"type": "text_delta", "text": half} for half in _halves(block["text"])]
