"""Paths, disks and files that are not what they should be: a clear typed error or a right answer, nothing touched."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from wellkept import Memory, Policy
from wellkept.errors import InvalidInput, SchemaTooNew, StoreCorrupt, StoreError, StoreFull, StoreReadOnly
from wellkept.session import Session
from wellkept.store.sqlite.maintenance import doctor

ROOT = Path(__file__).resolve().parents[2]
QUICK = Policy(durability="normal")
NOBODY = 65534


def fill(path: Path, turns: int = 30) -> list[str]:
    with Memory(str(path), policy=QUICK, worker=False) as memory:
        session = memory.session(namespace="n", user="u", session_id="s", create=True)
        for turn in range(turns):
            session.add_message("user", f"第 {turn} 句 budget 12,500")
        return texts(session)


def texts(session: Session) -> list[str]:
    return [str(event.content) for event in session.get_events(limit=100_000)]


def reread(path: Path) -> list[str]:
    with Memory(str(path), worker=False) as memory:
        return texts(memory.session(namespace="n", user="u", session_id="s"))


# ── paths ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["with space.db", "对话 记忆.db", "a?b#c%41.db", "no-suffix", "emoji 😀.db", "-dash.db"]
)
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "文件 夹"
    folder.mkdir()
    said = fill(folder / name)
    assert (folder / name).is_file()
    assert reread(folder / name) == said
    with Memory(str(folder / name), worker=False) as memory:
        memory.backup(str(folder / f"copy of {name}"))
    assert reread(folder / f"copy of {name}") == said


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="folder"):
        Memory(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder"):
        Memory(str(tmp_path / "no" / "chat.db"))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    path.touch()
    assert reread_after_filling(path)


def reread_after_filling(path: Path) -> bool:
    return fill(path) == reread(path)


@pytest.mark.parametrize(
    "content", [b"hello, this is a letter\n" * 400, b"\0" * 8192, b"SQLite format 3\0" + b"\xff" * 9000, b"x"]
)
def test_another_kind_of_file_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="no wellkept store"):
        Memory(str(path))
    assert path.read_bytes() == content


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.execute("CREATE TABLE events (theirs)")
    connection.execute("INSERT INTO events VALUES (1)")
    before = path.read_bytes(), (tmp_path / "other.db-wal").read_bytes()
    with pytest.raises(InvalidInput, match="another program"):
        Memory(str(path))
    assert (path.read_bytes(), (tmp_path / "other.db-wal").read_bytes()) == before
    connection.close()


def test_a_database_from_the_future_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    fill(path)
    future = apsw.Connection(str(path))
    future.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    future.execute("INSERT INTO migrations VALUES ('time-travel', 1)")
    future.execute("CREATE TABLE paradox (x)")
    future.close()
    before = path.read_bytes(), (tmp_path / "chat.db-wal").read_bytes()
    assert before[1], "its newest commits are still in the log"
    for use in (lambda: Memory(str(path)), lambda: doctor(str(path)), lambda: doctor(str(path), repair=True)):
        with pytest.raises(SchemaTooNew, match="time-travel"):
            use()
    assert (path.read_bytes(), (tmp_path / "chat.db-wal").read_bytes()) == before


# ── rights ──────────────────────────────────────────────────────────────────────────────────────────────────


def as_nobody(path: Path) -> str:
    """What an ordinary user's program meets; rights do not bind root."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.write(writing, attempt(path).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read()


def attempt(path: Path) -> str:
    try:
        with Memory(str(path), worker=False) as memory:
            memory.session(namespace="n", user="u", session_id="s").add_message("user", "x")
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return "written"


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that an ordinary user can reach, which ``tmp_path`` is not for root's tests."""
    closed = [parent for parent in tmp_path.parents if parent.name.startswith(("pytest-", "popen-"))]
    for parent in (tmp_path, *closed):
        parent.chmod(0o755)
    yield tmp_path
    for parent in closed:
        parent.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork to change the user in")
def test_a_file_or_folder_without_the_right_to_write_says_so(open_folder: Path) -> None:
    path = open_folder / "chat.db"
    said = fill(path)
    path.chmod(0o444)
    open_folder.chmod(0o555)
    assert as_nobody(path) in ("StoreReadOnly", "StoreError")
    open_folder.chmod(0o700)
    assert as_nobody(path) == "StoreError"
    open_folder.chmod(0o777)
    assert as_nobody(path) == "StoreReadOnly"
    assert as_nobody(open_folder / "secret" / "chat.db") == "StoreError"
    path.chmod(0o644)
    assert reread(path) == said


