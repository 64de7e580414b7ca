"""Finds: from a question to ranked results, over all that a scope holds.

This is the shell around ``policy.recall.rank``: it reads a scope's documents through the store's corpora, asks the embedder
where there is one, and turns keys into results. What is not embedded yet is found by text all the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import TypeVar

from wellkept.core import Core
from wellkept.errors import InvalidInput, ModelError, NotFound, WellkeptError
from wellkept.models.protocol import Embedder
from wellkept.policy.checks import check_limit, check_name, check_query, milliseconds
from wellkept.policy.recall import filters
from wellkept.policy.recall.boosts import Age
from wellkept.policy.recall.corpus import Doc, Postings, Window
from wellkept.policy.recall.meaning import Meaning
from wellkept.policy.recall.rank import rank
from wellkept.policy.recall.results import Dropped, Found, Ranking, Wish
from wellkept.policy.text import dates
from wellkept.policy.text.words import Term
from wellkept.records import Policy, Record, Scope
from wellkept.store.protocol import SessionRef, Tables
from wellkept.store.search import Corpus, Hit, Narrow, Roll

T = TypeVar("T")
KINDS = ("event", "fact", "summary")
DERIVED = "summary"
"""Summaries and ledger say again, and shorter, what messages say. They are looked at where those leave room."""
LONGEST_QUERY = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Record):
    """Something that was found.

    Attributes:
        kind: "event", "fact" or "summary".
        score: puts the results of one question in order; scores of two questions cannot be compared.
        relevance: from 0 to 1: how much of what the question says it holds, or how close it is in meaning. Words that
            occur nowhere in this memory count as missing, emoji that occur nowhere do not.
        events: ids of its source events; of an event, its own and those of later ones that say the same.
        parts: what the score is made of: text, feedback, neighbours and meaning, which were added, and by the name
            of their reason the factors that then changed the sum.
        around: ids of the events right before and after it.
        dropped: why it is no result after all; None for a result.
    """

    id: str
    kind: str
    text: str
    score: float
    relevance: float
    events: tuple[str, ...]
    session_id: str | None
    ts: datetime
    role: str
    speaker: str | None
    parts: Mapping[str, float]
    around: tuple[str, ...] = ()
    dropped: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Record):
    """A question and what may answer it; see ``UserReader.search`` for the fields."""

    query: str
    limit: int
    kinds: tuple[str, ...]
    session_id: str | None
    since: int | None
    until: int | None
    now: datetime
    condition: filters.Condition
    threshold: float
    explain: bool = False


def search_of(
    core: Core,
    query: str,
    *,
    limit: int | None = None,
    kinds: Sequence[str] | None = None,
    session_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    now: datetime | None = None,
    filters: Mapping[str, object] | None = None,
    threshold: float | None = None,
    explain: bool = False,
) -> Search:
    """The checked question. Raises InvalidInput, which names what is wrong."""
    check_query(query)
    if session_id is not None:
        check_name("session_id", session_id)
    if threshold is not None and not (isinstance(threshold, (int, float)) and 0 <= threshold <= 1):
        raise InvalidInput(f"The threshold is {threshold!r}; it must be between 0 and 1.")
    if now is not None:
        milliseconds(now)
    return Search(
        query=query[:LONGEST_QUERY],
        limit=check_limit(core.policy.recall_limit if limit is None else limit),
        kinds=_check_kinds(kinds),
        session_id=session_id,
        since=milliseconds(since),
        until=milliseconds(until),
        now=now or core.clock(),
        condition=_parse(filters),
        threshold=threshold or 0.0,
        explain=explain,
    )


_parse = filters.parse


def _check_kinds(kinds: Sequence[str] | None) -> tuple[str, ...]:
    if kinds is None:
        return KINDS
    is_list = isinstance(kinds, Collection) and not isinstance(kinds, str)
    if not is_list or not kinds or not all(kind in KINDS for kind in kinds):
        raise InvalidInput(f"The kinds are {kinds!r:.80}; choose some of: {', '.join(KINDS)}.")
    return tuple(kinds)


def recall(core: Core, scope: Scope, search: Search) -> list[Result]:
    """What the scope holds for a question, best first; empty when there is nothing.

    With ``explain`` the results are followed by the candidates that are none, each with its reason.

    Raises:
        NotFound: the session is not this scope's.
        ModelError: the embedder failed on the question, or gave no usable vector.
    """
    asked = question_vector(core, search)
    with core.searching:
        return core.store.read(lambda tables: find(core, tables, scope, search, asked))


def find(
    core: Core, tables: Tables, scope: Scope, search: Search, asked: Sequence[float] | None
) -> list[Result]:
    """See ``recall``, for a caller who reads other things in the same transaction, and holds ``core.searching``. ``asked``
    is the question's vector, if there is one."""
    narrow = Narrow(
        session=_session(tables, scope, search.session_id),
        since=search.since,
        until=search.until,
        condition=search.condition,
    )
    wish = _wish(core.policy, search)
    said = [kind for kind in search.kinds if kind != DERIVED]
    found, dropped = _ranked(core, tables, scope, search, narrow, said, wish, asked)
    left = search.limit - len(found)
    if DERIVED in search.kinds and left > 0:
        rest = replace(wish, limit=left, alone=True)
        more, weak = _ranked(core, tables, scope, search, narrow, [DERIVED], rest, None)
        found, dropped = [*found, *_behind(found, more)], [*dropped, *weak]
    return [*found, *dropped]


