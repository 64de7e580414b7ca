"""The verbs on a user's facts, as ``UserMemory`` offers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, get_args, overload

from wellkept.actors import check_actor
from wellkept.core import Core
from wellkept.errors import InvalidInput, NotFound
from wellkept.facts.files import digest_log, memory_md
from wellkept.facts.forget import Preview, Receipt, erase, preview
from wellkept.facts.graves import doubt_grave
from wellkept.facts.keep import Keeper, Kept, find, made_ready
from wellkept.facts.wishes import pending
from wellkept.ids import is_number
from wellkept.policy.checks import check_limit, milliseconds, plain_metadata
from wellkept.policy.facts.claims import USER, Claim
from wellkept.policy.facts.labels import carries, catalogue, check_labels, check_list
from wellkept.policy.recall.filters import ANYTHING, Condition, matches
from wellkept.policy.recall.filters import parse as parse_filters
from wellkept.records import Record, Scope, utc
from wellkept.store.actions import Action, Verb
from wellkept.store.facts import Actor, Change, Doubt, Fact, FactState
from wellkept.store.protocol import Tables

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FactPage(Record):
    """Some facts, and the cursor that gives the following ones (None behind the last)."""

    results: tuple[Fact, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> Fact:
        return self.results[place]


class FactsReader:
    """A user's facts, to read."""

    def __init__(self, core: Core, scope: Scope) -> None:
        self._core = core
        self._scope = scope

    def get(self, memory_id: str) -> Fact:
        """One fact, active, archived or retired. Raises NotFound for an id that is not this user's."""
        return self._core.store.read(lambda tables: find(tables, self._scope, memory_id))

    def get_all(
        self, *, limit: int = 100, cursor: str | None = None, labels: Sequence[str] = (),
        states: Sequence[FactState] = ("active",), filters: Mapping[str, Any] | None = None,
        as_of: datetime | None = None, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None,
    ) -> FactPage:  # fmt: skip
        """Facts in the order they were made, a page at a time.

        Args:
            cursor: the previous page's.
            labels: only those under one of these.
            states: "active", "archived", "retired".
            filters: mem0's grammar, see ``policy.recall.filters``; fields are those of ``Fact``, "memory",
                "categories" and the metadata.
            as_of: those that were active at an earlier moment (aware); ``states`` does not apply.
            user_id, agent_id, run_id: mem0's names; the user must be this one, the others are filters.

        Raises:
            InvalidInput: an unknown filter, a foreign ``user_id``, a cursor that is none, labels that are no list.
        """
        check_list(labels)
        most, wanted = check_limit(limit), self._filters(filters, user_id, agent_id, run_id)
        if cursor is not None and not is_number(cursor):
            raise InvalidInput(f"The cursor {cursor!r:.80} is none. Pass that of the previous page, or None.")
        if unknown := [state for state in states if state not in get_args(FactState)]:
            raise InvalidInput(
                f"The state is {unknown[0]!r}; it must be one of: {', '.join(get_args(FactState))}."
            )

        def page(tables: Tables) -> list[Fact]:
            if as_of is None:
                return tables.facts.all(self._scope, states=states)
            moment = milliseconds(as_of) or 0
            return tables.facts.as_of(self._scope, tables.facts.newest_at(self._scope, moment))

        facts = [
            fact
            for fact in self._core.store.read(page)
            if (cursor is None or fact.id > cursor)
            and (not labels or carries(fact, labels))
            and (wanted == ANYTHING or matches(wanted, fields(fact, self._scope)))
        ]
        shown = tuple(facts[:most])
        return FactPage(shown, shown[-1].id if len(facts) > most else None)

    def labels(self) -> list[str]:
        """The catalogue: the labels of the active facts."""
        return catalogue(self._core.store.read(lambda tables: tables.facts.all(self._scope)))

    def history(self, memory_id: str) -> list[Change]:
        """All changes of a fact, oldest first. Raises NotFound."""

        def read(tables: Tables) -> list[Change]:
            find(tables, self._scope, memory_id)
            return tables.facts.changes(self._scope, fact=memory_id)

        return self._core.store.read(read)

    def changes(self, *, limit: int = 100, after: int = 0, before: int | None = None) -> list[Change]:
        """The newest changes of all facts, oldest first; only those with an id above ``after`` and below ``before``."""
        most = check_limit(limit)
        return self._core.store.read(
            lambda tables: tables.facts.changes(self._scope, after=after, before=before, newest=most)
        )

    def actions(self, *, limit: int = 100, after: int = 0, before: int | None = None) -> list[Action]:
        """What was done to sessions, summaries, profile, jobs and questions, and each erasure, newest first; only those
        with an id above ``after`` and below ``before``."""
        most = check_limit(limit)
        return self._core.store.read(
            lambda tables: tables.actions.list(self._scope, limit=most, before=before, after=after)
        )

    def review(self) -> list[Doubt]:
        """What waits for a decision, oldest first; ``settle`` decides."""
        return self._core.store.read(lambda tables: pending(tables, self._scope))

    def receipts(self) -> list[Receipt]:
        """What erasures removed, oldest first."""
        rows = self._core.store.read(lambda tables: tables.erasures.receipts(self._scope))
        return [
            Receipt(
                id=id,
                at=utc(at),
                removed=kept["removed"],
                left=kept["left"],
                resumed=kept.get("resumed", False),
            )
            for id, at, kept in rows
        ]

    def memory_md(self) -> str:
        """The active facts as a Markdown file, the most used and latest first."""
        facts = self._core.store.read(lambda tables: tables.facts.all(self._scope))
        return memory_md(facts, self._core.zone)

    def memory_digest(self) -> str:
        """The log of all changes as a text file, a line each."""
        changes = self._core.store.read(lambda tables: tables.facts.changes(self._scope))
        return digest_log(changes, self._core.zone)

    def check_user(self, user_id: str | None) -> None:
        """Raise InvalidInput when ``user_id`` is given and is not this user's."""
        if user_id is not None and user_id != self._scope.user:
            raise InvalidInput(
                f"This memory is {self._scope.user!r}'s, not {user_id!r}'s. Use memory.user({user_id!r}, …)."
            )

    def _filters(
        self, filters: Mapping[str, Any] | None, user_id: str | None, agent_id: str | None, run_id: str | None
    ) -> Condition:
        self.check_user(user_id)
        named = {"agent_id": agent_id, "run_id": run_id}
        given = [{name: value} for name, value in named.items() if value is not None]
        return parse_filters({"AND": [*given, *([filters] if filters else [])]})


