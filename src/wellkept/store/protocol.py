"""What a store must offer: two verbs, ``read`` and ``write``, and inside them one object a noun (see the modules beside
this one).

``store.write(work)`` calls ``work(tables)`` in one transaction and returns when it is durable; ``work`` may
be run again after a conflict and must therefore do nothing but use the tables. Each method names a scope, or
a ``SessionRef`` that was opened with one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from wellkept.records import Scope

if TYPE_CHECKING:
    from wellkept.store.actions import Actions
    from wellkept.store.apikeys import ApiKeys, Logins
    from wellkept.store.events import Events
    from wellkept.store.facts import Doubts, Erasures, Facts
    from wellkept.store.jobs import Jobs
    from wellkept.store.profiles import Profiles
    from wellkept.store.replies import Replies
    from wellkept.store.search import Corpus, Vectors
    from wellkept.store.sessions import Sessions
    from wellkept.store.summaries import Summaries
    from wellkept.store.traces import Traces

T = TypeVar("T")


class SessionRef(NamedTuple):
    """An open session: the proof that ``id`` belongs to ``scope``, with the store's own keys for both."""

    scope: Scope
    id: str
    key: int
    scope_key: int


class Tables(Protocol):
    """The nouns, as one transaction sees them."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def events(self) -> Events: ...
    @property
    def profiles(self) -> Profiles: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def summaries(self) -> Summaries: ...
    @property
    def traces(self) -> Traces: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def corpora(self) -> Mapping[str, Corpus]: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def doubts(self) -> Doubts: ...
    @property
    def erasures(self) -> Erasures: ...
    @property
    def actions(self) -> Actions: ...
    @property
    def api_keys(self) -> ApiKeys: ...
    @property
    def logins(self) -> Logins: ...
    @property
    def replies(self) -> Replies: ...


class Store(Protocol):
    """Where it all lives."""

    @property
    def location(self) -> str:
        """The path or address that it was opened with."""

    def read(self, work: Callable[[Tables], T]) -> T:
        """``work`` on one consistent snapshot."""

    def write(self, work: Callable[[Tables], T]) -> T:
        """``work`` in one transaction, durable on return; on an error nothing of it remains. A write inside ``work`` is a
        part of it."""

    def scrub(self, texts: Sequence[str] | None) -> int:
        """Make sure that no file of the store holds ``texts`` outside of anybody's rows; how many it still does. None for
        whatever is in no row any more: then the files are written anew."""

    def empty_log(self) -> bool:
        """Take what was removed out of the store's log as well, without waiting for those who read; whether all of it
        is out. If not, it goes with the next call, or when the store is closed."""

    def close(self) -> None:
        """Let go of every connection and file."""
