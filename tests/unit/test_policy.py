"""The policy: defaults that the docs promise, and settings that make no sense are refused by name."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from wellkept import Memory, Policy
from wellkept.errors import InvalidInput


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("context_budget", 0),
        ("recent_window_size", 0),
        ("summarize_every", -1),
        ("recall_limit", 0),
        ("max_facts", 0),
        ("budget_margin", 1.5),
        ("profile_share", -0.1),
        ("summary_trigger", 2),
        ("time_zone", "Mars/Olympus"),
        ("durability", "sometimes"),
        ("debug_trace", -2),
        ("debug_trace", 1.5),
        ("debug_trace", None),
    ],
)
def test_settings_without_sense_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        Policy(**{name: value})


def test_shares_leave_room_for_the_conversation() -> None:
    with pytest.raises(InvalidInput, match="shares"):
        Policy(profile_share=0.5, facts_share=0.2, summary_share=0.2)


def test_a_policy_is_frozen_and_plain() -> None:
    policy = Policy()
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.context_budget = 5  # type: ignore[misc]
    assert Policy(**policy.to_dict() | {"redaction": ()}) == policy


def test_each_field_is_documented() -> None:
    documented = Policy.__doc__ or ""
    assert [field.name for field in dataclasses.fields(Policy) if f"{field.name}:" not in documented] == []


def test_the_margin_is_kept_for_estimates_only() -> None:
    long = "word " * 5_000
    with Memory(":memory:", policy=Policy(budget_margin=0.5), worker=False) as estimated:
        chat = estimated.session(namespace="n", user="u")
        chat.add_message("user", long)
        assert 400 < chat.get_context(budget=1_000).tokens <= 500
    with Memory(":memory:", tokenizer=len, policy=Policy(budget_margin=0.5), worker=False) as exact:
        chat = exact.session(namespace="n", user="u")
        chat.add_message("user", long)
        assert 900 < chat.get_context(budget=1_000).tokens <= 1_000


def test_the_budget_of_the_policy_is_the_default() -> None:
    with Memory(":memory:", tokenizer=len, policy=Policy(context_budget=300), worker=False) as memory:
        chat = memory.session(namespace="n", user="u")
        chat.add_message("user", "x" * 5_000)
        assert 250 < chat.get_context().tokens <= 300


def test_days_are_those_of_the_users_zone() -> None:
    from datetime import datetime, timezone

    with Memory(":memory:", tokenizer=len, policy=Policy(time_zone="Asia/Shanghai"), worker=False) as memory:
        chat = memory.session(namespace="n", user="u")
        late = datetime(2026, 3, 7, 20, 0, tzinfo=timezone.utc)
        chat.add_message("user", "会议定在三点" * 20, ts=late)
        chat.add_message("assistant", "好的")
        chat.add_message("user", "x" * 400, ts=late)
        system = chat.get_context(budget=900).system
        assert "2026-03-08" in system or system == ""
