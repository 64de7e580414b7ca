"""What an application holds: a Memory on one store, and a user's view of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any
from zoneinfo import ZoneInfo

from wellkept.apikeys import KeyRing
from wellkept.arrivals import Arrival, append_all
from wellkept.core import Core, system_clock
from wellkept.embedding import EMBED, embed, remake
from wellkept.errors import InvalidInput, NotFound, Unsupported, WellkeptError
from wellkept.facts.extract import EXTRACT, extract, put_all
from wellkept.facts.user import FactsMemory, FactsReader
from wellkept.ids import new_id
from wellkept.jobs import Handler, JobList, Runner
from wellkept.mirror import Mirror
from wellkept.models.protocol import Clock, Embedder, Model, Tokenizer
from wellkept.policy.checks import check_limit, check_name, check_text
from wellkept.policy.claims import USER, Claim
from wellkept.policy.messages import parse
from wellkept.policy.tokens import estimate
from wellkept.profile import Profile, ProfileReader
from wellkept.recall import Result, recall, search_of
from wellkept.records import Draft, Event, Policy, Scope, SessionInfo, text_of
from wellkept.replies import ReplyLog
from wellkept.session import Session, SessionReader, open_session
from wellkept.store.facts import Actor
from wellkept.store.health import Maintained, Progress, Report
from wellkept.store.protocol import SessionRef, Store, Tables
from wellkept.summarize import SUMMARIZE, summarize
from wellkept.tools import Shape, call, definitions
from wellkept.trace import TraceList
from wellkept.tracing import Tracer
from wellkept.uses import Uses

HANDLERS: Mapping[str, Handler] = {EXTRACT: extract, SUMMARIZE: summarize, EMBED: embed}


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
        store: str,
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
        opened = open_store(store, policy, tokenizer or estimate)
        self._core = Core(
            store=opened,
            policy=policy,
            tokenizer=tokenizer or estimate,
            tracer=Tracer(opened, keep=policy.debug_trace, path=trace_file),
            uses=Uses(opened, lambda: int(clock().timestamp() * 1000)),
            mirror=None if mirror is None else Mirror(opened, mirror, ZoneInfo(policy.time_zone)),
            clock=clock,
            model=model,
            embedder=embedder,
            notify=self._notify,
        )
        self._runner = Runner(self._core, HANDLERS, beside=self._write_aside)
        self._worker = worker
        if worker and mirror is not None:
            self._runner.notify()
        elif worker:
            self._runner.wake_if_due()

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
            self._core.store.write(lambda tables: tables.jobs.hasten(EXTRACT, at=now))
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
        return KeyRing(self._core)

    @property
    def replies(self) -> ReplyLog:
        """Answers kept for requests that may come twice."""
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
        if session_id is not None:
            check_name("session_id", session_id)
            found = self._core.store.read(lambda tables: tables.sessions.find(scope, session_id))
            if found is not None:
                return Session(self._core, found)
            if not create:
                raise NotFound(
                    f"No session {session_id!r} for this user. Leave session_id out to start a new one."
                )
        if prefix:
            check_name("prefix", prefix)
        check_text("title", title)
        id = session_id or new_id(prefix)
        return Session(self._core, open_session(self._core, scope, id, title=title, metadata=metadata))

    def append_all(self, arrivals: Sequence[Arrival]) -> list[list[Event] | WellkeptError]:
        """Append to several sessions by their ids, each all or nothing, and all in one commit where nothing fails.

        For servers, which keep no handles and have many callers at once. What became of each, in order: its events, or
        the error that ``Session.append`` would have raised. Raises StoreError for what failed them all.
        """
        return append_all(self._core, arrivals)

    def user(self, user: str, *, namespace: str) -> UserMemory:
        """What outlives a session of this user."""
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
        store = self._core.store
        if not isinstance(store, Maintained):
            raise Unsupported("This kind of store is backed up and checked with its own tools.")
        return store

    def scopes(self, namespace: str | None = None) -> list[Scope]:
        """Every user that the store knows, or those of one namespace; for administration."""
        return self._core.store.read(lambda tables: tables.sessions.scopes(namespace))


class UserReader(FactsReader):
    """What is kept about one user across sessions, to read."""

    @property
    def scope(self) -> Scope:
        """Whose memory it is."""
        return self._scope

    @property
    def profile(self) -> ProfileReader:
        """The profile documents: soul, identity, user."""
        return ProfileReader(self._core, self._scope)

    @property
    def traces(self) -> TraceList:
        """How this user's contexts came to be, and their replay; see ``Policy.debug_trace``."""
        return TraceList(self._core, self._scope)

    def sessions(self, *, limit: int = 100, before: str | None = None) -> list[SessionInfo]:
        """The user's sessions, last active first; ``before``: the id that the previous page ended with."""
        most = check_limit(limit)

        def page(tables: Tables) -> list[SessionInfo]:
            if before is not None and tables.sessions.find(self._scope, before) is None:
                raise NotFound(f"No session {before!r} for this user. Start again from the first page.")
            return tables.sessions.list(self._scope, limit=most, before=before)

        return self._core.store.read(page)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        kinds: Sequence[str] | None = None,
        session_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        now: datetime | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        explain: bool = False,
    ) -> list[Result]:
        """What this user's memory holds for a question, best first; empty when there is nothing.

        Args:
            query: plain text; nothing in it is syntax.
            limit: results at most; the policy's ``recall_limit`` if not given.
            kinds: some of "event", "fact", "summary"; all if not given.
            session_id: only of this session.
            since, until: only what was said in this time (aware), the end not included.
            now: the reference of words like "yesterday", and of age; the clock's time if not given.
            filters: on role, speaker, session_id and metadata (``policy.filters``); events only, where they name
                metadata.
            threshold: least ``relevance`` of a result, 0 to 1.
            explain: give the dropped candidates too, behind the results, each with its reason.

        Raises:
            InvalidInput: an argument of the wrong kind, or a filter that is not understood.
            NotFound: the session is not this user's.
            ModelError: the embedder failed.
        """
        asked = search_of(
            self._core, query, limit=limit, kinds=kinds, session_id=session_id, since=since, until=until, now=now,
            filters=filters, threshold=threshold, explain=explain,
        )  # fmt: skip
        return recall(self._core, self._scope, asked)


