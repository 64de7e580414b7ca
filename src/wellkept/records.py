"""The frozen records that the layers hand to each other. They hold data and no behaviour beyond
``to_dict``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from wellkept.errors import InvalidInput

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
Tier: TypeAlias = Literal["profile", "facts", "summary", "news", "recall", "bridge", "window"]
Secret: TypeAlias = Literal["id_card", "bank_card", "api_key", "password", "mobile", "email"]


_PLAIN = frozenset({str, int, float, bool, type(None)})


@lru_cache(maxsize=256)
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a record's type; none for what is no record."""
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


def plain(value: Any) -> Any:
    """``value`` as JSON-ready data: records become dicts, tuples lists, datetimes ISO 8601 strings."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if names := _fields(kind):  # type: ignore[arg-type]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


class Record:
    """Base of all records."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """This record as plain JSON-ready data."""
        result: dict[str, Any] = plain(self)
        return result


class _Nothing(dict[str, Any]):
    """An empty dict that many records share, and that therefore cannot be filled."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("What was read cannot be changed. Copy it: dict(event.metadata).")

    __setitem__ = __ior__ = setdefault = update = _refuse


NOTHING = _Nothing()


@dataclass(frozen=True, slots=True)
class Scope(Record):
    """Whose memory: a user inside a namespace. Every read and write names one."""

    namespace: str
    user: str


# ── content
# ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Text(Record):
    """Words. ``extra`` keeps provider fields that wellkept has no name for (citations, cache marks)."""

    text: str
    extra: Mapping[str, Any] | None = None
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Thinking(Record):
    """A model's reasoning, kept with its signature because providers want it back unchanged."""

    text: str
    signature: str | None = None
    extra: Mapping[str, Any] | None = None
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class ToolCall(Record):
    """A call that the assistant asks for. ``arguments`` is the JSON text as it came, even when it is
    broken."""

    id: str
    name: str
    arguments: str = "{}"
    extra: Mapping[str, Any] | None = None
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True)
class ToolResult(Record):
    """What a tool gave back for the call ``id``. ``is_error`` is None when the provider did not say."""

    id: str
    content: str | tuple[Block, ...] = ""
    is_error: bool | None = None
    extra: Mapping[str, Any] | None = None
    type: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True)
class Image(Record):
    """An image by reference: ``ref`` is a URL or an id; ``raw`` the provider's block."""

    ref: str
    raw: Mapping[str, Any] | None = None
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class Other(Record):
    """A provider block that wellkept does not know, kept as it came."""

    raw: Mapping[str, Any]
    type: Literal["other"] = "other"


Block: TypeAlias = Text | Thinking | ToolCall | ToolResult | Image | Other
Content: TypeAlias = str | tuple[Block, ...]


# ── the transcript
# ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(Record):
    """An event that is not stored yet."""

    role: Role
    content: Content
    ts: datetime | None = None
    speaker: str | None = None
    metadata: Mapping[str, Any] | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """One message of a session, appended once and never rewritten.

    Attributes:
        id: opaque and unique; inside it are the session's id and ``seq``.
        seq: place in the session, counted from 1, given out in the writing transaction.
        ts: when it was said (aware, UTC). Order comes from ``seq``, never from ``ts``.
        tokens: cached count of what the message takes in a context.
        speaker: who spoke, where a role is not enough (group chats).
    """

    id: str
    session_id: str
    seq: int
    role: Role
    content: Content
    ts: datetime
    tokens: int
    speaker: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo(Record):
    """A session as the lists show it. ``events`` counts what is stored, ``tokens`` what it would take
    verbatim."""

    id: str
    namespace: str
    user: str
    title: str
    created_at: datetime
    last_activity: datetime
    events: int
    turns: int
    tokens: int
    metadata: Mapping[str, Any] = field(default_factory=dict)


DOCUMENTS = ("soul", "identity", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Record):
    """One version of a profile document (``soul``, ``identity`` or ``user``), in Markdown.

    Attributes:
        hash: SHA-256 of the text in hex; pass it back as a precondition when writing.
        version: counted from 1; 0 for a document that was never written.
    """

    name: str
    text: str
    hash: str
    version: int
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Record):
    """One version of the rolling digest of one topic.

    Attributes:
        version: counted from 1 over all topics of the session; topics made together share it.
        covers_from, covers_to: seqs of the events that this version added.
        by: the summariser: "extractive", or the model's name.
    """

    session_id: str
    topic: str
    version: int
    covers_from: int
    covers_to: int
    text: str
    tokens: int
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine(Record):
    """A piece of key data that a summary had no room for.

    Attributes:
        seq: the event that said it; for what an older summary said, the newest event that the older one covered.
        kind, value: what it is ("amount", "7 CNY"), the same however it was written.
        text: the sentence that it stood in, with its day and who said it.
    """

    seq: int
    kind: str
    value: str
    text: str


def utc(ms: int) -> datetime:
    """The aware UTC datetime of ``ms`` milliseconds since 1970."""
    return datetime.fromtimestamp(ms / 1000, tz=timezone.utc)


