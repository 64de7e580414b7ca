"""What recall reads of facts: the active and archived ones as documents of one scope's text index."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from wellkept.policy.corpus import Doc
from wellkept.policy.filters import ANYTHING, holds
from wellkept.policy.words import Term
from wellkept.records import Scope
from wellkept.store.facts import Fact
from wellkept.store.protocol import Hit, Narrow
from wellkept.store.sqlite.facts import Facts, terms_of
from wellkept.store.sqlite.sessions import scope_key
from wellkept.store.sqlite.terms import Terms

SIZE = "SELECT count(*), coalesce(sum(terms), 0) FROM facts WHERE scope = ? AND state IN (0, 2)"


class FactCorpus:
    """See ``store.protocol.Corpus``."""

    kind = "fact"

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._terms = Terms(connection, "fact")
        self._facts = Facts(connection)

    def size(self, scope: Scope) -> tuple[int, int]:
        documents, terms = next(self._db.execute(SIZE, (scope_key(self._db, scope),)))
        return documents, terms

    def speakers(self, scope: Scope) -> set[str]:
        return set()

    def postings(self, scope: Scope, terms: Collection[Term]) -> dict[Term, dict[int, int]]:
        owner = scope_key(self._db, scope)
        return {} if owner is None else self._terms.postings(owner, terms)

    def frequencies(self, scope: Scope, tokens: Collection[str]) -> dict[str, int]:
        owner = scope_key(self._db, scope)
        return {} if owner is None else self._terms.frequencies(owner, tokens)

    def docs(self, scope: Scope, keys: Collection[int], narrow: Narrow) -> dict[int, Doc]:
        """Times are those since when a fact holds; a session's facts are those with a source in it."""
        found = {}
        for fact in self._facts.by_keys(scope, list(keys)):
            ts = int((fact.valid_from or fact.created_at).timestamp() * 1000)
            if fact.state != "retired" and _passes(fact, ts, narrow):
                found[fact.key] = Doc(len(terms_of(fact)), "user", ts)
        return found

    def texts(self, scope: Scope, keys: Collection[int]) -> dict[int, str]:
        return {fact.key: fact.text for fact in self._facts.by_keys(scope, list(keys))}

    def hits(self, scope: Scope, keys: Collection[int]) -> dict[int, Hit]:
        return {fact.key: _hit(fact) for fact in self._facts.by_keys(scope, list(keys))}


def _passes(fact: Fact, ts: int, narrow: Narrow) -> bool:
    if narrow.session is not None and not any(
        id.rpartition(":")[0] == narrow.session.id for id in fact.sources
    ):
        return False
    if (narrow.since is not None and ts < narrow.since) or (narrow.until is not None and ts >= narrow.until):
        return False
    return narrow.condition == ANYTHING or holds(narrow.condition, {**fact.metadata, **fact.to_dict()})


def _hit(fact: Fact) -> Hit:
    return Hit(
        id=fact.id,
        session_id=fact.sources[0].rpartition(":")[0] if fact.sources else None,
        text=fact.text,
        ts=fact.valid_from or fact.created_at,
        role="user",
        speaker=None,
        events=fact.sources,
    )
