"""The outbox of background work in SQLite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from wellkept.records import Scope, utc
from wellkept.store.jobs import GONE, HELD_BACK, NEVER, SILENT, Job, JobState
from wellkept.store.protocol import SessionRef
from wellkept.store.sqlite.sessions import dump, ensure_scope, load

ADD = """
    INSERT INTO jobs (scope, session, kind, payload, state, run_at, created, once) VALUES (?, ?, ?, ?,
    'ready', ?, ?, ?) ON CONFLICT DO NOTHING RETURNING key
"""
# Asked before, because an insertion that comes to nothing costs many times as much.
WAITS = "SELECT 1 FROM jobs WHERE scope = ? AND kind = ? AND state = 'ready' AND once = ?"
# A running job's run_at is the end of its lease: one whose worker died is due without anybody looking for it. The states
# are named as in the index.
DOUBT = """
    UPDATE jobs SET run_at = ?2, last_error = ?3 WHERE state IN ('ready', 'running') AND run_at <= ?1
    AND state = 'running' AND last_error IS NOT ?3
"""
CLAIM = """
    UPDATE jobs SET attempts = attempts + 1, run_at = ?2, state = 'running', failures = failures + (state = 'running'),
        last_error = CASE state WHEN 'running' THEN ?4 ELSE last_error END
    WHERE key = (
        SELECT key FROM jobs WHERE state IN ('ready', 'running') AND run_at <= ?1
        AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3))) ORDER BY run_at, key LIMIT 1
    ) RETURNING key
"""
RENEW = """
    UPDATE jobs SET run_at = ?3, last_error = nullif(last_error, ?4) WHERE key = ?1 AND state = 'running' AND attempts = ?2
"""
FINISH = """
    UPDATE jobs SET state = ?2, finished = CASE WHEN ?2 = 'ready' THEN NULL ELSE ?3 END, last_error = ?4,
        raw_reply = coalesce(?5, raw_reply), usage = ?6, result = ?7, run_at = coalesce(?8, run_at), failures = ?10,
        once = CASE WHEN ?2 = 'ready' AND NOT EXISTS (SELECT 1 FROM jobs w WHERE w.scope = jobs.scope AND w.kind = jobs.kind
            AND w.state = 'ready' AND w.once = jobs.once) THEN once END
    WHERE key = ?1 AND state = 'running' AND attempts = ?9
"""
BOOK = """
    INSERT INTO spend (scope, day, kind, calls, input_tokens, output_tokens)
    SELECT scope, ?2, kind, ?3, ?4, ?5 FROM jobs WHERE key = ?1
    ON CONFLICT DO UPDATE SET calls = calls + ?3, input_tokens = input_tokens + ?4, output_tokens =
    output_tokens + ?5
"""
SPENT = """
    SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM spend JOIN scopes c ON c.key = scope
    WHERE c.namespace = ? AND day = ?
"""
SPEND = """
    SELECT day, c.user, kind, calls, input_tokens, output_tokens FROM spend JOIN scopes c ON c.key = scope
    WHERE c.namespace = ?1 AND (?2 IS NULL OR day >= ?2) ORDER BY day, c.user, kind
"""
_SELECT = """
    SELECT j.key, j.kind, c.namespace, c.user, s.id, j.payload, j.state, j.attempts, j.failures, j.run_at,
        j.created, j.finished, j.last_error, j.raw_reply, j.usage, j.result
    FROM jobs j JOIN scopes c ON c.key = j.scope LEFT JOIN sessions s ON s.key = j.session
"""
GET = f"{_SELECT} WHERE j.key = ?1 AND (?2 IS NULL OR c.namespace = ?2)"
LIST = f"""{_SELECT}
    WHERE (?1 IS NULL OR c.namespace = ?1) AND (?2 IS NULL OR c.user = ?2) AND (?3 IS NULL OR j.state = ?3)
    AND (?4 IS NULL OR j.kind = ?4) AND (?5 IS NULL OR j.key < ?5) ORDER BY j.key DESC LIMIT ?6
"""
COUNTS = "SELECT state, count(*) FROM jobs GROUP BY state"
NEXT_DUE = """
    SELECT run_at FROM jobs WHERE state IN ('ready', 'running') AND kind IN (SELECT value FROM json_each(?))
    ORDER BY run_at LIMIT 1
"""
POSTPONE = """
    UPDATE jobs SET run_at = ? WHERE scope = ? AND kind = ? AND state = 'ready' AND once = ? AND attempts = 0 AND run_at > ?
"""
HASTEN = "UPDATE jobs SET run_at = ?2 WHERE state = 'ready' AND kind = ?1 AND attempts = 0 AND run_at > ?2"
HASTEN_SESSION = (
    "UPDATE jobs SET run_at = ?2 WHERE session = ?3 AND state = 'ready' AND kind = ?1 AND run_at > ?2"
)
HELD = """
    SELECT run_at FROM jobs WHERE scope = ? AND kind = ? AND state = 'ready' AND once = ? AND last_error = ?
"""
SET_STATE = """
    UPDATE jobs SET state = ?2, run_at = ?3, once = NULL, failures = 0,
        finished = CASE WHEN ?2 = 'ready' THEN NULL ELSE ?3 END
    WHERE key = ?1 AND state IN (SELECT value FROM json_each(?4))
