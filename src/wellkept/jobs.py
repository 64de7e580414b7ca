"""Runs the outbox: takes due jobs, hands them to their handlers, and records how each ended.

A handler does the slow part outside any transaction and returns a function that stores the result; that
function and the end of the job are one transaction, so a result is stored exactly once however often the
process dies in between.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from wellkept.actors import check_actor
from wellkept.errors import Conflict, InvalidInput, ModelError, NotFound, StoreError
from wellkept.lease import LEASE_MS, Lease
from wellkept.policy.checks import check_limit
from wellkept.store.jobs import HELD_BACK, NEVER, JobState

if TYPE_CHECKING:
    from logging import Logger

    from wellkept.core import Core
    from wellkept.models.protocol import Model, Reply
    from wellkept.records import Scope
    from wellkept.store.actions import Verb
    from wellkept.store.facts import Actor
    from wellkept.store.jobs import Job
    from wellkept.store.protocol import Tables

MAX_FAILURES = 5
FIRST_DELAY_MS = 2_000
POLL_SECONDS = 2.0
PAUSE_SECONDS = 0.1
LONGEST_SECONDS = 0.3

LOST = "The job was cancelled, or taken over by another worker."

Outcome: TypeAlias = Mapping[str, Any]
Finish: TypeAlias = "Callable[[Tables], Outcome]"
Handler: TypeAlias = Callable[["Run"], Finish]


def _log() -> Logger:
    """Imported late: most programs end without a word here."""
    from logging import getLogger

    return getLogger("wellkept.jobs")


class OverCeiling(Exception):
    """The namespace has spent its tokens of the day; the job waits for the next one."""


@dataclass
class Run:
    """One attempt at a job, as its handler sees it."""

    core: Core
    job: Job
    lease: Lease
    spent: dict[str, int] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        """Whose memory the job works on."""
        return self.job.scope

    @property
    def model(self) -> Model:
        """The configured model. Raises ModelError when there is none."""
        if self.core.model is None:
            raise ModelError("This job needs a model and the memory has none. Pass Memory(…, model=…).")
        return self.core.model

    def complete(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        max_tokens: int = 1024,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The model's answer, with its tokens put on this job's account.

        Raises OverCeiling when the namespace has no tokens left today, Conflict when the job is no longer this attempt's.
        """
        if self.lease.lost:
            raise Conflict(LOST)
        ceiling = self.core.policy.daily_tokens
        if ceiling is not None:
            day = today(self.core)
            used = self.core.store.read(lambda tables: tables.jobs.spent(self.scope.namespace, day))
            if used + sum(self.spent.values()) >= ceiling:
                raise OverCeiling("the namespace's tokens for today are spent")
        from wellkept.models.failures import model_errors

        with model_errors(self.model):
            reply = self.model.complete(system, messages, max_tokens=max_tokens, schema=schema)
        for name in ("input_tokens", "output_tokens"):
            self.spent[name] = self.spent.get(name, 0) + getattr(reply.usage, name)
        self.spent["calls"] = self.spent.get("calls", 0) + 1
        return reply


def today(core: Core) -> str:
    """The UTC day that spend is counted on."""
    return core.clock().astimezone(timezone.utc).date().isoformat()


