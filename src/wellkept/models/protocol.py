"""The seams to the outside: a Model answers, an Embedder maps text to vectors, a Tokenizer counts, a Clock tells the time.

Each is small so that an application can bring its own; fakes of all four ship in ``wellkept.testing``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from wellkept.records import Content, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """Tokens that one model call took, as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Record):
    """A finished answer of a model.

    Attributes:
        content: text, or blocks when there are tool calls or thinking.
        model: the id that the provider reported.
        stop_reason: the provider's own word.
        raw: the provider's message as plain data, for the record.
    """

    content: Content
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    stop_reason: str = ""
    raw: Mapping[str, Any] | None = None


@runtime_checkable
class Model(Protocol):
    """A chat model. Implementations raise ``ModelError`` and nothing else for anything that the far side did."""

    @property
    def name(self) -> str:
        """Id of the model, recorded with everything that it produced."""

    def complete(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 1024,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One answer to ``messages`` (OpenAI shape, without the system text).

        ``schema``: a JSON schema that the answer should follow, where the provider can enforce it; a hint otherwise.
        """

    def stream(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 1024,
    ) -> Iterator[str | Reply]:
        """Pieces of text as they come, and the whole ``Reply`` as the last item."""


@runtime_checkable
class Embedder(Protocol):
    """Maps texts to vectors. The same text must give the same vector."""

    @property
    def name(self) -> str:
        """Id of the model; vectors of different names are never compared."""

    @property
    def dimension(self) -> int:
        """Length of each vector."""

    @property
    def calibration(self) -> tuple[float, float]:
        """Raw cosine of two unrelated texts and of two paraphrases, mapped to 0 and 1 before a threshold is applied."""

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> Sequence[Sequence[float]]:
        """One vector a text, in order. ``kind`` is "document" or "query" (some models prefix them)."""


class Tokenizer(Protocol):
    """Counts tokens. Any callable from text to a count will do; a class may say that it is ``exact``."""

    def __call__(self, text: str, /) -> int:
        """Tokens that ``text`` takes."""


class Clock(Protocol):
    """Tells the time, so that tests can."""

    def __call__(self) -> datetime:
        """Now, aware."""