def _wish(policy: Policy, search: Search) -> Wish:
    return Wish(
        limit=search.limit,
        threshold=search.threshold,
        similarity=policy.similarity_threshold,
        window=_window(search, policy.time_zone),
        age=Age(now=search.now, discount=policy.age_discount, days=policy.age_days),
    )


def _ranked(
    core: Core, tables: Tables, scope: Scope, search: Search, narrow: Narrow, kinds: Sequence[str], wish: Wish,
    asked: Sequence[float] | None,
) -> tuple[list[Result], list[Result]]:  # fmt: skip
    """The results of some kinds, and to explain them what was dropped."""
    corpora = [tables.corpora[kind] for kind in kinds if kind in tables.corpora]
    index = ScopeIndex(corpora, scope, narrow)
    if not index.documents:
        return [], []
    meant = _meaning(core, tables, index, asked, kinds)
    return _results(index, rank(search.query, index, meant, wish), search.explain)


def _behind(found: Sequence[Result], derived: Sequence[Result]) -> list[Result]:
    """What says again what messages say stands behind the messages that were found, and scores no more."""
    if not found or not derived or derived[0].score <= found[-1].score:
        return list(derived)
    share = found[-1].score / derived[0].score
    return [replace(it, score=it.score * share, parts={**it.parts, "derived": share}) for it in derived]


def _session(tables: Tables, scope: Scope, session_id: str | None) -> SessionRef | None:
    if session_id is None:
        return None
    found = tables.sessions.find(scope, session_id)
    if found is None:
        raise NotFound(f"No session {session_id!r} for this user.")
    return found


def _window(search: Search, zone: str) -> Window | None:
    """The time that the question names; a clock time alone is none."""
    for span in dates.find(search.query, search.now, zone):
        if span.kind != "time" and (span.since or span.until):
            first = datetime.min.replace(tzinfo=search.now.tzinfo)
            return Window(span.since or first, span.until or search.now)
    return None


# ── the index of a scope ─────────────────────────────────────────────────────────────────────────────────────

_KIND_BITS = 72  # beyond any store's own keys
# Only messages have neighbours: the keys of other documents are spread out, and those of notes are so by themselves.
_SPREAD = {"event": 0, "fact": 2, "summary": 0}


