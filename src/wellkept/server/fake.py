"""A model to try the gateway with, without a key or a network: it speaks both protocols and says what it was given.

Its answer repeats the newest question and tells how much memory stood before it, so that one sees memory at work. A line
of the question such as ``call memory_store {"content": "Likes tea"}`` makes it call a tool, if one of that name is offered; its
answer then tells what the tool gave.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Json = dict[str, Any]
MODEL = "wellkept-fake"
PIECE = 12
_CALL = re.compile(r"^call (\S+)[ \t]*(\{.*\})?\s*$", re.MULTILINE)


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
            said = reply(asked, anthropic)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refuse(400, f"This is no request that I understand ({type(error).__name__}: {error}).")
            return
        time.sleep(self.seconds)
        whole, stream = (_anthropic, _anthropic_stream) if anthropic else (_openai, _openai_stream)
        if asked.get("stream"):
            self._stream(stream(said))
        else:
            self._send(whole(said))

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


@dataclass(frozen=True)
class Said:
    """What the fake answers: words, or calls of tools as (id, name, input)."""

    text: str = ""
    calls: Sequence[tuple[str, str, Json]] = ()


def reply(asked: Json, anthropic: bool) -> Said:
    """What the fake says to a request."""
    messages = list(asked.get("messages", ()))
    system = (
        [asked.get("system", "")] if anthropic else [m["content"] for m in messages if m["role"] == "system"]
    )
    said = [message for message in messages if message["role"] != "system"]
    answered = max((at for at, message in enumerate(said) if message["role"] == "assistant"), default=-1)
    new = said[answered + 1 :]
    calls = _calls("\n".join(_text(m["content"]) for m in new if m["role"] == "user"), asked)
    if calls:
        return Said(calls=calls)
    told = "\n".join(f"A tool gave: {result}" for message in new for result in _results(message))
    question = next((_text(m["content"]) for m in reversed(said) if m["role"] == "user"), "")
    memory = sum(len(_text(part)) for part in system)
    return Said(
        f"{told or f'You said: {question}'}\n"
        f"I am no real model. I was shown {len(said)} messages of this conversation, and {memory:,} characters of "
        "instructions and memory before them."
    )


def _calls(words: str, asked: Json) -> list[tuple[str, str, Json]]:
    """The calls that the user's words ask for, of tools that are offered."""
    if asked.get("tool_choice") in ("none", {"type": "none"}):
        return []
    offered = {tool.get("function", tool)["name"] for tool in asked.get("tools") or ()}
    return [
        (f"call_{uuid4().hex[:24]}", name, json.loads(given or "{}"))
        for name, given in _CALL.findall(words)
        if name in offered
    ]


def _results(message: Json) -> list[str]:
    """What tools gave, as a message of either protocol tells it."""
    if message["role"] == "tool":
        return [_text(message["content"])]
    parts = message["content"] if isinstance(message["content"], list) else []
    return [_text(part.get("content")) for part in parts if part["type"] == "tool_result"]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if "text" in part)


def _openai(said: Said) -> Json:
    message: Json = {"role": "assistant", "content": said.text or None, "refusal": None}
    if said.calls:
        message["tool_calls"] = [_openai_call(id, name, json.dumps(given)) for id, name, given in said.calls]
    stop = "tool_calls" if said.calls else "stop"
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _openai_call(id: str, name: str, arguments: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _openai_stream(said: Said) -> Iterator[str]:
    head = {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += ({"content": piece} for piece in _pieces(said.text))
    for index, (id, name, given) in enumerate(said.calls):
        deltas.append({"tool_calls": [{"index": index, **_openai_call(id, name, "")}]})
        deltas += (
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _pieces(json.dumps(given))
        )
    stop = "tool_calls" if said.calls else "stop"
    for delta in [*deltas, {}]:
        choice = {"index": 0, "delta": delta, "finish_reason": None if delta else stop}
        yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
    yield "data: [DONE]\n\n"


def _anthropic(said: Said) -> Json:
    text = [{"type": "text", "text": said.text}] if said.text else []
    calls = [{"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in said.calls]
    return _anthropic_message([*text, *calls], _anthropic_stop(said))


def _anthropic_stop(said: Said) -> str:
    return "tool_use" if said.calls else "end_turn"


def _anthropic_message(content: list[Json], stop: str | None) -> Json:
    return {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _anthropic_stream(said: Said) -> Iterator[str]:
    events: list[Json] = [{"type": "message_start", "message": _anthropic_message([], None)}]
    for index, block in enumerate(_anthropic(said)["content"]):
        events += ({**event, "index": index} for event in _anthropic_block(block))
    stopped = {"stop_reason": _anthropic_stop(said)}
    events += [
        {"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 0}},
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _anthropic_block(block: Json) -> Iterator[Json]:
    """The events of one block of a message, piece by piece."""
    if block["type"] == "text":
        start, kind, name, whole = {**block, "text": ""}, "text_delta", "text", block["text"]
    else:
        start, kind, name = {**block, "input": {}}, "input_json_delta", "partial_json"
        whole = json.dumps(block["input"])
    yield {"type": "content_block_start", "content_block": start}
    for piece in _pieces(whole):
        yield {"type": "content_block_delta", "delta": {"type": kind, name: piece}}
    yield {"type": "content_block_stop"}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))
