"""Gives documents their vectors, in the background: an append never waits for a model."""

from __future__ import annotations

from collections.abc import Sequence

from wellkept.core import Core
from wellkept.errors import InvalidInput
from wellkept.jobs import Finish, Outcome, Run
from wellkept.outbox import EMBED
from wellkept.recall import checked_vectors
from wellkept.records import Scope
from wellkept.store.protocol import SessionRef, Tables
from wellkept.store.search import Hit, Unembedded

BATCH = 32
LONGEST = 2_000  # characters; local models read no further, and a vector of more says little


def want_events(core: Core, tables: Tables, ref: SessionRef, seqs: Sequence[int], now: int) -> bool:
    """Note that these events want vectors, and see that a job waits; in the transaction that appends them."""
    if core.embedder is None or not seqs:
        return False
    tables.vectors.want_events(ref, seqs)
    return put_job(tables, ref.scope, now)


def put_job(tables: Tables, scope: Scope, now: int) -> bool:
    """See that an embed job of this scope waits."""
    return tables.jobs.put(scope, EMBED, at=now, once=EMBED) is not None


def embed(run: Run) -> Finish:
    """The handler of an embed job: one batch of one scope; it puts the next job while more wait."""
    embedder = run.core.embedder
    if embedder is None:
        return lambda tables: {"embedded": 0, "skipped": "no embedder is configured"}
    wanted, texts = run.core.store.read(lambda tables: _batch(run.core, tables, run.scope))
    vectors = checked_vectors(embedder, list(texts.values()))
    found = dict(zip(texts, vectors, strict=True))

    def store(tables: Tables) -> Outcome:
        rows = {it: found.get(it) for it in wanted}
        stored = tables.vectors.add(run.scope, embedder.name, embedder.dimension, rows)
        if tables.vectors.waiting(run.scope):
            put_job(tables, run.scope, run.core.now())
        return {"embedded": stored}

    return store


def _batch(core: Core, tables: Tables, scope: Scope) -> tuple[list[Unembedded], dict[Unembedded, str]]:
    wanted = tables.vectors.wanted(scope, BATCH)
    texts: dict[Unembedded, str] = {}
    for kind, corpus in tables.corpora.items():
        hits = corpus.hits(scope, [it.key for it in wanted if it.kind == kind])
        texts |= {Unembedded(kind, key): _text(core, hit) for key, hit in hits.items() if hit.text.strip()}
    return wanted, texts


def _text(core: Core, hit: Hit) -> str:
    """What is embedded: who said it and when belongs to what it means."""
    day = hit.ts.astimezone(core.zone).date().isoformat()
    return f"{hit.speaker or hit.role} ({day}): {hit.text}"[:LONGEST].replace("\0", " ")


def remake(core: Core, scope: Scope) -> int:
    """Put every document of the scope that has no vector of the configured embedder into the outbox; how many wait.

    Raises InvalidInput when no embedder is configured.
    """
    embedder = core.embedder
    if embedder is None:
        raise InvalidInput("No embedder is configured. Pass Memory(…, embedder=…).")

    def work(tables: Tables) -> int:
        waiting = tables.vectors.remake(scope, embedder.name, embedder.dimension)
        if waiting:
            put_job(tables, scope, core.now())
        return waiting

    return core.store.write(work)
