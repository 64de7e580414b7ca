"""Vectors in SQLite: rows beside their owners, and a matrix a scope in memory to search them exactly."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from wellkept.records import Scope
from wellkept.store.protocol import SessionRef
from wellkept.store.search import Near, Unembedded
from wellkept.store.sqlite.keys import SEQ_BITS
from wellkept.store.sqlite.sessions import ensure_scope, scope_key

SCHEMA = """
    CREATE TABLE embedders (key INTEGER PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER NOT NULL, UNIQUE (name, dimension));
    CREATE TABLE vectors (
        scope INTEGER NOT NULL REFERENCES scopes, kind INTEGER NOT NULL, key INTEGER NOT NULL,
        embedder INTEGER NOT NULL REFERENCES embedders, vector BLOB NOT NULL, UNIQUE (scope, kind, key)
    );
    CREATE TABLE unembedded (
        scope INTEGER NOT NULL REFERENCES scopes, kind INTEGER NOT NULL, key INTEGER NOT NULL,
        PRIMARY KEY (scope, kind, key)
    ) WITHOUT ROWID;
    ALTER TABLE scopes ADD COLUMN vectors INTEGER NOT NULL DEFAULT 0;
"""
KINDS = ("event", "fact", "summary")
NEAREST = 300
CACHE_BYTES = 64 << 20

WANT = "INSERT INTO unembedded (scope, kind, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
WANTED = "SELECT kind, key FROM unembedded WHERE scope = ? ORDER BY kind, key LIMIT ?"
SATISFY = "DELETE FROM unembedded WHERE scope = ? AND kind = ? AND key = ?"
EMBEDDER = "SELECT key FROM embedders WHERE name = ? AND dimension = ?"
ADD_EMBEDDER = "INSERT INTO embedders (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING"
ADD = """
    INSERT INTO vectors (scope, kind, key, embedder, vector) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET embedder = excluded.embedder, vector = excluded.vector
"""
REMOVE = "DELETE FROM vectors WHERE scope = ? AND kind = ? AND key = ?"
TOUCH = "UPDATE scopes SET vectors = vectors + 1 WHERE key = ?"
VERSION = "SELECT vectors FROM scopes WHERE key = ?"
ALL = "SELECT kind, key, vector FROM vectors WHERE scope = ? AND embedder = ? ORDER BY kind, key"
COUNTS = """
    SELECT e.name, e.dimension, count(*) FROM vectors v JOIN embedders e ON e.key = v.embedder
    GROUP BY e.key ORDER BY e.name
"""
OTHERS = """
    INSERT INTO unembedded (scope, kind, key) SELECT scope, kind, key FROM vectors WHERE scope = ?1 AND embedder IS NOT ?2
    ON CONFLICT DO NOTHING
"""
MISSING_EVENTS = """
    INSERT INTO unembedded (scope, kind, key) SELECT scope, 0, key FROM events WHERE scope = ?1 AND terms <> 0
    AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.scope = ?1 AND v.kind = 0 AND v.key = events.key)
    ON CONFLICT DO NOTHING
"""
MISSING_FACTS = """
    INSERT INTO unembedded (scope, kind, key) SELECT scope, 1, key FROM facts WHERE scope = ?1 AND state IN (0, 2)
    AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.scope = ?1 AND v.kind = 1 AND v.key = facts.key)
    ON CONFLICT DO NOTHING
"""
WAITING = "SELECT count(*) FROM unembedded WHERE ?1 IS NULL OR scope = ?1"


@dataclass(frozen=True, slots=True)
class _Matrix:
    version: int
    keys: list[tuple[int, int]]
    rows: Any


class Matrices:
    """The most recently used matrices of all scopes, inside ``CACHE_BYTES``; shared by the threads of a store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int], _Matrix] = OrderedDict()

    def get(self, name: tuple[int, int], version: int) -> _Matrix | None:
        """The matrix, if it is of this version."""
        with self._lock:
            found = self._kept.get(name)
            if found is None or found.version != version:
                return None
            self._kept.move_to_end(name)
            return found

    def put(self, name: tuple[int, int], matrix: _Matrix) -> None:
        """Keep ``matrix``, and let go of the ones unused for longest."""
        with self._lock:
            self._kept[name] = matrix
            self._kept.move_to_end(name)
            while len(self._kept) > 1 and sum(kept.rows.nbytes for kept in self._kept.values()) > CACHE_BYTES:
                self._kept.popitem(last=False)