class ScopeIndex:
    """Several corpora as the one index that ranking reads; keys carry their corpus in the upper bits."""

    def __init__(self, corpora: Sequence[Corpus], scope: Scope, narrow: Narrow) -> None:
        self.scope = scope
        self._narrow = narrow
        self._finds_all = narrow == Narrow()
        whole = self._finds_all or (narrow.session is None and narrow.condition == filters.ANYTHING)
        rolls = {corpus: corpus.roll(scope) if whole else None for corpus in corpora}
        sizes = {
            corpus: corpus.size(scope) if roll is None else (len(roll.docs), roll.terms)
            for corpus, roll in rolls.items()
        }
        self._corpora = [corpus for corpus, (documents, _) in sizes.items() if documents]
        self._known: Mapping[int, Doc] = {}
        self._asked: set[int] = set()
        self._hits: dict[int, Hit] = {}
        self._knows_all = self._learn([rolls[corpus] for corpus in self._corpora])
        self.documents = sum([documents for documents, _ in sizes.values()])
        self.average = sum([terms for _, terms in sizes.values()]) / (self.documents or 1)

    def _learn(self, rolls: Sequence[Roll | None]) -> bool:
        """Whether the store has all documents at hand; those that may be found are known then."""
        known = [roll for roll in rolls if roll is not None]
        if len(known) < len(rolls):
            self.speakers = {name for corpus in self._corpora for name in corpus.speakers(self.scope)}
            return False
        self.speakers = set().union(*[roll.speakers for roll in known])
        self._known = self._merged([roll.docs for roll in known])
        if not self._finds_all:
            self._known = {key: doc for key, doc in self._known.items() if self._narrow.spans(doc.ts)}
        return True

    def _merged(self, found: Sequence[Mapping[int, T]]) -> Mapping[int, T]:
        """What each corpus has, as one mapping."""
        merged: Mapping[int, T] = {}
        for place, its in enumerate(found):
            if its:
                merged = {**merged, **self._keyed(place, its)} if merged else self._keyed(place, its)
        return merged

    def _keyed(self, place: int, found: Mapping[int, T]) -> Mapping[int, T]:
        """``found`` by the keys that ranking sees; those of messages, which are most, are the store's own."""
        base, spread = place << _KIND_BITS, _SPREAD[self._corpora[place].kind]
        if base == spread == 0:
            return found
        return {base | key << spread: value for key, value in found.items()}

    def postings(self, terms: Collection[Term]) -> Mapping[Term, Postings]:
        """See ``policy.recall.corpus.Index``; only of documents that may be found."""
        if not terms:
            return {}
        first, *others = [corpus.postings(self.scope, terms) for corpus in self._corpora]
        merged = {term: self._keyed(0, its) for term, its in first.items()}
        # Most terms stand in messages only, and their places are not copied then.
        for place, found in enumerate(others, 1):
            for term, its in found.items():
                if its:
                    merged[term] = {**merged.get(term, {}), **self._keyed(place, its)}
        if self._finds_all:
            return merged
        allowed = self.docs(chain.from_iterable(merged.values()))
        return {term: {key: its[key] for key in its if key in allowed} for term, its in merged.items()}

    def docs(self, keys: Iterable[int]) -> Mapping[int, Doc]:
        """See ``policy.recall.corpus.Index``."""
        unknown = [] if self._knows_all else set(keys) - self._asked
        self._asked.update(unknown)
        for place, corpus, its in self._parted(unknown):
            self._known = {**self._known, **self._keyed(place, corpus.docs(self.scope, its, self._narrow))}
        return self._known

    def texts(self, keys: Collection[int]) -> dict[int, str]:
        """See ``policy.recall.corpus.Index``."""
        hits = self.hits(keys)
        return {key: hits[key].text for key in keys if key in hits}

    def hits(self, keys: Iterable[int]) -> Mapping[int, Hit]:
        """What results show of those of ``keys`` that exist; it may be of more."""
        for place, corpus, its in self._parted(set(keys) - self._hits.keys()):
            self._hits |= self._keyed(place, corpus.hits(self.scope, its))
        return self._hits

    def key(self, kind: str, key: int) -> int:
        """The key here of a document of a corpus."""
        place = [corpus.kind for corpus in self._corpora].index(kind)
        return place << _KIND_BITS | key << _SPREAD[kind]

    def _parted(self, keys: Iterable[int]) -> list[tuple[int, Corpus, list[int]]]:
        """``keys`` by their corpus, as the store knows them; those between two documents are left out."""
        mask = (1 << _KIND_BITS) - 1
        parted: dict[int, list[int]] = {}
        for key in keys:
            place = key >> _KIND_BITS
            if 0 <= place < len(self._corpora):
                spread = _SPREAD[self._corpora[place].kind]
                if (key & mask) >> spread << spread == key & mask:
                    parted.setdefault(place, []).append((key & mask) >> spread)
        return [(place, self._corpora[place], its) for place, its in parted.items()]


