"""The tables, as named migrations. A released one is never edited; what comes later is a new one.

An event's row key holds its session and its place: ``key = session << 24 | seq``. So a session's events lie
side by side in the file without a second index, and reading the newest ones costs the same however long the
session is and however many others there are.
"""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from wellkept.errors import InvalidInput, SchemaTooNew, StoreCorrupt
from wellkept.store.sqlite.connection import Connections, typed_errors

APPLICATION_ID = 0x574B5054  # "WKPT" in the file's header
SEQ_BITS = 24
MAX_SEQ = (1 << SEQ_BITS) - 1
QUICK_CHECK_BYTES = 32 << 20

MIGRATIONS: list[tuple[str, str]] = [
    (
        "transcript",
        """
        CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE scopes (
            key INTEGER PRIMARY KEY, namespace TEXT NOT NULL, user TEXT NOT NULL, UNIQUE (namespace, user)
        );
        CREATE TABLE sessions (
            key INTEGER PRIMARY KEY, scope INTEGER NOT NULL REFERENCES scopes, id TEXT NOT NULL,
            title TEXT NOT NULL, metadata TEXT, created INTEGER NOT NULL, active INTEGER NOT NULL,
            next_seq INTEGER NOT NULL DEFAULT 1, events INTEGER NOT NULL DEFAULT 0, turns INTEGER NOT NULL
            DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, terms INTEGER NOT NULL DEFAULT 0, covered INTEGER
            NOT NULL DEFAULT 0, UNIQUE (scope, id)
        );
        CREATE INDEX sessions_active ON sessions (scope, active);
        CREATE TABLE events (
            key INTEGER PRIMARY KEY, scope INTEGER NOT NULL, role INTEGER NOT NULL,
            content TEXT NOT NULL, ts INTEGER NOT NULL, tokens INTEGER NOT NULL, terms INTEGER NOT NULL,
            speaker TEXT, metadata TEXT, idempotency_key TEXT
        );
        CREATE INDEX events_ts ON events (scope, ts);
        CREATE UNIQUE INDEX events_idempotency ON events (key >> 24, idempotency_key)
            WHERE idempotency_key IS NOT NULL;
        CREATE VIRTUAL TABLE event_terms USING fts5 (
            terms, content='', columnsize=0, tokenize='ascii'
        );
        INSERT INTO event_terms (event_terms, rank) VALUES ('secure-delete', 1);
        CREATE VIRTUAL TABLE event_postings USING fts5vocab (event_terms, instance);
        CREATE TABLE profiles (
            scope INTEGER NOT NULL REFERENCES scopes, name TEXT NOT NULL, version INTEGER NOT NULL,
            text TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (scope, name, version)
        ) WITHOUT ROWID;
        CREATE TABLE jobs (
            key INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL REFERENCES scopes, session INTEGER,
            kind TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT
            0, run_at INTEGER NOT NULL, created INTEGER NOT NULL, finished INTEGER, once TEXT,
            last_error TEXT, raw_reply TEXT, usage TEXT, result TEXT
        );
        CREATE INDEX jobs_due ON jobs (run_at) WHERE state IN ('ready', 'running');
        CREATE UNIQUE INDEX jobs_once ON jobs (scope, kind, once) WHERE state = 'ready' AND once IS NOT NULL;
        CREATE INDEX jobs_session ON jobs (session) WHERE session IS NOT NULL;
        CREATE TABLE spend (
            scope INTEGER NOT NULL REFERENCES scopes, day TEXT NOT NULL, kind TEXT NOT NULL,
            calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
            PRIMARY KEY (scope, day, kind)
        ) WITHOUT ROWID;
        CREATE TABLE summaries (
            session INTEGER NOT NULL REFERENCES sessions, version INTEGER NOT NULL, topic TEXT NOT NULL,
            covers_from INTEGER NOT NULL, covers_to INTEGER NOT NULL, text TEXT NOT NULL, tokens INTEGER NOT
            NULL, by TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (session, version, topic)
        ) WITHOUT ROWID;
        CREATE TABLE ledger (
            session INTEGER NOT NULL REFERENCES sessions, seq INTEGER NOT NULL, kind TEXT NOT NULL, value
            TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, seq, kind, value)
        ) WITHOUT ROWID;
        """,
    ),
    (
        "facts",
        """
        CREATE TABLE facts (
            key INTEGER PRIMARY KEY, scope INTEGER NOT NULL REFERENCES scopes, state INTEGER NOT NULL,
            fingerprint BLOB NOT NULL, pinned INTEGER NOT NULL, text TEXT NOT NULL, claim TEXT NOT NULL,
            sources TEXT, valid_from INTEGER, valid_to INTEGER, superseded_by INTEGER, metadata TEXT,
            created INTEGER NOT NULL, changed INTEGER NOT NULL, terms INTEGER NOT NULL
        );
        CREATE INDEX facts_scope ON facts (scope, state);
        CREATE UNIQUE INDEX facts_once ON facts (scope, fingerprint) WHERE state = 0;
        CREATE TABLE fact_sources (
            event INTEGER NOT NULL, fact INTEGER NOT NULL, PRIMARY KEY (event, fact)
        ) WITHOUT ROWID;
        CREATE VIRTUAL TABLE fact_terms USING fts5 (terms, content='', columnsize=0, tokenize='ascii');
        INSERT INTO fact_terms (fact_terms, rank) VALUES ('secure-delete', 1);
        CREATE VIRTUAL TABLE fact_postings USING fts5vocab (fact_terms, instance);
        CREATE TABLE fact_uses (
            fact INTEGER PRIMARY KEY, scope INTEGER NOT NULL, uses INTEGER NOT NULL, last INTEGER NOT NULL
        );
        CREATE TABLE fact_changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL REFERENCES scopes,
            fact INTEGER NOT NULL, operation INTEGER, action TEXT NOT NULL, actor TEXT NOT NULL,
            at INTEGER NOT NULL, after TEXT
        );
        CREATE INDEX fact_changes_scope ON fact_changes (scope);
        CREATE INDEX fact_changes_fact ON fact_changes (fact);
        CREATE TABLE fact_anchors (
            scope INTEGER NOT NULL, session INTEGER NOT NULL, number INTEGER NOT NULL, extracted INTEGER NOT NULL
            DEFAULT 0, PRIMARY KEY (scope, session)
        ) WITHOUT ROWID;
        CREATE TABLE doubts (
            key INTEGER PRIMARY KEY, scope INTEGER NOT NULL REFERENCES scopes, kind TEXT NOT NULL,
            payload TEXT NOT NULL, at INTEGER NOT NULL
        );
        CREATE INDEX doubts_scope ON doubts (scope);
        CREATE TABLE tombstones (
            scope INTEGER NOT NULL REFERENCES scopes, hash BLOB NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (scope, hash)
        ) WITHOUT ROWID;
        CREATE TABLE receipts (
            key INTEGER PRIMARY KEY, scope INTEGER NOT NULL REFERENCES scopes, at INTEGER NOT NULL,
            receipt TEXT NOT NULL
        );
        CREATE INDEX receipts_scope ON receipts (scope);
        """,
    ),
]