# ── a full disk ─────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def tiny_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a disk of 1 MB cannot be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def until_full(memory: Memory) -> list[str]:
    """Texts that were acknowledged before the disk was full."""
    session = memory.session(namespace="n", user="u", session_id="s", create=True)
    said: list[str] = []
    with pytest.raises(StoreFull, match="Free some"):
        for number in itertools.count():
            event = session.add_message("user", f"{number} " + "word 词语 " * 100)
            said.append(str(event.content))
    assert texts(session) == said
    with contextlib.suppress(StoreFull):
        said.append(str(session.add_message("user", "small").content))
    assert texts(session) == said
    return said


@pytest.mark.skipif(shutil.which("mount") is None, reason="mounting a small disk needs the program mount")
def test_a_full_disk_of_one_megabyte(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk") as disk:
        with Memory(str(disk / "chat.db"), worker=False) as memory:
            said = until_full(memory)
            with pytest.raises(StoreFull):
                memory.backup(str(disk / "backup.db"))
            assert [name.name for name in disk.iterdir() if "backup" in name.name] == []
        assert reread(disk / "chat.db") == said
        assert doctor(str(disk / "chat.db")).healthy
        for file in ("chat.db", "chat.db-wal"):
            shutil.copy(disk / file, tmp_path / file)
    assert reread(tmp_path / "chat.db") == said, "with room again all is there"


def test_a_full_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without a disk: SQLite stops at a number of pages."""
    from wellkept.store.sqlite.connection import Connections

    configure = Connections.configure

    def small(self: Connections, connection: apsw.Connection) -> None:
        configure(self, connection)
        connection.pragma("max_page_count", 150)

    monkeypatch.setattr(Connections, "configure", small)
    path = tmp_path / "chat.db"
    with Memory(str(path), policy=QUICK, worker=False) as memory:
        said = until_full(memory)
    monkeypatch.undo()
    assert reread(path) == said
    assert doctor(str(path)).findings == ()
    with Memory(str(path), worker=False) as memory:
        session = memory.session(namespace="n", user="u", session_id="s")
        assert session.add_message("user", "room again").seq == len(said) + 1


# ── damage ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.6, 0.99])
@pytest.mark.parametrize("garbage", [b"", b"\xa5" * 5000])
def test_a_log_that_was_cut_or_spoilt_costs_only_its_end(tmp_path: Path, kept: float, garbage: bytes) -> None:
    path = tmp_path / "chat.db"
    memory = Memory(str(path), policy=QUICK, worker=False)
    session = memory.session(namespace="n", user="u", session_id="s", create=True)
    for turn in range(60):
        session.add_message("user", f"turn {turn}")
    said = texts(session)
    copy = tmp_path / "after the cut.db"
    shutil.copy(path, copy)
    log = (tmp_path / "chat.db-wal").read_bytes()
    (tmp_path / "after the cut.db-wal").write_bytes(log[: int(len(log) * kept)] + garbage)
    memory.close()
    try:
        found = reread(copy)
    except (StoreError, LookupError):
        assert kept < 0.5, "so early that not even the tables or the session were there"
        return
    assert found == said[: len(found)]
    assert kept < 0.9 or len(found) > 50
    assert doctor(str(copy)).findings == ()


def test_a_damaged_page_is_found_on_opening_and_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    fill(path, turns=800)
    connection = apsw.Connection(str(path))
    (page,) = connection.execute(
        "SELECT max(pageno) FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'"
    ).fetchone()
    connection.pragma("wal_checkpoint", "TRUNCATE")
    connection.close()
    with Memory(str(path), worker=False) as memory:
        with path.open("r+b") as file:
            file.seek((page - 1) * 4096)
            file.write(b"\x5a" * 4096)
        session = memory.session(namespace="n", user="u", session_id="s")
        with pytest.raises(StoreCorrupt, match="doctor"):
            session.get_events(limit=10_000)
        with pytest.raises(StoreCorrupt):
            memory.backup(str(tmp_path / "copy.db"))
        assert not (tmp_path / "copy.db").exists()
        assert not memory.doctor().healthy
    with pytest.raises(StoreCorrupt, match="doctor"):
        Memory(str(path))


def test_a_store_opened_for_reading_cannot_write(tmp_path: Path) -> None:
    from wellkept.records import Scope
    from wellkept.store.sqlite import SqliteStore

    path = tmp_path / "chat.db"
    fill(path)
    store = SqliteStore(str(path), read_only=True)
    assert store.read(lambda tables: tables.sessions.find(Scope("n", "u"), "s")) is not None
    with pytest.raises(StoreReadOnly):
        store.write(lambda tables: tables.sessions.scopes())
    store.close()
    with pytest.raises(StoreError):
        SqliteStore(str(tmp_path / "missing.db"), read_only=True)
    assert not (tmp_path / "missing.db").exists()


def test_a_path_may_be_a_path(tmp_path: Path) -> None:
    with Memory(tmp_path / "chat.db", worker=False) as memory:
        memory.session(namespace="n", user="u").add_message("user", "hello")
    assert (tmp_path / "chat.db").is_file()
