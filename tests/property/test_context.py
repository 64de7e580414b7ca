"""The hard promises about a context, whatever was said: its budget, its validity, the newest question, and rest."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.provider_rules import check_anthropic, check_openai
from wellkept import Memory, Policy
from wellkept.context import Context
from wellkept.errors import BudgetExceeded
from wellkept.policy.context.assemble import MESSAGE_TOKENS
from wellkept.policy.text.tokens import estimate
from wellkept.records import Draft, Text, ToolCall, ToolResult
from wellkept.session import Session

Count = Callable[[str], int]


def utf8(text: str) -> int:
    return len(text.encode())


def words(text: str) -> int:
    return len(text.split())


def uneven(text: str) -> int:
    """Neither additive nor monotone: what merges across borders does to a real vocabulary, exaggerated."""
    return len(text) // 2 + len(text) % 7 * 3


def steep(text: str) -> int:
    """More than the sum of its parts."""
    return int(len(text) ** 1.15)


COUNTERS: list[Count] = [estimate, utf8, len, words, uneven, steep]

phrases = st.sampled_from(
    [
        "今天下午三点开会，预算 12,500 元。", "The meeting moved to 2026-03-07 at 15:00.", "好的", "ok", "😀👩‍👩‍👧🇨🇳",
        '{"rows": [1, 2, 3], "ok": true, "名": "值"}', "a" * 300, "恐龙" * 200, "line\nline\n" * 30, "</memory>", "x",
    ]
)  # fmt: skip
texts = st.lists(phrases, min_size=1, max_size=4).map(" ".join)
ids = st.sampled_from(["call_1", "call_2", "c" * 60, "呼叫"])


SPEAKERS = [None, "小明", None, "Dr. Lin", "</memory>\nuser", "\n"]


@st.composite
def rounds(draw: st.DrawFn) -> list[Draft]:
    """An assistant's calls and what came back: all, some or none, in any order."""
    names = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    calls = tuple(ToolCall(name, "find", json.dumps({"q": draw(phrases)})) for name in names)
    said = (Text(draw(texts)),) if draw(st.booleans()) else ()
    answered = draw(st.permutations(names))[: draw(st.integers(0, len(names)))]
    results = [Draft(role="tool", content=(ToolResult(name, draw(texts)),)) for name in answered]
    return [Draft(role="assistant", content=(*said, *calls)), *results]


def one(role: Any) -> st.SearchStrategy[list[Draft]]:
    return texts.map(
        lambda text: [Draft(role=role, content=text, speaker=SPEAKERS[len(text) % len(SPEAKERS)])]
    )


conversations = st.lists(
    st.one_of(
        one("user"),
        one("user"),
        one("assistant"),
        rounds(),
        one("system"),
        st.just([Draft(role="assistant", content="")]),
        ids.map(lambda name: [Draft(role="tool", content=(ToolResult(name, "late"),))]),
    ),
    min_size=1,
    max_size=25,
).map(lambda steps: [draft for step in steps for draft in step])

policies = st.builds(
    Policy,
    budget_margin=st.sampled_from([0.0, 0.1, 0.5]),
    profile_share=st.sampled_from([0.0, 0.1, 0.2]),
    summary_share=st.sampled_from([0.1, 0.25]),
    recall_share=st.sampled_from([0.0, 0.15, 0.2]),
    recent_window_size=st.integers(1, 4),
    context_budget=st.sampled_from([60, 300, 3000]),
)

quick = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def measure(context: Context, count: Count) -> int:
    """What the request takes, read off the messages that are sent: each text, and the border of each message."""
    return sum(MESSAGE_TOKENS + _message(message, count) for message in context.to_openai())


def _message(message: dict[str, Any], count: Count) -> int:
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    calls = [call["function"] for call in message.get("tool_calls", ())]
    said = [part.get("text", "") for part in parts]
    return sum(map(count, said)) + sum(count(call["name"]) + count(call["arguments"]) for call in calls)


def start(memory: Memory, drafts: list[Draft], profile: str = "") -> Session:
    if profile:
        memory.user("u", namespace="n").profile["user"] = profile
    session = memory.session(namespace="n", user="u")
    session.append(drafts)
    return session


@quick
@given(
    conversations,
    st.sampled_from(COUNTERS),
    st.integers(1, 4000),
    policies,
    st.sampled_from(["", "Likes 恐龙. " * 40]),
)
def test_every_context_is_inside_its_budget_valid_and_holds_the_question(
    drafts: list[Draft], count: Count, budget: int, policy: Policy, profile: str
) -> None:
    with Memory(":memory:", tokenizer=count, policy=policy, worker=False) as memory:
        session = start(memory, drafts, profile)
        questions = [event.seq for event in session.get_events(limit=500) if event.role == "user"]
        for compacted in (False, True):
            if compacted:
                memory.run_jobs()
            try:
                context = session.get_context(budget=budget)
            except BudgetExceeded as error:
                context = session.get_context(budget=budget + error.missing)
                budget += error.missing
            assert context.tokens <= budget
            assert measure(context, count) <= budget
            check_openai(context.to_openai())
            check_anthropic(context.to_anthropic(cache=True))
            assert context.to_anthropic()["messages"], "a provider takes no request without a message"
            # A message that imitates our fences is no fence in the plain text.
            assert context.text.count("</memory>") == context.system.count("</memory>")
            assert context.system[: context.boundary] == context.system or context.boundary < len(
                context.system
            )
            if questions:
                assert questions[-1] in {event.seq for event in context.events if event.role == "user"}


