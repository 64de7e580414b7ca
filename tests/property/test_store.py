"""A store against a plain list: whatever is done in whatever order, it holds what a careful reader expects."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wellkept import Memory, Policy
from wellkept.records import Draft, Role
from wellkept.session import Session
from wellkept.testing import FakeClock

USERS = [("a", "x"), ("a", "y"), ("b", "x")]
words = st.lists(
    st.sampled_from(["预算", "budget", "恐龙", "三点", "meeting", "42", "2026-03-07", "Kyoto"]),
    min_size=1,
    max_size=6,
)
roles = st.sampled_from(["user", "user", "assistant", "system"])


class Store(RuleBasedStateMachine):
    """Each session is a list of (role, text); the clock jumps both ways; jobs run when they like."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock(datetime(2026, 3, 7, tzinfo=timezone.utc))
        policy = Policy(summarize_every=4, recent_window_size=2, context_budget=400)
        self.memory = Memory(":memory:", clock=self.clock, policy=policy, worker=False)
        self.sessions: dict[str, Session] = {}
        self.said: dict[str, list[tuple[int, Role, str]]] = {}
        self.next: dict[str, int] = {}

    def teardown(self) -> None:
        self.memory.close()

    def pick(self, number: int) -> Session:
        return self.sessions[sorted(self.sessions)[number % len(self.sessions)]]

    @rule(who=st.integers(0, 2))
    def open(self, who: int) -> None:
        namespace, user = USERS[who]
        session = self.memory.session(namespace=namespace, user=user)
        self.sessions[session.id], self.said[session.id], self.next[session.id] = session, [], 1

    @rule(hours=st.integers(-48, 48))
    def time_jumps(self, hours: int) -> None:
        self.clock.advance(hours=hours)

    @precondition(lambda self: self.sessions)
    @rule(number=st.integers(0, 99), batch=st.lists(st.tuples(roles, words), min_size=1, max_size=5))
    def append(self, number: int, batch: list[tuple[Any, list[str]]]) -> None:
        session = self.pick(number)
        drafts = [
            Draft(role=role, content=" ".join(text), speaker="小明" if len(text) == 2 else None)
            for role, text in batch
        ]
        stored = session.append(drafts)
        for event, draft in zip(stored, drafts, strict=True):
            assert event.seq == self.next[session.id]
            self.next[session.id] += 1
            self.said[session.id].append((event.seq, draft.role, str(draft.content)))

    @precondition(lambda self: self.sessions)
    @rule(number=st.integers(0, 99), text=words)
    def append_twice(self, number: int, text: list[str]) -> None:
        session = self.pick(number)
        key = f"key {self.next[session.id]}"
        first = session.add_message("user", " ".join(text), idempotency_key=key)
        assert session.add_message("user", " ".join(text), idempotency_key=key) == first
        self.next[session.id] += 1
        self.said[session.id].append((first.seq, "user", " ".join(text)))

    @precondition(lambda self: self.sessions)
    @rule(number=st.integers(0, 99))
    def pop(self, number: int) -> None:
        session = self.pick(number)
        taken = session.pop_turn()
        said = self.said[session.id]
        users = [place for place, (_, role, _) in enumerate(said) if role == "user"]
        start = users[-1] if users else 0
        assert [event.seq for event in taken] == [seq for seq, _, _ in said[start:]]
        del said[start:]

    @precondition(lambda self: len(self.sessions) > 1)
    @rule(number=st.integers(0, 99))
    def delete(self, number: int) -> None:
        session = self.pick(number)
        session.delete()
        del self.sessions[session.id], self.said[session.id]

    @rule()
    def work(self) -> None:
        self.memory.run_jobs()

    @precondition(lambda self: self.sessions)
    @rule(number=st.integers(0, 99), budget=st.integers(150, 600))
    def show(self, number: int, budget: int) -> None:
        session = self.pick(number)
        context = session.get_context(budget=budget)
        known = {seq for seq, _, _ in self.said[session.id]}
        assert context.tokens <= budget
        assert {event.seq for event in context.events if event.id.startswith(session.id)} <= known | {0, 1}

    @invariant()
    def every_session_reads_as_it_was_said(self) -> None:
        for id, session in self.sessions.items():
            events = session.get_events(limit=1_000)
            assert [(event.seq, event.role, event.content) for event in events] == self.said[id]

    @invariant()
    def the_lists_know_every_session_of_their_user_and_no_other(self) -> None:
        for namespace, user in USERS:
            listed = {
                info.id: info for info in self.memory.user(user, namespace=namespace).sessions(limit=1_000)
            }
            scopes = {id: session.scope for id, session in self.sessions.items()}
            assert set(listed) == {
                id for id, scope in scopes.items() if (scope.namespace, scope.user) == (namespace, user)
            }
            for id, info in listed.items():
                assert (info.events, info.turns) == (
                    len(self.said[id]),
                    sum(role == "user" for _, role, _ in self.said[id]),
                )

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        assert self.memory.doctor().findings == ()


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
