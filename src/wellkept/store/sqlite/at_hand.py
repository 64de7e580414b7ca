"""What a store has at hand between searches: what ranking knows of a scope's events, and where words stand in them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from wellkept.policy.recall.corpus import Postings
from wellkept.policy.text.words import Term
from wellkept.store.search import Roll
from wellkept.store.sqlite.vectors import Matrices

MOST_DOCS = 100_000
"""So many documents are kept in memory, about 25 MB; a scope with more is read anew for each question."""

MOST_NOTES = 20_000
"""So many summaries and lines of ledgers are kept as documents."""

MOST_PLACES = 40_000
"""So many places of words are kept in memory, about 4 MB."""

_A_WORD = 6  # takes as much memory as so many places

Stamp: TypeAlias = tuple[int, ...]
"""What is other as soon as somebody has changed what is kept."""

Lives: TypeAlias = dict[int, tuple[int, int]]
"""What stays as it is while sessions only grow: how many of the scope's are deleted, how many of its events are gone."""


class Roster(NamedTuple):
    """The events of a scope as documents, as of ``stamp``: those of each session up to a place in ``ends``."""

    stamp: Stamp
    roll: Roll
    lives: Lives
    ends: dict[int, int]


class Rosters:
    """The most recently searched rosters, ``most`` documents together; shared by the threads of a store.

    A roster holds as long as its stamp, which is read in the transaction that asks, is the same: whoever writes to the
    scope moves it on. Events never change: a roster can grow by what is new as long as no session has lost one.
    """

    def __init__(self, most: int = MOST_DOCS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Roster] = OrderedDict()
        self._documents = 0

    def of(self, owner: int, stamp: Stamp) -> Roll | None:
        """The documents of a scope as of ``stamp``."""
        with self._lock:
            kept = self._kept.get(owner)
            if kept is None or kept.stamp != stamp:
                return None
            self._kept.move_to_end(owner)
            return kept.roll

    def grown_from(self, owner: int, lives: Lives) -> Roster | None:
        """The roster of a scope, its sessions being ``lives``, if none of those that it holds has lost one."""
        with self._lock:
            kept = self._kept.get(owner)
        return kept if kept is not None and kept.lives.items() <= lives.items() else None

    def put(self, owner: int, roster: Roster) -> None:
        """Keep ``roster``, and let go of the ones unused for longest."""
        with self._lock:
            self._drop(self._kept.pop(owner, None))
            self._kept[owner] = roster
            self._documents += len(roster.roll.docs)
            while self._documents > self._most:
                self._drop(self._kept.popitem(last=False)[1])

    def _drop(self, roster: Roster | None) -> None:
        self._documents -= len(roster.roll.docs) if roster is not None else 0


class _Found:
    """Postings of a scope as of ``stamp``, and how much memory they take, counted in places."""

    __slots__ = ("places", "size", "stamp")

    def __init__(self, stamp: Stamp) -> None:
        self.stamp = stamp
        self.places: dict[Term, Postings] = {}
        self.size = 0


class Places:
    """The postings of the most recently searched scopes; shared by the threads of a store.

    They hold as long as the index of the scope is as its stamp says, which is read in the transaction that asks. Not to
    be changed: threads share them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Found] = OrderedDict()
        self._size = 0

    def of(self, owner: int, stamp: Stamp, terms: Collection[Term]) -> dict[Term, Postings]:
        """The postings of those of ``terms`` that are kept."""
        with self._lock:
            kept = self._kept.get(owner)
            if kept is None or kept.stamp != stamp:
                return {}
            self._kept.move_to_end(owner)
            return {term: kept.places[term] for term in terms if term in kept.places}

    def put(self, owner: int, stamp: Stamp, found: Mapping[Term, Postings]) -> None:
        """Keep ``found``, and let go of the scopes unused for longest."""
        with self._lock:
            kept = self._kept.pop(owner, None)
            if kept is None or kept.stamp != stamp:
                self._size -= kept.size if kept is not None else 0
                kept = _Found(stamp)
            self._kept[owner] = kept
            more = sum([len(places) + _A_WORD for term, places in found.items() if term not in kept.places])
            kept.places |= found
            kept.size += more
            self._size += more
            while self._size > MOST_PLACES:
                self._size -= self._kept.popitem(last=False)[1].size


@dataclass(frozen=True, slots=True)
class AtHand:
    """All of it; shared by the threads of a store."""

    matrices: Matrices = field(default_factory=Matrices)
    rosters: Rosters = field(default_factory=Rosters)
    places: Places = field(default_factory=Places)
    notes: Rosters = field(default_factory=lambda: Rosters(MOST_NOTES))
