"""The embedded store: one SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import apsw

from wellkept.store.health import Progress, Report
from wellkept.store.search import Corpus
from wellkept.store.sqlite.actions import Actions
from wellkept.store.sqlite.apikeys import ApiKeys
from wellkept.store.sqlite.at_hand import AtHand
from wellkept.store.sqlite.connection import Connections, Durability
from wellkept.store.sqlite.corpora import EventCorpus, FactCorpus, SummaryCorpus
from wellkept.store.sqlite.doubts import Doubts
from wellkept.store.sqlite.erasures import Erasures
from wellkept.store.sqlite.events import Events
from wellkept.store.sqlite.facts import Facts
from wellkept.store.sqlite.jobs import Jobs
from wellkept.store.sqlite.logins import Logins
from wellkept.store.sqlite.profiles import Profiles
from wellkept.store.sqlite.replies import Replies
from wellkept.store.sqlite.schema import prepare
from wellkept.store.sqlite.sessions import Sessions
from wellkept.store.sqlite.summaries import Summaries
from wellkept.store.sqlite.tally import Tally, holds, mark
from wellkept.store.sqlite.traces import Traces
from wellkept.store.sqlite.vectors import Vectors

T = TypeVar("T")


class SqliteTables:
    """The nouns over one connection, made when they are asked for; see ``store.protocol.Tables``."""

    def __init__(self, connection: apsw.Connection, known: AtHand, tally: Tally | None = None) -> None:
        self._db = connection
        self._at_hand = known
        self._tally = tally

    sessions = cached_property(lambda self: Sessions(self._db))
    events = cached_property(lambda self: Events(self._db, self._tally))
    profiles = cached_property(lambda self: Profiles(self._db))
    jobs = cached_property(lambda self: Jobs(self._db))
    summaries = cached_property(lambda self: Summaries(self._db))
    traces = cached_property(lambda self: Traces(self._db))
    vectors = cached_property(lambda self: Vectors(self._db, self._at_hand.matrices))
    facts = cached_property(lambda self: Facts(self._db))
    doubts = cached_property(lambda self: Doubts(self._db))
    erasures = cached_property(lambda self: Erasures(self._db))
    actions = cached_property(lambda self: Actions(self._db))
    api_keys = cached_property(lambda self: ApiKeys(self._db))
    logins = cached_property(lambda self: Logins(self._db))
    replies = cached_property(lambda self: Replies(self._db))

    @cached_property
    def corpora(self) -> Mapping[str, Corpus]:
        return {
            "event": EventCorpus(self._db, self._at_hand),
            "fact": FactCorpus(self._db),
            "summary": SummaryCorpus(self._db, self._at_hand),
        }


class SqliteStore:
    """See ``store.protocol.Store``.

    Args:
        path: a file, made when it is missing (its folder is not), or ":memory:".
        tally: how this handle counts tokens; events that others have counted otherwise are read with its counts.
    """

    def __init__(
        self,
        path: str,
        *,
        durability: Durability = "full",
        read_only: bool = False,
        tally: Tally | None = None,
    ) -> None:
        self.location = path
        self._at_hand = AtHand()
        self._connections = Connections(path, durability=durability, read_only=read_only)
        self._tally = tally
        prepare(self._connections)
        if (
            tally
            and not read_only
            and not self._connections.read(lambda connection: holds(connection, tally.name))
        ):
            self._connections.write(lambda connection: mark(connection, tally.name))

    def read(self, work: Callable[[SqliteTables], T]) -> T:
        return self._connections.read(
            lambda connection: work(SqliteTables(connection, self._at_hand, self._tally))
        )

    def write(self, work: Callable[[SqliteTables], T]) -> T:
        return self._connections.write(
            lambda connection: work(SqliteTables(connection, self._at_hand, self._tally))
        )

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """See ``store.health.Maintained``."""
        from wellkept.store.sqlite.backup import backup

        backup(self._connections, path, progress)

    def doctor(self, *, repair: bool = False) -> Report:
        """See ``store.health.Maintained``."""
        from wellkept.store.sqlite.maintenance import examine

        return examine(self._connections, repair=repair, tally=self._tally)

    def scrub(self, texts: Sequence[str] | None) -> int:
        """See ``store.protocol.Store``."""
        from wellkept.store.sqlite.scrub import scrub

        return scrub(self._connections, texts)

    def empty_log(self) -> bool:
        """See ``store.protocol.Store``."""
        return self._connections.empty_log()

    def close(self) -> None:
        self._connections.close()
