"""Looking over a SQLite store and putting right what can be put right from the events, which are the truth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from wellkept.errors import NotFound, StoreCorrupt
from wellkept.records import utc
from wellkept.store.health import Finding, Report
from wellkept.store.jobs import HELD_BACK
from wellkept.store.sqlite.connection import Connections, typed_errors
from wellkept.store.sqlite.derived import mistakes, rebuild
from wellkept.store.sqlite.salvage import salvage
from wellkept.store.sqlite.schema import check_ours
from wellkept.store.sqlite.tally import Tally, is_mixed, recount

JOBS = """
    SELECT kind, state, count(*) FROM jobs WHERE state = 'failed' OR (state = 'running' AND run_at < ?) GROUP BY 1, 2
"""
HELD = """
    SELECT c.namespace, j.kind, count(*), max(j.run_at) FROM jobs j JOIN scopes c ON c.key = j.scope
    WHERE j.state = 'ready' AND j.last_error = ? GROUP BY 1, 2
"""
STUCK_MS = 3_600_000


def doctor(path: str, *, repair: bool = False) -> Report:
    """The state of the store in the file at ``path``, also of one that cannot be opened any more.

    With ``repair`` the text index and the counts are made anew from the events; of a file that is itself damaged,
    every readable row is put into a new file beside it, and the damaged one stays as it is.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is another program's database. SchemaTooNew: it needs a newer wellkept.
    """
    if not Path(path).is_file():
        raise NotFound(f"There is no file {path}.")
    return examine(Connections(path), repair=repair)


def examine(connections: Connections, *, repair: bool = False, tally: Tally | None = None) -> Report:
    """``doctor`` for a store that is open; ``tally``: how to count where several tokenizers did."""
    connection = connections.raw()
    try:
        findings = _damage(connection, connections.path) or _mistakes(connection)
        broken = any(finding.subject == "file" for finding in findings)
        if repair and broken:
            path, lost = salvage(connections)
            return Report(
                location=connections.path, findings=tuple(findings), salvaged=path, lost=tuple(lost)
            )
        wanted = any(finding.damage or (tally and finding.subject == "tokens") for finding in findings)
        if repair and wanted:
            with typed_errors(connections.path):
                findings = _repaired(connection, connections, findings, tally)
        return Report(location=connections.path, findings=tuple(findings))
    finally:
        connection.close(True)


# ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────


def _damage(connection: apsw.Connection, path: str) -> list[Finding]:
    """What is wrong with the file as such."""
    try:
        with typed_errors(path):
            check_ours(connection, path)
            rows = [text for (text,) in connection.execute("PRAGMA integrity_check(20)")]
    except StoreCorrupt as error:
        return [Finding(subject="file", text=str(error))]
    return [Finding(subject="file", text=text) for text in rows if text != "ok"]


def _mistakes(connection: apsw.Connection) -> list[Finding]:
    """What is wrong between the tables of a sound file, at one moment."""
    connection.execute("BEGIN")
    try:
        return [*mistakes(connection), *_tokens(connection), *_jobs(connection)]
    except apsw.CorruptError as error:
        return [Finding(subject="index", text=f"The text index cannot be read ({error}).")]
    finally:
        connection.execute("COMMIT")


def _tokens(connection: apsw.Connection) -> Iterator[Finding]:
    if is_mixed(connection):
        text = (
            "Several tokenizers have counted the messages, so that each context counts them anew. To count them once for all: "
            "Memory(path, tokenizer=…).doctor(repair=True), while nobody else has the store open."
        )
        yield Finding(subject="tokens", text=text, damage=False)


def _jobs(connection: apsw.Connection) -> Iterator[Finding]:
    for kind, state, count in connection.execute(JOBS, (int(time.time() * 1000) - STUCK_MS,)):
        what = (
            "failed: see memory.jobs"
            if state == "failed"
            else "were begun and never ended: run_jobs() repeats them"
        )
        yield Finding(subject="jobs", text=f"{count} {kind} jobs {what}.", damage=False)
    for namespace, kind, count, due in connection.execute(HELD, (HELD_BACK,)):
        text = (
            f"{count} {kind} jobs of namespace {namespace!r} wait until {utc(due):%Y-%m-%d %H:%M} UTC, because its tokens "
            "of the day are spent (Policy.daily_tokens). Messages are stored all the same."
        )
        yield Finding(subject="jobs", text=text, damage=False)


# ── repairing ───────────────────────────────────────────────────────────────────────────────────────────────


def _repaired(
    connection: apsw.Connection, connections: Connections, findings: list[Finding], tally: Tally | None
) -> list[Finding]:
    """The findings again, marked as repaired where a second look no longer finds them."""
    connections.configure(connection)
    connection.pragma("foreign_keys", 0)  # a homeless row must not stop the repair of others
    connection.execute("BEGIN IMMEDIATE")
    try:
        if tally and is_mixed(connection):
            recount(connection, tally)
        rebuild(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    left = {finding.text for finding in _mistakes(connection)}
    return [_marked(finding, finding.text not in left) for finding in findings]


def _marked(finding: Finding, repaired: bool) -> Finding:
    return Finding(
        subject=finding.subject,
        text=finding.text,
        damage=finding.damage,
        repaired=repaired,
    )
