"""Memory on the files of a device: what its firmware reads and writes, and beside it what that has no place for.

``sessions`` and ``memory`` below the directory are the device's own files, and hold the words of every message, memory
and profile document. ``wellkept.journal`` holds the rest: times, metadata, summaries, jobs, the history of facts. Both
are read into a mirror, a SQLite database in memory, when the directory is opened; each transaction is written back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn, TypeVar

import apsw

from wellkept.errors import StoreBusy, StoreError, Unsupported
from wellkept.store.flash import adopt, apply, care, rows
from wellkept.store.flash.faults import typed_errors
from wellkept.store.flash.journal import Journal, Lines, check_header, disk_of, header
from wellkept.store.flash.location import DEVICE, parse
from wellkept.store.flash.lock import locked
from wellkept.store.flash.memories import Memories
from wellkept.store.flash.places import Places
from wellkept.store.flash.plan import Planner, items_of, owner_of, set_owner
from wellkept.store.flash.scrub import left, purge, purge_unknown
from wellkept.store.health import Finding, Progress, Report
from wellkept.store.search import Vectors
from wellkept.store.sqlite import SqliteTables
from wellkept.store.sqlite.at_hand import AtHand
from wellkept.store.sqlite.connection import Connections, Durability
from wellkept.store.sqlite.derived import rebuild
from wellkept.store.sqlite.maintenance import examine
from wellkept.store.sqlite.migrations import MIGRATIONS
from wellkept.store.sqlite.schema import prepare
from wellkept.store.sqlite.tally import Tally, mark
from wellkept_flash.errors import FlashError

T = TypeVar("T")
JOURNAL, LOCK = "wellkept.journal", "wellkept.lock"
WHOLE = "SELECT whole FROM flash_records WHERE event = ?"
NO_VECTORS = (
    "A device's directory has no place for vectors. Leave the embedder out: search finds words, pairs of Chinese "
    "characters and labels. Or use the path of a SQLite file."
)
_LEAST_CHECKPOINT = 256 << 10
_ROWS_A_LINE = 50


class NoVectors:
    """What stands where a store has vectors."""

    def __getattr__(self, name: str) -> NoReturn:
        raise Unsupported(NO_VECTORS)


class FlashTables(SqliteTables):
    """The nouns over the mirror; see ``store.protocol.Tables``."""

    vectors: Vectors = NoVectors()  # type: ignore[assignment]


class FlashStore:
    """See ``store.protocol.Store``.

    Args:
        location: ``flash:DIR``, or ``flash:DIR?namespace=NAME&user=NAME`` to say whose memory a device's directory is
            (user "default" in the namespace "device" otherwise), and ``&backend=anthropic_compatible`` for a device
            that is set to Anthropic. The directory is made when it is missing. In an empty one the first user who
            writes gets ``sessions`` and ``memory`` in the directory itself; others get a device's directory each below
            ``users``.
        tally: how this handle counts tokens.
        durability: "normal" leaves it to the system when what was written reaches the disk.
        disk: a ``HostDisk``, for tests.

    Raises:
        StoreBusy: the directory is open elsewhere.
        SchemaTooNew: a newer version wrote to it; it was left as it is.
    """

    def __init__(
        self, location: str, *, tally: Tally, durability: Durability = "full", disk: Any = None
    ) -> None:
        self.location = location
        root, self._owner, self._backend = parse(location)
        self._tally = tally
        self._at_hand = AtHand()
        self._process = os.getpid()
        self._closed = self._broken = False
        self._unfinished: Mapping[str, Any] | None = None
        self.findings: list[str] = []
        disk = disk or disk_of(durability)
        with typed_errors():
            os.makedirs(root, exist_ok=True)
            self._lock = locked(f"{root}/{LOCK}")
            try:
                self._places = Places(disk, root, self._backend, lambda: int(time.time()))
                self._journal = Journal(disk, f"{root}/{JOURNAL}")
                self._connections = Connections(":memory:")
                prepare(self._connections)
                self._connections.write(self._open)
            except BaseException:
                self._lock.close()
                raise

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────

    def _open(self, connection: apsw.Connection) -> None:
        connection.execute(rows.SCHEMA)
        self._kept = rows.tables_of(connection)
        lines = self._journal.read()
        check_header(iter(lines.done), [name for name, _ in MIGRATIONS], self._places.root)
        folded = rows.Folded(self._kept)
        for line in [*lines.done, *self._recovered(lines)]:
            folded.take(line)
        connection.execute("PRAGMA defer_foreign_keys = 1")
        for row in folded.of("events"):
            row.setdefault("content", "")
        folded.insert(connection)
        rows.prune(connection, self._kept)
        if self._unfinished is not None:
            self._finish(connection)
        self._limit = 3 * self._journal.size
        self._transaction(connection, lambda tables: self._adopt(connection, tables))
        if lines.damaged:
            self._journal.set_aside(lines.damaged)
            self.findings.append(f"{len(lines.damaged)} damaged lines of {JOURNAL} were set aside")
        if lines.damaged or not lines.done:
            self._checkpoint(connection)

    def _recovered(self, lines: Lines) -> Iterator[Mapping[str, Any]]:
        """The last line, if its transaction is to count; else what it left in the files is taken back."""
        if lines.pending is None:
            return
        files = lines.pending.get("files", {})
        if apply.arrived(self._places, files.get("add", ())):
            self._unfinished = files
            yield lines.pending
        else:
            apply.take_back(self._places, apply.torn(self._places, files.get("add", ())))
            self._journal.undo()

    def _adopt(self, connection: apsw.Connection, tables: FlashTables) -> None:
        owner = self._owner or self._places.owner("")
        if owner and owner_of(connection) is None:
            set_owner(connection, owner)
        now = int(time.time() * 1000)
        mark(connection, self._tally.name)
        adoption = adopt.Adoption(connection, tables, self._places, self._tally, owner or DEVICE, now)
        adoption.sessions()
        rebuild(connection)
        adoption.new_events()
        for home, scope in adoption.homes():
            if self._places.holds_something(home):
                self._places.sign(home, scope)
                memories = Memories(connection, tables, self._places, home, scope, now)
                memories.facts()
                memories.documents()
                self.findings.extend(memories.findings)
        self.findings.extend(adoption.findings)

    # ── transactions ─────────────────────────────────────────────────────────────────────────────────────

    def read(self, work: Callable[[FlashTables], T]) -> T:
        """See ``store.protocol.Store``."""
        return self._connections.read(lambda connection: work(self._tables(connection)))

    def write(self, work: Callable[[FlashTables], T]) -> T:
        """See ``store.protocol.Store``."""
        if self._connections.writing:
            return self._connections.write(lambda connection: work(self._tables(connection)))
        return self._written(lambda connection: self._transaction(connection, work))

    def _written(self, work: Callable[[apsw.Connection], T]) -> T:
        if self._process != os.getpid():
            raise StoreBusy(
                "This directory was opened before the process was forked. Open it in one process only."
            )
        if self._broken:
            raise StoreError(
                "A write was interrupted half-way. Open the directory again: it is put right then."
            )
        with typed_errors():
            return self._connections.write(work)

    def _tables(self, connection: apsw.Connection) -> FlashTables:
        return FlashTables(connection, self._at_hand, self._tally)

    def _transaction(self, connection: apsw.Connection, work: Callable[[FlashTables], T]) -> T:
        watched = rows.watch(connection, self._kept)
        try:
            value = work(self._tables(connection))
            self._persist(connection, watched)
        finally:
            watched.close()
        return value

    def _persist(self, connection: apsw.Connection, watched: apsw.Session) -> None:
        """Journal, sessions, then the rest: once the first two are down the transaction counts, whatever happens."""
        self._finish(connection)
        planner = Planner(connection, self._places, self._backend)
        planner.take(list(rows.changes(watched, self._kept)))
        line = rows.line_of(self._trimmed(connection, rows.changes(watched, self._kept)), self._kept)
        files = planner.files()
        if not line and not files:
            return
        for home, scope in planner.owners.items():
            self._places.sign(home, scope)
        self._journal.begin({**line, "files": files})
        self._append(planner, files)
        self._unfinished = files
        try:
            self._finish(connection)
        except (FlashError, OSError):
            # It counts already. The next write tries again, and says what is wrong if it cannot; so does opening.
            return
        if self._journal.size > max(self._limit, _LEAST_CHECKPOINT):
            self._checkpoint(connection)

    def _append(self, planner: Planner, files: Mapping[str, Any]) -> None:
        try:
            apply.append(self._places, planner.batches)
        except BaseException:
            self._broken = True
            apply.take_back(self._places, files.get("add", ()))
            self._journal.undo()
            self._broken = False
            raise

    def _finish(self, connection: apsw.Connection) -> None:
        """Bring the rest of the files to where the last line says."""
        if self._unfinished is not None:
            apply.apply(connection, self._places, self._unfinished)
            self._journal.settle()
            self._unfinished = None

    def _trimmed(self, connection: apsw.Connection, changes: Iterator[rows.Change]) -> Iterator[rows.Change]:
        """Without the words that a record of the device holds."""
        for change in changes:
            if change.table == "events" and "content" in change.row and change.kind != "del":
                if connection.execute(WHOLE, (change.row["key"],)).get:
                    del change.row["content"]
                if change.kind == "set" and len(change.row) == 1:
                    continue
            yield change

    def _checkpoint(self, connection: apsw.Connection) -> None:
        """Write the journal anew with the rows that there are."""
        every = self._trimmed(connection, rows.dump(connection, self._kept))
        lines = [header(name for name, _ in MIGRATIONS), {"highest": rows.highest(connection)}]
        while batch := list(islice(every, _ROWS_A_LINE)):
            lines.append(rows.line_of(batch, self._kept))
        self._journal.rewrite(lines)
        self._limit = 3 * self._journal.size

    # ── the rest ─────────────────────────────────────────────────────────────────────────────────────────

    def scrub(self, texts: Sequence[str] | None) -> int:
        """See ``store.protocol.Store``. What a flash chip keeps in blocks that are free is out of reach."""

        def work(connection: apsw.Connection) -> int:
            self._finish(connection)
            self._checkpoint(connection)
            if texts is None:
                purge_unknown(self._places, items_of(connection))
                return 0
            purge(self._places, texts)
            return len(left(connection, self._kept, self._places.root, texts))

        return self._written(work)

    def empty_log(self) -> bool:
        """See ``store.protocol.Store``. The journal of a device is written anew when it has grown."""
        return False

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """See ``store.health.Maintained``. The copy is a directory, too."""

        def work(connection: apsw.Connection) -> None:
            self._settle(connection)
            care.copy(self._places.root, path, LOCK, progress)

        self._written(work)

    def doctor(self, *, repair: bool = False) -> Report:
        """See ``store.health.Maintained``. Opening has repaired what could be; ``findings`` say what that was."""

        def work(connection: apsw.Connection) -> list[Finding]:
            self._settle(connection)
            lifted = care.lift_blocks(self._places) if repair else ()
            return [*lifted, *care.findings(self._places)]

        mended = [Finding(subject="file", text=text, repaired=True) for text in self.findings]
        found = [*mended, *self._written(work), *examine(self._connections, repair=repair).findings]
        return Report(location=self.location, findings=tuple(found))

    def close(self) -> None:
        """Write what the firmware wants to find beside the records, and let go of the directory."""
        if self._closed or self._process != os.getpid():
            return
        self._closed = True
        try:
            if not self._broken:
                self._written(self._settle)
        finally:
            self._connections.close()
            self._lock.close()

    def _settle(self, connection: apsw.Connection) -> None:
        self._finish(connection)
        self._places.flush()
