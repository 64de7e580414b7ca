"""Backups, the doctor and what can be saved of a damaged file."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from wellkept import Memory, Policy
from wellkept.errors import InvalidInput, NotFound, SchemaTooNew, StoreCorrupt, StoreError
from wellkept.policy.facts.claims import Claim
from wellkept.records import Scope
from wellkept.session import Session
from wellkept.store.sqlite import schema
from wellkept.store.sqlite.maintenance import doctor

QUICK = Policy(durability="normal")
WORDS = ["预算", "budget", "恐龙", "meeting", "三点", "allergic", "周末", "Kyoto", "12,500", "plan"]


def fill(path: Path, *, users: int = 3, turns: int = 40) -> dict[str, list[str]]:
    """Texts by session id, as they were acknowledged."""
    randomly = random.Random(7)
    with Memory(str(path), policy=QUICK, worker=False) as memory:
        said: dict[str, list[str]] = {}
        for number in range(users):
            memory.user(f"u{number}", namespace="n").profile["user"] = f"用户 {number}"
            session = memory.session(namespace="n", user=f"u{number}", title=f"t{number}")
            for turn in range(turns):
                text = " ".join(randomly.choices(WORDS, k=30))
                session.add_messages(
                    [{"role": "user", "content": f"{turn} {text}"}, {"role": "assistant", "content": text}]
                )
            said[session.id] = read(session)
            remember(memory, Scope("n", f"u{number}"), f"Allergic to peanuts and 恐龙 {number}")
        memory.run_jobs()
    return said


def remember(memory: Memory, scope: Scope, text: str) -> None:
    store = memory._core.store
    store.write(lambda tables: tables.facts.begin(scope, "app", at=1).add(Claim(text=text)))


def read(session: Session) -> list[str]:
    return [str(event.content) for event in session.get_events(limit=100_000)]


def everything(path: Path) -> dict[str, list[str]]:
    with Memory(str(path), worker=False) as memory:
        return {
            info.id: read(memory.session(namespace=info.namespace, user=info.user, session_id=info.id))
            for scope in memory.scopes()
            for info in memory.user(scope.user, namespace=scope.namespace).sessions(limit=1_000)
        }


def change(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


# ── backup ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_backup_is_a_whole_store_of_one_moment_while_others_write(tmp_path: Path) -> None:
    path, copy = tmp_path / "chat.db", tmp_path / "备份 copy.db"
    fill(path)
    steps: list[tuple[int, int]] = []
    stop = threading.Event()
    with Memory(str(path), worker=False) as memory:
        busy = memory.session(namespace="n", user="busy")

        def write() -> None:
            while not stop.is_set():
                busy.add_messages(
                    [{"role": "user", "content": "question"}, {"role": "assistant", "content": "answer"}]
                )

        writer = threading.Thread(target=write)
        writer.start()
        try:
            memory.backup(str(copy), lambda done, total: steps.append((done, total)))
        finally:
            stop.set()
            writer.join()
    assert steps[-1][0] == steps[-1][1] > 0
    assert doctor(str(copy)).findings == ()
    kept = everything(copy)[busy.id]
    assert len(kept) % 2 == 0, "never half of a transaction"
    assert [name.name for name in tmp_path.iterdir() if "part" in name.name] == []


def test_a_memory_without_a_file_can_be_backed_up(tmp_path: Path) -> None:
    with Memory(":memory:", worker=False) as memory:
        session = memory.session(namespace="n", user="u")
        session.add_message("user", "恐龙")
        memory.backup(str(tmp_path / "copy.db"))
    assert everything(tmp_path / "copy.db") == {session.id: ["恐龙"]}


def test_an_older_backup_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path, copy = tmp_path / "chat.db", tmp_path / "copy.db"
    said = fill(path, users=1)
    copy.write_text("an older backup")
    with Memory(str(path), worker=False) as memory:
        memory.backup(str(copy))
    assert everything(copy) == said


def test_backups_to_impossible_places_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with Memory(str(path), worker=False) as memory, Memory(str(tmp_path / "other.db"), worker=False) as other:
        other.session(namespace="n", user="u")
        for target, word in (
            (tmp_path, "folder"),
            (path, "itself"),
            (tmp_path / "no" / "x.db", "Make it"),
            (tmp_path / "other.db", "in use"),
        ):
            with pytest.raises(InvalidInput, match=word):
                memory.backup(str(target))
        with pytest.raises(StoreError):
            memory.backup("/proc/backup.db")


def test_a_file_is_copied_before_a_migration_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chat.db"
    said = fill(path, users=1)
    later = [*schema.MIGRATIONS, ("later", "CREATE TABLE later (key INTEGER PRIMARY KEY);")]
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    assert everything(path) == said
    assert everything(path) == said
    monkeypatch.undo()
    (copy,) = tmp_path.glob("chat.db.before-later.*.bak")
    assert everything(copy) == said
    with pytest.raises(SchemaTooNew):
        Memory(str(path))


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chat.db"
    said = fill(path, users=1)
    broken = [
        *schema.MIGRATIONS,
        ("broken", "CREATE TABLE half (key INTEGER PRIMARY KEY); CREATE TABLE scopes (x);"),
    ]
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    with pytest.raises(StoreError, match="scopes"):
        Memory(str(path))
    monkeypatch.undo()
    assert everything(path) == said


# ── the doctor ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_sound_store_has_no_findings_and_repair_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    said = fill(path)
    assert doctor(str(path)).findings == ()
    assert doctor(str(path), repair=True).healthy
    assert everything(path) == said


@pytest.mark.parametrize(
    ("subject", "statements"),
    [
        ("counts", ["UPDATE sessions SET events = events + 1 WHERE key = 1"]),
        ("counts", ["UPDATE sessions SET next_seq = 2 WHERE key = 1"]),
        ("counts", ["UPDATE sessions SET turns = 0, tokens = 5, terms = 1 WHERE key = 2"]),
        ("index", ["INSERT INTO event_terms (event_terms) VALUES ('delete-all')"]),
        ("index", ["INSERT INTO event_terms (rowid, terms) VALUES (999999999, '1xghost 1xwords')"]),
        ("index", ["INSERT INTO event_terms (rowid, terms) VALUES (1 << 24 | 3, '1xextra')"]),
        ("index", ["UPDATE events SET content = 'other words' WHERE key = (1 << 24 | 5)"]),
        ("index", ["DELETE FROM fact_handles"]),
        ("index", ["UPDATE fact_handles SET handle = -handle - 1"]),
        ("index", ["INSERT INTO fact_handles SELECT DISTINCT scope, 5, 1 FROM fact_handles"]),
        ("index", ["UPDATE facts SET words = 'other' WHERE words <> ''"]),
        ("index", ["DELETE FROM note_words"]),
        ("index", ["UPDATE note_words SET count = count + 1"]),
        ("index", ["INSERT INTO note_words VALUES (1, 'ghost', 9999, 1)"]),
        ("references", ["DELETE FROM sessions WHERE key = 2"]),
        ("references", ["DELETE FROM scopes WHERE key = 3"]),
    ],
)
def test_what_does_not_agree_is_found_and_made_anew(
    tmp_path: Path, subject: str, statements: list[str]
) -> None:
    path = tmp_path / "chat.db"
    fill(path)
    change(path, *statements)
    assert subject in {finding.subject for finding in doctor(str(path)).findings}
    report = doctor(str(path), repair=True)
    assert report.healthy
    assert all(finding.repaired for finding in report.findings)
    assert doctor(str(path)).findings == ()
    assert sum(map(len, everything(path).values())) == 240, "no event is lost by a repair"


def test_a_homeless_session_is_nobodys_until_somebody_looks(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    fill(path)
    change(path, "DELETE FROM scopes WHERE key = 3")
    doctor(str(path), repair=True)
    with Memory(str(path), worker=False) as memory:
        assert memory.user("u2", namespace="n").sessions() == []
        assert len(memory.user("scope-3", namespace="recovered").sessions()) == 1


def test_the_doctor_works_on_an_open_memory_and_hears_of_jobs(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        memory.session(namespace="n", user="u").add_message("user", "x")
        assert memory.doctor(repair=True).findings == ()
        change(
            tmp_path / "chat.db",
            "INSERT INTO jobs (scope, kind, payload, state, run_at, created) VALUES (1, 'embed', '{}', 'failed', 1, 1)",
        )
        (finding,) = memory.doctor(repair=True).findings
        assert (finding.subject, finding.damage) == ("jobs", False)
        assert memory.doctor().healthy
    with Memory(":memory:", worker=False) as memory:
        assert memory.doctor(repair=True).healthy


def test_what_is_no_store_is_said_and_left_alone(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        doctor(str(tmp_path / "nothing.db"))
    foreign = tmp_path / "foreign.db"
    change(foreign, "CREATE TABLE theirs (x)")
    before = foreign.read_bytes()
    with pytest.raises(InvalidInput):
        doctor(str(foreign), repair=True)
    assert foreign.read_bytes() == before
    text = tmp_path / "text.db"
    text.write_text("hello " * 500)
    assert not doctor(str(text)).healthy
    with pytest.raises(StoreCorrupt):
        doctor(str(text), repair=True)
    assert text.read_text() == "hello " * 500


# ── salvage ─────────────────────────────────────────────────────────────────────────────────────────────────


def closed(path: Path) -> dict[str, list[str]]:
    said = fill(path, users=4, turns=60)
    change(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    return said


def scribble(path: Path, pages: list[int]) -> bytes:
    data = bytearray(path.read_bytes())
    for page in pages:
        data[(page - 1) * 4096 : page * 4096] = b"\x5a" * 4096
    path.write_bytes(bytes(data))
    return bytes(data)


def pages_of(path: Path, name: str, keep: Callable[[str], bool] = lambda kind: True) -> list[int]:
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT pageno, pagetype FROM dbstat WHERE name = ?", (name,)).fetchall()
    connection.close()
    return [int(number) for number, kind in rows if keep(str(kind))]


@pytest.mark.parametrize("which", [[3], [4, 9], [0], [-1]])
def test_a_damaged_page_costs_only_what_was_on_it(tmp_path: Path, which: list[int]) -> None:
    path = tmp_path / "对话 chat.db"
    said = closed(path)
    leaves = pages_of(path, "events", lambda kind: kind == "leaf")
    before = scribble(path, [leaves[number] for number in which])
    with pytest.raises(StoreCorrupt, match="doctor"):
        Memory(str(path))
    report = doctor(str(path), repair=True)
    assert report.salvaged is not None
    assert path.read_bytes() == before, "the damaged file stays as it is"
    found = everything(Path(report.salvaged))
    assert found.keys() == said.keys()
    for id, texts in found.items():
        assert [text for text in said[id] if text in set(texts)] == texts, "in order, nothing invented"
    total, kept = sum(map(len, said.values())), sum(map(len, found.values()))
    assert total - 30 * len(which) <= kept < total
    assert any("events of session" in line for line in report.lost)
    assert doctor(report.salvaged).findings == ()


@pytest.mark.parametrize(
    "name", ["sessions", "scopes", "profiles", "event_terms_data", "events_ts", "sqlite_schema"]
)
def test_any_damaged_page_is_survived_or_said(tmp_path: Path, name: str) -> None:
    path = tmp_path / "chat.db"
    said = closed(path)
    before = scribble(path, pages_of(path, name)[:1])
    try:
        report = doctor(str(path), repair=True)
    except StoreCorrupt:
        assert name == "sqlite_schema"
        assert path.read_bytes() == before
        return
    assert report.salvaged is not None
    texts = sorted(text for session in everything(Path(report.salvaged)).values() for text in session)
    assert texts == sorted(text for session in said.values() for text in session)
    assert doctor(report.salvaged).findings == ()


def test_whoever_may_not_read_a_store_may_not_read_what_is_made_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chat.db"
    closed(path)
    path.chmod(0o600)
    later = [*schema.MIGRATIONS, ("later", "CREATE TABLE later (key INTEGER PRIMARY KEY);")]
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    with Memory(str(path), worker=False) as memory:
        memory.backup(str(tmp_path / "copy.db"))
    scribble(path, pages_of(path, "events")[-1:])
    assert doctor(str(path), repair=True).salvaged is not None
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert len(modes) >= 4, "the store, its backup, the one before the migration, what was salvaged"
    assert set(modes.values()) == {0o600}, modes


# ── another tokenizer ───────────────────────────────────────────────────────────────────────────────────────


def test_messages_that_several_tokenizers_counted_are_counted_once_for_all(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    fill(path, users=1, turns=3)
    with Memory(str(path), policy=QUICK, tokenizer=len, worker=False) as memory:
        [info] = memory.user("u0", namespace="n").sessions()
        [note] = memory.doctor().findings
        assert (note.subject, note.damage, note.repaired) == ("tokens", False, False)
        assert doctor(str(path), repair=True).findings == (note,)  # it does not know by which
        [done] = memory.doctor(repair=True).findings
        assert done.repaired and memory.doctor().findings == ()
        session = memory.session(namespace="n", user="u0", session_id=info.id)
        assert session.info().tokens == sum(event.tokens for event in session.get_events()) != info.tokens
    connection = apsw.Connection(str(path))
    stored = connection.execute("SELECT length(content), tokens FROM events").fetchall()
    assert stored and all(tokens == size + 4 for size, tokens in stored)