"""


class Jobs:
    """See ``store.jobs.Jobs``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def put(
        self,
        scope: Scope,
        kind: str,
        *,
        ref: SessionRef | None = None,
        payload: Mapping[str, Any] | None = None,
        at: int,
        due: int | None = None,
        once: str | None = None,
    ) -> int | None:
        owner = ref.scope_key if ref else ensure_scope(self._db, scope)
        if once is not None and self._db.execute(WAITS, (owner, kind, once)).get:
            return None
        values = (
            owner,
            ref.key if ref else None,
            kind,
            dump(payload) or "{}",
            at if due is None else due,
            at,
            once,
        )
        key: int | None = self._db.execute(ADD, values).get
        return key

    def waits(self, ref: SessionRef, kind: str, once: str) -> bool:
        return self._db.execute(WAITS, (ref.scope_key, kind, once)).get is not None

    def claim(self, *, at: int, lease: int, kinds: Sequence[str] | None = None) -> Job | None:
        wanted = json.dumps(list(kinds)) if kinds is not None else None
        self._db.execute(DOUBT, (at, at + lease, SILENT))
        key = self._db.execute(CLAIM, (at, at + lease, wanted, GONE)).get
        return self.get(key) if key is not None else None

    def renew(self, job: Job, *, until: int) -> bool:
        self._db.execute(RENEW, (job.id, job.attempts, until, SILENT))
        return self._db.changes() > 0

    def finish(
        self,
        job: Job,
        state: JobState,
        *,
        at: int,
        day: str,
        failures: int = 0,
        error: str | None = None,
        raw_reply: str | None = None,
        usage: Mapping[str, int] | None = None,
        result: Mapping[str, Any] | None = None,
        run_at: int | None = None,
    ) -> bool:
        spent = usage or {}
        total = {
            name: spent.get(name, 0) + (job.usage or {}).get(name, 0)
            for name in {**(job.usage or {}), **spent}
        }
        outcome = (error, raw_reply, dump(total), dump(result), run_at)
        self._db.execute(FINISH, (job.id, state, at, *outcome, job.attempts, failures))
        held = self._db.changes() > 0
        if spent:  # tokens are spent even when the result comes too late
            self._db.execute(
                BOOK,
                (job.id, day, *(spent.get(name, 0) for name in ("calls", "input_tokens", "output_tokens"))),
            )
        return held

    def spent(self, namespace: str, day: str) -> int:
        return int(self._db.execute(SPENT, (namespace, day)).get)

    def spend(self, namespace: str, *, since: str | None = None) -> list[dict[str, Any]]:
        names = ("day", "user", "kind", "calls", "input_tokens", "output_tokens")
        return [dict(zip(names, row, strict=True)) for row in self._db.execute(SPEND, (namespace, since))]

    def get(self, id: int, namespace: str | None = None) -> Job | None:
        row = self._db.execute(GET, (id, namespace)).fetchone()
        return _job(row) if row else None

    def list(
        self,
        *,
        namespace: str | None = None,
        scope: Scope | None = None,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Job]:
        tenant = scope.namespace if scope else namespace
        values = (tenant, scope.user if scope else None, state, kind, before, limit)
        return [_job(row) for row in self._db.execute(LIST, values)]

    def counts(self) -> dict[str, int]:
        return dict(self._db.execute(COUNTS))

    def next_due(self, kinds: Sequence[str]) -> int:
        due = self._db.execute(NEXT_DUE, (json.dumps(list(kinds)),)).get
        return NEVER if due is None else int(due)

    def postpone(self, ref: SessionRef, kind: str, once: str, *, at: int, due: int) -> None:
        self._db.execute(POSTPONE, (due, ref.scope_key, kind, once, at))

    def held_back(self, ref: SessionRef, kind: str, once: str) -> datetime | None:
        due = self._db.execute(HELD, (ref.scope_key, kind, once, HELD_BACK)).get
        return None if due is None else utc(due)

    def hasten(self, kind: str, *, at: int, ref: SessionRef | None = None) -> int:
        if ref is None:
            self._db.execute(HASTEN, (kind, at))
        else:
            self._db.execute(HASTEN_SESSION, (kind, at, ref.key))
        return self._db.changes()

    def set_state(self, id: int, state: JobState, *, at: int, allowed: Sequence[JobState]) -> bool:
        self._db.execute(SET_STATE, (id, state, at, json.dumps(list(allowed))))
        return self._db.changes() > 0


def _job(row: tuple[Any, ...]) -> Job:
    key, kind, namespace, user, session, payload, state, attempts, failures, *rest = row
    run_at, created, finished, error, raw, usage, result = rest
    return Job(
        id=key,
        kind=kind,
        scope=Scope(namespace, user),
        session_id=session,
        payload=load(payload),
        state=state,
        attempts=attempts,
        failures=failures,
        run_at=utc(run_at),
        created_at=utc(created),
        finished_at=utc(finished) if finished is not None else None,
        last_error=error,
        raw_reply=raw,
        usage=load(usage) or None,
        result=load(result) or None,
    )