def remove_vectors(connection: apsw.Connection, scope_key: int, kind: str, keys: Iterable[int]) -> int:
    """Remove the vectors of documents that are removed, in the same transaction; how many there were."""
    removed = 0
    for key in keys:
        place = (scope_key, KINDS.index(kind), key)
        connection.execute(REMOVE, place)
        removed += connection.changes()
        connection.execute(SATISFY, place)
    if removed:
        connection.execute(TOUCH, (scope_key,))
    return removed


class Vectors:
    """See ``store.search.Vectors``."""

    def __init__(self, connection: apsw.Connection, matrices: Matrices) -> None:
        self._db = connection
        self._matrices = matrices

    def want_events(self, ref: SessionRef, seqs: Iterable[int]) -> None:
        self._db.executemany(WANT, ((ref.scope_key, 0, ref.key << SEQ_BITS | seq) for seq in seqs))

    def want_facts(self, scope: Scope, keys: Iterable[int]) -> None:
        owner = ensure_scope(self._db, scope)
        wanted = list(keys)
        remove_vectors(self._db, owner, "fact", wanted)
        self._db.executemany(WANT, ((owner, 1, key) for key in wanted))

    def wanted(self, scope: Scope, limit: int) -> list[Unembedded]:
        rows = self._db.execute(WANTED, (scope_key(self._db, scope), limit))
        return [Unembedded(KINDS[kind], key) for kind, key in rows]

    def add(
        self, scope: Scope, name: str, dimension: int, vectors: Mapping[Unembedded, Sequence[float] | None]
    ) -> int:
        import numpy

        owner, embedder = ensure_scope(self._db, scope), self._embedder(name, dimension)
        stored = 0
        for it, vector in vectors.items():
            place = (owner, KINDS.index(it.kind), it.key)
            self._db.execute(SATISFY, place)
            # Without its row in the outbox the owner was removed while its vector was being made.
            if vector is not None and self._db.changes():
                self._db.execute(ADD, (*place, embedder, numpy.asarray(vector, "<f4").tobytes()))
                stored += 1
        self._db.execute(TOUCH, (owner,))
        return stored

    def _embedder(self, name: str, dimension: int) -> int:
        self._db.execute(ADD_EMBEDDER, (name, dimension))
        return int(self._db.execute(EMBEDDER, (name, dimension)).get)

    def near(self, scope: Scope, name: str, vector: Sequence[float], kinds: Sequence[str]) -> Near:
        import numpy

        matrix = self._matrix(scope, name, len(vector))
        allowed = {KINDS.index(kind) for kind in kinds}
        if matrix is None or not matrix.keys:
            return Near({}, 0.0, 0.0)
        asked = numpy.asarray(vector, "f4")
        cosines = matrix.rows @ (asked / (numpy.linalg.norm(asked) or 1.0))
        best = numpy.argsort(-cosines, kind="stable")
        found: dict[tuple[str, int], float] = {}
        for place in best:
            kind, key = matrix.keys[place]
            if kind in allowed:
                found[KINDS[kind], key] = float(cosines[place])
            if len(found) == NEAREST:
                break
        return Near(found, float(cosines.mean()), float(cosines.std()))

    def _matrix(self, scope: Scope, name: str, dimension: int) -> _Matrix | None:
        import numpy

        owner = scope_key(self._db, scope)
        embedder = self._db.execute(EMBEDDER, (name, dimension)).get
        if owner is None or embedder is None:
            return None
        version = self._db.execute(VERSION, (owner,)).get
        kept = self._matrices.get((owner, embedder), version)
        if kept is not None:
            return kept
        rows = list(self._db.execute(ALL, (owner, embedder)))
        table = numpy.frombuffer(b"".join(row[2] for row in rows), "<f4").reshape(len(rows), dimension)
        norms = numpy.linalg.norm(table, axis=1, keepdims=True)
        matrix = _Matrix(
            version, [(row[0], row[1]) for row in rows], table / numpy.where(norms == 0, 1, norms)
        )
        self._matrices.put((owner, embedder), matrix)
        return matrix

    def counts(self) -> list[tuple[str, int, int]]:
        return [tuple(row) for row in self._db.execute(COUNTS)]

    def waiting(self, scope: Scope | None = None) -> int:
        return int(self._db.execute(WAITING, (scope_key(self._db, scope) if scope else None,)).get)

    def remake(self, scope: Scope, name: str, dimension: int) -> int:
        owner = ensure_scope(self._db, scope)
        embedder = self._db.execute(EMBEDDER, (name, dimension)).get
        self._db.execute(OTHERS, (owner, embedder))
        self._db.execute(MISSING_EVENTS, (owner,))
        self._db.execute(MISSING_FACTS, (owner,))
        return self.waiting(scope)
