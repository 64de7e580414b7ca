"""Changes of facts, inside the transaction that makes them: keep, update, retire, undo, make room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from wellkept.core import Core
from wellkept.embedding import put_job
from wellkept.errors import Conflict, InvalidInput, NotFound
from wellkept.facts.graves import graves_of
from wellkept.policy.checks import check_text, plain_metadata
from wellkept.policy.facts.claims import Claim
from wellkept.policy.facts.conflict import Decision, decide
from wellkept.policy.facts.evict import surplus
from wellkept.policy.facts.labels import clean
from wellkept.records import Record, Scope, utc
from wellkept.store.facts import Actor, Change, Fact, FactWriter
from wellkept.store.protocol import SessionRef, Tables

MAX_TEXT = 4_000
"""Characters of a fact. What is longer is a document: keep it as a message, or behind a reference."""

MAX_KEYWORDS = 8
MAX_WORD = 80
C = TypeVar("C", bound=Claim)
Happened: TypeAlias = Literal["ADD", "UPDATE", "DELETE", "NONE"]


@dataclass(frozen=True, slots=True)
class Kept(Record):
    """What became of one claim, in mem0's words: "ADD", "UPDATE", "DELETE" (retired), "NONE" (known
    already)."""

    id: str
    memory: str
    event: Happened


@dataclass(frozen=True, slots=True)
class Source(Record):
    """Where a claim comes from: the event, its text, and when it was said (ms)."""

    ref: SessionRef
    seq: int
    text: str
    at: int


def made_ready(core: Core, claim: C) -> C:
    """``claim`` checked and tidied. Raises InvalidInput for a text that is empty, overlong or cannot be
    stored."""
    check_text("memory", claim.text)
    text = _tidy(claim.text)
    if not text:
        raise InvalidInput("The memory is empty; it must be a statement in words.")
    if len(text) > MAX_TEXT:
        raise InvalidInput(
            f"The memory has {len(text)} characters; a fact has at most {MAX_TEXT}. Add it as a message of a session instead."
        )
    return replace(
        claim,
        text=text,
        subject=_short(claim.subject) or "user",
        attribute=_short(claim.attribute),
        labels=clean(claim.labels, limit=core.policy.max_labels),
        keywords=tuple(dict.fromkeys(filter(None, map(_short, claim.keywords))))[:MAX_KEYWORDS],
        quote=claim.quote[:MAX_TEXT],
    )


def _short(text: str) -> str:
    check_text("word", text)
    tidy = _tidy(text)
    return tidy if len(tidy) <= MAX_WORD else ""


def _tidy(text: str) -> str:
    """``text`` in one line, without characters that cannot be seen."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())