def prepare(connections: Connections) -> None:
    """Check that the file is ours and sound, and bring it up to date.

    Raises InvalidInput for a folder or another program's database, SchemaTooNew for a file of a newer
    version (untouched), StoreCorrupt for damage.
    """
    if not connections.in_memory and Path(connections.path).is_dir():
        raise InvalidInput(
            f"{connections.path} is a folder. Give the path of a file, e.g. {connections.path}/chat.db"
        )
    connection = connections.raw()
    try:
        with typed_errors(connections.path):
            if _is_new(connection, connections.path):
                pending = [name for name, _ in MIGRATIONS]
            else:
                _check(connection, connections.path)
                pending = _pending(connection, connections.path)
            if pending and not connections.read_only:
                connections.configure(connection)
                _migrate(connection)
    finally:
        connection.close()


def _is_new(connection: apsw.Connection, path: str) -> bool:
    if connection.execute("SELECT count(*) FROM sqlite_schema").get == 0:
        return True
    if connection.pragma("application_id") != APPLICATION_ID:
        raise InvalidInput(f"{path} is another program's SQLite database. Give wellkept a path of its own.")
    return False


def _check(connection: apsw.Connection, path: str) -> None:
    """Large files are checked by ``wellkept doctor`` only: reading all of them would delay every start."""
    pages, size = connection.pragma("page_count"), connection.pragma("page_size")
    if pages * size <= QUICK_CHECK_BYTES:
        found = connection.execute("PRAGMA quick_check(1)").get
        if found != "ok":
            raise StoreCorrupt(f"{path} is damaged ({found}). Run: wellkept doctor --store {path}")


def _pending(connection: apsw.Connection, path: str) -> list[str]:
    done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    unknown = done - {name for name, _ in MIGRATIONS}
    if unknown:
        raise SchemaTooNew(
            f"{path} was written by a newer wellkept (it has: {', '.join(sorted(unknown))}). "
            "Update wellkept to open it; the file was not changed."
        )
    return [name for name, _ in MIGRATIONS if name not in done]


def _migrate(connection: apsw.Connection) -> None:
    """All that is pending in one transaction; another process may have been faster, so look again inside
    it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at INTEGER NOT NULL)"
        )
        done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        for name, script in MIGRATIONS:
            if name not in done:
                connection.execute(script)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (name, int(time.time() * 1000)))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
