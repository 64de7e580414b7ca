"""A model to try the gateway with, without a key or a network: it speaks both protocols and says what it was given.

Its answer repeats the newest question and tells how much memory stood before it, so that one sees memory at work.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
MODEL = "wellkept-fake"
PIECE = 12


class FakeUpstream:
    """The server, in a thread of its own, on a free port of this machine. ``url`` is its address.

    ``seconds``: how long it thinks before it answers, as a real model does.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        handler = type("_Thinking", (_Handler,), {"seconds": seconds})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> FakeUpstream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes; Nagle's algorithm would hold the second one back.
    disable_nagle_algorithm = True
    seconds = 0.0

    def do_GET(self) -> None:
        if not self._path.endswith("/models"):
            self._refuse(404, f"I know nothing of {self._path}.")
            return
        listed = {"id": MODEL, "object": "model", "created": 0, "owned_by": "wellkept"}
        self._send({"object": "list", "data": [listed]})

    def do_POST(self) -> None:
        anthropic = self._path.endswith("/messages")
        if not anthropic and not self._path.endswith("/chat/completions"):
            self._refuse(404, f"I know nothing of {self._path}.")
            return
        try:
            asked: Json = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = reply(asked, anthropic)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refuse(400, f"This is no request that I understand ({type(error).__name__}: {error}).")
            return
        time.sleep(self.seconds)
        whole, stream = (_anthropic, _anthropic_stream) if anthropic else (_openai, _openai_stream)
        if asked.get("stream"):
            self._stream(stream(text))
        else:
            self._send(whole(text))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    @property
    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _refuse(self, status: int, said: str) -> None:
        wrong = {"type": "invalid_request_error", "message": said}
        self._send(
            {"type": "error", "error": wrong} if "messages" in self._path else {"error": wrong}, status
        )

    def _send(self, body: Json, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            data = event.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


def reply(asked: Json, anthropic: bool) -> str:
    """What the fake says to a request."""
    messages = list(asked.get("messages", ()))
    system = (
        [asked.get("system", "")] if anthropic else [m["content"] for m in messages if m["role"] == "system"]
    )
    said = [message for message in messages if message["role"] != "system"]
    question = next((_text(m["content"]) for m in reversed(said) if m["role"] == "user"), "")
    memory = sum(len(_text(part)) for part in system)
    return (
        f"You said: {question}\n"
        f"I am no real model. I was shown {len(said)} messages of this conversation, and {memory:,} characters of "
        "instructions and memory before them."
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


def _openai(text: str) -> Json:
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _openai_stream(text: str) -> Iterator[str]:
    head = {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
    deltas: list[Json] = [
        {"role": "assistant", "content": ""},
        *({"content": piece} for piece in _pieces(text)),
        {},
    ]
    for delta in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
        yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
    yield "data: [DONE]\n\n"


def _anthropic(text: str, stop: str | None = "end_turn") -> Json:
    return {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _anthropic_stream(text: str) -> Iterator[str]:
    events: list[Json] = [
        {"type": "message_start", "message": _anthropic("", None)},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    deltas = ({"type": "text_delta", "text": piece} for piece in _pieces(text))
    events += ({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas)
    events += [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 0}},
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))
