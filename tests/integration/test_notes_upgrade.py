"""A file of the time when summaries and ledger had a full-text index."""

from __future__ import annotations

import itertools
from pathlib import Path

import apsw
import pytest

from wellkept import Memory
from wellkept.policy.text.words import index_tokens
from wellkept.store.sqlite import schema
from wellkept.store.sqlite.connection import Connections
from wellkept.store.sqlite.maintenance import doctor

ROWS = """
    INSERT INTO scopes (key, namespace, user) VALUES (10, 'acme', 'alice'), (11, 'acme', 'bob');
    INSERT INTO sessions (key, scope, id, title, created, active) VALUES (1, 10, 's', '', 0, 0), (2, 11, 't', '', 0, 0);
    INSERT INTO summaries (key, session, version, topic, covers_from, covers_to, text, tokens, by, at) VALUES
        (1, 1, 1, '', 1, 1, 'an older version', 4, 'x', 0), (2, 1, 2, '', 2, 2, 'Likes tea, green tea', 6, 'x', 0),
        (3, 2, 1, '', 1, 1, 'Bob likes coffee', 4, 'x', 0);
    INSERT INTO ledger (key, session, seq, kind, value, text) VALUES (2, 1, 1, 'number', '5', '小明五岁，喜欢恐龙');
"""
INDEXED = [
    (10, 2 << 4, "Likes tea, green tea"),
    (10, 2 << 4 | 8, "小明五岁，喜欢恐龙"),
    (11, 3 << 4, "Bob likes coffee"),
]


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = str(tmp_path / "chat.db")
    before = itertools.takewhile(lambda migration: migration[0] != "note_words", schema.MIGRATIONS)
    with monkeypatch.context() as then:
        then.setattr(schema, "MIGRATIONS", list(before))
        connections = Connections(path)
        schema.prepare(connections)
        connections.close()
    connection = apsw.Connection(path)
    connection.execute(ROWS)
    for scope, key, text in INDEXED:
        terms = " ".join(f"{scope:x}x{token}" for token in index_tokens(text))
        connection.execute("INSERT INTO summary_terms (rowid, terms) VALUES (?, ?)", (key, terms))
    connection.close()
    return path


def test_notes_of_an_older_file_are_found_by_each_of_their_words(old: str) -> None:
    with Memory(old, worker=False) as memory:
        alice, bob = (memory.user(name, namespace="acme") for name in ("alice", "bob"))
        assert [hit.text for hit in alice.search("green tea")] == ["Likes tea, green tea"]
        assert [hit.text for hit in alice.search("恐")] == ["小明五岁，喜欢恐龙"]
        assert alice.search("coffee") == [] == alice.search("older version")
        assert [hit.text for hit in bob.search("coffee")] == ["Bob likes coffee"]
    assert doctor(old).findings == ()


def test_the_doctor_knows_an_older_file(old: str) -> None:
    assert doctor(old).findings == ()
    connection = apsw.Connection(old)
    connection.execute("INSERT INTO event_terms (rowid, terms) VALUES (7, 'axghost')")
    connection.close()
    assert doctor(old, repair=True).healthy
    with Memory(old, worker=False) as memory:
        assert memory.user("alice", namespace="acme").search("tea")
