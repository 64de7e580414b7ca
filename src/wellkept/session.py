"""One conversation of one user: append, read back, and ask for a context."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from wellkept.actors import check_actor
from wellkept.errors import InvalidInput, ModelError, NotFound
from wellkept.outbox import extract_now, put_extraction, put_if_due
from wellkept.policy.checks import (
    check_draft,
    check_limit,
    check_messages,
    check_seq,
    check_text,
    milliseconds,
    plain_metadata,
)
from wellkept.policy.content import dumps
from wellkept.policy.recall.terms import terms_ahead
from wellkept.policy.text.tokens import event_tokens
from wellkept.records import Draft, text_of
from wellkept.store.events import NewEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from wellkept.context import Context
    from wellkept.core import Core
    from wellkept.models.protocol import Reply
    from wellkept.records import Content, Event, LedgerLine, Policy, Role, Scope, SessionInfo, Summary
    from wellkept.reply import Answer
    from wellkept.store.actions import Verb
    from wellkept.store.facts import Actor
    from wellkept.store.protocol import SessionRef, Tables
    from wellkept.trace import TraceList

T = TypeVar("T")


class SessionReader:
    """A conversation that can be read and not written: the type has no method that writes (incognito)."""

    def __init__(self, core: Core, ref: SessionRef) -> None:
        self._core = core
        self._ref = ref

    @property
    def id(self) -> str:
        """The session's id."""
        return self._ref.id

    @property
    def scope(self) -> Scope:
        """Whose conversation it is."""
        return self._ref.scope

    def __repr__(self) -> str:
        owner = f"namespace={self.scope.namespace!r}, user={self.scope.user!r}"
        return f"{type(self).__name__}({self.id!r}, {owner})"

    def info(self) -> SessionInfo:
        """Title, counts and last activity."""
        return self._known(self._core.store.read(lambda tables: tables.sessions.info(self._ref)))

    def get_recent(self, limit: int = 20) -> list[Event]:
        """The newest ``limit`` events, in conversation order."""
        return self.get_events(limit=limit, before=None)

    def get_events(
        self,
        *,
        after: int | None = None,
        before: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]:
        """Up to ``limit`` events in conversation order.

        ``after``: those that follow this seq, oldest first. ``before`` (or nothing): the newest ones below
            this seq. ``since`` and ``until``: those said in this time, the end not included, oldest first.

        Raises InvalidInput for what is no seq, no aware time or no limit; NotFound when the session was deleted.
        """
        limit = check_limit(limit)
        check_seq("after", after)
        check_seq("before", before)
        if since is not None or until is not None:
            start, end = milliseconds(since), milliseconds(until)
            return self._some(
                lambda tables: tables.events.between(
                    self._ref, start, end, after=after or 0, before=before, limit=limit
                )
            )
        if after is not None:
            last = None if before is None else before - 1
            return self._some(
                lambda tables: list(islice(tables.events.walk(self._ref, after=after, until=last), limit))
            )
        return self._some(
            lambda tables: list(islice(tables.events.walk_back(self._ref, before=before), limit))[::-1]
        )

    def get_event(self, event_id: str) -> Event:
        """One event by its id. Raises NotFound for an id that is not this session's."""
        session_id, _, seq = str(event_id).rpartition(":")
        number = int(seq) if session_id == self.id and seq.isascii() and seq.isdigit() else 0
        event = self._read(lambda tables: tables.events.get(self._ref, number)) if number else None
        if event is None:
            raise NotFound(f"No event {event_id!r} in session {self.id!r}.")
        return event

    def get_context(
        self,
        query: str | None = None,
        budget: int | None = None,
        *,
        as_of: datetime | int | None = None,
        policy: Policy | None = None,
    ) -> Context:
        """What to hand to the model for the next request.

        Args:
            query: what to recall memories for; nothing is recalled without it.
            budget: tokens that the context may take; the policy's ``context_budget`` if not given.
            as_of: an earlier moment: an aware time, or the seq of the event that was the newest then.
            policy: another policy than the memory's, to see what it would make of it.

        Raises:
            BudgetExceeded: the newest user message does not fit; says by how much.
            InvalidInput: a budget below 1.
            NotFound: the session was deleted.
        """
        from wellkept.context import build
        from wellkept.tiers import Moment

        core = replace(self._core, policy=policy) if policy else self._core
        then = Moment(seq=self._seq_at(as_of))
        return build(core, self._ref, query=query, budget=budget, then=then)

    def summaries(self, *, limit: int | None = None, before: int | None = None) -> list[Summary]:
        """Every version of the rolling summary, oldest first, with its topic and the seqs that it added.

        ``limit``: only of the newest so many versions, below the version ``before`` where one is given.

        Raises NotFound when the session was deleted; so do ``summaries_at`` and ``ledger``.
        """
        most = None if limit is None else check_limit(limit)
        return self._some(lambda tables: tables.summaries.versions(self._ref, before=before, limit=most))

    def summaries_at(self, version: int) -> list[Summary]:
        """The summary of each topic as it was when ``version`` was the newest version."""
        return self._some(lambda tables: tables.summaries.current(self._ref, version=version))

    def ledger(self, *, limit: int | None = None, skip: int = 0) -> list[LedgerLine]:
        """Key data that the summaries had no room for, oldest first; search finds it. ``limit``: only so many lines,
        behind the first ``skip``."""
        most = None if limit is None else check_limit(limit)
        return self._some(lambda tables: tables.summaries.ledger(self._ref, skip=skip, limit=most))

    @property
    def traces(self) -> TraceList:
        """How this conversation's contexts came to be, and their replay; see ``Policy.debug_trace``."""
        from wellkept.trace import TraceList

        return TraceList(self._core, self.scope, self._ref)

    def _seq_at(self, as_of: datetime | int | None) -> int | None:
        if as_of is None or isinstance(as_of, int):
            return None if as_of is None else min(as_of, 1 << 62)
        moment = milliseconds(as_of)
        assert moment is not None
        return self._read(lambda tables: tables.events.seq_at(self._ref, moment))

    def _read(self, work: Callable[[Tables], T]) -> T:
        return self._core.store.read(work)

    def _some(self, work: Callable[[Tables], list[T]]) -> list[T]:
        """What ``work`` finds; nothing found in a session that is gone is an error, not an empty list."""

        def found(tables: Tables) -> list[T]:
            rows = work(tables)
            if not rows:
                self._known(tables.sessions.info(self._ref))
            return rows

        return self._read(found)

    def _known(self, info: SessionInfo | None) -> SessionInfo:
        if info is None:
            raise self._gone()
        return info

    def _gone(self) -> NotFound:
        return NotFound(f"No session {self.id!r} for this user. It may have been deleted.")


