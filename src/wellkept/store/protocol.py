"""What a store must offer: two verbs, ``read`` and ``write``, and inside them one object a noun.

``store.write(work)`` calls ``work(tables)`` in one transaction and returns when it is durable; ``work`` may
be run again after a conflict and must therefore do nothing but use the tables. Each method names a scope, or
a ``SessionRef`` that was opened with one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from wellkept.records import (
    Candidate,
    Content,
    Document,
    Event,
    LedgerLine,
    Record,
    Role,
    Scope,
    SessionInfo,
    Summary,
)

if TYPE_CHECKING:
    from wellkept.store.actions import Actions
    from wellkept.store.facts import Doubts, Erasures, Facts
    from wellkept.store.search import Corpus, Vectors

T = TypeVar("T")
#: ``Job.last_error`` of one that is held back by ``Policy.daily_tokens``.
HELD_BACK = "The namespace's tokens for today are spent; this waits for tomorrow."
JobState: TypeAlias = Literal["ready", "running", "done", "failed", "cancelled"]


class SessionRef(NamedTuple):
    """An open session: the proof that ``id`` belongs to ``scope``, with the store's own keys for both."""

    scope: Scope
    id: str
    key: int
    scope_key: int


@dataclass(slots=True, kw_only=True)
class NewEvent:
    """An event made ready outside the transaction.

    Attributes:
        ts: milliseconds since 1970, UTC.
        stored: ``content`` as text for the store (``policy.content``).
    """

    role: Role
    content: Content
    stored: str
    ts: int
    tokens: int
    speaker: str | None = None
    metadata: Mapping[str, Any] | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Record):
    """Durable background work and where it stands.

    Attributes:
        attempts: how often it was started.
        run_at: when it may start; of a running one, when its lease ends.
        created_at: when it was put into the outbox.
        last_error: why the last attempt failed, for a person to read.
        raw_reply: what the model answered when that answer could not be used.
        usage: tokens spent, by the provider's count: {"input_tokens", "output_tokens"}.
    """

    id: int
    kind: str
    scope: Scope
    session_id: str | None
    payload: Mapping[str, Any]
    state: JobState
    attempts: int
    run_at: datetime
    created_at: datetime
    finished_at: datetime | None = None
    last_error: str | None = None
    raw_reply: str | None = None
    usage: Mapping[str, int] | None = None
    result: Mapping[str, Any] | None = None


class Sessions(Protocol):
    """The list of conversations."""

    def create(
        self, scope: Scope, id: str, *, title: str, metadata: Mapping[str, Any], at: int
    ) -> SessionRef:
        """A new session. Raises Conflict when this user already has one with that id."""

    def find(self, scope: Scope, id: str) -> SessionRef | None:
        """The session with this id, if it is this scope's."""

    def info(self, ref: SessionRef) -> SessionInfo | None:
        """What the lists show of it; None when it was deleted."""

    def scopes(self, namespace: str | None = None) -> list[Scope]:
        """Every scope that has sessions, for tools that walk the whole store."""

    def list(self, scope: Scope, *, limit: int, before: str | None = None) -> list[SessionInfo]:
        """Sessions of the scope, last active first; ``before`` is the id that the previous page ended
        with."""

    def rename(self, ref: SessionRef, title: str) -> bool:
        """Whether it was there to be renamed."""

    def delete(self, ref: SessionRef) -> dict[str, int]:
        """Remove it with all that was derived from it; rows removed by table."""


class Events(Protocol):
    """The transcript."""

    def append(self, ref: SessionRef, events: Sequence[NewEvent], *, at: int) -> list[Event]:
        """Append in order; an event whose idempotency key is known is not stored again, the stored one comes
        back.

        Raises NotFound when the session is gone, Conflict when a known key comes with other content.
        """

    def walk_back(self, ref: SessionRef, *, before: int | None = None) -> Iterator[Event]:
        """Newest first, lazily; only those with a seq below ``before``."""

    def walk(self, ref: SessionRef, *, after: int = 0, until: int | None = None) -> Iterator[Event]:
        """Oldest first, lazily; those with ``after`` < seq <= ``until``."""

    def get(self, ref: SessionRef, seq: int) -> Event | None:
        """One event."""

    def between(self, ref: SessionRef, since: int | None, until: int | None, *, limit: int) -> list[Event]:
        """Events with ``since`` <= ts < ``until`` (ms), in conversation order."""

    def seq_at(self, ref: SessionRef, at: int) -> int:
        """The newest seq whose ts is not after ``at`` (ms); 0 when there is none."""

    def remove(self, ref: SessionRef, events: Sequence[Event]) -> int:
        """Take these away for good, index rows included; how many there were."""


