"""What an application holds: a Memory on one store, and a user's view of it."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from wellkept import outbox
from wellkept.core import Core, system_clock
from wellkept.errors import InvalidInput, NotFound, Unsupported
from wellkept.ids import new_id
from wellkept.jobs import JobList, Runner
from wellkept.policy.checks import check_name, check_text, plain_metadata
from wellkept.policy.text.tokens import estimate
from wellkept.records import Policy, Scope
from wellkept.session import Session, SessionReader, handle, open_session
from wellkept.tracing import Tracer
from wellkept.uses import Uses

# What not every application needs is imported where it is asked for: most of them append and show, and start quickly.
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any

    from wellkept.apikeys import KeyRing
    from wellkept.arrivals import Arrival, Asked
    from wellkept.errors import WellkeptError
    from wellkept.jobs import Handler
    from wellkept.mirror import Mirror
    from wellkept.models.protocol import Clock, Embedder, Model, Tokenizer
    from wellkept.records import Event
    from wellkept.replies import ReplyLog
    from wellkept.store.health import Maintained, Progress, Report
    from wellkept.store.protocol import SessionRef, Store, Tables
    from wellkept.user import UserMemory, UserReader


def _handler(kind: str) -> Handler:
    """What does the jobs of a kind."""
    if kind == outbox.SUMMARIZE:
        from wellkept.summarize import summarize

        return summarize
    if kind == outbox.EXTRACT:
        from wellkept.facts.extract import extract

        return extract
    if kind == outbox.ERASE:
        from wellkept.facts.forget import resume

        return resume
    from wellkept.embedding import embed

    return embed


def _mirror(store: Store, folder: str, policy: Policy) -> Mirror:
    from wellkept.mirror import Mirror

    check_text("mirror", folder, least=1)
    return Mirror(store, folder, policy.time_zone)


class Memory:
    """A memory on one store.

    Args:
        store: path of a SQLite file (made when missing), ":memory:", or "flash:DIR" for the files of a device.
        model: writes summaries and facts; all works without one.
        embedder: maps texts to vectors for recall by meaning; recall works by text without one.
        tokenizer: counts tokens, any callable from text to a number; a careful estimate if not given.
        policy: how it behaves.
        clock: tells the time; the machine's clock if not given.
        worker: run background jobs in a thread of this process; without it, call ``run_jobs``.
        trace_file: a file that gets the trace of each context as a line of JSON, whatever ``policy.debug_trace``
            says. It is yours: erasure does not reach into it.
        mirror: a folder that gets the facts of each user as ``MEMORY.md``, and the log of their changes as
            ``memory_digest.log``. They are brought up to date in the background, by ``run_jobs`` and by ``close``, after an
            erasure at once; each is replaced whole. What is changed in them is lost.

    Raises:
        InvalidInput: the path is a folder or another program's database.
        StoreCorrupt, SchemaTooNew, StoreError: the file cannot be used; it was left as it is.
    """

    def __init__(
        self,
        store: str | PathLike[str],
        *,
        model: Model | None = None,
        embedder: Embedder | None = None,
        tokenizer: Tokenizer | None = None,
        policy: Policy | None = None,
        clock: Clock | None = None,
        worker: bool = True,
        trace_file: str | None = None,
        mirror: str | None = None,
    ) -> None:
        policy, clock = policy or Policy(), clock or system_clock
        if embedder is not None and isinstance(store, str) and store.startswith("flash:"):
            from wellkept.store.flash import NO_VECTORS

            raise Unsupported(NO_VECTORS)
        if model is not None:
            from wellkept.models.failures import check_model

            check_model(model)
        opened = open_store(store, policy, tokenizer or estimate)
        self._core = Core(
            store=opened,
            policy=policy,
            tokenizer=tokenizer or estimate,
            tracer=Tracer(opened, keep=policy.debug_trace, path=trace_file),
            uses=Uses(opened, lambda: int(clock().timestamp() * 1000)),
            mirror=None if mirror is None else _mirror(opened, mirror, policy),
            clock=clock,
            model=model,
            embedder=embedder,
            notify=self._notify,
        )
        self._runner = Runner(self._core, outbox.KINDS, _handler, beside=self._write_aside)
        self._worker = worker
        if worker and mirror is not None:
            self._runner.notify()
        elif worker:
            self._runner.take_up()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker and let go of the store. Everything acknowledged is there already; jobs wait in the
        store."""
        self._runner.stop()
        self._write_aside()
        self._core.store.close()

    def _write_aside(self) -> None:
        """Write what nobody waits for: traces, uses of facts, files that people read."""
        self._core.tracer.flush()
        self._core.uses.flush()
        if self._core.mirror is not None:
            self._core.mirror.flush()

    def _notify(self) -> None:
        if self._worker:
            self._runner.notify()

    def start_worker(self) -> None:
        """Start the background thread now, to look for work of other processes too; not with ``worker=False``."""
        self._notify()

    def run_jobs(self, limit: int | None = None) -> int:
        """Do the background work that is due now, in this thread, and write traces, uses and files; how many jobs were
        run.

        Extraction does not wait for more messages then.
        """
        now = self._core.now()
        if self._core.model is not None:
            self._core.store.write(lambda tables: tables.jobs.hasten(outbox.EXTRACT, at=now))
        return self._runner.run_due(limit)

    def unembedded(self) -> int:
        """How many documents of the store wait for a vector; until then they are found by text."""
        return self._core.store.read(lambda tables: tables.vectors.waiting())

    def vectors(self) -> dict[str, int]:
        """How many vectors the store has, by embedder and their length. Search uses those of the configured one."""
        return self._core.store.read(
            lambda tables: {f"{name} ({size})": count for name, size, count in tables.vectors.counts()}
        )

    @property
    def jobs(self) -> JobList:
        """What background work there is, with retry and cancel."""
        return JobList(self._core, self._notify)

    @property
    def trace_losses(self) -> dict[str, int]:
        """Traces that could not be written since this memory was opened, counted by reason; empty when none
        was lost."""
        return dict(self._core.tracer.losses)

    @property
    def mirror_failure(self) -> str | None:
        """Why the files of ``mirror`` are not up to date; None when they are, or when there are none. Writing them is
        tried again in the background."""
        return self._core.mirror.failure if self._core.mirror is not None else None

    def flush_traces(self) -> None:
        """Write the traces that wait now; the worker does it otherwise."""
        self._core.tracer.flush()

    @property
    def location(self) -> str:
        """The path or address of the store."""
        return self._core.store.location

    def spend(self, *, namespace: str, since: str | None = None) -> list[dict[str, Any]]:
        """Tokens that memory work spent on models, by UTC day, user and kind of job; ``since``: a day,
        "2026-03-01"."""
        return self._core.store.read(lambda tables: tables.jobs.spend(namespace, since=since))

    @property
    def keys(self) -> KeyRing:
        """Who may use this memory over the network."""
        from wellkept.apikeys import KeyRing

        return KeyRing(self._core)

    @property
    def replies(self) -> ReplyLog:
        """Answers kept for requests that may come twice."""
        from wellkept.replies import ReplyLog

        return ReplyLog(self._core)

    @property
    def policy(self) -> Policy:
        """How this memory behaves."""
        return self._core.policy

    def session(
        self,
        *,
        namespace: str,
        user: str,
        session_id: str | None = None,
        create: bool = False,
        prefix: str = "",
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> Session:
        """A new session, or with ``session_id`` an existing one.

        Args:
            create: make the session with this ``session_id`` when the user has none.
            prefix: business prefix of a new id.

        Raises:
            NotFound: this user has no session with that id, whoever else may have one.
        """
        scope = _scope(namespace, user)
        core = self._core
        if session_id is not None:
            check_name("session_id", session_id)
            found = core.store.read(lambda tables: _found(core, tables, scope, session_id))
            if found is not None:
                return found
            if not create:
                raise NotFound(
                    f"No session {session_id!r} for this user. Pass create=True to start it, or leave session_id out."
                )
        if prefix:
            check_name("prefix", prefix)
        check_text("title", title)
        id, kept, at = session_id or new_id(prefix), plain_metadata(metadata), core.now()
        return core.store.write(
            lambda tables: handle(
                core, tables, open_session(tables, scope, id, at=at, title=title, metadata=kept)
            )
        )

    def append_all(self, arrivals: Sequence[Arrival]) -> list[list[Event] | WellkeptError]:
        """Append to several sessions by their ids, each all or nothing, and all in one commit where nothing fails.

        For servers, which keep no handles and have many callers at once. What became of each, in order: its events, or
        the error that ``Session.append`` would have raised. Raises StoreError for what failed them all.
        """
        from wellkept.arrivals import append_all

        return append_all(self._core, arrivals)

    def append_new(self, arrival: Arrival) -> Asked:
        """Append what is new of the messages of a request to a model to their session, which is made when there is none.

        For servers whose callers send one message, a window or all of a conversation with each request. What is new is
        found out and appended in one transaction, so that two that send the same at once are stored once. The session
        comes back, and a last message of the assistant that only begins the answer: it is not appended.

        Raises InvalidInput for messages that cannot be stored, and then nothing is.
        """
        from wellkept.arrivals import append_new

        return append_new(self._core, arrival)

    def user(self, user: str, *, namespace: str) -> UserMemory:
        """What outlives a session of this user."""
        from wellkept.user import UserMemory

        return UserMemory(self._core, _scope(namespace, user))

    def read_only(self) -> MemoryReader:
        """This memory without any way to write to it (incognito)."""
        return MemoryReader(self._core)

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """Write a consistent copy of the store to the file at ``path``, whole or not at all, while it is in use.

        ``progress`` is called with how much of how much is done. The copy is a store of its own: Memory(path).

        Raises:
            InvalidInput: the path is a folder, this store itself or a database in use.
            StoreFull, StoreError, StoreCorrupt: there is no room, no such folder, or nothing sound to copy.
            Unsupported: this kind of store has its own tools for backups.
        """
        self._maintained().backup(path, progress)

    def doctor(self, *, repair: bool = False) -> Report:
        """What is wrong with the store; with ``repair`` it is put right where it can be.

        For a file that cannot be opened any more there is ``wellkept.store.sqlite.maintenance.doctor(path)``.
        """
        return self._maintained().doctor(repair=repair)

    def _maintained(self) -> Maintained:
        from wellkept.store.health import Maintained

        store = self._core.store
        if not isinstance(store, Maintained):
            raise Unsupported("This kind of store is backed up and checked with its own tools.")
        return store

    def scopes(self, namespace: str | None = None) -> list[Scope]:
        """Every user that the store knows, or those of one namespace; for administration."""
        return self._core.store.read(lambda tables: tables.sessions.scopes(namespace))


class MemoryReader:
    """A memory that can be read and not written: none of the objects that it hands out has a method that
    writes."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def session(self, *, namespace: str, user: str, session_id: str) -> SessionReader:
        """An existing session. Raises NotFound when this user has none with that id."""
        return SessionReader(self._core, _find(self._core, _scope(namespace, user), session_id))

    def user(self, user: str, *, namespace: str) -> UserReader:
        """What outlives a session of this user."""
        from wellkept.user import UserReader

        return UserReader(self._core, _scope(namespace, user))


def _found(core: Core, tables: Tables, scope: Scope, session_id: str) -> Session | None:
    ref = tables.sessions.find(scope, session_id)
    return None if ref is None else handle(core, tables, ref)


def _find(core: Core, scope: Scope, session_id: str) -> SessionRef:
    check_name("session_id", session_id)
    found = core.store.read(lambda tables: tables.sessions.find(scope, session_id))
    if found is None:
        raise NotFound(f"No session {session_id!r} for this user.")
    return found


def open_store(location: str | PathLike[str], policy: Policy, tokenizer: Tokenizer = estimate) -> Store:
    """The store that ``location`` names."""
    location = fspath(location) if isinstance(location, PathLike) else location
    if not isinstance(location, str) or not location or "\0" in location:
        raise InvalidInput(
            f'The store is {location!r}; it must be the path of a file, ":memory:" or "flash:DIR".'
        )
    scheme, separator, _ = location.partition(":")
    if separator and scheme in ("postgresql", "postgres"):
        raise Unsupported("PostgreSQL is not supported yet. Use the path of a SQLite file.")
    from wellkept.store.sqlite import SqliteStore
    from wellkept.store.sqlite.tally import tally

    if scheme == "flash":
        from wellkept.store.flash import FlashStore

        return FlashStore(location, durability=policy.durability, tally=tally(tokenizer))
    return SqliteStore(location, durability=policy.durability, tally=tally(tokenizer))


def _scope(namespace: str, user: str) -> Scope:
    check_name("namespace", namespace)
    check_name("user", user)
    return Scope(namespace, user)
