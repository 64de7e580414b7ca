"""What a store must offer for facts: the records, their log, what waits for a decision, and forgetting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from wellkept.policy.facts.claims import Claim
from wellkept.policy.privacy.needles import Needle
from wellkept.records import Document, Record, Scope

if TYPE_CHECKING:
    from wellkept.store.protocol import SessionRef

FactState: TypeAlias = Literal["active", "retired", "archived"]
Actor: TypeAlias = Literal["user", "app", "tool", "extract"]
EXPLICIT: tuple[Actor, ...] = ("user", "app", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Claim):
    """A claim that a store keeps about a user, and where it stands.

    Attributes:
        state: "active"; "retired": out of every context and search, in history; "archived": made room for
            others, still found by search.
        sources: ids of the events that it was taken from.
        valid_from, valid_to: when it was true, as far as is known.
        superseded_by: id of the fact that took its place.
        changed_at: when its text, labels or state last changed.
        uses: how often recall delivered it; standing in a context is no use.
    """

    id: str
    key: int
    state: FactState = "active"
    pinned: bool = False
    sources: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None
    created_at: datetime
    changed_at: datetime
    uses: int = 0
    last_used: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Record):
    """One change of one fact, as the log keeps it.

    Attributes:
        id: its number in the store; later changes have higher ones.
        operation: number of the first change that was made together with it; ``undo`` takes them back
            together.
        action: "store", "update", "replace", "retire", "evict", "pin", "unpin", "undo" or "erase".
        before, after: the fact before and after it; None where there was or is none.
    """

    id: int
    operation: int
    fact_id: str
    action: str
    actor: Actor
    at: datetime
    before: Fact | None
    after: Fact | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Graves(Record):
    """Tombstones, and how to know again what they are of.

    Attributes:
        origins: salt, namespace and user that each may have been hashed with.
        hashes: the tombstones, and when (ms) each was set.
    """

    origins: tuple[tuple[str, str, str], ...] = ()
    hashes: Mapping[bytes, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Book(Record):
    """All that is known of a user, to be taken to another store.

    Attributes:
        facts: in any state.
        changes: the log, in order.
        extracted: by session, the seq up to which facts were extracted.
        documents: the profile, each document with its versions; version 0 stands for the newest one of which no more is
            known than its text.
        doubts: what waits for a decision.
        receipts: time (ms) and receipt of each erasure.
    """

    facts: tuple[Fact, ...] = ()
    changes: tuple[Change, ...] = ()
    graves: Graves = field(default_factory=Graves)
    extracted: Mapping[str, int] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    receipts: tuple[tuple[int, Mapping[str, Any]], ...] = ()


class Facts(Protocol):
    """What is kept about a user across sessions, and the log of its changes."""

    def all(
        self,
        scope: Scope,
        *,
        states: Sequence[FactState] = ("active",),
        after: int = 0,
        limit: int | None = None,
    ) -> list[Fact]:
        """Facts in the order they were made; those with a key above ``after``, at most ``limit``."""

    def get(self, scope: Scope, id: str) -> Fact | None:
        """One fact in any state."""

    def by_keys(self, scope: Scope, keys: Sequence[int]) -> list[Fact]:
        """Those of ``keys`` that are this scope's, in that order."""

    def by_text(self, scope: Scope, fingerprint: str) -> Fact | None:
        """The active fact with this fingerprint."""

    def of_event(self, ref: SessionRef, seqs: Sequence[int]) -> list[int]:
        """Keys of the facts that were taken from these events."""

    def begin(self, scope: Scope, actor: Actor, *, at: int) -> FactWriter:
        """An operation: changes that are made, and undone, together."""

    def id_here(self, scope: Scope, id: str) -> str:
        """The id that a fact of another store gets here, or has: its own, unless that is somebody else's."""

    def copy(self, scope: Scope, fact: Fact, sources: Sequence[tuple[SessionRef, int]]) -> int | None:
        """Store a fact of another store as it is, with its uses and without a line in the log; its key. None when an
        active fact says the same."""

    def copy_change(self, scope: Scope, change: Change, *, operation: int | None) -> int:
        """Add a line of another store's log, made together with the line ``operation``; its number."""

    def use(self, scope: Scope, counts: Mapping[str, int], *, at: int) -> None:
        """Count so many deliveries of each fact, by its id; ids that are not this scope's count nothing."""

    def changed(self, *, after: int) -> tuple[int, list[Scope]]:
        """Number of the store's newest change, and whose facts changed after that with the number ``after``."""

    def changes(
        self,
        scope: Scope,
        *,
        after: int = 0,
        before: int | None = None,
        fact: str | None = None,
        operation: int | None = None,
        newest: int | None = None,
    ) -> list[Change]:
        """Changes with numbers between ``after`` and ``before`` in order, with what was before and after each; the last
        ``newest`` of them."""

    def change(self, scope: Scope, id: int) -> Change | None:
        """One change."""

    def newest(self, scope: Scope) -> int:
        """Number of the scope's newest change; 0 when there is none."""

    def newest_at(self, scope: Scope, at: int, *, explicit: bool = False) -> int:
        """Number of the scope's newest change not after ``at`` (ms); ``explicit``: of those not made by extraction."""

    def as_of(self, scope: Scope, number: int) -> list[Fact]:
        """The facts that were active after change ``number``."""

    def anchor(self, ref: SessionRef) -> None:
        """From now on this session's contexts show the facts as they are now."""

    def anchored(self, ref: SessionRef) -> int:
        """Number of the change as of which the session's contexts show the facts: its anchor or the scope's,
        whichever is newer."""

    def extracted(self, ref: SessionRef) -> int:
        """Seq up to which facts were extracted."""

    def unread(self, ref: SessionRef, *, most: int) -> int:
        """How many of the user's messages stand behind that seq; no more than ``most`` are counted."""

    def set_extracted(self, ref: SessionRef, seq: int, *, expected: int) -> bool:
        """Move that seq, if it still is ``expected``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt(Record):
    """Something that waits for a person's decision.

    Attributes:
        kind: "replace": may the first of ``facts`` take the place of the second? "erase": the user wanted
            these forgotten and they are retired; shall they be erased? "forget": the user wanted something
            forgotten, and it is not clear what.
        text: the user's words, where no fact holds them.
    """

    id: int
    kind: Literal["replace", "erase", "forget"]
    facts: tuple[str, ...]
    text: str
    at: datetime


class Doubts(Protocol):
    """The list of what waits for a decision."""

    def add(self, scope: Scope, kind: str, *, facts: Sequence[str] = (), text: str = "", at: int) -> None:
        """Another one."""

    def list(self, scope: Scope) -> list[Doubt]:
        """All, oldest first."""

    def remove(self, scope: Scope, id: int) -> bool:
        """Whether it was there to be removed."""


class FactWriter(Protocol):
    """One operation on the facts of a scope. Index rows, log and anchor are kept up with each change."""

    def related(self, claim: Claim) -> list[Fact]:
        """The active and archived facts that ``policy.facts.conflict.decide`` has to look at for ``claim``, in
        order."""

    def labels(self, *, besides: int = 0) -> list[str]:
        """The labels of the active facts as they are spelt, without those of the fact with the key ``besides``."""

    def active(self) -> int:
        """How many facts are active."""

    def add(
        self,
        claim: Claim,
        *,
        action: str = "store",
        sources: Sequence[tuple[SessionRef, int]] = (),
        valid_from: int | None = None,
        valid_to: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Fact:
        """A new active fact."""

    def put(self, fact: Fact, action: str) -> Fact:
        """``fact`` in its new form, under the same id."""

    @property
    def number(self) -> int:
        """Number of the operation's first change; 0 while there is none."""


