"""Messages as requests bring them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wellkept.policy.context.messages import parse
from wellkept.records import Draft
from wellkept.server.wire import Body, Moment

_OURS = ("ts", "speaker", "metadata", "idempotency_key")


class Message(BaseModel):
    """A message in OpenAI's or in Anthropic's shape, with all fields that these know, and four of our own."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None
    ts: Moment | None = None
    speaker: str | None = None
    metadata: dict[str, Any] | None = None
    idempotency_key: str | None = Field(default=None, max_length=255)

    def said(self) -> dict[str, Any]:
        """The message itself, as its provider writes it."""
        content = {"content": self.content} if "content" in self.model_fields_set else {}
        return {"role": self.role, **content, **(self.model_extra or {})}

    def draft(self, key: str | None) -> Draft:
        """The event that it stands for. Raises InvalidInput for a message of neither shape."""
        draft = parse(self.said())
        if key is None and self.model_fields_set.isdisjoint(_OURS):
            return draft
        return replace(
            draft,
            ts=self.ts,
            speaker=self.speaker or draft.speaker,
            metadata={**(self.metadata or {}), **(draft.metadata or {})} or None,
            idempotency_key=self.idempotency_key or key,
        )


class Messages(Body):
    """Messages to append: all of them or, on any error, none."""

    messages: list[Message] = Field(min_length=1, max_length=1000)

    def drafts(self, key: str | None) -> list[Draft]:
        """The events; with a key of the request each gets one of its own, made from it."""
        return [
            message.draft(f"{key}#{place}" if key else None) for place, message in enumerate(self.messages)
        ]
