"""The tables, as named migrations. A released one is never edited; what comes later is a new one at the end.

An event's row key holds its session and its place: ``key = session << 24 | seq``. So a session's events lie side by
side in the file without a second index, and reading the newest ones costs the same however long the session is and
however many others there are.
"""

from __future__ import annotations

from wellkept.store.sqlite import actions, apikeys, logins, notewords, replies, tail, terms, traces, vectors

TRANSCRIPT = """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE scopes (
        key INTEGER PRIMARY KEY, namespace TEXT NOT NULL, user TEXT NOT NULL, UNIQUE (namespace, user)
    );
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY, scope INTEGER NOT NULL REFERENCES scopes, id TEXT NOT NULL,
        title TEXT NOT NULL, metadata TEXT, created INTEGER NOT NULL, active INTEGER NOT NULL,
        next_seq INTEGER NOT NULL DEFAULT 1, covered INTEGER NOT NULL DEFAULT 0,
        events INTEGER NOT NULL DEFAULT 0, turns INTEGER NOT NULL DEFAULT 0,
        tokens INTEGER NOT NULL DEFAULT 0, terms INTEGER NOT NULL DEFAULT 0,
        UNIQUE (scope, id)
    );
    CREATE INDEX sessions_active ON sessions (scope, active);
    CREATE TABLE events (
        key INTEGER PRIMARY KEY, scope INTEGER NOT NULL, role INTEGER NOT NULL, content TEXT NOT NULL,
        ts INTEGER NOT NULL, tokens INTEGER NOT NULL, terms INTEGER NOT NULL,
        speaker TEXT, metadata TEXT, idempotency_key TEXT
    );
    CREATE INDEX events_ts ON events (scope, ts);
    CREATE INDEX events_speaker ON events (scope, speaker) WHERE speaker IS NOT NULL;
    CREATE UNIQUE INDEX events_idempotency ON events (key >> 24, idempotency_key)
        WHERE idempotency_key IS NOT NULL;
"""
PROFILES = """
    CREATE TABLE profiles (
        scope INTEGER NOT NULL REFERENCES scopes, name TEXT NOT NULL, version INTEGER NOT NULL,
        text TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (scope, name, version)
    ) WITHOUT ROWID;
"""
JOBS = """
    CREATE TABLE jobs (
        key INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL REFERENCES scopes, session INTEGER,
        kind TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
        run_at INTEGER NOT NULL, created INTEGER NOT NULL, finished INTEGER, once TEXT,
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
"""
SUMMARIES = """
    CREATE TABLE summaries (
        key INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions, version INTEGER NOT NULL,
        topic TEXT NOT NULL, covers_from INTEGER NOT NULL, covers_to INTEGER NOT NULL,
        text TEXT NOT NULL, tokens INTEGER NOT NULL, by TEXT NOT NULL, at INTEGER NOT NULL,
        UNIQUE (session, version, topic)
    );
    CREATE TABLE ledger (
        key INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions, seq INTEGER NOT NULL,
        kind TEXT NOT NULL, value TEXT NOT NULL, text TEXT NOT NULL,
        UNIQUE (session, seq, kind, value)
    );
"""
FACTS = """
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
"""
# What facts are found by; the store makes it when it sees that its rules are newer than the file. One index does what
# two did: it lists the facts of a scope by state, and no two active ones say the same.
FACT_HANDLES = """
    DROP TABLE fact_postings;
    DROP TABLE fact_terms;
    CREATE TABLE fact_handles (
        scope INTEGER NOT NULL, handle INTEGER NOT NULL, fact INTEGER NOT NULL, PRIMARY KEY (scope, handle, fact)
    ) WITHOUT ROWID;
    ALTER TABLE facts ADD COLUMN words TEXT NOT NULL DEFAULT '';
    ALTER TABLE facts DROP COLUMN terms;
    DROP INDEX facts_scope;
    DROP INDEX facts_once;
    CREATE UNIQUE INDEX facts_scope ON facts (scope, state, CASE state WHEN 0 THEN fingerprint ELSE key END);
"""
TOMBSTONE_ORIGINS = """
    CREATE TABLE tombstone_origins (
        scope INTEGER NOT NULL REFERENCES scopes, salt TEXT NOT NULL, namespace TEXT NOT NULL, user TEXT NOT NULL,
        PRIMARY KEY (scope, salt, namespace, user)
    ) WITHOUT ROWID;
"""
# A question to the user keeps its number for good: who answers one that is gone must not answer another.
NUMBERED_DOUBTS = """
    CREATE TABLE numbered (
        key INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL REFERENCES scopes, kind TEXT NOT NULL,
        payload TEXT NOT NULL, at INTEGER NOT NULL
    );
    INSERT INTO numbered SELECT key, scope, kind, payload, at FROM doubts;
    DROP TABLE doubts;
    ALTER TABLE numbered RENAME TO doubts;
    CREATE INDEX doubts_scope ON doubts (scope);
"""

MIGRATIONS: list[tuple[str, str]] = [
    ("transcript", TRANSCRIPT + terms.SCHEMA.format(name="event")),
    ("profiles", PROFILES),
    ("jobs", JOBS),
    ("summaries", SUMMARIES + terms.SCHEMA.format(name="summary")),
    ("vectors", vectors.SCHEMA),
    ("facts", FACTS + terms.SCHEMA.format(name="fact")),
    ("traces", traces.SCHEMA),
    ("api_keys", apikeys.SCHEMA),
    ("replies", replies.SCHEMA),
    ("topics", "CREATE INDEX summaries_topic ON summaries (session, topic, version DESC)"),
    ("frequencies", "".join(terms.FREQUENCIES.format(name=name) for name in vectors.KINDS)),
    ("departures", "ALTER TABLE scopes ADD COLUMN departed INTEGER NOT NULL DEFAULT 0"),
    ("no_frequencies", "".join(f"DROP TABLE {name}_frequencies;" for name in vectors.KINDS)),
    # A list of sessions sorts those of one user; an index on the time of the last message cost a page for each message.
    ("tail", f"DROP INDEX sessions_active; {tail.SCHEMA}"),
    ("fact_handles", FACT_HANDLES),
    ("tombstone_origins", TOMBSTONE_ORIGINS),
    # A fact's changes are found among those of its user.
    ("log_by_user", "DROP INDEX fact_changes_fact"),
    ("noted", "ALTER TABLE scopes ADD COLUMN noted INTEGER NOT NULL DEFAULT 0"),
    ("note_words", notewords.SCHEMA + notewords.TAKE_OVER),
    ("numbered_doubts", NUMBERED_DOUBTS),
    ("failures", "ALTER TABLE jobs ADD COLUMN failures INTEGER NOT NULL DEFAULT 0"),
    ("logins", logins.SCHEMA),
    ("actions", actions.SCHEMA),
]
