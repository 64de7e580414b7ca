"""The embedded store: one SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import apsw

from wellkept.store.protocol import Corpus
from wellkept.store.sqlite.connection import Connections, Durability
from wellkept.store.sqlite.corpora import EventCorpus, SummaryCorpus
from wellkept.store.sqlite.doubts import Doubts
from wellkept.store.sqlite.erasures import Erasures
from wellkept.store.sqlite.events import Events
from wellkept.store.sqlite.fact_corpus import FactCorpus
from wellkept.store.sqlite.facts import Facts
from wellkept.store.sqlite.jobs import Jobs
from wellkept.store.sqlite.profiles import Profiles
from wellkept.store.sqlite.schema import prepare
from wellkept.store.sqlite.scrub import scrub
from wellkept.store.sqlite.sessions import Sessions
from wellkept.store.sqlite.summaries import Summaries
from wellkept.store.sqlite.vectors import Matrices, Vectors

T = TypeVar("T")


class SqliteTables:
    """The nouns over one connection; see ``store.protocol.Tables``."""

    def __init__(self, connection: apsw.Connection, matrices: Matrices) -> None:
        self.sessions = Sessions(connection)
        self.events = Events(connection)
        self.profiles = Profiles(connection)
        self.jobs = Jobs(connection)
        self.summaries = Summaries(connection)
        self.facts = Facts(connection)
        self.doubts = Doubts(connection)
        self.erasures = Erasures(connection)
        self.vectors = Vectors(connection, matrices)
        self.corpora: Mapping[str, Corpus] = {
            "event": EventCorpus(connection),
            "fact": FactCorpus(connection),
            "summary": SummaryCorpus(connection),
        }


class SqliteStore:
    """See ``store.protocol.Store``. ``path`` is a file or ":memory:"; missing files are made, missing
    folders are not."""

    def __init__(self, path: str, *, durability: Durability = "full", read_only: bool = False) -> None:
        self.location = path
        self._matrices = Matrices()
        self._connections = Connections(path, durability=durability, read_only=read_only)
        prepare(self._connections)

    def read(self, work: Callable[[SqliteTables], T]) -> T:
        return self._connections.read(lambda connection: work(SqliteTables(connection, self._matrices)))

    def write(self, work: Callable[[SqliteTables], T]) -> T:
        return self._connections.write(lambda connection: work(SqliteTables(connection, self._matrices)))

    def scrub(self, texts: Sequence[str]) -> int:
        return scrub(self._connections, texts)

    def close(self) -> None:
        self._connections.close()
