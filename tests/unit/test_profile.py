"""The profile documents: read, written with a precondition, kept with every version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest

from wellkept import Memory
from wellkept.errors import Conflict, InvalidInput
from wellkept.profile import Profile
from wellkept.testing import FakeClock


@pytest.fixture
def profile() -> Iterator[Profile]:
    clock = FakeClock(datetime(2026, 3, 7, 15, 0, 0, 123456, tzinfo=timezone.utc))
    with Memory(":memory:", clock=clock, worker=False) as memory:
        yield memory.user("alice", namespace="acme").profile


def test_a_document_that_was_never_written_is_empty(profile: Profile) -> None:
    assert list(profile) == ["soul", "identity", "user"]
    assert [profile[name] for name in profile] == ["", "", ""]
    document = profile.get("soul")
    assert (document.version, document.updated_at) == (0, None)
    assert document.hash == hashlib.sha256(b"").hexdigest()


def test_what_is_written_is_what_is_read(profile: Profile) -> None:
    written = profile.set("user", "# 用户\n- 对花生过敏")
    assert profile.get("user") == written
    assert written.hash == hashlib.sha256("# 用户\n- 对花生过敏".encode()).hexdigest()
    assert profile["identity"] == ""


def test_writing_the_same_again_is_no_new_version(profile: Profile) -> None:
    profile["user"] = "a"
    assert profile.set("user", "a").version == 1
    assert profile.set("user", "b").version == 2
    assert [document.text for document in profile.versions("user")] == ["b", "a"]


def test_a_precondition_guards_against_lost_changes(profile: Profile) -> None:
    first = profile.set("user", "a")
    profile.set("user", "b", if_hash=first.hash)
    with pytest.raises(Conflict):
        profile.set("user", "c", if_hash=first.hash)
    with pytest.raises(Conflict):
        profile.set("user", "b", if_hash=first.hash)
    assert profile["user"] == "b"
    empty = profile.get("soul")
    assert profile.set("soul", "calm", if_hash=empty.hash).version == 1


@pytest.mark.parametrize("text", [None, 5, ["a"], b"a", "\ud800"])
def test_only_text_is_a_document(profile: Profile, text: Any) -> None:
    with pytest.raises(InvalidInput):
        profile["user"] = text
    assert profile["user"] == ""


def test_there_are_three_documents(profile: Profile) -> None:
    for use in (lambda: profile["memory"], lambda: profile.set("User", "x"), lambda: profile.versions("")):
        with pytest.raises(InvalidInput, match="soul, identity, user"):
            use()


def test_a_profile_is_in_the_context_under_its_name_and_stays_in_its_share() -> None:
    with Memory(":memory:", tokenizer=len, worker=False) as memory:
        memory.user("a", namespace="n").profile["user"] = "likes tea"
        memory.user("a", namespace="n").profile["soul"] = "x" * 5_000
        memory.user("b", namespace="n").profile["user"] = "likes coffee"
        chat = memory.session(namespace="n", user="a")
        chat.add_message("user", "hello")
        context = chat.get_context(budget=2_000)
        assert "## soul\n" in context.system[: context.boundary]
        assert "coffee" not in context.system
        assert "characters cut" in context.system
        assert context.parts["profile"] <= 2_000 * memory.policy.profile_share + len("## soul\n## user\n\n\n")
