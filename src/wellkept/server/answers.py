"""Reads a copy of what an upstream answers, whole or as a stream, and puts the message together.

Nothing in here changes what the caller gets. What cannot be read is said in ``fault``.
"""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from wellkept.policy.context.wire import arguments_object

Json = dict[str, Any]

MOST_BYTES = 64 << 20


class Answer(ABC):
    """An answer that is being received.

    Attributes:
        complete: its end was seen, so that nothing is missing.
        fault: why it cannot be relied on, or None.
        model, stop, usage: what the upstream says of it.
    """

    def __init__(self, *, stream: bool, encoding: str = "") -> None:
        self.complete = False
        self.fault: str | None = None
        self.model = ""
        self.stop = ""
        self.usage: Json = {}
        self._stream = stream
        self._inflate = zlib.decompressobj(47) if encoding in ("gzip", "deflate") else None
        self._pending = bytearray()
        self._data: list[bytes] = []
        self._is_lost = encoding not in ("", "identity", "gzip", "deflate")
        if self._is_lost:
            self.fault = f"it came in the encoding {encoding}"

    @property
    def is_cut_short(self) -> bool:
        """Whether the model came to the end of its tokens and not of what it had to say."""
        return self.stop in ("length", "max_tokens")

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        if self.complete or self._is_lost:
            return
        try:
            self._pending += self._inflate.decompress(data) if self._inflate else data
            if len(self._pending) > MOST_BYTES:
                raise ValueError("it is too large")
        except (ValueError, zlib.error) as error:
            self._fail(error)
            self._is_lost = True
        if self._stream and not self._is_lost:
            self._read_events()

    def end(self) -> None:
        """There are no more bytes."""
        if self._is_lost or self.complete:
            return
        if not self._stream:
            self._whole(bytes(self._pending))
            return
        fault = self.fault
        self._pending += b"\n\n"
        self._read_events()
        self.fault = fault  # what cannot be read at the end was cut off
        if self.fault is None and not self.complete:
            self._close()

    def _read_events(self) -> None:
        """What can be read counts, whatever stands between it; but then the answer is not complete."""
        for data in self._events():
            try:
                self._take(None if data == b"[DONE]" else json.loads(data))
            except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
                self._fail(error)
        self.complete = self.complete and self.fault is None

    def _fail(self, error: Exception) -> None:
        self.fault = self.fault or f"it cannot be read ({type(error).__name__}: {error})"[:300]

    def _whole(self, data: bytes) -> None:
        try:
            self._read(json.loads(data))
            self.complete = True
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
            self.fault = f"it is no answer ({type(error).__name__}: {error})"[:300]

    def _events(self) -> Iterator[bytes]:
        """The data of each server-sent event that is complete: a blank line ends it, and it may have several lines."""
        lines, ends, self._pending = self._pending.rpartition(b"\n")
        for line in lines.split(b"\n") if ends else ():
            if line.startswith(b"data:"):
                self._data.append(bytes(line[5:]).strip())
            elif not line.strip():
                data, self._data = b"\n".join(self._data), []
                if data:
                    yield data

    @abstractmethod
    def _take(self, event: Json | None) -> None:
        """The next event of a stream."""

    @abstractmethod
    def _read(self, body: Json) -> None:
        """The body of an answer that came as one."""

    @abstractmethod
    def _close(self) -> None:
        """The stream ended without its mark."""

    @abstractmethod
    def message(self) -> Json | None:
        """The message in its provider's shape, as far as it came; None when there is nothing of it."""


class OpenAIAnswer(Answer):
    """A chat completion. Of several choices the first one counts."""

    def __init__(self, *, stream: bool, encoding: str = "") -> None:
        super().__init__(stream=stream, encoding=encoding)
        self._message: Json = {}
        self._calls: dict[int, Json] = {}

    def _read(self, body: Json) -> None:
        choice = body["choices"][0]
        self._message = {key: value for key, value in choice["message"].items() if value not in (None, [])}
        self._note(body, choice)

    def _note(self, body: Json, choice: Json) -> None:
        self.model = body.get("model") or self.model
        self.usage = body.get("usage") or self.usage
        self.stop = choice.get("finish_reason") or self.stop

    def _take(self, event: Json | None) -> None:
        if event is None:
            self._close()
        elif "error" in event:
            self.fault = "the upstream reported an error in the stream"
        else:
            choices = [choice for choice in event.get("choices", ()) if choice.get("index", 0) == 0]
            self._note(event, choices[0] if choices else {})
            for choice in choices:
                self._add(choice.get("delta") or {})

    def _add(self, delta: Json) -> None:
        for name in ("content", "refusal", "reasoning_content", "reasoning"):
            if delta.get(name):
                self._message[name] = self._message.get(name, "") + delta[name]
        for part in delta.get("tool_calls") or ():
            self._add_call(part)

    def _add_call(self, part: Json) -> None:
        empty: Json = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        call = self._calls.setdefault(part.get("index", 0), empty)
        call.update({key: value for key, value in part.items() if key not in ("index", "function") and value})
        for key in ("name", "arguments"):
            call["function"][key] += (part.get("function") or {}).get(key) or ""

    def _close(self) -> None:
        """Servers that leave ``[DONE]`` out have said why they stop."""
        self.complete = bool(self.stop)

    def message(self) -> Json | None:
        calls = [self._calls[index] for index in sorted(self._calls)] if self.complete else []
        said = {**self._message, **({"tool_calls": calls} if calls else {})}
        said.pop("role", None)
        return {"role": "assistant", "content": None, **said} if said else None


class AnthropicAnswer(Answer):
    """A message of Anthropic's API."""

    def __init__(self, *, stream: bool, encoding: str = "") -> None:
        super().__init__(stream=stream, encoding=encoding)
        self._blocks: dict[int, Json] = {}
        self._inputs: dict[int, str] = {}

    def _read(self, body: Json) -> None:
        self._blocks = dict(enumerate(body["content"]))
        self._note(body)

    def _note(self, message: Mapping[str, Any]) -> None:
        self.model = message.get("model") or self.model
        self.stop = message.get("stop_reason") or self.stop
        self.usage = {**self.usage, **(message.get("usage") or {})}

    def _take(self, event: Json | None) -> None:
        kind = event["type"] if event else ""
        if event is None or kind == "ping":
            return
        if kind == "error":
            self.fault = "the upstream reported an error in the stream"
        elif kind == "message_start":
            self._note(event["message"])
        elif kind == "content_block_start":
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            self._add(event["index"], event["delta"])
        elif kind == "message_delta":
            self._note({**event["delta"], "usage": event.get("usage")})
        elif kind == "message_stop":
            self.complete = True

    def _add(self, index: int, delta: Json) -> None:
        block, kind = self._blocks[index], delta["type"]
        if kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        else:
            name = kind.removesuffix("_delta")
            block[name] = block.get(name, "") + delta[name]

    def _close(self) -> None:
        """Without ``message_stop`` it was cut off."""

    def message(self) -> Json | None:
        blocks = [self._finished(index) for index in sorted(self._blocks)]
        content = [block for block in blocks if block is not None and block.get("text") != ""]
        return {"role": "assistant", "content": content} if content else None

    def _finished(self, index: int) -> Json | None:
        """A block with its input; a call that was cut off is none, as is thinking without its signature."""
        block = self._blocks[index]
        if block["type"].endswith("tool_use"):
            if not self.complete:
                return None
            return (
                {**block, "input": arguments_object(self._inputs[index])} if index in self._inputs else block
            )
        if block["type"] == "thinking" and not self.complete:
            return None
        return block