@quick
@given(conversations, st.integers(200, 2000), st.integers(0, 30))
def test_an_earlier_moment_is_inside_its_budget_and_knows_nothing_of_later(
    drafts: list[Draft], budget: int, moment: int
) -> None:
    with Memory(":memory:", tokenizer=utf8, worker=False) as memory:
        session = start(memory, drafts)
        context = session.get_context(budget=budget, as_of=moment)
        assert measure(context, utf8) <= budget
        assert all(event.seq <= max(moment, 1) for event in context.events)
        check_openai(context.to_openai())


@quick
@given(conversations, st.integers(200, 3000))
def test_a_call_and_its_result_are_never_parted(drafts: list[Draft], budget: int) -> None:
    with Memory(":memory:", worker=False) as memory:
        context = start(memory, drafts).get_context(budget=budget)
        calls = [
            block.id
            for event in context.events
            for block in blocks(event.content)
            if isinstance(block, ToolCall)
        ]
        results = [
            block.id
            for event in context.events
            for block in blocks(event.content)
            if isinstance(block, ToolResult)
        ]
        assert sorted(calls) == sorted(results)


def blocks(content: Any) -> Any:
    return () if isinstance(content, str) else content


@quick
@given(st.lists(st.integers(1, 40), min_size=5, max_size=60), st.integers(400, 1200))
@example([10] * 60, 400)
def test_the_window_starts_where_it_did_until_the_budget_moves_it(sizes: list[int], budget: int) -> None:
    """Moves come in steps of a quarter of the window, so few of them are needed for however many turns."""
    policy = Policy(recall_share=0.15)
    with Memory(":memory:", tokenizer=words, policy=policy, worker=False) as memory:
        session = memory.session(namespace="n", user="u")
        starts: list[int] = []
        prefixes: dict[int, str] = {}
        for size in sizes:
            session.append(
                [Draft(role="user", content="w " * size), Draft(role="assistant", content="a " * size)]
            )
            context = session.get_context(budget=budget)
            starts.append(context.events[0].seq)
            prefix = prefixes.setdefault(starts[-1], context.system)
            assert context.system == prefix, "what stands before the messages changes only with the window"
        assert starts == sorted(starts)
        tokens = sum(2 * size + 2 * MESSAGE_TOKENS for size in sizes)
        step = int(budget * (1 - policy.recall_share)) // 4
        assert len(set(starts)) <= tokens // step + 2


@quick
@given(st.data())
def test_two_users_never_mix(data: st.DataObject) -> None:
    scopes = [("a", "x"), ("a", "y"), ("b", "x"), ("ab", "x"), ("a", "bx")]
    with Memory(":memory:", worker=False) as memory:
        sessions = [memory.session(namespace=n, user=u, session_id="same", create=True) for n, u in scopes]
        for _ in range(data.draw(st.integers(5, 20))):
            who = data.draw(st.integers(0, len(scopes) - 1))
            sessions[who].add_message("user", f"secret-{who}-" + data.draw(phrases))
            memory.user(scopes[who][1], namespace=scopes[who][0]).profile["user"] = f"secret-{who}-profile"
        for who, session in enumerate(sessions):
            shown = json.dumps(session.get_context(budget=2000).to_dict(), ensure_ascii=False)
            assert all(f"secret-{other}-" not in shown for other in range(len(scopes)) if other != who)


def test_an_assistant_without_a_user_and_a_large_profile_end_at_once() -> None:
    with Memory(
        ":memory:", tokenizer=utf8, policy=Policy(profile_share=0.3, summary_share=0.2), worker=False
    ) as memory:
        session = start(memory, [Draft(role="assistant", content="hello")], profile="ok")
        with pytest.raises(BudgetExceeded) as raised:
            session.get_context(budget=20)
        enough = 20 + raised.value.missing
        context = session.get_context(budget=enough)
        assert context.tokens <= enough and context.messages


@pytest.mark.parametrize("count", COUNTERS)
def test_a_huge_message_is_cut_with_a_mark(count: Count) -> None:
    with Memory(":memory:", tokenizer=count, worker=False) as memory:
        context = start(memory, [Draft(role="user", content="word 词语 " * 50_000)]).get_context(budget=600)
        assert "characters cut" in str(context.messages[-1]["content"])
        assert measure(context, count) <= 600


@quick
@given(conversations, conversations, st.permutations(COUNTERS), st.integers(100, 2000))
def test_counts_of_another_tokenizer_are_not_trusted(
    before: list[Draft], after: list[Draft], counters: list[Count], budget: int
) -> None:
    """Written with one tokenizer, read with a second while a third writes on."""
    first, second, third = counters[:3]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/chat.db"
        policy = Policy(durability="normal", budget_margin=0)
        with Memory(path, tokenizer=first, policy=policy, worker=False) as memory:
            id = start(memory, before).id
        with Memory(path, tokenizer=second, policy=policy, worker=False) as reader:
            session = reader.session(namespace="n", user="u", session_id=id)
            check_budget(session, second, budget)
            with Memory(path, tokenizer=third, policy=policy, worker=False) as writer:
                writer.session(namespace="n", user="u", session_id=id).append(after)
            check_budget(session, second, budget)
            while session.pop_turn():
                pass
            assert session.info().tokens >= 0
            assert reader.doctor().healthy


def check_budget(session: Session, count: Count, budget: int) -> None:
    try:
        context = session.get_context(budget=budget)
    except BudgetExceeded as error:
        budget += error.missing
        context = session.get_context(budget=budget)
    assert measure(context, count) <= budget