class Session(SessionReader):
    """A handle on one conversation; ``Memory.session`` makes it. It holds nothing of the conversation
    itself."""

    def __init__(self, core: Core, ref: SessionRef, seen: int) -> None:
        super().__init__(core, ref)
        self._seen = seen

    def get_context(
        self,
        query: str | None = None,
        budget: int | None = None,
        *,
        as_of: datetime | int | None = None,
        policy: Policy | None = None,
    ) -> Context:
        """What to hand to the model for the next request; see ``SessionReader.get_context``.

        Leaves a trace where ``Policy.debug_trace`` or a trace file asks for it, and counts a use of each fact that was
        recalled for ``query``; one of an earlier moment or under another policy does not.
        """
        if as_of is not None or policy is not None:
            return super().get_context(query, budget, as_of=as_of, policy=policy)
        from wellkept.trace import traced

        context = traced(self._core, self._ref, query, budget, seen=self._seen)
        self._seen = max(self._seen, context.change)
        self._core.uses.note(self.scope, (it.id for it in context.trace if it.tier == "recall" and it.kept))
        return context

    def add_message(
        self,
        role: Role,
        content: Content,
        *,
        ts: datetime | None = None,
        speaker: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Event:
        """Append one message; it is durable when this returns.

        Args:
            role: "system", "user", "assistant" or "tool".
            content: text, or content blocks.
            ts: when it was said (aware); now if not given. The order is that of the calls, whatever the
                clocks say.
            speaker: who spoke, where the role does not tell (group chats).
            idempotency_key: the same key twice in one session is one event; the second call returns the
                first one's.

        Raises:
            InvalidInput: unknown role, empty text, naive time, text that no encoding can hold.
            Conflict: the key was used for another message.
            NotFound: the session was deleted.
        """
        draft = Draft(
            role=role,
            content=content,
            ts=ts,
            speaker=speaker,
            metadata=metadata,
            idempotency_key=idempotency_key,
        )
        return self.append([draft])[0]

    def add_messages(self, messages: Iterable[Mapping[str, Any] | Draft]) -> list[Event]:
        """Append messages in OpenAI's or in Anthropic's shape, or drafts: all of them or, on any error,
        none."""
        from wellkept.policy.context.messages import parse

        check_messages(messages)
        return self.append([item if isinstance(item, Draft) else parse(item) for item in messages])

    def append(self, drafts: Sequence[Draft]) -> list[Event]:
        """Append drafts in one transaction; see ``add_message``."""
        if not drafts:
            return []
        now = self._core.now()
        events = [prepare(self._core, draft, now) for draft in drafts]
        stored, due = self._core.store.write(
            lambda tables: store_events(self._core, tables, self._ref, events, now)
        )
        if due:
            self._core.notify()
        return stored

    def reply(
        self,
        text: Content | None = None,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 1024,
        budget: int | None = None,
        query: str | bool = True,
    ) -> Answer:
        """The whole loop with the configured model: append the user's message, make a context, ask, append the answer.

        The message is durable before the model is asked. When the model fails it stays, and ``reply()`` without a
        text goes on from there; so it does after the results of tools were appended.

        Args:
            text: the user's message; None to have what is stored answered.
            tools: what the model may call, in OpenAI's or Anthropic's shape. Calls are stored, not made.
            max_tokens: of the answer. ``budget`` is for what is asked; both have to fit into the model.
            budget: tokens of the context; the policy's ``context_budget`` if not given.
            query: what to recall memories for: the user's message (True), nothing (False), or this text.

        Raises:
            ModelError: the model failed; the user's message is stored.
            BudgetExceeded: the user's message, which is stored, does not fit into the budget.
            InvalidInput: no model is configured, or nothing waits for an answer.
        """
        from wellkept.models.failures import model_errors
        from wellkept.reply import model_of

        model = model_of(self._core)
        context = self._asked(text, budget, query)
        with model_errors(model):
            reply = model.complete(context.system, context.messages, tools=tools, max_tokens=max_tokens)
        return self._answered(context, reply)

    def stream(
        self,
        text: Content | None = None,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 1024,
        budget: int | None = None,
        query: str | bool = True,
    ) -> Iterator[str | Answer]:
        """``reply`` as it comes: pieces of text, and the stored ``Answer`` as the last item.

        The user's message is stored when this is called, the answer when its last piece has come. An answer that
        breaks off, or that nobody reads to its end, is not stored: nothing half stands in a conversation. What came
        is in ``ModelError.raw_reply``; ``reply()`` or ``stream()`` without a text asks again.
        """
        from wellkept.reply import model_of, pieces_of

        model = model_of(self._core)
        context = self._asked(text, budget, query)
        return self._streamed(context, pieces_of(model, context, tools=tools, max_tokens=max_tokens))

    def _asked(self, text: Content | None, budget: int | None, query: str | bool) -> Context:
        from wellkept.reply import question

        if text is not None:
            self.add_message("user", text)
        asked = self._read(lambda tables: question(list(_last_turn(tables.events.walk_back(self._ref)))))
        return self.get_context((asked or None) if query is True else query or None, budget)

    def _streamed(self, context: Context, pieces: Iterator[str | Reply]) -> Iterator[str | Answer]:
        from wellkept.models.protocol import Reply

        for piece in pieces:
            if isinstance(piece, Reply):
                yield self._answered(context, piece)
                return
            yield piece
        raise ModelError("The model's stream ended without a reply. Ask again with reply().", retryable=True)

    def _answered(self, context: Context, reply: Reply) -> Answer:
        from wellkept.reply import Answer, draft_of

        try:
            [event] = self.append([draft_of(reply, context)])
        except InvalidInput as error:
            said = text_of(reply.content)
            raise ModelError(f"The answer cannot be stored. {error}", raw_reply=said) from error
        return Answer(event=event, context=context, usage=reply.usage, stop_reason=reply.stop_reason)

    def rebuild_summaries(self, *, actor: Actor = "app") -> int:
        """Drop every version of the summary and the ledger, and have them made anew from the events; how many versions
        there were. Contexts bridge the gap until the job is done."""

        from wellkept.summarize import rebuild

        by = check_actor(actor)

        def work(tables: Tables) -> int:
            self._known(tables.sessions.info(self._ref))
            self._log(tables, "rebuild_summaries", by)
            return rebuild(tables, self._ref, self._core.policy, self._core.now())

        dropped = self._core.store.write(work)
        self._core.notify()
        return dropped

    def pop_turn(self) -> list[Event]:
        """Take the last turn (the newest user message and all after it) away for good; what was taken,
        oldest first."""

        def pop(tables: Tables) -> list[Event]:
            self._known(tables.sessions.info(self._ref))
            turn = list(_last_turn(tables.events.walk_back(self._ref)))[::-1]
            tables.events.remove(self._ref, turn)
            if turn:
                tables.summaries.drop(self._ref, turn[0].seq)
                tables.traces.remove_from(self._ref, turn[0].seq)
            return turn

        turn = self._core.store.write(pop)
        self._core.store.empty_log()
        return turn

    def end(self) -> bool:
        """Say that the conversation is over for now: what the user said and was not read yet is extracted at once,
        not after ``Policy.extract_idle``; whether there was something. It can be gone on with at any time."""

        def work(tables: Tables) -> bool:
            self._known(tables.sessions.info(self._ref))
            return self._core.model is not None and extract_now(tables, self._ref, self._core.now())

        due = self._core.store.write(work)
        if due:
            self._core.notify()
        return due

    def rename(self, title: str, *, actor: Actor = "app") -> None:
        """Give it another title."""
        check_text("title", title)
        by = check_actor(actor)

        def work(tables: Tables) -> None:
            if not tables.sessions.rename(self._ref, title):
                raise self._gone()
            self._log(tables, "rename_session", by)

        self._core.store.write(work)

    def delete(self, *, actor: Actor = "app") -> dict[str, int]:
        """Remove the conversation and all that was derived from it alone; the rows removed, by table."""
        by = check_actor(actor)

        def work(tables: Tables) -> dict[str, int]:
            removed = self._delete(tables)
            self._log(tables, "delete_session", by)
            return removed

        removed = self._core.store.write(work)
        self._core.store.empty_log()
        return removed

    def _delete(self, tables: Tables) -> dict[str, int]:
        self._known(tables.sessions.info(self._ref))
        events = list(tables.events.walk(self._ref))
        tables.events.remove(self._ref, events)
        ledger = len(tables.summaries.ledger(self._ref))
        summaries = tables.summaries.drop(self._ref, 1)
        tables.replies.forget(self.scope, holding=self.id)
        removed = {"events": len(events), "summaries": summaries, "ledger": ledger}
        return {**tables.sessions.delete(self._ref), **removed}

    def _log(self, tables: Tables, action: Verb, actor: Actor) -> None:
        tables.actions.add(self.scope, action, actor, at=self._core.now(), subject=self._ref)


def open_session(
    tables: Tables,
    scope: Scope,
    id: str,
    *,
    at: int,
    title: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> SessionRef:
    """The session with this id, made when there is none."""
    found = tables.sessions.find(scope, id)
    if found is not None:
        return found
    made = tables.sessions.create(scope, id, title=title, metadata=metadata or {}, at=at)
    tables.facts.anchor(made)
    return made


def handle(core: Core, tables: Tables, ref: SessionRef) -> Session:
    """A handle on a session, which knows of what has changed up to now."""
    return Session(core, ref, tables.facts.newest(ref.scope))


# ── making an event ready
# ────────────────────────────────────────────────────────────────────────────────────


def store_events(
    core: Core, tables: Tables, ref: SessionRef, events: Sequence[NewEvent], now: int
) -> tuple[list[Event], bool]:
    """The events, and in the same transaction the jobs that they cause; whether there are any."""
    stored = tables.events.append(ref, events, at=now)
    turned = any(event.role == "user" for event in events)
    due = turned and put_if_due(tables, ref, core.policy, now)
    if core.model is not None:
        due = put_extraction(tables, ref, core.policy, stored, now) or due
    if core.embedder is not None:
        from wellkept.embedding import want_events

        due = want_events(core, tables, ref, [event.seq for event in stored], now) or due
    return stored, due


def prepare(core: Core, draft: Draft, now: int) -> NewEvent:
    """``draft`` checked, redacted, counted and, if it is long, split into index terms: all that can be done before the
    transaction."""
    check_draft(draft)
    content = draft.content
    if core.policy.redaction:
        from wellkept.policy.privacy.redact import redact_content

        content = redact_content(content, core.policy.redaction)
    stored = dumps(content)
    return NewEvent(
        role=draft.role,
        content=content,
        stored=stored,
        ts=now if draft.ts is None else milliseconds(draft.ts) or 0,
        tokens=event_tokens(content, draft.speaker, core.tokenizer),
        speaker=draft.speaker,
        metadata=plain_metadata(draft.metadata),
        idempotency_key=draft.idempotency_key,
        terms=terms_ahead(content, stored, draft.speaker),
    )


def _last_turn(newest_first: Iterator[Event]) -> Iterator[Event]:
    for event in newest_first:
        yield event
        if event.role == "user":
            return