class UserMemory(FactsMemory, UserReader):
    """What is kept about one user across sessions."""

    @property
    def profile(self) -> Profile:
        """The profile documents: soul, identity, user."""
        return Profile(self._core, self._scope)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        kinds: Sequence[str] | None = None,
        session_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        now: datetime | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        explain: bool = False,
    ) -> list[Result]:
        """What this user's memory holds for a question; see ``UserReader.search``.

        A use of each fact among the results is counted, in the background; ``Memory.read_only`` searches without that.
        """
        found = super().search(
            query, limit=limit, kinds=kinds, session_id=session_id, since=since, until=until, now=now, filters=filters,
            threshold=threshold, explain=explain,
        )  # fmt: skip
        self._core.uses.note(self._scope, (it.id for it in found if it.kind == "fact" and it.dropped is None))
        return found

    def add(
        self, messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]], *, infer: bool = True,
        subject: str = USER, attribute: str = "", labels: Sequence[str] = (), keywords: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None, user_id: str | None = None, agent_id: str | None = None,
        run_id: str | None = None, actor: Actor = "app",
    ) -> dict[str, Any]:  # fmt: skip
        """Remember something, in mem0's shape: ``{"results": [{"id", "memory", "event"}]}``.

        Args:
            messages: a statement of the user, or a message or messages with "role" and "content".
            infer: False stores each text of the user as one fact, as it is, and says at once what became of it:
                "ADD", "NONE" for what was known, "DELETE" for what it took the place of. True appends the messages to
                a session (``run_id``, or a new one, whose "session_id" is in the answer), and a job extracts from it.
            subject, attribute, labels, keywords, actor: of the facts, with ``infer=False``.
            user_id, agent_id, run_id: mem0's names. The user must be this one; the others become metadata.

        Raises:
            InvalidInput: an empty or overlong text, labels that are too many or too long, a foreign ``user_id``, or
                ``infer=True`` without a model.
        """
        self.check_user(user_id)
        if isinstance(labels, str) or isinstance(keywords, str):
            raise InvalidInput("Labels and keywords are lists of texts.")
        if not isinstance(messages, (str, Mapping, Sequence)):
            raise InvalidInput(
                f"What to remember is {type(messages).__name__}; it must be text, or messages."
            )
        given = [messages] if isinstance(messages, (str, Mapping)) else list(messages)
        drafts = [Draft(role="user", content=it) if isinstance(it, str) else parse(it) for it in given]
        if infer:
            return self._infer(drafts, run_id)
        named = {"agent_id": agent_id, "run_id": run_id}
        kept = {**(metadata or {}), **{name: value for name, value in named.items() if value is not None}}
        claims = [
            Claim(
                text=text_of(draft.content),
                subject=subject,
                attribute=attribute,
                labels=tuple(labels),
                keywords=tuple(keywords),
            )
            for draft in drafts
            if draft.role == "user"
        ]
        return {"results": [each.to_dict() for each in self.keep_all(claims, metadata=kept, actor=actor)]}

    def _infer(self, drafts: Sequence[Draft], run_id: str | None) -> dict[str, Any]:
        self._need_model()
        id = run_id or new_id()
        check_name("run_id", id)
        chat = Session(self._core, open_session(self._core, self._scope, id))
        chat.append(drafts)
        return {"results": [], "session_id": chat.id, "jobs": self.extract()}

    def extract(self) -> int:
        """Make extraction due now in each session with something new; in how many. ``run_jobs`` or the worker does it.

        Raises InvalidInput without a model.
        """
        self._need_model()
        due = self._core.store.write(lambda tables: put_all(self._core, tables, self._scope))
        self._core.notify()
        return due

    def _need_model(self) -> None:
        if self._core.model is None:
            raise InvalidInput(
                "Extraction needs a model: pass Memory(…, model=…), or store statements as they are with infer=False."
            )

    def tools(self, shape: Shape = "openai") -> list[dict[str, Any]]:
        """The memory tools as definitions for a model: "openai" or "anthropic"."""
        return definitions(shape)

    def call_tool(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """Execute a model's call of one of the ``tools`` for this user; the result as JSON text for the model.

        What the model did wrong (an unknown label, a missing argument) is said in that text, for it to mend.
        """
        reader = UserReader(self._core, self._scope)
        return call(self, reader, name, arguments, max_labels=self._core.policy.max_labels)

    def reembed(self) -> int:
        """Have every document embedded that has no vector of the configured embedder; how many wait.

        Raises InvalidInput when no embedder is configured.
        """
        waiting = remake(self._core, self._scope)
        self._core.notify()
        return waiting


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
        return UserReader(self._core, _scope(namespace, user))


def _find(core: Core, scope: Scope, session_id: str) -> SessionRef:
    check_name("session_id", session_id)
    found = core.store.read(lambda tables: tables.sessions.find(scope, session_id))
    if found is None:
        raise NotFound(f"No session {session_id!r} for this user. Leave session_id out to start a new one.")
    return found


def open_store(location: str, policy: Policy, tokenizer: Tokenizer = estimate) -> Store:
    """The store that ``location`` names."""
    if not isinstance(location, str) or not location:
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