def fields(fact: Fact, scope: Scope) -> dict[str, Any]:
    """What filters see of a fact: its own fields, mem0's names for them, and its metadata."""
    known = fact.to_dict()
    sessions = [source.rpartition(":")[0] for source in fact.sources]
    return {
        **fact.metadata,
        **known,
        "memory": fact.text,
        "categories": known["labels"],
        "user_id": scope.user,
        "namespace": scope.namespace,
        "agent_id": fact.metadata.get("agent_id"),
        "run_id": fact.metadata.get("run_id") or (sessions[0] if sessions else None),
        "created_at": known["created_at"],
        "updated_at": known["changed_at"],
    }


class FactsMemory(FactsReader):
    """A user's facts. ``actor`` says in their history who changed them: "user" (a person), "app", "tool" (a model's
    call) or "extract" (background work)."""

    def keep(
        self, text: str, *, subject: str = USER, attribute: str = "", labels: Sequence[str] = (),
        keywords: Sequence[str] = (), metadata: Mapping[str, Any] | None = None, actor: Actor = "app",
    ) -> list[Kept]:  # fmt: skip
        """Store one statement as it is, and retire what it takes the place of; what became of it and of
        those.

        Raises InvalidInput for a text that is empty or overlong, and for labels that are too many or too long.
        """
        check_labels(labels, limit=self._core.policy.max_labels)
        claim = Claim(
            text=text, subject=subject, attribute=attribute, labels=tuple(labels), keywords=tuple(keywords)
        )
        return self.keep_all([claim], metadata=metadata, actor=actor)

    def keep_all(
        self, claims: Sequence[Claim], *, metadata: Mapping[str, Any] | None = None, actor: Actor = "app"
    ) -> list[Kept]:
        """Store several claims in one operation; see ``keep``. Raises InvalidInput when there is none."""
        for claim in claims:
            check_labels(claim.labels, limit=self._core.policy.max_labels)
        ready, plain = [made_ready(self._core, claim) for claim in claims], plain_metadata(metadata)
        if not ready:
            raise InvalidInput(
                "Nothing in these messages was said by the user, so there is nothing to remember."
            )
        return self._change(
            lambda keeper: [kept for claim in ready for kept in keeper.keep(claim, metadata=plain)[0]], actor
        )

    def update(
        self, memory_id: str, text: str, *, labels: Sequence[str] | None = None, keywords: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None, actor: Actor = "app",
    ) -> Fact:  # fmt: skip
        """Change a fact under the same id; what it was is in ``history``.

        Raises NotFound; Conflict for a retired fact, or when another active fact has that text already; InvalidInput
        as ``keep`` does.
        """
        check_labels(labels or (), limit=self._core.policy.max_labels)
        return self._change(
            lambda keeper: keeper.update(
                memory_id, text, labels=labels, keywords=keywords, metadata=metadata
            ),
            actor,
        )

    def delete(self, memory_id: str, *, actor: Actor = "app") -> Change:
        """Retire a fact: out of every context and search, in history, undoable by ``undo`` of the change
        returned.

        Raises NotFound; Conflict when it is retired already. ``forget`` erases.
        """

        def retire(keeper: Keeper) -> Change:
            keeper.retire(keeper.known(memory_id))
            return keeper.made()[-1]

        return self._change(retire, actor)

    def delete_all(self, *, user_id: str | None = None, actor: Actor = "app") -> list[Change]:
        """Retire all facts of this user, those of the archive too; undoing one of the changes takes back
        all."""
        self.check_user(user_id)

        def retire(keeper: Keeper) -> list[Change]:
            facts = keeper.tables.facts.all(self._scope, states=("active", "archived"))
            for fact in facts:
                keeper.retire(fact)
            return keeper.made()

        return self._change(retire, actor)

    def undo(self, change_id: int, *, actor: Actor = "app") -> list[Change]:
        """Take back a change, with all that was changed in the same operation; the changes that this made.

        Raises NotFound; Conflict when a fact changed again since, or when the change erased it.
        """

        def undo(keeper: Keeper) -> list[Change]:
            keeper.undo(change_id)
            return keeper.made()

        return self._change(undo, actor)

    def pin(self, memory_id: str, *, actor: Actor = "app") -> Fact:
        """Keep a fact from being evicted, and bring it back from the archive. Raises NotFound; Conflict for a retired fact."""
        return self._change(lambda keeper: keeper.pin(memory_id, True), actor)

    def unpin(self, memory_id: str, *, actor: Actor = "app") -> Fact:
        """Let a fact be evicted again. Raises NotFound; Conflict for a retired fact."""
        return self._change(lambda keeper: keeper.pin(memory_id, False), actor)

    @overload
    def forget(self, what: Preview, *, actor: Actor = "app") -> Receipt: ...
    @overload
    def forget(self, what: str | None = None, *, ids: Sequence[str] = ()) -> Preview: ...
    def forget(
        self, what: str | Preview | None = None, *, ids: Sequence[str] = (), actor: Actor = "app"
    ) -> Preview | Receipt:
        """Erase. First ``forget("peanuts")`` or ``forget(ids=[…])``: a ``Preview`` of what would go, nothing
        is done. Then ``forget(preview)``: gone are the facts with their history, the messages that hold it or
        that they came from, summaries and jobs made of those; the ``Receipt`` says what was removed and what
        a second look found left. Not undoable.

        Raises:
            InvalidInput: nothing to look for, or a preview whose ``reason`` says why it cannot be done.
            NotFound: an id that is not this user's.
            StoreBusy: erased, but another process keeps the log from being emptied.
        """
        if what is not None and not isinstance(what, (str, Preview)):
            raise InvalidInput(f"Say what to forget as text, ids or a preview, not as {type(what).__name__}.")
        if isinstance(what, Preview):
            return erase(self._core, self._scope, what, check_actor(actor))
        return preview(self._core, self._scope, query=what, ids=ids)

    def settle(self, doubt_id: int, *, accept: bool, actor: Actor = "app") -> Receipt | None:
        """Decide what ``review`` lists. Accepting retires what may be replaced, or erases what the user
        wanted forgotten (and gives the receipt); refusing leaves all as it is. Raises NotFound."""
        doubt = next((each for each in self.review() if each.id == doubt_id), None)
        if doubt is None:
            raise NotFound(f"No question {doubt_id} waits for this user. review() lists those that do.")
        by = check_actor(actor)
        receipt = None
        if accept and doubt.kind == "replace":
            new, old = doubt.facts
            self._change(lambda keeper: keeper.supersede(new, old), actor)
        elif accept and doubt.facts:
            receipt = self.forget(self.forget(ids=doubt.facts), actor=actor)
        now, grave = self._core.now(), doubt_grave(doubt)

        def close(tables: Tables) -> None:
            tables.doubts.remove(self._scope, doubt_id)
            tables.erasures.bury(self._scope, [grave], at=now)
            verb: Verb = "accept_doubt" if accept else "refuse_doubt"
            tables.actions.add(self._scope, verb, by, at=now, subject=doubt_id)

        self._core.store.write(close)
        return receipt

    def used(self, facts: Sequence[Fact]) -> None:
        """Count a delivery of ``facts`` to a model, at once; what is used more is kept longer. Search and contexts
        count theirs in the background."""
        counts, now = {fact.id: 1 for fact in facts}, self._core.now()
        if counts:
            self._core.store.write(lambda tables: tables.facts.use(self._scope, counts, at=now))

    def _change(self, work: Callable[[Keeper], T], actor: Actor) -> T:
        by = check_actor(actor)
        done = self._core.store.write(lambda tables: work(Keeper(self._core, tables, self._scope, by)))
        if self._core.mirror is not None:
            self._core.notify()
        return done
