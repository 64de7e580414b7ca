"""Traces of any store: a ring for each session, given to their owner only, gone with what they show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.scene import ALICE, BOB, TWIN, open_session
from wellkept.records import Candidate, Policy, Scope, plain, utc
from wellkept.store.protocol import SessionRef, Store
from wellkept.store.traces import Trace


def trace(ref: SessionRef, number: int = 1, *, seq: int = 1, shown: str | None = None) -> Trace:
    candidate = Candidate(
        tier="recall", id=shown or f"{ref.id}:1", tokens=9, kept=True, reason="fits", score=0.5
    )
    return Trace(
        id=f"t{number}", session_id=ref.id, at=utc(5_000 + number), seq=seq, version=0, policy=plain(Policy()),
        query="恐龙?", budget=3000, system="系统", boundary=2, messages=[{"role": "user", "content": "你好"}],
        tokens=12, parts={"window": 12}, candidates=(candidate,),
        recalled=[{"id": "s9:1", "line": "[2026-01-01] user: 恐龙", "score": 0.5, "events": ["s9:1"]}],
    )  # fmt: skip


def add(store: Store, ref: SessionRef, *traces: Trace, keep: int = -1) -> None:
    for each in traces:
        store.write(lambda tables, each=each: tables.traces.add(ref, each, keep=keep))


def ids(store: Store, scope: Scope = ALICE, ref: SessionRef | None = None, **page: str) -> list[str]:
    found = store.read(lambda tables: tables.traces.list(scope, ref, limit=10, **page))
    return [each.id for each in found]


def erasures(store: Store, ref: SessionRef) -> int:
    return store.read(lambda tables: tables.traces.erasures(ref))


def test_a_trace_comes_back_as_it_was(store: Store, ref: SessionRef) -> None:
    add(store, ref, trace(ref))
    assert store.read(lambda tables: tables.traces.get(ALICE, "t1")) == trace(ref)


def test_the_same_trace_twice_is_one(store: Store, ref: SessionRef) -> None:
    add(store, ref, trace(ref), trace(ref))
    assert ids(store) == ["t1"]


def test_the_newest_come_first_and_page_by_page(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    add(store, ref, *(trace(ref, number) for number in (1, 2, 3)))
    add(store, other, trace(other, 4))
    assert ids(store) == ["t4", "t3", "t2", "t1"]
    assert ids(store, ref=ref) == ["t3", "t2", "t1"]
    assert ids(store, before="t3") == ["t2", "t1"]


def test_only_the_newest_of_each_session_are_kept(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    add(store, other, trace(other, 9), keep=2)
    for number in range(1, 6):
        add(store, ref, trace(ref, number), keep=2)
    assert ids(store) == ["t5", "t4", "t9"]


@pytest.mark.parametrize("stranger", [BOB, TWIN])
def test_nobody_else_sees_or_removes_them(store: Store, ref: SessionRef, stranger: Scope) -> None:
    open_session(store, stranger, "s1")
    add(store, ref, trace(ref))
    assert store.read(lambda tables: tables.traces.get(stranger, "t1")) is None
    assert ids(store, stranger) == []
    assert store.write(lambda tables: tables.traces.remove(stranger)) == 0
    assert ids(store) == ["t1"]


def test_removing_takes_all_of_a_user_and_is_counted(store: Store, ref: SessionRef) -> None:
    add(store, ref, trace(ref, 1), trace(ref, 2))
    before = erasures(store, ref)
    assert store.write(lambda tables: tables.traces.remove(ALICE)) == 2
    assert ids(store) == []
    assert erasures(store, ref) > before


def test_what_is_taken_from_a_session_goes_from_the_traces_that_may_show_it(
    store: Store, ref: SessionRef
) -> None:
    other, namesake = open_session(store, ALICE, "s2"), open_session(store, ALICE, "s11")
    add(store, ref, trace(ref, 1, seq=3), trace(ref, 2, seq=7))
    add(store, other, trace(other, 3, shown="s1:7"), trace(other, 4, shown="s1/summary/2"), trace(other, 5))
    add(store, namesake, trace(namesake, 6))
    before = erasures(store, ref)
    assert store.write(lambda tables: tables.traces.remove_from(ref, 5)) == 3
    assert ids(store) == ["t6", "t5", "t1"]
    assert erasures(store, ref) > before


@pytest.mark.parametrize("id", ['quo"te', "back\\slash", "中文"])
def test_any_session_id_is_found_in_other_traces(store: Store, ref: SessionRef, id: str) -> None:
    odd = open_session(store, ALICE, id)
    add(store, ref, trace(ref, 1, shown=f"{id}:4"))
    assert store.write(lambda tables: tables.traces.remove_from(odd, 0)) == 1


def test_traces_go_with_their_session(store: Store, ref: SessionRef) -> None:
    other = open_session(store, ALICE, "s2")
    add(store, ref, trace(ref, 1))
    add(store, other, trace(other, 2))
    before = erasures(store, other)
    removed = store.write(lambda tables: tables.sessions.delete(ref))
    assert removed["traces"] == 1
    assert ids(store) == ["t2"]
    assert erasures(store, other) > before


def test_unknown_fields_of_a_policy_do_not_hurt(store: Store, ref: SessionRef) -> None:
    odd = replace(trace(ref), policy={"context_budget": 9, "of_the_future": True})
    add(store, ref, odd)
    assert store.read(lambda tables: tables.traces.get(ALICE, "t1")) == odd