class Runner:
    """Runs due jobs, in the caller's thread (``run_due``) or in one of its own (``notify`` starts it).

    ``beside`` is small work that is no job; it is done before the jobs and after each.
    """

    def __init__(
        self,
        core: Core,
        kinds: Sequence[str],
        handler: Callable[[str], Handler],
        *,
        beside: Callable[[], None] = lambda: None,
    ) -> None:
        self._core = core
        self._beside = beside
        self._kinds = kinds
        self._handler = handler
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._runs: dict[int | None, Run] = {}  # by thread
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()

    def run_due(self, limit: int | None = None) -> int:
        """Do what is due now; how many jobs were run."""
        count = 0
        self._beside()
        while (limit is None or count < limit) and not self._stopped.is_set() and self.run_one():
            count += 1
            self._beside()
        return count

    def run_one(self) -> bool:
        """Run the next due job, if there is one."""
        core, kinds = self._core, self._kinds
        if self._next_due() > core.now():
            return False
        job = core.store.write(lambda tables: tables.jobs.claim(at=core.now(), lease=LEASE_MS, kinds=kinds))
        if job is None:
            return False
        with Lease(core, job) as lease:
            self._run(Run(core, job, lease))
        return True

    def _next_due(self) -> int:
        return self._core.store.read(lambda tables: tables.jobs.next_due(self._kinds))

    def _run(self, run: Run) -> None:
        thread = threading.get_ident()
        self._runs[thread] = run
        try:
            if run.job.failures < MAX_FAILURES:
                self._attempt(run)
            else:  # whoever works on it dies of it
                after = (
                    f"After {run.job.failures} failures in a row it is not begun again, unless you retry it."
                )
                self._end(run, "failed", f"{run.job.last_error} {after}")
        except (KeyboardInterrupt, SystemExit):
            self._hand_back(run)
            raise
        finally:
            del self._runs[thread]

    def _attempt(self, run: Run) -> None:
        try:
            finish = self._handler(run.job.kind)(run)
            self._store(run, finish)
        except OverCeiling:
            self._end(run, "ready", HELD_BACK, run_at=self._tomorrow())
        except ModelError as error:
            self._fail(run, str(error), again=error.retryable, raw=error.raw_reply)
        except StoreError as error:
            self._fail(run, str(error), again=True)
        except NotFound as error:
            self._end(run, "cancelled", str(error))
        except Conflict as lost:
            _log().info("Result of job %s dropped: %s", run.job.id, lost)
            self._end(run, "cancelled", str(lost))
        except Exception as error:  # a handler's own fault must stay readable and not end the worker
            from traceback import format_exception

            log = _log()
            log.exception("Job %s (%s) failed", run.job.id, run.job.kind)
            self._fail(run, "".join(format_exception(error))[-4000:], again=False)

    def _store(self, run: Run, finish: Finish) -> None:
        def work(tables: Tables) -> None:
            outcome = finish(tables)
            if not tables.jobs.finish(
                run.job, "done", at=self._core.now(), usage=run.spent, result=outcome, day=today(self._core)
            ):
                raise Conflict(LOST)

        self._core.store.write(work)

    def _hand_back(self, run: Run) -> None:
        error = "The process that ran this was stopped; it begins again."
        self._end(run, "ready", error, run_at=self._core.now())

    def _fail(self, run: Run, error: str, *, again: bool, raw: str | None = None) -> None:
        """One failure more; if it may help, the job is tried ``again`` after a pause."""
        before = run.job.failures
        later = self._core.now() + FIRST_DELAY_MS * 4**before
        state: JobState = "ready" if again and before + 1 < MAX_FAILURES else "failed"
        self._end(run, state, error, run_at=later, raw_reply=raw, failures=before + 1)

    def _end(self, run: Run, state: JobState, error: str, **how: Any) -> None:
        """Note where a job stands that has no result; ``how``: what else ``Jobs.finish`` is to know."""
        known = {"at": self._core.now(), "day": today(self._core), "failures": run.job.failures, **how}
        self._core.store.write(
            lambda tables: tables.jobs.finish(run.job, state, error=error, usage=run.spent, **known)
        )

    def _tomorrow(self) -> int:
        now = self._core.clock().astimezone(timezone.utc)
        midnight = datetime(now.year, now.month, now.day, tzinfo=timezone.utc) + timedelta(days=1)
        return int(midnight.timestamp() * 1000)

    # ── the background thread ────────────────────────────────────────────────────────────────────────────

    def notify(self) -> None:
        """A job may have become due: start the thread at the first time (and after a fork), wake it later."""
        if self._thread is None or self._pid != os.getpid():
            self._start()
        self._wake.set()

    def take_up(self) -> None:
        """Start the thread when an earlier process left work behind, due by now or later, or begun."""
        if self._next_due() < NEVER:
            self.notify()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="wellkept-worker", daemon=True)
        self._thread.start()

    def _loop(self) -> None:
        while not self._stopped.is_set():
            self._wake.clear()
            try:
                self.run_due()
            except StoreError as error:
                _log().warning("The worker waits: %s", error)
            self._wake.wait(POLL_SECONDS)
            self._gather()

    def _gather(self) -> None:
        """Wait for a pause, though not for long: what comes together is done together, and whoever waits for an answer
        need not share the interpreter."""
        latest = time.monotonic() + LONGEST_SECONDS
        while True:
            self._wake.clear()
            if self._stopped.wait(PAUSE_SECONDS) or not self._wake.is_set() or time.monotonic() > latest:
                return

    def stop(self, timeout: float = 10.0) -> None:
        """End the thread after the job that it is at; what is left stays in the outbox.

        A job that takes longer than ``timeout`` seconds is handed back, for another process to begin again.
        """
        self._stopped.set()
        self._wake.set()
        thread = self._thread
        if thread is None or self._pid != os.getpid() or thread is threading.current_thread():
            return
        thread.join(timeout)
        run = self._runs.get(thread.ident)
        if thread.is_alive() and run is not None:
            self._hand_back(run)


