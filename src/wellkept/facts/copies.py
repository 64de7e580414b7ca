"""What is known of a user, taken along: read whole from one store, and taken over into another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import NamedTuple

from wellkept.core import Core
from wellkept.embedding import put_job
from wellkept.facts.graves import doubt_grave, is_buried, sources
from wellkept.facts.keep import made_ready
from wellkept.facts.wishes import pending
from wellkept.policy.checks import milliseconds
from wellkept.records import Document, Event, Scope, text_of
from wellkept.store.facts import Book, Change, Fact, FactState, Graves
from wellkept.store.protocol import SessionRef, Tables

ALL: tuple[FactState, ...] = ("active", "retired", "archived")


def book_of(core: Core, scope: Scope) -> Book:
    """All facts of a user with their history, the tombstones, how far each session was read for facts, the profile with
    its history, what waits for a decision, and the receipts."""

    def read(tables: Tables) -> Book:
        refs = [tables.sessions.find(scope, info.id) for info in tables.sessions.list(scope, limit=1 << 31)]
        read = {ref.id: tables.facts.extracted(ref) for ref in refs if ref is not None}
        return Book(
            facts=tuple(tables.facts.all(scope, states=ALL)),
            changes=tuple(tables.facts.changes(scope)),
            graves=tables.erasures.graves(scope),
            extracted={id: seq for id, seq in read.items() if seq},
            documents=tuple(
                chain.from_iterable(
                    tables.profiles.versions(scope, name) for name in tables.profiles.current(scope)
                )
            ),
            doubts=tuple(pending(tables, scope)),
            receipts=tuple((at, receipt) for _, at, receipt in tables.erasures.receipts(scope)),
        )

    return core.store.read(read)


def profile_of(core: Core, scope: Scope) -> Book:
    """The current profile documents of a user."""
    current = core.store.read(lambda tables: tables.profiles.current(scope))
    return Book(documents=tuple(current.values()))


def sound(core: Core, book: Book) -> Book:
    """``book`` with its facts checked and tidied. Raises InvalidInput for one that could not be stored."""
    return replace(book, facts=tuple(made_ready(core, fact) for fact in book.facts))


def bound(pages: Sequence[Book]) -> Book:
    """Several books as one."""
    graves = [page.graves for page in pages]
    return Book(
        facts=tuple(chain.from_iterable(page.facts for page in pages)),
        changes=tuple(chain.from_iterable(page.changes for page in pages)),
        graves=Graves(
            origins=tuple(dict.fromkeys(chain.from_iterable(each.origins for each in graves))),
            hashes=dict(chain.from_iterable(each.hashes.items() for each in graves)),
        ),
        extracted=dict(chain.from_iterable(page.extracted.items() for page in pages)),
        documents=tuple(chain.from_iterable(page.documents for page in pages)),
        doubts=tuple(chain.from_iterable(page.doubts for page in pages)),
        receipts=tuple(chain.from_iterable(page.receipts for page in pages)),
    )


class Taken(NamedTuple):
    """How many facts of a book are new in a store, how many were left out, and the names of the profile documents that
    are others there."""

    facts: int
    known: int
    kept: tuple[str, ...]


def take_over(core: Core, scope: Scope, book: Book, moved: Mapping[str, str] | None = None) -> Taken:
    """Put a book into a user's memory, all of it or nothing.

    Left out is what was there already, by id or as an active fact of the same words, what was forgotten or decided here,
    and a profile document where there is another one. Taken over again nothing is doubled.

    Args:
        moved: ids of events that have another one here.

    """

    def write(tables: Tables) -> Taken:
        copy = _Copy(core, tables, scope, book, moved or {})
        taken = copy.run()
        return Taken(len(taken), len(book.facts) - len(taken), tuple(copy.profile()))

    done = core.store.write(write)
    core.notify()
    return done


class _Copy:
    """One book on its way into a scope."""

    def __init__(
        self, core: Core, tables: Tables, scope: Scope, book: Book, moved: Mapping[str, str]
    ) -> None:
        self._core = core
        self._tables = tables
        self._scope = scope
        self._book = book
        self._moved = moved
        self._ids = {fact.id: tables.facts.id_here(scope, fact.id) for fact in book.facts}
        self._erased = {change.fact_id for change in tables.facts.changes(scope) if change.action == "erase"}

    def run(self) -> set[str]:
        """The ids here of the facts that are new."""
        taken = {self._ids[fact.id] for fact in self._book.facts if self._take(fact)}
        numbers: dict[int, int] = {}
        for change in self._book.changes:
            id = self._here(change.fact_id)
            if id in taken or (change.action == "erase" and id not in self._erased):
                self._log(change, numbers)
        self._tables.erasures.take_over(self._scope, self._book.graves)
        for session, seq in self._book.extracted.items():
            self._mark(session, seq)
        self._ask()
        self._hand_over()
        return taken

    def profile(self) -> Iterator[str]:
        """Take over the documents, with their history where there is none; the names of those that are others here."""
        there = self._tables.profiles.current(self._scope)
        for name in dict.fromkeys(document.name for document in self._book.documents):
            versions = _numbered([it for it in self._book.documents if it.name == name])
            newest, known = versions[-1], there.get(name)
            if known is None:
                for document in versions:
                    self._put(document)
            elif known.text == "" and newest.text:
                self._put(replace(newest, version=known.version + 1, updated_at=None))
            elif known.text != newest.text:
                yield name

    def _put(self, document: Document) -> None:
        at = milliseconds(document.updated_at) or self._core.now()
        self._tables.profiles.put(self._scope, document, at=at)

    def _ask(self) -> None:
        """Put what waits for a decision on the list, unless it is there, was decided, or is about what is not here."""
        asked = {doubt_grave(doubt) for doubt in self._tables.doubts.list(self._scope)}
        for doubt in self._book.doubts:
            copy = replace(doubt, facts=tuple(map(self._here, doubt.facts)))
            grave = doubt_grave(copy)
            lacks = any(self._tables.facts.get(self._scope, id) is None for id in copy.facts)
            if lacks or grave in asked or self._tables.erasures.buried(self._scope, grave) is not None:
                continue
            self._tables.doubts.add(
                self._scope, copy.kind, facts=copy.facts, text=copy.text, at=milliseconds(copy.at) or 0
            )

    def _hand_over(self) -> None:
        known = [(at, receipt) for _, at, receipt in self._tables.erasures.receipts(self._scope)]
        for at, receipt in self._book.receipts:
            if (at, receipt) not in known:
                self._tables.erasures.hand_out(self._scope, receipt, at=at)

    def _here(self, id: str) -> str:
        return self._ids.get(id) or self._tables.facts.id_here(self._scope, id)

    def _take(self, fact: Fact) -> bool:
        copy = self._as_here(fact)
        known = copy.id in self._erased or self._tables.facts.get(self._scope, copy.id) is not None
        if known or self._is_buried(copy):
            return False
        key = self._tables.facts.copy(
            self._scope, copy, [(ref, event.seq) for ref, event in self._said(copy)]
        )
        if key is not None and copy.state != "retired" and self._core.embedder is not None:
            self._tables.vectors.want_facts(self._scope, [key])
            put_job(self._tables, self._scope, self._core.now())
        return key is not None

    def _as_here(self, fact: Fact) -> Fact:
        by = fact.superseded_by
        said = tuple(self._moved.get(id, id) for id in fact.sources)
        return replace(
            fact, id=self._here(fact.id), sources=said, superseded_by=None if by is None else self._here(by)
        )

    def _said(self, fact: Fact) -> list[tuple[SessionRef, Event]]:
        return sources(self._tables, self._scope, fact)

    def _is_buried(self, fact: Fact) -> bool:
        """Whether it stands in the book, and was forgotten here since it was said."""
        return fact.state != "retired" and any(
            is_buried(self._tables, self._scope, fact, text_of(event.content), milliseconds(event.ts) or 0)
            for _, event in self._said(fact)
        )

    def _log(self, change: Change, numbers: dict[int, int]) -> None:
        after = None if change.after is None else self._as_here(change.after)
        copy = replace(change, fact_id=self._here(change.fact_id), after=after)
        operation = numbers.get(change.operation)
        number = self._tables.facts.copy_change(self._scope, copy, operation=operation)
        numbers.setdefault(change.operation, number)

    def _mark(self, session: str, seq: int) -> None:
        """What was read for facts where it comes from is not read again here."""
        ref = self._tables.sessions.find(self._scope, session)
        newest = next(iter(self._tables.events.walk_back(ref)), None) if ref else None
        if ref is None or newest is None:
            return
        read = max(self._seqs(session, seq), default=min(seq, newest.seq))
        if (known := self._tables.facts.extracted(ref)) < read:
            self._tables.facts.set_extracted(ref, read, expected=known)

    def _seqs(self, session: str, until: int) -> Iterator[int]:
        """The seqs here of those messages up to ``until`` that have another one where they come from."""
        for there, here in self._moved.items():
            origin, _, seq = there.rpartition(":")
            if origin == session and int(seq) <= until:
                yield int(here.rpartition(":")[2])


def _numbered(documents: Sequence[Document]) -> list[Document]:
    """The versions of a document, oldest first; those without a number are the newest."""
    known = {document.version: document for document in documents if document.version}
    rest = zip(count(max(known, default=0) + 1), (it for it in documents if not it.version))
    return [*(known[version] for version in sorted(known)), *(replace(it, version=n) for n, it in rest)]
