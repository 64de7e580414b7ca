"""What a store must offer for background work: the outbox, and what was spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from wellkept.records import Record, Scope

if TYPE_CHECKING:
    from wellkept.store.protocol import SessionRef

#: ``Job.last_error`` of one that is held back by ``Policy.daily_tokens``.
HELD_BACK = "The namespace's tokens for today are spent; this waits for tomorrow."
#: ``Job.last_error`` of a running one whose lease ran out; its worker may still renew it.
SILENT = "Its worker gives no sign of life. If none comes, the job begins again."
#: ``Job.last_error`` of one that was taken from such a worker.
GONE = "The worker that had it before ended, or stopped, without a word."
#: What ``Jobs.next_due`` says when nothing waits.
NEVER = 1 << 62
JobState: TypeAlias = Literal["ready", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Record):
    """Durable background work and where it stands.

    Attributes:
        attempts: how often it was started.
        failures: how often in a row that came to nothing; being held back or handed back does not count.
        run_at: when it may start; of a running one, until when its worker need give no sign of life.
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
    failures: int
    run_at: datetime
    created_at: datetime
    finished_at: datetime | None = None
    last_error: str | None = None
    raw_reply: str | None = None
    usage: Mapping[str, int] | None = None
    result: Mapping[str, Any] | None = None


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
        """The next due job, taken for ``lease`` ms.

        A lease that ran out is prolonged once by as much, in case its worker lives: what it should have renewed in time is
        judged by two looks of the same clock, never by two clocks. A job that is silent even then is due again.
        """

    def renew(self, job: Job, *, until: int) -> bool:
        """The holder's sign of life: it keeps the job until then (ms). False when this attempt no longer holds it."""

    def finish(
        self,
        job: Job,
        state: JobState,
        *,
        at: int,
        day: str,
        failures: int = 0,
        error: str | None = None,
        raw_reply: str | None = None,
        usage: Mapping[str, int] | None = None,
        result: Mapping[str, Any] | None = None,
        run_at: int | None = None,
    ) -> bool:
        """Set where a running job stands and book its tokens on ``day``; False when this attempt no longer
        holds it. ``failures``: how many there now are in a row."""

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
        """When (ms) the next job of these kinds may start; ``NEVER`` when there is none that waits or runs."""

    def set_state(self, id: int, state: JobState, *, at: int, allowed: Sequence[JobState]) -> bool:
        """Move a job by hand, when it is in one of the ``allowed`` states; its failures are forgotten."""
