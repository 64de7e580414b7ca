"""The loop as one call: what ``Session.reply`` and ``Session.stream`` ask a model, and how its answer is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from wellkept.context import Context
from wellkept.core import Core
from wellkept.errors import InvalidInput
from wellkept.models.failures import model_errors
from wellkept.models.protocol import Model, Reply, Usage
from wellkept.policy.context.messages import parse
from wellkept.records import Draft, Event, Record, ToolCall, blocks_of, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Record):
    """A model's answer, stored.

    Attributes:
        event: the answer as it is stored; its metadata says model, usage, stop reason and trace.
        context: what the model was given.
        usage: tokens of this call, as the provider counted them.
        stop_reason: the provider's own word.
    """

    event: Event
    context: Context
    usage: Usage
    stop_reason: str

    @property
    def text(self) -> str:
        """What a person would read of it."""
        return text_of(self.event.content)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """What it asks to be done. Append the results with ``add_messages`` and call ``reply()`` without a text."""
        return tuple(block for block in blocks_of(self.event.content) if isinstance(block, ToolCall))

    def to_dict(self) -> dict[str, Any]:
        """This answer as plain JSON-ready data, the context by its trace id only."""
        return {
            "text": self.text,
            "event": self.event.to_dict(),
            "tool_calls": [call.to_dict() for call in self.tool_calls],
            "usage": self.usage.to_dict(),
            "stop_reason": self.stop_reason,
            "trace_id": self.context.trace_id,
        }


def pieces_of(
    model: Model, context: Context, *, tools: Sequence[Mapping[str, Any]], max_tokens: int
) -> Iterator[str | Reply]:
    """What the model says to a context, as it comes. Raises ModelError whatever the model raises."""
    with model_errors(model):
        yield from model.stream(context.system, context.messages, tools=tools, max_tokens=max_tokens)


def model_of(core: Core) -> Model:
    """The configured model. Raises InvalidInput when there is none."""
    if core.model is None:
        raise InvalidInput(
            "This memory has no model to answer. Pass one, Memory(…, model=models.load('openai:gpt-5')), or use "
            "get_context, call a model of your own, and append its answer with add_message."
        )
    return core.model


def question(newest_first: Sequence[Event]) -> str:
    """What the newest user message asks; raises InvalidInput when nothing waits for an answer."""
    said = [event for event in newest_first if event.role != "system"]
    if not said or said[0].role == "assistant":
        raise InvalidInput(
            "Nothing waits for an answer: the newest message is neither a user's nor a tool's. "
            "Pass the text of the user's next message, or append the results of the tools that were called."
        )
    return next((text_of(event.content) for event in said if event.role == "user"), "")


def draft_of(reply: Reply, context: Context) -> Draft:
    """The event to store for a model's answer, in the provider's own shape where that is known, so that signatures
    and parallel calls come back unchanged."""
    draft = Draft(role="assistant", content=reply.content)
    if reply.raw is not None and not isinstance(reply.content, str):
        with suppress(InvalidInput):  # a model of the application's own may put anything here
            draft = parse(reply.raw)
    metadata: dict[str, Any] = {
        **(draft.metadata or {}),
        "model": reply.model,
        "usage": reply.usage.to_dict(),
    }
    if reply.stop_reason:
        metadata["stop_reason"] = reply.stop_reason
    if context.trace_id:
        metadata["trace_id"] = context.trace_id
    return replace(draft, metadata=metadata)
