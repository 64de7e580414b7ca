"""A user's memory: what outlives a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from wellkept.embedding import remake
from wellkept.errors import InvalidInput, NotFound
from wellkept.facts.user import FactsMemory, FactsReader
from wellkept.ids import new_id
from wellkept.outbox import extract_all
from wellkept.policy.checks import check_limit, check_name
from wellkept.policy.context.messages import parse
from wellkept.policy.facts.claims import USER, Claim
from wellkept.profile import Profile, ProfileReader
from wellkept.recall import Result, recall, search_of
from wellkept.records import Draft, Scope, SessionInfo, text_of
from wellkept.session import handle, open_session
from wellkept.store.facts import Actor
from wellkept.store.protocol import Tables
from wellkept.tools import Shape, call, definitions
from wellkept.trace import TraceList


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

        A use of each fact among the results is counted, in the background; ``Memory.read_only`` searches without that.

        Args:
            query: plain text; nothing in it is syntax.
            limit: results at most; the policy's ``recall_limit`` if not given.
            kinds: some of "event", "fact", "summary"; all if not given.
            session_id: only of this session.
            since, until: only what was said in this time (aware), the end not included.
            now: the reference of words like "yesterday", and of age; the clock's time if not given.
            filters: on role, speaker, session_id and metadata (``policy.recall.filters``); events only, where they name
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
        found = recall(self._core, self._scope, asked)
        self._seen(found)
        return found

    def _seen(self, found: list[Result]) -> None:
        """What is only read leaves no trace; a memory that is written to counts a use of each fact."""


class UserMemory(FactsMemory, UserReader):
    """What is kept about one user across sessions."""

    @property
    def profile(self) -> Profile:
        """The profile documents: soul, identity, user."""
        return Profile(self._core, self._scope)

    def _seen(self, found: list[Result]) -> None:
        self._core.uses.note(self._scope, (it.id for it in found if it.kind == "fact" and it.dropped is None))

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
        core, scope = self._core, self._scope
        chat = core.store.write(
            lambda tables: handle(core, tables, open_session(tables, scope, id, at=core.now()))
        )
        chat.append(drafts)
        return {"results": [], "session_id": chat.id, "jobs": self.extract()}

    def extract(self) -> int:
        """Make extraction due now in each session with something new; in how many. ``run_jobs`` or the worker does it.

        Raises InvalidInput without a model.
        """
        self._need_model()
        due = self._core.store.write(lambda tables: extract_all(tables, self._scope, self._core.now()))
        self._core.notify()
        return due

    def _need_model(self) -> None:
        if self._core.model is None:
            raise InvalidInput(
                "Extraction needs a model: Memory(…, model=…), or `wellkept serve --model …`. "
                "Without one, statements are stored as they are with infer=False."
            )

    def tools(self, shape: Shape = "openai") -> list[dict[str, Any]]:
        """The memory tools as definitions for a model: "openai" or "anthropic"."""
        return definitions(shape)

    def call_tool(
        self, name: str, arguments: Mapping[str, Any] | str | None = None, *, counting: bool = True
    ) -> str:
        """Execute a model's call of one of the ``tools`` for this user; the result as JSON text for the model.

        What the model did wrong (an unknown label, a missing argument) is said in that text, for it to mend. Without
        ``counting`` what is recalled does not count as used, and looking writes nothing.
        """
        reader = UserReader(self._core, self._scope)
        most = self._core.policy.max_labels
        return call(self, reader, name, arguments, max_labels=most, counting=counting)

    def reembed(self) -> int:
        """Have every document embedded that has no vector of the configured embedder; how many wait.

        Raises InvalidInput when no embedder is configured.
        """
        waiting = remake(self._core, self._scope)
        self._core.notify()
        return waiting