@dataclass
class Keeper:
    """One operation on the facts of a scope: what it does together is undone together."""

    core: Core
    tables: Tables
    scope: Scope
    actor: Actor

    def __post_init__(self) -> None:
        self.at = self.core.now()
        self.writer: FactWriter = self.tables.facts.begin(self.scope, self.actor, at=self.at)

    def _want_vector(self, fact: Fact) -> Fact:
        if self.core.embedder is not None:
            self.tables.vectors.want_facts(self.scope, [fact.key])
            put_job(self.tables, self.scope, self.at)
        return fact

    def keep(
        self, claim: Claim, *, source: Source | None = None, correction: bool = False, valid_from: int | None = None,
        valid_to: int | None = None, metadata: Mapping[str, Any] | None = None,
    ) -> tuple[list[Kept], Decision, list[Fact]]:  # fmt: skip
        """Store ``claim`` (made ready) unless it is known, retiring what it takes the place of.

        What may be replaced by a claim without a source is put on the review list here; with a source, that is
        the caller's. Returns what happened, the decision, and the facts that the decision's places point into.
        """
        claim = self._filed(claim)
        known = self.writer.related(claim)
        decision = decide(claim, known, correction=correction, source=source.text if source else "")
        if decision.same is None:
            since = valid_from if valid_from is not None else source.at if source else self.at
            sources = [(source.ref, source.seq)] if source else []
            fact = self.writer.add(
                claim, sources=sources, valid_from=since, valid_to=valid_to, metadata=metadata
            )
            self._want_vector(fact)
            kept = [Kept(fact.id, fact.text, "ADD")]
        else:
            fact = known[decision.same]
            kept = [self._again(fact)]
        kept += [
            self._replace(known[at], fact, valid_from or (source.at if source else self.at))
            for at in decision.replaces
        ]
        for at in () if source else decision.doubts:
            self.tables.doubts.add(self.scope, "replace", facts=(fact.id, known[at].id), at=self.at)
        self.make_room()
        return kept, decision, known

    def _filed(self, claim: C, besides: int = 0) -> C:
        """``claim`` under the labels that there are, as they are spelt."""
        if not claim.labels:
            return claim
        known = self.writer.labels(besides=besides)
        return replace(claim, labels=clean(claim.labels, known, limit=len(claim.labels)))

    def _again(self, fact: Fact) -> Kept:
        """A fact that is said once more; one from the archive becomes active."""
        if fact.state == "active":
            return Kept(fact.id, fact.text, "NONE")
        self.writer.put(replace(fact, state="active"), "store")
        return Kept(fact.id, fact.text, "UPDATE")

    def _replace(self, old: Fact, new: Fact, at: int) -> Kept:
        self.writer.put(replace(old, state="retired", valid_to=utc(at), superseded_by=new.id), "replace")
        return Kept(old.id, old.text, "DELETE")

    def supersede(self, new: str, old: str) -> None:
        """Retire the fact ``old`` in favour of ``new``."""
        self._replace(find(self.tables, self.scope, old), find(self.tables, self.scope, new), self.at)

    def update(
        self, id: str, text: str, *, labels: Sequence[str] | None, keywords: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
    ) -> Fact:  # fmt: skip
        """A new version of a fact that is not retired."""
        old = self.known(id)
        claim = made_ready(
            self.core,
            Claim(
                text=text,
                labels=old.labels if labels is None else tuple(labels),
                keywords=old.keywords if keywords is None else tuple(keywords),
            ),
        )
        kept = old.metadata if metadata is None else plain_metadata(metadata)
        new = replace(
            old, text=claim.text, labels=claim.labels, keywords=claim.keywords, metadata=kept, state="active",
            quote=old.quote if claim.text == old.text else "",
        )  # fmt: skip
        new = self._filed(new, besides=old.key)
        if new == old:
            return old
        fact = self._want_vector(self.writer.put(new, "update"))
        self.make_room()
        return fact

    def retire(self, fact: Fact) -> None:
        """Take a fact out of every context and search; it stays in history."""
        self.writer.put(replace(fact, state="retired", valid_to=utc(self.at)), "retire")

    def pin(self, id: str, pinned: bool) -> Fact:
        """Set whether a fact may be evicted; one that is pinned comes back from the archive."""
        old = self.known(id)
        new = replace(old, pinned=pinned, state="active" if pinned else old.state)
        if new == old:
            return old
        fact = self._want_vector(self.writer.put(new, "pin" if pinned else "unpin"))
        self.make_room()
        return fact

    def make_room(self) -> None:
        """Retire to the archive what is beyond the policy's ``max_facts``."""
        limit = self.core.policy.max_facts
        if self.writer.active() <= limit:
            return
        for fact in surplus(self.tables.facts.all(self.scope), limit):
            self.writer.put(replace(fact, state="archived"), "evict")

    def undo(self, change_id: int) -> None:
        """Take back the operation that a change belongs to."""
        change = self.tables.facts.change(self.scope, change_id)
        if change is None:
            raise NotFound(f"No change {change_id} for this user. history(id) lists the changes of a memory.")
        together = self.tables.facts.changes(
            self.scope, operation=change.operation, after=change.operation - 1
        )
        first: dict[str, Change] = {}
        for each in together:
            first.setdefault(each.fact_id, each)
        # What becomes active again must not meet what still is: retire first.
        for each in sorted(
            first.values(), key=lambda each: each.before is not None and each.before.state == "active"
        ):
            self._restore(each, last=max(it.id for it in together if it.fact_id == each.fact_id))

    def _restore(self, change: Change, last: int) -> None:
        now = self.tables.facts.get(self.scope, change.fact_id)
        if now is None or change.action == "erase":
            raise Conflict(f"Change {change.id} erased a memory; an erasure cannot be undone.")
        later = self.tables.facts.changes(self.scope, after=last, fact=change.fact_id)
        if later:
            raise Conflict(f"Memory {change.fact_id} changed again since: undo change {later[-1].id} first.")
        if change.action == "forget":
            self.tables.erasures.unbury(self.scope, graves_of(self.tables, self.scope, now))
        before = (
            replace(now, state="retired", valid_to=utc(self.at)) if change.before is None else change.before
        )
        restored = self.writer.put(before, "undo")
        if restored.state != "retired":
            self._want_vector(restored)

    def made(self) -> list[Change]:
        """The changes that this operation has made."""
        number = self.writer.number
        return self.tables.facts.changes(self.scope, after=number - 1) if number else []

    def known(self, id: str) -> Fact:
        """A fact that is not retired. Raises NotFound, and Conflict for a retired one."""
        fact = find(self.tables, self.scope, id)
        if fact.state == "retired":
            raise Conflict(
                f"Memory {id} was retired. history({id!r}) shows when; undo that change to have it back."
            )
        return fact


def find(tables: Tables, scope: Scope, id: str) -> Fact:
    """A fact of this scope in any state. Raises NotFound."""
    fact = tables.facts.get(scope, id) if isinstance(id, str) else None
    if fact is None:
        raise NotFound(f"No memory {id!r} for this user.")
    return fact
