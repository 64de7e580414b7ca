"""Writes what a reader gives into a memory: in batches, each message once, bad ones by their line number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from wellkept.cli.clock import StoryClock
from wellkept.errors import Conflict, InvalidInput
from wellkept.facts.copies import bound, sound, take_over
from wellkept.formats import BadLine, Entry, Extra, Item, Note, SessionStart, facts
from wellkept.memory import Memory
from wellkept.records import Record, Scope
from wellkept.session import Session
from wellkept.store.facts import Book

BATCH = 200


@dataclass
class Report(Record):
    """What an import did.

    Attributes:
        sessions: conversations that the file holds.
        added: messages that are new in the store.
        known: messages that were there already, from an earlier run.
        facts: facts that are new in the store, in any state.
        known_facts: facts that were left out: known already, or forgotten in the store.
        skipped: lines that were left out because they are damaged.
        notes: what a person should hear of.
    """

    sessions: int = 0
    added: int = 0
    known: int = 0
    facts: int = 0
    known_facts: int = 0
    skipped: list[BadLine] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


@dataclass
class _Open:
    """A session that is being written: what stood in it before, and the newest place of it."""

    session: Session
    held: int
    last: int


class Importer:
    """Takes items one after the other; ``report`` says what became of them.

    Args:
        clock: the clock of ``memory``; it is set to the time of what is written, for sessions to keep theirs.
        namespace, user: whose conversations they become; what the file says if None.
        skip_bad: leave damaged lines out; otherwise the first one ends the import with InvalidInput.
    """

    def __init__(
        self, memory: Memory, clock: StoryClock, *, namespace: str | None, user: str | None, skip_bad: bool
    ) -> None:
        self.report = Report()
        self._memory = memory
        self._clock = clock
        self._namespace = namespace
        self._user = user
        self._skip_bad = skip_bad
        self._open: dict[str, _Open] = {}
        self._waiting: list[Entry] = []
        self._books: dict[Scope, list[Book]] = {}
        self._moved: dict[str, str] = {}

    def run(self, items: Iterable[Item]) -> Report:
        """Write ``items``. After an error or an interruption, run it again: nothing is doubled."""
        for item in items:
            self._take(item)
        self._flush()
        for scope, pages in self._books.items():
            self._facts(scope, pages)
        return self.report

    def _take(self, item: Item) -> None:
        if isinstance(item, Entry):
            if self._waiting and (self._waiting[0].session != item.session or len(self._waiting) >= BATCH):
                self._flush()
            self._waiting.append(item)
        elif isinstance(item, SessionStart):
            self._flush()
            self._begin(item)
        elif isinstance(item, Extra):
            self._extra(item)
        elif isinstance(item, Note):
            self.report.notes.append(item)
        else:
            self._flush()
            self._bad(item)

    # ── sessions ──────────────────────────────────────────────────────────────────────────────────

    def _begin(self, start: SessionStart) -> None:
        scope = self._scope(start.namespace, start.user)
        self._clock.moment = start.created_at
        try:
            session = self._memory.session(
                namespace=scope.namespace, user=scope.user, session_id=start.external_id, create=True,
                title=start.title, metadata=start.metadata,
            )  # fmt: skip
        except InvalidInput as error:
            self._bad(BadLine(line=start.line, reason=str(error)))
            return
        newest = session.get_recent(1)
        held = newest[0].seq if newest else 0
        self._open[start.external_id] = _Open(session, held, held)
        self.report.sessions += 1

    def _scope(self, namespace: str | None, user: str | None) -> Scope:
        namespace, user = self._namespace or namespace, self._user or user
        if namespace is None or user is None:
            raise InvalidInput(
                "The file does not say whose conversations these are. Pass --namespace and --user."
            )
        return Scope(namespace, user)

    # ── messages ──────────────────────────────────────────────────────────────────────────────────

    def _flush(self) -> None:
        entries, self._waiting = self._waiting, []
        if not entries:
            return
        into = self._open.get(entries[0].session)
        if into is None:
            for entry in entries:
                self._bad(BadLine(line=entry.line, reason="its conversation could not be begun"))
            return
        fresh = [entry for entry in entries if not _stands_in(into, entry)]
        self.report.known += len(entries) - len(fresh)
        try:
            self._append(into, fresh)
        except (InvalidInput, Conflict):
            self._one_by_one(into, fresh)

    def _one_by_one(self, into: _Open, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._one(into, entry)

    def _one(self, into: _Open, entry: Entry) -> None:
        try:
            self._append(into, [entry])
        except (InvalidInput, Conflict) as error:
            self._bad(BadLine(line=entry.line, reason=str(error)))

    def _append(self, into: _Open, entries: Sequence[Entry]) -> None:
        drafts = [entry.draft for entry in entries]
        self._clock.moment = max((draft.ts for draft in drafts if draft.ts), default=None)
        for entry, event in zip(entries, into.session.append(drafts), strict=True):
            if entry.seq not in (None, event.seq):
                self._moved[f"{entry.session}:{entry.seq}"] = event.id
            if event.seq > into.last:
                into.last = event.seq
                self.report.added += 1
            else:
                self.report.known += 1

    # ── the rest ──────────────────────────────────────────────────────────────────────────────────

    def _extra(self, extra: Extra) -> None:
        if extra.kind in facts.KINDS:
            self._page(extra)
        else:
            self.report.notes.append(
                Note(line=extra.line, text=f"lines of kind {extra.kind!r} are not taken over")
            )

    def _page(self, extra: Extra) -> None:
        """What is known of a user is taken over when all is read: it names messages and itself."""
        scope = self._scope(extra.data.get("namespace"), extra.data.get("user"))
        try:
            whose = self._memory.user(scope.user, namespace=scope.namespace).scope
            page = sound(self._memory._core, facts.page(extra.kind, extra.data))
        except InvalidInput as error:
            self._bad(BadLine(line=extra.line, reason=str(error)))
        else:
            self._books.setdefault(whose, []).append(page)

    def _facts(self, scope: Scope, pages: Sequence[Book]) -> None:
        self._clock.moment = None
        taken = take_over(self._memory._core, scope, bound(pages), self._moved)
        self.report.facts += taken.facts
        self.report.known_facts += taken.known
        self.report.notes += [
            Note(text=f"the profile document {name!r} that is in the store was kept") for name in taken.kept
        ]

    def _bad(self, bad: BadLine) -> None:
        if not self._skip_bad:
            raise InvalidInput(
                f"Line {bad.line}: {bad.reason}. The import stopped there; what stands before it is stored. "
                "Repair the line, or pass --skip-bad to leave it out, and run it again: nothing is doubled."
            )
        self.report.skipped.append(bad)


def _stands_in(into: _Open, entry: Entry) -> bool:
    """Whether our own export gives back a message to the very session that it came from."""
    if entry.seq is None or not 0 < entry.seq <= into.held:
        return False
    there = into.session.get_events(after=entry.seq - 1, before=entry.seq + 1, limit=1)
    draft = entry.draft
    return bool(there) and (there[0].role, there[0].content, there[0].ts) == (
        draft.role,
        draft.content,
        draft.ts,
    )