def text_of(content: Content) -> str:
    """What a person would read of ``content``: text and tool results; no thinking, no call arguments."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (_block_text(block) for block in content)))


def _block_text(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, ToolResult):
        return text_of(block.content)
    return ""


def blocks_of(content: Content) -> Sequence[Block]:
    """``content`` as blocks; a plain string is one ``Text``."""
    return (Text(content),) if isinstance(content, str) else content


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Record):
    """One thing that could have been in a context, and why it is or is not."""

    tier: Tier
    id: str
    tokens: int
    kept: bool
    reason: str
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Record):
    """How a memory behaves. Every number can be set; the defaults suit a chat with a model of 8,000 tokens
    or more.

    Attributes:
        context_budget: tokens that a context takes at most when the call does not say. Leave room for the
            answer and the tools.
        budget_margin: part of the budget left free when tokens are only estimated; an exact tokenizer does
            without.
        profile_share: most of the budget that the profile documents take.
        facts_share: most of the budget that facts, or the catalogue of their labels, take.
        summary_share: most of the budget that the summaries take.
        recall_share: most of the budget that recalled text, news and the bridge take together; they stand
            behind the boundary.
        recent_window_size: turns that are never summarised.
        summarize_every: events outside the window, not covered by a summary, that make one due.
        summary_trigger: part of the budget that uncovered events may take before a summary is due.
        similarity_threshold: least calibrated similarity (0 to 1) of a hit that only vectors found.
        age_discount: factor on the score of a memory that is older than ``age_days``.
        age_days: days after which ``age_discount`` is reached.
        recall_limit: results that recall gives at most when the call does not say.
        max_facts: active facts of a user; the least used retire beyond it.
        max_labels: labels of one fact.
        max_memories: facts taken from one message.
        extract_every: user messages of a session that make extraction of facts due at once.
        extract_idle: seconds of silence in a session after which fewer than that are read, too.
        daily_tokens: tokens that memory work of one namespace may spend on models in a day (UTC); None for
            no limit. Beyond it messages are stored all the same, and facts extracted the next day.
        time_zone: IANA name of the users' zone, for dates shown and for words like "yesterday".
        redaction: kinds of secrets masked before anything is stored, e.g. ("id_card", "bank_card",
            "api_key", "password").
        durability: "full": what was acknowledged survives a power cut. "normal": a power cut may take the
            last commits (a crash of the program never does), and appends are several times faster.
        debug_trace: contexts whose trace is kept in the store: 0 for none, N for the newest N of a session,
            -1 for all.
    """

    context_budget: int = 3000
    budget_margin: float = 0.1
    profile_share: float = 0.1
    facts_share: float = 0.15
    summary_share: float = 0.4
    recall_share: float = 0.15
    recent_window_size: int = 6
    summarize_every: int = 10
    summary_trigger: float = 0.7
    similarity_threshold: float = 0.7
    age_discount: float = 0.7
    age_days: int = 30
    recall_limit: int = 8
    max_facts: int = 128
    max_labels: int = 3
    max_memories: int = 3
    extract_every: int = 4
    extract_idle: float = 20.0
    daily_tokens: int | None = 2_000_000
    time_zone: str = "UTC"
    redaction: tuple[Secret, ...] = ()
    durability: Literal["full", "normal"] = "full"
    debug_trace: int = 0

    def __post_init__(self) -> None:
        for name in (
            "context_budget",
            "recent_window_size",
            "summarize_every",
            "age_days",
            "recall_limit",
            "max_facts",
            "max_labels",
            "max_memories",
            "extract_every",
        ):
            if getattr(self, name) < 1:
                raise InvalidInput(f"Policy.{name} is {getattr(self, name)!r}; it must be at least 1.")
        if self.extract_idle < 0:
            raise InvalidInput(f"Policy.extract_idle is {self.extract_idle!r}; it must be 0 seconds or more.")
        if type(self.debug_trace) is not int or self.debug_trace < -1:
            raise InvalidInput(
                f"Policy.debug_trace is {self.debug_trace!r}; it must be 0, a number of traces, or -1 for all."
            )
        if self.daily_tokens is not None and self.daily_tokens < 0:
            raise InvalidInput(
                f"Policy.daily_tokens is {self.daily_tokens!r}; it must be at least 0, or None for no limit."
            )
        shares = ("profile_share", "facts_share", "summary_share", "recall_share")
        for name in (*shares, "budget_margin", "age_discount", "similarity_threshold", "summary_trigger"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidInput(f"Policy.{name} is {getattr(self, name)!r}; it must be between 0 and 1.")
        total = sum(getattr(self, name) for name in shares)
        if total > 0.8:
            raise InvalidInput(
                f"Policy's shares add up to {total:.2f}; at most 0.8 leaves room for the conversation."
            )
        if self.durability not in ("full", "normal"):
            raise InvalidInput(f"Policy.durability is {self.durability!r}; choose 'full' or 'normal'.")
        for kind in self.redaction:
            if kind not in get_args(Secret):
                raise InvalidInput(
                    f"Policy.redaction has {kind!r}; choose from: {', '.join(get_args(Secret))}."
                )
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise InvalidInput(
                f"Policy.time_zone {self.time_zone!r} is no known zone, e.g. 'Asia/Shanghai'."
            ) from error