class Erasures(Protocol):
    """What forgetting needs of a store: to find, to remove, to look again, and to remember that, not what."""

    def bury(self, scope: Scope, parts: Sequence[Sequence[str]], *, at: int) -> None:
        """Tombstones for these, salted and hashed: what they stood for cannot be read from them."""

    def buried(self, scope: Scope, parts: Sequence[str]) -> int | None:
        """When (ms) ``parts`` got a tombstone."""

    def unbury(self, scope: Scope, parts: Sequence[Sequence[str]]) -> None:
        """Take tombstones away."""

    def graves(self, scope: Scope) -> Graves:
        """All tombstones of a scope."""

    def take_over(self, scope: Scope, graves: Graves) -> None:
        """Add those of another store."""

    def events(
        self, scope: Scope, needles: Sequence[Needle], every: Sequence[Needle] = ()
    ) -> list[tuple[SessionRef, int, tuple[str, ...]]]:
        """The events of a scope that hold one of ``needles``, or all of ``every``, and where: "content" (tool calls
        included), "speaker", "metadata" or "idempotency_key"."""

    def sessions(self, scope: Scope, needles: Sequence[Needle]) -> dict[str, int]:
        """Empty the titles that hold one of ``needles``, and take away the metadata that does; how many."""

    def facts(self, scope: Scope, ids: Sequence[str], *, at: int, actor: Actor) -> dict[str, int]:
        """Remove facts with their index rows, uses, sources and history; rows removed by table. One line of
        the log says when and by whom."""

    def jobs(self, scope: Scope, needles: Sequence[Needle]) -> int:
        """Remove ended jobs whose payload, reply, error or result holds one of ``needles``, and empty those that are to
        be tried again; how many. What is being done is begun anew, because it may know what is erased."""

    def doubts(self, scope: Scope, needles: Sequence[Needle]) -> int:
        """Remove what waits for a decision and holds one of ``needles``."""

    def left(self, scope: Scope, needles: Sequence[Needle]) -> dict[str, int]:
        """Rows of this scope that still hold one of ``needles``, by table, in whatever column."""

    def hand_out(self, scope: Scope, receipt: Mapping[str, Any], *, at: int) -> int:
        """Keep a receipt; its number."""

    def receipts(self, scope: Scope) -> list[tuple[int, int, dict[str, Any]]]:
        """Number, time (ms) and receipt of each erasure, oldest first."""