def _results(index: ScopeIndex, ranking: Ranking, explain: bool) -> tuple[list[Result], list[Result]]:
    hits = index.hits([it.key for it in ranking.found] + [it.key for it in ranking.dropped])
    dropped = [_dropped(it, hits[it.key]) for it in ranking.dropped if it.key in hits] if explain else []
    return [_result(found, hits) for found in ranking.found], dropped


def _result(found: Found, hits: Mapping[int, Hit]) -> Result:
    hit = hits[found.key]
    alike = [event for key in found.same for event in hits[key].events]
    return Result(
        id=hit.id,
        kind=hit.kind,
        text=hit.text,
        score=found.score,
        relevance=found.relevance,
        events=tuple(dict.fromkeys([*hit.events, *alike])),
        session_id=hit.session_id,
        ts=hit.ts,
        role=hit.role,
        speaker=hit.speaker,
        parts=dict(found.parts),
        around=tuple([_beside(hit, key - found.key) for key in found.around]),
    )


def _beside(hit: Hit, distance: int) -> str:
    """The id of the event that stands ``distance`` places after an event."""
    session, _, seq = hit.id.rpartition(":")
    return f"{session}:{int(seq) + distance}"


def _dropped(it: Dropped, hit: Hit) -> Result:
    return Result(
        id=hit.id,
        kind=hit.kind,
        text=hit.text,
        score=it.score,
        relevance=0.0,
        events=hit.events,
        session_id=hit.session_id,
        ts=hit.ts,
        role=hit.role,
        speaker=hit.speaker,
        parts={},
        dropped=it.reason,
    )


# ── meaning ──────────────────────────────────────────────────────────────────────────────────────────────────


def _meaning(
    core: Core, tables: Tables, index: ScopeIndex, asked: Sequence[float] | None, kinds: Sequence[str]
) -> Meaning | None:
    if core.embedder is None or asked is None:
        return None
    near = tables.vectors.near(
        index.scope, core.embedder.name, asked, [k for k in kinds if k in tables.corpora]
    )
    cosines = {index.key(kind, key): cosine for (kind, key), cosine in near.cosines.items()}
    return Meaning(
        cosines=cosines, mean=near.mean, deviation=near.deviation, calibration=core.embedder.calibration
    )


def question_vector(core: Core, search: Search) -> Sequence[float] | None:
    """The vector of a question; None for one without words, or without an embedder."""
    if core.embedder is None or not search.query.strip():
        return None
    return checked_vectors(core.embedder, [search.query], kind="query")[0]


def checked_vectors(
    embedder: Embedder, texts: Sequence[str], *, kind: str = "document"
) -> list[Sequence[float]]:
    """Vectors of ``texts`` at length 1.

    Raises ModelError when the embedder failed, or a number, a dimension or a vector is not what it must be.
    """
    try:
        vectors: list[Sequence[float]] = [_unit(vector) for vector in embedder.embed(texts, kind=kind)]
    except WellkeptError:
        raise
    except Exception as error:  # an application's own embedder may raise anything
        raise ModelError(f"{embedder.name} failed ({type(error).__name__}: {error}).") from error
    if len(vectors) != len(texts):
        raise ModelError(f"{embedder.name} gave {len(vectors)} vectors for {len(texts)} texts.")
    for vector in vectors:
        if len(vector) != embedder.dimension:
            raise ModelError(
                f"{embedder.name} gave a vector of {len(vector)} numbers; it says that it makes {embedder.dimension}."
            )
        if not all(map(math.isfinite, vector)) or not any(vector):
            raise ModelError(f"{embedder.name} gave a vector of zeros, infinities or no numbers at all.")
    return vectors


def _unit(vector: Sequence[float]) -> list[float]:
    """``vector`` at length 1, in which no number is too large or too small for the four bytes that it is stored in."""
    length = math.hypot(*vector) or 1.0
    return [number / length for number in vector]
