"""A file of the time when facts had a text index of their own."""

from __future__ import annotations

import itertools
from pathlib import Path

import apsw
import pytest

from wellkept import Memory
from wellkept.policy.facts.conflict import fingerprint
from wellkept.store.sqlite import schema
from wellkept.store.sqlite.connection import Connections
from wellkept.store.sqlite.maintenance import doctor

ROWS = """
    INSERT INTO scopes (key, namespace, user) VALUES (7, 'acme', 'alice');
    INSERT INTO settings VALUES ('tokens', 'of then');
"""
FACT = """
    INSERT INTO facts (key, scope, state, fingerprint, pinned, text, claim, created, changed, terms)
    VALUES (?1, 7, ?2, ?3, 0, ?4, '{"subject":"user","labels":["food"]}', 1000, 1000, 9)
"""
LOG = "INSERT INTO fact_changes (scope, fact, action, actor, at, after) VALUES (7, ?, 'store', 'app', 1000, NULL)"
SAID = {4 << 40: (0, "Allergic to peanuts"), 5 << 40: (2, "喜欢恐龙"), 6 << 40: (1, "Allergic to eggs")}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with an active, an archived and a retired fact, as an older version left it."""
    path = str(tmp_path / "chat.db")
    before = itertools.takewhile(lambda migration: migration[0] != "fact_handles", schema.MIGRATIONS)
    with monkeypatch.context() as then:
        then.setattr(schema, "MIGRATIONS", list(before))
        then.setattr(schema, "is_of_other_words", lambda connection: False)
        connections = Connections(path)
        schema.prepare(connections)
        connections.close()
    connection = apsw.Connection(path)
    connection.execute(ROWS)
    for key, (state, text) in SAID.items():
        connection.execute(FACT, (key, state, fingerprint(text), text))
        connection.execute("INSERT INTO fact_terms (rowid, terms) VALUES (?, '7xold')", (key,))
        connection.execute(LOG, (key,))
    connection.close()
    return path


def test_the_doctor_knows_an_older_file(old: str) -> None:
    assert doctor(old).findings == ()
    connection = apsw.Connection(old)
    connection.execute("INSERT INTO event_terms (rowid, terms) VALUES (7, '7xghost')")
    connection.close()
    assert doctor(old, repair=True).healthy
    with Memory(old, worker=False) as memory:
        assert len(memory.user("alice", namespace="acme").get_all()) == 1


def test_facts_of_a_damaged_older_file_are_salvaged(old: str) -> None:
    connection = apsw.Connection(old)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events_ts'").get
    connection.close()
    data = bytearray(Path(old).read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\x5a" * 4096
    Path(old).write_bytes(data)
    report = doctor(old, repair=True)
    assert report.salvaged is not None
    with Memory(report.salvaged, worker=False) as memory:
        alice = memory.user("alice", namespace="acme")
        assert [fact.text for fact in alice.get_all()] == ["Allergic to peanuts"]
        assert [hit.text for hit in alice.search("peanut", kinds=["fact"])] == ["Allergic to peanuts"]


def test_facts_of_an_older_file_are_found_compared_and_counted(old: str) -> None:
    with Memory(old, worker=False) as memory:
        alice = memory.user("alice", namespace="acme")
        assert [fact.text for fact in alice.get_all()] == ["Allergic to peanuts"]
        assert [hit.text for hit in alice.search("恐", kinds=["fact"])] == ["喜欢恐龙"]
        assert [hit.text for hit in alice.search("food", kinds=["fact"])] != []
        assert alice.search("eggs", kinds=["fact"]) == []
        (again,) = alice.add("allergic to peanuts.", infer=False)["results"]
        assert again["event"] == "NONE"
        added, replaced = alice.add("Not allergic to peanuts", infer=False)["results"]
        assert (added["event"], replaced["event"]) == ("ADD", "DELETE")
    assert doctor(old).findings == ()