class Profiles(Protocol):
    """The three documents of a scope, with their versions."""

    def current(self, scope: Scope, at: int | None = None) -> dict[str, Document]:
        """The newest version of each document that was ever written, or was by ``at`` (ms)."""

    def put(self, scope: Scope, document: Document, *, at: int) -> None:
        """Add ``document`` as the next version."""

    def versions(self, scope: Scope, name: str) -> list[Document]:
        """All versions, newest first."""

    def remove(self, scope: Scope, documents: Sequence[Document]) -> int:
        """Take versions away for good that are not current; how many there were."""


class Jobs(Protocol):
    """The outbox: work written in the transaction that causes it."""

    def put(
        self,
        scope: Scope,
        kind: str,
        *,
        ref: SessionRef | None = None,
        payload: Mapping[str, Any] | None = None,
        at: int,
        due: int | None = None,
        once: str | None = None,
    ) -> int | None:
        """A job, made at ``at`` (ms), that may start at ``due``, or at once. ``once``: while a job with this key
        waits, no second one is added."""

    def waits(self, ref: SessionRef, kind: str, once: str) -> bool:
        """Whether a job with this key waits; a look is cheaper than finding out what it would have to do."""

    def claim(self, *, at: int, lease: int, kinds: Sequence[str] | None = None) -> Job | None:
        """The next due job, taken for ``lease`` ms; jobs whose lease ran out are due again."""

    def finish(
        self,
        job: Job,
        state: JobState,
        *,
        at: int,
        day: str,
        error: str | None = None,
        raw_reply: str | None = None,
        usage: Mapping[str, int] | None = None,
        result: Mapping[str, Any] | None = None,
        run_at: int | None = None,
    ) -> bool:
        """Set where a running job stands and book its tokens on ``day``; False when this attempt no longer
        holds it."""

    def spent(self, namespace: str, day: str) -> int:
        """Tokens that jobs of the namespace spent on that day."""

    def spend(self, namespace: str, *, since: str | None = None) -> list[dict[str, Any]]:
        """Tokens by day, user and kind of job, oldest first."""

    def get(self, id: int, namespace: str | None = None) -> Job | None:
        """One job."""

    def list(
        self,
        *,
        namespace: str | None = None,
        scope: Scope | None = None,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Job]:
        """Jobs, newest first."""

    def postpone(self, ref: SessionRef, kind: str, once: str, *, at: int, due: int) -> None:
        """Let the job with this key start at ``due`` instead, unless it is due at ``at`` or was begun before."""

    def hasten(self, kind: str, *, at: int, ref: SessionRef | None = None) -> int:
        """Make waiting jobs of this kind due at ``at``: of a session all of them, else those that wait for their
        first attempt; how many there were."""

    def held_back(self, ref: SessionRef, kind: str, once: str) -> datetime | None:
        """When the job with this key may start, if it waits because the namespace has spent its tokens."""

    def counts(self) -> dict[str, int]:
        """How many jobs the whole store has, by state."""

    def next_due(self, kinds: Sequence[str]) -> int:
        """When (ms) the next job of these kinds may start; far in the future when nothing waits."""

    def set_state(self, id: int, state: JobState, *, at: int, allowed: Sequence[JobState]) -> bool:
        """Move a job by hand, when it is in one of the ``allowed`` states."""


class Uncovered(NamedTuple):
    """What has left the recent window and no summary covers: the seqs (``first`` to ``last``), how many and
    how large."""

    first: int
    last: int
    events: int
    tokens: int


class Summaries(Protocol):
    """The rolling digests of a session, with every version, and the ledger of key data that they had no room
    for."""

    def uncovered(self, ref: SessionRef, turns: int) -> Uncovered:
        """What stands before the newest ``turns`` turns and is not covered."""

    def add(
        self, ref: SessionRef, summaries: Sequence[Summary], ledger: Sequence[LedgerLine], *, expected: int
    ) -> bool:
        """Store a new version and move the coverage to its end; False when the coverage is no longer
        ``expected``."""

    def current(self, ref: SessionRef, upto: int | None = None, version: int | None = None) -> list[Summary]:
        """The newest summary of each topic, as it was when ``upto`` was the newest seq and ``version`` the newest
        version; topics in order of their first version."""

    def versions(
        self, ref: SessionRef, *, before: int | None = None, limit: int | None = None
    ) -> list[Summary]:
        """Those of the newest ``limit`` versions below ``before``, oldest first."""

    def ledger(self, ref: SessionRef, *, skip: int = 0, limit: int | None = None) -> list[LedgerLine]:
        """The ledger, oldest first: ``limit`` lines behind the first ``skip``."""

    def drop(self, ref: SessionRef, seq: int) -> int:
        """Remove each version and ledger line that was made from events of ``seq`` or later; how many
        versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Record):
    """How one context came to be, to be read and replayed later.

    Attributes:
        seq: the newest event of the session then.
        version: its newest summary version then; 0 for none.
        policy: the policy's values then.
        query: what was recalled for; ``recalled`` is what recall gave: id, line, score and events of each.
        system, boundary, messages, tokens, parts: the context itself; messages in OpenAI's shape.
        candidates: each thing that could have been in it, with its tokens, kept or dropped and why.
    """

    id: str
    session_id: str
    at: datetime
    seq: int
    version: int
    policy: Mapping[str, Any]
    query: str | None
    budget: int
    system: str
    boundary: int
    messages: Sequence[Mapping[str, Any]]
    tokens: int
    parts: Mapping[str, int]
    candidates: tuple[Candidate, ...]
    recalled: Sequence[Mapping[str, Any]] = ()


class Traces(Protocol):
    """The records of how contexts came to be."""

    def erasures(self, ref: SessionRef) -> int:
        """How often something was taken away from this user: a trace made before the newest time is not kept."""

    def add(self, ref: SessionRef, trace: Trace, *, keep: int) -> None:
        """Store it, and let go of all but the newest ``keep`` of the session (-1: of none)."""

    def list(
        self, scope: Scope, ref: SessionRef | None = None, *, limit: int, before: str | None = None
    ) -> list[Trace]:
        """Newest first; ``before``: the id that the previous page ended with."""

    def get(self, scope: Scope, id: str) -> Trace | None:
        """One trace."""

    def remove(self, scope: Scope) -> int:
        """Take away all of a user's traces, those that wait to be stored included; how many were stored."""

    def remove_from(self, ref: SessionRef, seq: int) -> int:
        """Take away each trace that may show events of the session from ``seq`` on; how many were stored."""


