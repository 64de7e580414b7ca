"""Opening a directory: what the device did to the memories and the profile since."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import apsw

from wellkept.policy.facts.claims import Claim
from wellkept.records import Document, Scope, utc
from wellkept.store.facts import Fact, FactState, FactWriter
from wellkept.store.flash.apply import item_of
from wellkept.store.flash.places import Places
from wellkept.store.flash.plan import ITEM, NAME_ITEM
from wellkept.store.protocol import Tables
from wellkept_flash.items import Item, parse
from wellkept_flash.profile import DOCUMENTS
from wellkept_flash.rules import fingerprint

_ALL: tuple[FactState, ...] = ("active", "archived", "retired")
_FIRST_TEXTS = {name: first for name, _, first in DOCUMENTS}


class Memories:
    """The memories and the profile of one user on the device, and ours."""

    def __init__(
        self, connection: apsw.Connection, tables: Tables, places: Places, home: str, scope: Scope, now: int
    ) -> None:
        self._db = connection
        self._tables = tables
        self._places = places
        self._home = home
        self._scope = scope
        self._now = now
        self.findings: list[str] = []

    # ── facts ────────────────────────────────────────────────────────────────────────────────────────────

    def facts(self) -> None:
        """Take in what the device stored, changed and dropped."""
        memory = self._places.memory(self._home)
        self.findings = [f"{memory.folder}: {finding}" for finding in memory.findings]
        if self.findings:
            memory.compact()
        items = {item.id: item for item in memory.items()}
        ours = {self._item(fact): fact for fact in self._tables.facts.all(self._scope, states=_ALL)}
        writer = self._tables.facts.begin(self._scope, "tool", at=self._now)
        if self.findings or memory.records.size() <= 0:
            self._restore(memory, {id: fact for id, fact in ours.items() if id not in items})
            ours = {id: fact for id, fact in ours.items() if id in items}
        archived = set(_archived(memory))
        for id, fact in ours.items():
            if fact.state == "active" and id not in items:
                self._drop(writer, fact, "archived" if id in archived else "retired")
        for id, item in items.items():
            if id in ours:
                self._change(writer, ours[id], item)
            else:
                self._add(writer, id, item)

    def _restore(self, memory: Any, ours: dict[str, Fact]) -> None:
        """Damage is no decision to forget, nor is an empty file, which a firmware leaves that was cut off."""
        for id, fact in ours.items():
            if fact.state == "active":
                memory.put(item_of(id, fact))

    def _item(self, fact: Fact) -> str:
        return str(self._db.execute(ITEM, (fact.key,)).get or fact.id)

    def _drop(self, writer: FactWriter, fact: Fact, state: FactState) -> None:
        ended = utc(self._now) if state == "retired" else fact.valid_to
        writer.put(replace(fact, state=state, valid_to=ended), "retire" if state == "retired" else "evict")

    def _change(self, writer: FactWriter, fact: Fact, item: Any) -> None:
        known = item_of(item.id, fact)
        if fact.state == "active" and (known.content, known.tags) == (item.content, item.tags):
            return
        there = self._tables.facts.by_text(self._scope, fingerprint(item.content))
        if there is not None and there.key != fact.key:
            return
        claim = claim_of(item)
        new = replace(
            fact, text=claim.text, labels=claim.labels, keywords=claim.keywords, state="active", quote=""
        )
        writer.put(new, "update")

    def _add(self, writer: FactWriter, id: str, item: Any) -> None:
        if self._tables.facts.by_text(self._scope, fingerprint(item.content)) is None:
            since = item.created_at * 1000 or self._now
            source = {"source": item.source, "created_at": item.created_at, "updated_at": item.updated_at}
            fact = writer.add(claim_of(item), valid_from=since, metadata={"device": source})
            self._db.execute(NAME_ITEM, (fact.key, id))

    # ── profile ──────────────────────────────────────────────────────────────────────────────────────────

    def documents(self) -> None:
        """Take in what was edited on the device; put back what is missing there."""
        profile = self._places.profile(self._home)
        current = self._tables.profiles.current(self._scope)
        for name, first in _FIRST_TEXTS.items():
            words, ours = profile.read(name), current.get(name)
            if words in ("", first):
                if ours and ours.text != words:
                    profile.write(name, ours.text)
            elif ours is None or ours.text != words:
                self._tables.profiles.put(self._scope, self._document(name, words, ours), at=self._now)

    def _document(self, name: str, words: str, before: Document | None) -> Document:
        version = before.version + 1 if before else 1
        hash = hashlib.sha256(words.encode()).hexdigest()
        return Document(name=name, text=words, hash=hash, version=version, updated_at=utc(self._now))


def claim_of(item: Item) -> Claim:
    """The statement that a memory of the device is."""
    keywords = tuple(filter(None, item.keywords.split(",")))
    return Claim(text=item.content, labels=tuple(item.labels), keywords=keywords)


def _archived(memory: Any) -> Iterator[str]:
    for line in memory.archive.lines_by_scan():
        yield parse(memory.archive.text(line)).id