class JobList:
    """``memory.jobs``: what background work there is, and a hand on it."""

    def __init__(self, core: Core, notify: Callable[[], None]) -> None:
        self._core = core
        self._notify = notify

    def list(
        self, *, namespace: str | None = None, scope: Scope | None = None, state: JobState | None = None,
        kind: str | None = None, limit: int = 100, before: int | None = None,
    ) -> list[Job]:  # fmt: skip
        """Jobs, newest first; ``before``: the id that the previous page ended with. Raises InvalidInput for a state
        that is none, a limit below 1."""
        if state is not None and state not in get_args(JobState):
            raise InvalidInput(f"The state is {state!r}; it must be one of: {', '.join(get_args(JobState))}.")
        most = check_limit(limit)
        return self._core.store.read(
            lambda tables: tables.jobs.list(
                namespace=namespace, scope=scope, state=state, kind=kind, limit=most, before=before
            )
        )

    def counts(self) -> dict[str, int]:
        """How many jobs the whole store has, by state."""
        return self._core.store.read(lambda tables: tables.jobs.counts())

    def get(self, id: int, *, namespace: str | None = None) -> Job:
        """One job. Raises NotFound."""
        job = self._core.store.read(lambda tables: tables.jobs.get(id, namespace))
        if job is None:
            raise NotFound(f"No job {id}.")
        return job

    def retry(self, id: int, *, namespace: str | None = None, actor: Actor = "app") -> Job:
        """Let a failed or cancelled job run again, now. Raises NotFound; Conflict for a job in another
        state."""
        return self._move(id, "ready", ("failed", "cancelled"), namespace, "retry_job", actor)

    def cancel(self, id: int, *, namespace: str | None = None, actor: Actor = "app") -> Job:
        """Keep a job from running, or its result from being stored. Raises NotFound; Conflict for one that
        has ended."""
        return self._move(id, "cancelled", ("ready", "running"), namespace, "cancel_job", actor)

    def _move(
        self, id: int, state: JobState, allowed: Sequence[JobState], namespace: str | None, verb: Verb, actor: Actor
    ) -> Job:  # fmt: skip
        job, by, now = self.get(id, namespace=namespace), check_actor(actor), self._core.now()

        def work(tables: Tables) -> None:
            if not tables.jobs.set_state(id, state, at=now, allowed=allowed):
                raise Conflict(f"Job {id} is {job.state}; this takes a job that is {' or '.join(allowed)}.")
            tables.actions.add(job.scope, verb, by, at=now, subject=id)

        self._core.store.write(work)
        self._notify()
        return self.get(id, namespace=namespace)