KeyRole: TypeAlias = Literal["reader", "writer", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey(Record):
    """What a key of the service may do: ``role`` inside ``namespace``, or only with the memory of ``user``.

    Attributes:
        label: what a person wrote beside it.
        revoked_at: since when it opens nothing any more.
    """

    id: str
    namespace: str
    user: str | None
    role: KeyRole
    label: str
    created_at: datetime
    revoked_at: datetime | None = None


class ApiKeys(Protocol):
    """Keys of the service, by the hash of their secret."""

    def add(self, key: ApiKey, hash: bytes, *, at: int) -> None:
        """Another key."""

    def find(self, hash: bytes) -> ApiKey | None:
        """The key whose secret has this hash, unless it was revoked."""

    def all(self) -> list[ApiKey]:
        """Every key, oldest first, revoked ones too."""

    def any(self) -> bool:
        """Whether there ever was one."""

    def revoke(self, id: str, *, at: int) -> bool:
        """Whether it was there, and not revoked yet."""


class KeptReply(NamedTuple):
    """A request, by its hash, and the answer that it got; ``status`` is None while it is being worked on."""

    request: bytes
    status: int | None
    body: bytes | None


class Replies(Protocol):
    """Answers kept for a while, for requests that may come twice. The user of a scope may be empty here."""

    def claim(
        self, scope: Scope, key: bytes, request: bytes, *, at: int, oldest: int, stale: int
    ) -> KeptReply | None:
        """None when the key is new and now taken; else what is kept for it.

        Forgets answers from before ``oldest`` (ms), and requests from before ``stale`` that never got one.
        """

    def keep(self, scope: Scope, key: bytes, status: int, body: bytes) -> None:
        """The answer to a request that was claimed."""

    def drop(self, scope: Scope, key: bytes) -> None:
        """Give the key free again."""

    def forget(self, scope: Scope, *, holding: str | None = None) -> int:
        """Remove every answer that may hold something about this user, or those with the text ``holding``; how many
        there were."""


class Tables(Protocol):
    """The nouns, as one transaction sees them."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def events(self) -> Events: ...
    @property
    def profiles(self) -> Profiles: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def summaries(self) -> Summaries: ...
    @property
    def traces(self) -> Traces: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def corpora(self) -> Mapping[str, Corpus]: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def doubts(self) -> Doubts: ...
    @property
    def erasures(self) -> Erasures: ...
    @property
    def actions(self) -> Actions: ...
    @property
    def api_keys(self) -> ApiKeys: ...
    @property
    def replies(self) -> Replies: ...


class Store(Protocol):
    """Where it all lives."""

    @property
    def location(self) -> str:
        """The path or address that it was opened with."""

    def read(self, work: Callable[[Tables], T]) -> T:
        """``work`` on one consistent snapshot."""

    def write(self, work: Callable[[Tables], T]) -> T:
        """``work`` in one transaction, durable on return; on an error nothing of it remains."""

    def scrub(self, texts: Sequence[str]) -> int:
        """Make sure that no file of the store holds ``texts`` outside of anybody's rows; how many it still does."""

    def empty_log(self) -> bool:
        """Take what was removed out of the store's log as well, without waiting for those who read; whether all of it
        is out. If not, it goes with the next call, or when the store is closed."""

    def close(self) -> None:
        """Let go of every connection and file."""
