"""Erasure: what is forgotten is nowhere any more, and nothing else is gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wellkept import Memory, Policy
from wellkept.errors import InvalidInput, ModelError, NotFound, StoreBusy
from wellkept.records import text_of
from wellkept.session import Session
from wellkept.store.sqlite import scrub
from wellkept.testing import Call, FakeClock, FakeModel
from wellkept.user import UserMemory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    policy = Policy(debug_trace=-1, recent_window_size=1, summarize_every=2)
    with Memory(str(path), worker=False, clock=FakeClock(), policy=policy) as opened:
        yield opened


@pytest.fixture
def alice(memory: Memory) -> UserMemory:
    return memory.user("alice", namespace="acme")


@pytest.fixture
def chat(memory: Memory) -> Session:
    return memory.session(namespace="acme", user="alice")


def raw(path: Path) -> bytes:
    files = [path, Path(f"{path}-wal")]
    return b"".join(file.read_bytes() for file in files if file.exists())


def talk(memory: Memory, chat: Session) -> None:
    for number in range(5):
        chat.add_message("user", f"Message {number}: 我对花生过敏 and I adore marzipan, really")
        chat.add_message("assistant", f"Noted {number}: no 花生 for you, but marzipan")
        chat.get_context("marzipan")
        chat.add_message("user", f"The weather on day {number} is fine")
        memory.run_jobs()


def test_nothing_is_left_in_rows_index_summaries_traces_and_bytes(
    memory: Memory, alice: UserMemory, chat: Session, path: Path
) -> None:
    alice.add("The user adores marzipan", infer=False)
    alice.update(alice.get_all().results[0].id, "The user adores 花生 marzipan", labels=["marzipan"])
    talk(memory, chat)
    assert chat.summaries()
    preview = alice.forget("marzipan")
    assert len(preview.facts) == 1 and len(preview.events) == 10
    assert b"marzipan" in raw(path)
    receipt = alice.forget(preview)
    assert receipt.left == {}
    assert {"facts": 1, "fact_changes": 2, "events": 10}.items() <= receipt.removed.items()
    assert receipt.removed["summaries"] and receipt.removed["traces"]
    assert b"marzipan" not in raw(path)
    assert "花生".encode() not in raw(path)
    assert alice.search("marzipan") == []
    assert len(chat.get_recent(100)) == 5
    assert alice.receipts() == [receipt]


def test_a_preview_changes_nothing(alice: UserMemory, chat: Session) -> None:
    chat.add_message("user", "I like tea")
    alice.add("Likes tea", infer=False)
    alice.forget("tea")
    assert len(alice.get_all()) == 1
    assert len(chat.get_recent()) == 1


def test_erasing_is_final(alice: UserMemory) -> None:
    id = alice.add("Likes tea", infer=False)["results"][0]["id"]
    change = alice.history(id)[0].id
    alice.forget(alice.forget(ids=[id]))
    for attempt in (lambda: alice.get(id), lambda: alice.history(id), lambda: alice.undo(change)):
        with pytest.raises(NotFound):
            attempt()
    assert [change.action for change in alice.changes()] == ["erase"]
    assert "Likes tea" not in alice.memory_digest()


def test_what_replaced_or_was_replaced_stays(alice: UserMemory) -> None:
    old = alice.add("The user lives in Berlin", infer=False)["results"][0]["id"]
    new = alice.add("The user lives in Munich", infer=False)["results"][0]["id"]
    alice.forget(alice.forget(ids=[new]))
    assert alice.get(old).superseded_by is None
    assert alice.get(old).state == "retired"


@pytest.mark.parametrize("query", ["", "the", "的", "   ", "?!", "everything"])
def test_a_query_that_names_nothing_asks_back_and_does_nothing(alice: UserMemory, query: str) -> None:
    alice.add("Likes tea", infer=False)
    preview = alice.forget(query)
    assert preview.reason is not None
    with pytest.raises(InvalidInput, match="Nothing was forgotten"):
        alice.forget(preview)
    assert len(alice.get_all()) == 1


def test_a_query_that_matches_everything_asks_back(alice: UserMemory) -> None:
    for number in range(5):
        alice.add(f"The user owns boat number {number}", infer=False)
    preview = alice.forget("boat")
    assert "5 of this user's 5 memories" in (preview.reason or "")
    with pytest.raises(InvalidInput):
        alice.forget(preview)
    assert len(alice.get_all()) == 5
    with pytest.raises(InvalidInput, match="Say what to forget"):
        alice.forget()


def test_a_query_that_matches_most_asks_back(alice: UserMemory) -> None:
    for number in range(4):
        alice.add(f"The user owns boat number {number}", infer=False)
    alice.add("Likes tea", infer=False)
    alice.add("Lives in Oslo", infer=False)
    assert "4 of this user's 6 memories" in (alice.forget("boat").reason or "")
    assert alice.forget("tea").reason is None


@pytest.mark.parametrize("query", ["user", "home", "diet"])
def test_words_under_which_the_program_files_a_fact_do_not_find_it(alice: UserMemory, query: str) -> None:
    alice.add("Lives in Oslo", attribute="home", labels=["diet"], infer=False)
    assert alice.forget(query).facts == ()
    said = alice.add(f"Mentions the {query}", infer=False)["results"][0]["id"]
    preview = alice.forget(query)
    assert [fact.id for fact in preview.facts] == [said]
    assert len(preview.alike) == (query != "user")


def test_the_name_of_somebody_finds_what_is_filed_under_it(alice: UserMemory) -> None:
    alice.add("Likes tea", subject="Bob", infer=False)
    assert [fact.text for fact in alice.forget("bob").facts] == ["Likes tea"]


def test_another_users_same_words_stay(memory: Memory, alice: UserMemory, path: Path) -> None:
    bob = memory.user("bob", namespace="acme")
    for user in (alice, bob):
        user.add("Adores marzipan", infer=False)
    memory.session(namespace="acme", user="bob").add_message("user", "I adore marzipan")
    receipt = alice.forget(alice.forget("marzipan"))
    assert receipt.left == {}
    assert [fact.text for fact in bob.get_all()] == ["Adores marzipan"]
    assert len(bob.search("marzipan")) == 2
    assert b"marzipan" in raw(path)


def test_what_stands_in_a_profile_is_said_and_not_touched(alice: UserMemory) -> None:
    alice.profile["user"] = "Adores marzipan"
    alice.add("Adores marzipan", infer=False)
    assert alice.forget(alice.forget("marzipan")).left["profiles"] == 1
    assert alice.profile["user"] == "Adores marzipan"


def test_a_job_that_is_to_be_tried_again_keeps_nothing_of_its_last_try(path: Path) -> None:
    model = FakeModel(lambda call: ModelError("overloaded", raw_reply="Well, marzipan …", retryable=True))
    with Memory(str(path), worker=False, clock=FakeClock(), model=model) as memory:
        chat, alice = memory.session(namespace="acme", user="alice"), memory.user("alice", namespace="acme")
        chat.add_message("user", "I adore marzipan.")
        memory.run_jobs()
        assert [job.raw_reply for job in memory.jobs.list()] == ["Well, marzipan …"]
        assert alice.forget(alice.forget("marzipan")).left == {}
        assert [(job.state, job.raw_reply) for job in memory.jobs.list(kind="extract")] == [("ready", None)]
        assert b"marzipan" not in raw(path)


def test_what_a_job_was_told_before_is_not_stored_after_an_erasure(path: Path) -> None:
    def reply(call: Call) -> str:
        """Forgets while the job runs, and quotes all the same."""
        if (preview := alice.forget("marzipan")).reason is None:
            assert alice.forget(preview).left == {}
        return "Well, marzipan …"

    model = FakeModel(reply)
    with Memory(str(path), worker=False, clock=FakeClock(), model=model) as memory:
        chat, alice = memory.session(namespace="acme", user="alice"), memory.user("alice", namespace="acme")
        chat.add_message("user", "I adore marzipan.")
        memory.run_jobs()
        assert model.calls
        assert [job.raw_reply for job in memory.jobs.list() if job.raw_reply] == []
    assert b"marzipan" not in raw(path)


def test_what_a_profile_said_before_is_erased(alice: UserMemory, path: Path) -> None:
    for text in ("Drinks tea", "Adores marzipan", "Adores marzipan and tea"):
        alice.profile["user"] = text
    preview = alice.forget("marzipan")
    assert preview.places == {"profile": ("user",), "earlier profile": ("user",)}
    assert alice.forget(preview).left == {"profiles": 1}
    alice.profile["user"] = "Drinks tea again"
    preview = alice.forget("marzipan")
    assert preview.places == {"earlier profile": ("user",)}
    receipt = alice.forget(preview)
    assert (receipt.removed["profiles"], receipt.left) == (1, {})
    assert [it.text for it in alice.profile.versions("user")] == ["Drinks tea again", "Drinks tea"]
    assert b"marzipan" not in raw(path)


@pytest.mark.parametrize("query", ["peanuts", "PEANUTS", "Peanut"])
def test_a_profile_in_other_letter_case_is_said(alice: UserMemory, query: str) -> None:
    alice.profile["user"] = "Allergic to Peanuts"
    alice.add("Never eats peanuts", infer=False)
    assert alice.forget(alice.forget(query)).left == {"profiles": 1}


def test_the_name_of_a_document_is_no_word_of_the_users(alice: UserMemory) -> None:
    alice.profile["soul"] = "Be brief"
    alice.add("Loves soul music", infer=False)
    assert alice.forget(alice.forget("soul")).left == {}


def test_letter_case_is_ignored_beyond_ascii(alice: UserMemory) -> None:
    alice.profile["user"] = "Lives in ÖREBRO"
    alice.profile["identity"] = "养了一只貓"
    alice.add("Moved to Örebro", infer=False)
    assert alice.forget(alice.forget("örebro")).left == {"profiles": 1}
    alice.add("The user has a 猫", infer=False)
    assert alice.forget(alice.forget("猫")).left == {"profiles": 1}


def test_titles_of_all_sessions_are_emptied(memory: Memory, alice: UserMemory) -> None:
    other = memory.session(namespace="acme", user="alice", title="Peanuts talk")
    own = memory.session(namespace="acme", user="alice", title="On PEANUTS")
    own.add_message("user", "I never eat peanuts")
    preview = alice.forget("peanuts")
    assert set(preview.places["session title"]) == {own.id, other.id}
    receipt = alice.forget(preview)
    assert (receipt.left, receipt.removed["titles"]) == ({}, 2)
    assert own.info().title == other.info().title == ""


def test_a_single_han_character_is_looked_for(memory: Memory, alice: UserMemory) -> None:
    memory.session(namespace="acme", user="alice", metadata={"pet": "猫"})
    alice.profile["user"] = "养猫"
    alice.add("The user has a 猫", infer=False)
    preview = alice.forget("猫")
    assert set(preview.places) == {"session metadata", "profile"}
    assert alice.forget(preview).left == {"profiles": 1}


def test_a_short_word_is_looked_for_as_a_word(alice: UserMemory) -> None:
    alice.profile["user"] = "Plays in a steady team"
    alice.add("Likes tea", infer=False)
    assert alice.forget(alice.forget("tea")).left == {}
    alice.profile["user"] = "Tea, please"
    alice.add("Likes tea", infer=False)
    assert alice.forget(alice.forget("tea")).left == {"profiles": 1}


@pytest.mark.parametrize("residue", [b"marzipan", b"MARZIPAN", b"Marzipan"])
def test_bytes_in_other_letter_case_are_looked_for(memory: Memory, path: Path, residue: bytes) -> None:
    memory.user("alice", namespace="acme").add("Likes tea", infer=False)
    memory._core.store.scrub(["marzipan"])
    with path.open("ab") as file:  # behind the last page of the database
        file.write(residue.ljust(4096, b"\0"))
    left = memory._core.store.scrub(["marzipan"])
    assert (residue in raw(path)) == (left == 1)


def test_tool_calls_are_looked_into(alice: UserMemory, chat: Session) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "order", "arguments": '{"what": "marzipan"}'},
    }
    chat.add_message("user", "Order it")
    chat.add_messages([
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ])  # fmt: skip
    receipt = alice.forget(alice.forget("marzipan"))
    assert receipt.removed["events"] == 1
    assert receipt.left == {}
    assert chat.get_context().to_openai()[-1]["role"] == "user"


WORDS = ("marzipan", "花生", "anchovy", "kayak", "陶艺", "harp")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=4, max_size=12),
    target=st.sampled_from(WORDS),
)
def test_whatever_was_said_only_what_was_named_is_gone(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str]], target: str
) -> None:
    path = tmp_path_factory.mktemp("forget") / "chat.db"
    with Memory(str(path), worker=False) as memory:
        alice = memory.user("alice", namespace="acme")
        chat = memory.session(namespace="acme", user="alice")
        for number, (one, two) in enumerate(said):
            alice.add(f"Thing {number} of the user is {one}", infer=False)
            chat.add_message("user", f"{number} 我说 {one}, {two} 。")
        kept = [fact.text for fact in alice.get_all() if target not in fact.text]
        preview = alice.forget(target)
        if preview.reason is None:
            assert alice.forget(preview).left == {}
            assert target.encode() not in raw(path)
            assert [fact.text for fact in alice.get_all()] == kept


def test_a_preview_is_of_no_use_to_another_user() -> None:
    with Memory(":memory:", worker=False) as memory:
        chats = {
            user: memory.session(namespace="acme", user=user, session_id="s", create=True)
            for user in ("alice", "bob")
        }
        chats["alice"].add_message("user", "alice Quorvax")
        chats["bob"].add_message("user", "完全无关的一句话")
        preview = memory.user("alice", namespace="acme").forget("Quorvax")
        with pytest.raises(NotFound):
            memory.user("bob", namespace="acme").forget(preview)
        assert [event.content for event in chats["bob"].get_recent()] == ["完全无关的一句话"]
        assert memory.user("alice", namespace="acme").forget(preview).removed["events"] == 1


def held(alice: UserMemory, query: str) -> list[str]:
    return [str(text_of(event.content)) for event in alice.forget(query).events]


WORDS_IN = [
    ("Tom", ["Tom left", "TOM!", "I met Tom's sister", "和Tom吃饭", "Tom"]),
    ("13", ["room 13", "13岁了", "on the 13, at noon"]),
    ("Ann", ["Ann, hello", "ask ann"]),
    ("café", ["my cafe", "the Café", "CAFÉ!", "cafe\u0301 noir"]),
    ("花生", ["我对花生过敏", "花生酱", "花\u200b生"]),
    ("peanut", ["Peanuts!", "ｐｅａｎｕｔ", "pea\u200bnut", "pea\u00adnut"]),
    ("Tom Paris", ["met Tom Paris", "tom  paris", "Tom\nParis", "TOM PARIS."]),
    ("头发", ["我的頭髮很长"]),
    ("C++", ["I write C++ code"]),
    ("O'Brien", ["Mr O'Brien called", "O’Brien"]),
    ("alice@example.org", ["mail alice@example.org now"]),
    ("100%", ["100% sure"]),
]
WORDS_OUT = [
    ("Tom", ["tomorrow", "atom", "customs", "Tommy", "bottom", "automatic"]),
    ("13", ["2013", "130", "1.313", "A13", "9130"]),
    ("Ann", ["Anna", "annual", "banner", "cannot"]),
    ("art", ["party", "start", "artist"]),
    ("猫", ["我养狗"]),
    ("李明", ["李小明"]),
    ("Tom Paris", ["Paris Tom", "Tom went to Paris"]),
    ("her", ["there", "mother"]),
]


@pytest.mark.parametrize(("query", "texts"), WORDS_IN)
def test_a_word_is_found_however_it_is_written(
    alice: UserMemory, chat: Session, query: str, texts: list[str]
) -> None:
    for text in texts:
        chat.add_message("user", text)
    assert held(alice, query) == texts
    assert alice.forget(alice.forget(query)).left == {}
    assert chat.get_recent() == []


@pytest.mark.parametrize(("query", "texts"), WORDS_OUT)
def test_a_part_of_another_word_is_not_it(
    alice: UserMemory, chat: Session, query: str, texts: list[str]
) -> None:
    for text in texts:
        chat.add_message("user", text)
        alice.add(f"Said {text}", infer=False)
    chat.add_message("user", f"so: {query}.")
    preview = alice.forget(query)
    if preview.reason is None:
        assert ([event.content for event in preview.events], preview.facts) == ([f"so: {query}."], ())
        assert alice.forget(preview).left == {}
        assert len(chat.get_recent(100)) == len(texts)


def test_words_that_stand_apart_are_named_and_stay_when_the_phrase_is_there(
    alice: UserMemory, chat: Session
) -> None:
    whole = chat.add_message("user", "I met Tom Paris")
    apart = chat.add_message("user", "Tom lives in Paris")
    chat.add_message("user", "Paris is nice")
    preview = alice.forget("Tom Paris")
    assert ([event.id for event in preview.events], preview.alike) == ([whole.id], (apart.id,))
    alice.forget(preview)
    assert [event.id for event in alice.forget("Tom Paris").events] == [apart.id]


def test_a_text_that_is_spread_over_blocks_is_found(alice: UserMemory, chat: Session) -> None:
    blocks = [{"type": "text", "text": "I love mar"}, {"type": "text", "text": "zipan"}]
    chat.add_messages([{"role": "user", "content": blocks}])
    assert len(alice.forget("marzipan").events) == 1
    assert alice.forget(alice.forget("marzipan")).left == {}


def test_metadata_keys_and_speakers_are_looked_into(
    memory: Memory, alice: UserMemory, chat: Session, path: Path
) -> None:
    said = [
        chat.add_message("user", "one", metadata={"mood": {"about": ["Zanzibar"]}}),
        chat.add_message("user", "two", idempotency_key="trip-zanzibar-1"),
        chat.add_message("user", "three", speaker="Zanzibar"),
    ]
    kept = chat.add_message("user", "four", metadata={"about": "Rome"}, idempotency_key="trip-rome")
    other = memory.session(
        namespace="acme", user="alice", title="To ZANZIBAR", metadata={"trip": "Zanzibar", "year": 2026}
    )
    alice.keep("Travels a lot", metadata={"where": "Zanzibar"})
    preview = alice.forget("Zanzibar")
    assert preview.places == {
        "message metadata": (said[0].id,),
        "message idempotency_key": (said[1].id,),
        "message speaker": (said[2].id,),
        "session title": (other.id,),
        "session metadata": (other.id,),
    }
    receipt = alice.forget(preview)
    assert receipt.left == {}
    assert {"events": 3, "facts": 1, "titles": 1, "metadata": 1}.items() <= receipt.removed.items()
    assert [event.id for event in chat.get_recent()] == [kept.id]
    assert (other.info().title, other.info().metadata) == ("", {"year": 2026})
    assert b"anzibar" not in raw(path) and b"ANZIBAR" not in raw(path)


def test_a_question_that_quotes_it_goes_with_it(alice: UserMemory, chat: Session, memory: Memory) -> None:
    chat.add_message("user", "Marzipan is what I adore")
    scope = alice._scope
    memory._core.store.write(
        lambda tables: tables.doubts.add(scope, "forget", facts=[], text="forget marzipan", at=1)
    )
    assert alice.forget(alice.forget("marzipan")).left == {}
    assert alice.review() == []


def test_what_is_deleted_is_out_of_the_files_at_once(memory: Memory, chat: Session, path: Path) -> None:
    other = memory.session(namespace="acme", user="alice")
    for number in range(30):
        other.add_message("user", f"Something else {number}")
        chat.add_message("user", f"I adore marzipan {number}")
        chat.add_message("assistant", f"Quokka {number}")
    assert b"marzipan" in raw(path)
    chat.delete()
    assert b"marzipan" not in raw(path) and b"Quokka" not in raw(path)
    assert len(other.get_recent(100)) == 30


def test_a_turn_that_is_taken_away_is_out_of_the_files_at_once(chat: Session, path: Path) -> None:
    for number in range(30):
        chat.add_message("user", f"Something else {number}")
    chat.add_message("user", "I adore marzipan")
    chat.add_message("assistant", "Quokka")
    assert len(chat.pop_turn()) == 2
    assert b"marzipan" not in raw(path) and b"Quokka" not in raw(path)


def test_a_reader_is_not_waited_for_and_the_next_time_makes_up_for_it(
    memory: Memory, chat: Session, path: Path
) -> None:
    chat.add_message("user", "I adore marzipan")
    with Memory(str(path), worker=False) as another:
        begun, done = threading.Event(), threading.Event()

        def read(tables: object) -> None:
            another._core.store.read(lambda inner: inner.sessions.scopes())
            begun.set()
            done.wait(10)

        reader = threading.Thread(target=another._core.store.read, args=(read,))
        reader.start()
        begun.wait(10)
        chat.pop_turn()
        done.set()
        reader.join()
    assert memory._core.store.empty_log()
    assert b"marzipan" not in raw(path)


def test_an_erasure_leaves_a_job_that_is_done(memory: Memory, alice: UserMemory) -> None:
    alice.add("Likes tea", infer=False)
    receipt = alice.forget(alice.forget("tea"))
    assert not receipt.resumed
    assert [(job.state, job.payload) for job in memory.jobs.list(kind="erase")] == [
        ("done", {"removed": dict(receipt.removed)})
    ]
    assert memory.run_jobs() == 0


def test_an_erasure_that_a_reader_was_in_the_way_of_is_ended_later(path: Path) -> None:
    clock = FakeClock()
    with Memory(str(path), worker=False, clock=clock) as memory:
        alice = memory.user("alice", namespace="acme")
        memory.session(namespace="acme", user="alice").add_message("user", "I adore marzipan")
        preview = alice.forget("marzipan")
        with (
            patch.object(scrub, "BUSY_SECONDS", 0.1),
            Memory(str(path), worker=False) as another,
            pytest.raises(StoreBusy, match="tries again in a minute"),
        ):
            another._core.store.read(lambda tables: (tables.sessions.scopes(), alice.forget(preview)))
        assert alice.receipts() == []
        clock.advance(61)
        assert memory.run_jobs() == 1
        assert [(receipt.resumed, receipt.left) for receipt in alice.receipts()] == [(True, {})]
        assert b"marzipan" not in raw(path)


def test_even_the_shortest_text_leaves_the_log(alice: UserMemory, chat: Session, path: Path) -> None:
    chat.add_message("user", "猫")
    chat.add_message("user", "something else")
    alice.forget(alice.forget("猫"))
    assert "猫".encode() not in raw(path)


def test_words_of_the_program_itself_are_not_left_behind(alice: UserMemory) -> None:
    alice.add("Goes to the store on Mondays", infer=False)
    alice.add("Likes tea", infer=False)
    assert alice.forget(alice.forget("store")).left == {}


def test_receipts_and_jobs_of_erasures_are_not_left_behind(alice: UserMemory, chat: Session) -> None:
    for word in ("removed", "events", "events"):
        chat.add_message("user", f"I like the {word} here")
        receipt = alice.forget(alice.forget(word))
        assert (receipt.removed, receipt.left) == ({"events": 1}, {})
