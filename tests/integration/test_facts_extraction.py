"""Extraction: batches, failing models, exactly once, wishes, and what a context tells of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from wellkept import Memory, Policy
from wellkept.errors import NotFound
from wellkept.session import Session
from wellkept.testing import Call, FakeClock, FakeModel
from wellkept.user import UserMemory


def memory_of(content: str, quote: str, **more: Any) -> dict[str, Any]:
    return {
        "subject": "user",
        "attribute": "",
        "content": content,
        "labels": [],
        "keywords": [],
        "quote": quote,
        **more,
    }


def answer(*memories: dict[str, Any], intent: str = "none") -> str:
    return json.dumps({"intent": intent, "memories": list(memories)}, ensure_ascii=False)


TEA = memory_of("The user likes tea", "I like tea", attribute="drink", labels=["drinks"])


class World:
    """A memory with a scripted model, a chat and a clock."""

    def __init__(self, path: Path, script: Any, **policy: Any) -> None:
        self.clock = FakeClock()
        self.model = FakeModel(script)
        self.memory = Memory(
            str(path / "chat.db"), model=self.model, worker=False, clock=self.clock, policy=Policy(**policy)
        )
        self.chat: Session = self.memory.session(namespace="acme", user="alice")
        self.alice: UserMemory = self.memory.user("alice", namespace="acme")

    def say(self, text: str, **more: Any) -> None:
        self.clock.advance(minutes=1)
        self.chat.add_message("user", text, **more)

    @property
    def texts(self) -> list[str]:
        return [fact.text for fact in self.alice.get_all()]

    def job(self) -> Any:
        return self.memory.jobs.list(kind="extract")[0]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    made: list[World] = []

    def make(script: Any, **policy: Any) -> World:
        made.append(World(tmp_path, script, **policy))
        return made[-1]

    yield make
    for each in made:
        each.memory.close()


def test_without_a_model_no_job_is_made(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        memory.session(namespace="acme", user="alice").add_message("user", "I like tea")
        memory.run_jobs()
        assert memory.jobs.list(kind="extract") == []


def test_a_batch_of_messages_is_one_model_call(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    for text in ("I like tea", "I own a boat", "I live in Berlin"):
        here.say(text)
        here.chat.add_message("assistant", "I see")
    here.memory.run_jobs()
    assert len(here.model.calls) == 1
    shown = here.model.calls[0].text
    assert "[1] 2026-01-01 (Thursday):\nI like tea" in shown
    assert "I see" not in shown
    assert here.texts == ["The user likes tea"]
    assert here.job().result["stored"] == [fact.id for fact in here.alice.get_all()]
    assert here.job().usage["calls"] == 1
    assert here.memory.spend(namespace="acme")[0]["kind"] == "extract"


def test_few_messages_are_read_when_it_is_silent_and_many_at_once(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA), extract_every=3, extract_idle=90)
    here.say("I like tea")
    said = here.clock()
    here.clock.advance(seconds=30)
    here.chat.add_message("assistant", "Noted")
    job = here.job()
    assert job.created_at == said
    assert job.run_at == said + timedelta(seconds=120), "whoever speaks: it is not silent"
    here.say("I own a boat")
    assert here.job().run_at > here.clock()
    here.say("I live in Berlin")
    assert here.job().run_at == here.clock()
    here.chat.add_message("assistant", "Noted")
    assert here.job().run_at == here.clock(), "what is due stays due"
    assert len(here.memory.jobs.list(kind="extract")) == 1


def test_the_end_of_a_session_is_waited_for_by_nobody(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    assert not here.chat.end(), "nothing was said"
    here.say("I like tea")
    assert here.chat.end()
    assert here.memory._runner.run_due() == 1
    assert here.texts == ["The user likes tea"]
    assert not here.chat.end()
    here.say("I own a boat")
    assert here.job().state == "ready", "it can be gone on with"


def test_a_session_that_is_gone_or_has_no_model_ends_in_peace(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        chat = memory.session(namespace="acme", user="alice")
        chat.add_message("user", "I like tea")
        assert not chat.end()
        chat.delete()
        with pytest.raises(NotFound):
            chat.end()


def test_questions_and_orders_cost_no_call(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    for text in ("Do I like tea?", "Please translate this.", "ok", "👍", "?"):
        here.say(text)
    here.memory.run_jobs()
    assert here.model.calls == []
    assert here.job().state == "done"
    assert [each["event"] for each in here.job().result["unasked"]] == [1, 2, 3, 4, 5]
    assert "nothing to ask" in here.job().result["unasked"][0]["reason"]


@pytest.mark.parametrize(
    ("message", "content", "quote"),
    [
        ("I am allergic to nuts, what can I eat?", "The user is allergic to nuts", "I am allergic to nuts"),
        ("As a vegetarian, what should I eat in Lyon?", "The user is a vegetarian", "As a vegetarian"),
        ("You should know I am diabetic.", "The user is diabetic", "I am diabetic"),
        ("Find me a restaurant, I don't eat pork.", "The user does not eat pork", "I don't eat pork"),
        ("我对花生过敏，能吃沙茶吗？", "用户对花生过敏", "我对花生过敏"),
        ("你记错了，我住在杭州。", "用户住在杭州", "我住在杭州"),
        ("请记住我对花生过敏", "用户对花生过敏", "我对花生过敏"),
        ("查理是我的儿子", "查理是用户的儿子", "查理是我的儿子"),
        ("我对花生过敏，上次忘了带药。", "用户对花生过敏", "我对花生过敏"),
        ("I always forget names, and I own a boat.", "The user owns a boat", "I own a boat"),
        ("Forget my dogs, I am allergic to latex.", "The user is allergic to latex", "I am allergic to latex"),
    ],
)  # fmt: skip
def test_what_is_said_in_one_breath_with_something_else_is_kept(
    world: Callable[..., World], message: str, content: str, quote: str
) -> None:
    here = world(lambda call: answer(memory_of(content, quote)))
    here.say(message)
    here.memory.run_jobs()
    assert here.texts == [content]
    assert len(here.model.calls) == 1


def test_old_messages_are_not_asked_about_again(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    here.say("I like tea")
    here.memory.run_jobs()
    here.say("I own a boat")
    here.memory.run_jobs()
    assert "I like tea" not in here.model.calls[1].text
    assert "drinks" in here.model.calls[1].text
    assert here.alice.extract() == 0


def test_a_broken_answer_gets_one_chance_and_then_a_failed_job_to_retry(world: Callable[..., World]) -> None:
    here = world(["oops", "still oops", answer(TEA)])
    here.say("I like tea")
    here.memory.run_jobs()
    job = here.job()
    assert (job.state, here.texts) == ("failed", [])
    assert "oops" in job.raw_reply and "still oops" in job.raw_reply
    assert "asked twice" in job.last_error
    here.memory.jobs.retry(job.id)
    here.memory.run_jobs()
    assert here.texts == ["The user likes tea"]


@pytest.mark.parametrize(
    "script",
    [
        ["The user likes Quorvax", "still The user likes Quorvax"],
        [answer(memory_of("The user likes QUORVAX", "never said so"))],
    ],
    ids=["raw_reply", "refused"],
)
def test_what_jobs_hold_in_other_letter_case_is_forgotten(world: Callable[..., World], script: Any) -> None:
    here = world(script)
    here.say("I like quorvax a lot")
    here.memory.run_jobs()
    job = here.job()
    assert "quorvax" in f"{job.raw_reply}{job.result}".lower()
    receipt = here.alice.forget(here.alice.forget("quorvax"))
    assert (receipt.removed["jobs"], receipt.left) == (1, {})
    assert here.memory.jobs.list(kind="extract") == []


def test_a_broken_answer_is_mended_by_the_second(world: Callable[..., World]) -> None:
    here = world(["{", answer(TEA)])
    here.say("I like tea")
    here.memory.run_jobs()
    assert here.texts == ["The user likes tea"]
    assert "could not be used" in here.model.calls[1].text


def test_refusals_can_be_read(world: Callable[..., World]) -> None:
    more = [memory_of(f"The user likes tea and item {n}", "I like tea") for n in range(500)]
    here = world(answer(TEA, *more))
    here.say("I like tea")
    here.memory.run_jobs()
    result = here.job().result
    assert here.texts == ["The user likes tea"]
    assert result["unusable"] + len(result["refused"]) == 500
    assert {each["reason"] for each in result["refused"]} <= {
        "the message does not say 'item'",
        "the number '0' is not in the quote",
    } | {each["reason"] for each in result["refused"] if "is not in the quote" in each["reason"]}


def test_at_most_so_many_facts_of_one_message(world: Callable[..., World]) -> None:
    words = ("tea", "rain", "chess", "boats", "snow")
    text = "I like " + ", I like ".join(words)
    here = world(answer(*(memory_of(f"The user likes {word}", f"I like {word}") for word in words)))
    here.say(text)
    here.memory.run_jobs()
    assert here.texts == ["The user likes tea", "The user likes rain", "The user likes chess"]


def test_a_worker_that_dies_before_it_stores_leaves_nothing_twice(
    world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = world(lambda call: answer(TEA))
    here.say("I like tea")
    write = here.memory._core.store.write
    calls = 0

    def dying(work: Any) -> Any:
        nonlocal calls
        calls += 1
        if here.model.calls and calls > 2:
            raise SystemExit("killed between the reply and the store")
        return write(work)

    monkeypatch.setattr(here.memory._core.store, "write", dying)
    with pytest.raises(SystemExit):
        here.memory.run_jobs()
    monkeypatch.undo()
    assert here.texts == []
    for _ in range(2):
        here.clock.advance(hours=1)
        here.memory.run_jobs()
    assert here.texts == ["The user likes tea"]
    assert len(here.model.calls) == 2


def test_what_was_said_meanwhile_forgotten_is_not_stored(world: Callable[..., World]) -> None:
    def script(call: Call) -> str:
        here.alice.forget(here.alice.forget("tea"))
        return answer(TEA)

    here = world(script)
    here.say("I like tea")
    here.memory.run_jobs()
    assert here.texts == []
    assert here.alice.search("tea") == []


def test_the_daily_ceiling_stores_now_and_extracts_later(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA), daily_tokens=1)
    here.say("I like tea")
    here.memory.run_jobs()
    here.say("I live in Berlin")
    here.memory.run_jobs()
    assert here.job().state == "ready"
    assert "tomorrow" in here.job().last_error
    here.say("I own a boat")
    assert len(here.chat.get_recent()) == 3
    assert len(here.memory.jobs.list(state="ready")) == 1, "one job waits, however much is said"
    [finding] = here.memory.doctor().findings
    assert "'acme' wait until 2026-01-02 00:00 UTC" in finding.text and not finding.damage
    [missing] = [each for each in here.chat.get_context().trace if each.id == "extraction"]
    assert "daily_tokens" in missing.reason and not missing.kept
    here.clock.advance(days=1)
    here.memory.run_jobs()
    assert here.job().state == "done"
    assert here.memory.doctor().findings == ()
    assert "extraction" not in [each.id for each in here.chat.get_context().trace]


def test_what_the_assistant_or_a_tool_said_is_no_source(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA, memory_of("The user likes cola", "You like cola")))
    here.say("I like tea")
    here.chat.add_message("assistant", "You like cola")
    here.memory.run_jobs()
    assert here.texts == ["The user likes tea"]


def test_facts_carry_their_source_and_quote(world: Callable[..., World]) -> None:
    here = world(answer({**TEA, "quote": "I like tea"}))
    here.say("Well, I like tea")
    here.memory.run_jobs()
    [fact] = here.alice.get_all()
    assert fact.sources == (f"{here.chat.id}:1",)
    assert fact.quote == "I like tea"
    assert fact.valid_from == here.clock()
    assert here.alice.search("tea", kinds=["fact"])[0].events == fact.sources


# ── corrections, wishes, hands ───────────────────────────────────────────────────────────────────────────────


def test_cola_coffee_cola_ends_with_cola_and_two_retired(world: Callable[..., World]) -> None:
    def script(call: Call) -> str:
        drink = "咖啡" if "咖啡" in call.text else "可乐"
        return answer(
            memory_of(f"用户喜欢喝{drink}", f"我喜欢喝{drink}", attribute="drink"), intent="replace"
        )

    here = world(script)
    for text in ("我喜欢喝可乐", "我现在换了，我喜欢喝咖啡", "我又换回来了，我喜欢喝可乐"):
        here.say(text)
        here.memory.run_jobs()
    facts = here.alice.get_all(states=["active", "retired"])
    assert [(fact.text, fact.state) for fact in facts] == [
        ("用户喜欢喝可乐", "retired"),
        ("用户喜欢喝咖啡", "retired"),
        ("用户喜欢喝可乐", "active"),
    ]
    assert [fact.superseded_by for fact in facts] == [facts[1].id, facts[2].id, None]


def test_a_doubtful_correction_waits_for_a_decision(world: Callable[..., World]) -> None:
    soup = memory_of("The user loves tom yum", "I love tom yum", attribute="food")
    here = world(
        [
            answer(memory_of("The user is allergic to nuts", "I'm allergic to nuts", attribute="food")),
            answer(soup, intent="replace"),
        ]
    )
    here.say("I'm allergic to nuts")
    here.memory.run_jobs()
    here.say("Actually I love tom yum")
    here.memory.run_jobs()
    assert here.texts == ["The user is allergic to nuts", "The user loves tom yum"]
    [doubt] = here.alice.review()
    assert doubt.kind == "replace"
    here.alice.settle(doubt.id, accept=False)
    assert (here.alice.review(), len(here.texts)) == ([], 2)


def test_an_accepted_doubt_retires_the_older_one(world: Callable[..., World]) -> None:
    here = world([
        answer(memory_of("The user drinks tea", "I drink tea", attribute="drink")),
        answer(memory_of("The user prefers cocoa", "I prefer cocoa", attribute="drink"), intent="replace"),
    ])  # fmt: skip
    here.say("I drink tea")
    here.memory.run_jobs()
    here.say("now I prefer cocoa")
    here.memory.run_jobs()
    [doubt] = here.alice.review()
    here.alice.settle(doubt.id, accept=True)
    assert here.texts == ["The user prefers cocoa"]


def test_a_wish_retires_at_once_and_leaves_the_erasure_to_a_decision(world: Callable[..., World]) -> None:
    here = world([answer(TEA), answer(intent="forget")])
    here.say("I like tea")
    here.memory.run_jobs()
    id = here.alice.get_all().results[0].id
    here.say("Please forget that I like tea")
    here.memory.run_jobs()
    assert here.texts == []
    assert here.alice.get(id).state == "retired"
    [doubt] = here.alice.review()
    receipt = here.alice.settle(doubt.id, accept=True)
    assert receipt is not None and receipt.removed["facts"] == 1 and receipt.left == {}
    assert here.alice.review() == []


def test_a_wish_undone_brings_the_fact_back(world: Callable[..., World]) -> None:
    here = world([answer(TEA), answer(intent="forget")])
    here.say("I like tea")
    here.memory.run_jobs()
    here.say("Please forget that I like tea")
    here.memory.run_jobs()
    here.alice.undo(here.alice.changes()[-1].id)
    assert (here.texts, here.alice.review()) == (["The user likes tea"], [])


def test_a_wish_among_other_messages_needs_the_models_word_too(world: Callable[..., World]) -> None:
    here = world([answer(TEA), answer(), answer(intent="forget")])
    here.say("I like tea")
    here.memory.run_jobs()
    for text in ("I live in Oslo", "Please forget that I like tea"):
        here.say(text)
    here.memory.run_jobs()
    assert here.texts == ["The user likes tea"]
    assert [doubt.kind for doubt in here.alice.review()] == ["forget"]
    for text in ("I own a boat", "Please forget that I like tea"):
        here.say(text)
    here.memory.run_jobs()
    assert here.texts == []


@pytest.mark.parametrize(
    "message", ["Did you forget that I like tea?", "I won't forget the tea", "He wants to delete tea"]
)
def test_what_is_no_wish_forgets_nothing(world: Callable[..., World], message: str) -> None:
    here = world([answer(TEA), answer(intent="forget")])
    here.say("I like tea")
    here.memory.run_jobs()
    here.say(message)
    here.memory.run_jobs()
    assert (here.texts, here.alice.review()) == (["The user likes tea"], [])


@pytest.mark.parametrize("wish", ["Forget that I like tea", "Forget what I just said"])
def test_in_a_group_a_wish_reaches_only_what_its_speaker_said(world: Callable[..., World], wish: str) -> None:
    here = world(
        [answer(memory_of("Bob likes tea", "I like tea", subject="Bob")), *[answer(intent="forget")] * 2]
    )
    here.say("I like tea", speaker="Bob")
    here.memory.run_jobs()
    here.say(wish, speaker="Eve")
    here.memory.run_jobs()
    assert here.texts == ["Bob likes tea"]
    here.say(wish, speaker="Bob")
    here.memory.run_jobs()
    assert here.texts == []


def test_a_models_word_alone_forgets_nothing(world: Callable[..., World]) -> None:
    here = world([answer(TEA), answer(intent="forget")])
    here.say("I like tea")
    here.memory.run_jobs()
    here.say("I own a boat")
    here.memory.run_jobs()
    assert (here.texts, here.alice.review()) == (["The user likes tea"], [])


def test_a_wish_that_takes_everything_asks_back(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(intent="forget"))
    for number in range(6):
        here.alice.add(f"The user owns boat {number}", infer=False)
    here.say("Forget about the boats, all boats: forget boat")
    here.memory.run_jobs()
    assert len(here.texts) == 6
    assert {doubt.kind for doubt in here.alice.review()} == {"forget"}


def test_the_same_source_does_not_bring_a_forgotten_fact_back(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    here.say("I like tea")
    here.memory.run_jobs()
    here.alice.forget(here.alice.forget("tea"))
    old = here.clock()
    here.clock.advance(days=1)
    again = here.memory.session(namespace="acme", user="alice")
    again.add_message("user", "I like tea", ts=old)  # the same conversation, imported again
    here.memory.run_jobs()
    assert here.texts == []
    assert here.job().result["refused"][0]["reason"] == "it was forgotten"
    again.add_message("user", "I like tea")  # said anew
    here.memory.run_jobs()
    assert here.texts == ["The user likes tea"]


def test_a_write_by_tool_in_a_turn_wins_over_extraction(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    here.say("Remember: I like tea")
    here.alice.call_tool("memory_store", {"content": "Likes tea, above all green tea"})
    here.memory.run_jobs()
    assert here.texts == ["Likes tea, above all green tea"]
    assert here.job().result["refused"][0]["reason"] == "the same was written by hand"


def test_what_was_retired_since_stays_so_however_much_was_changed_by_hand(
    world: Callable[..., World],
) -> None:
    here = world(lambda call: answer(TEA))
    id = here.alice.add("The user likes tea", infer=False)["results"][0]["id"]
    here.say("I like tea")
    here.alice.call_tool("memory_forget", {"memory_id": id})
    for number in range(60):
        here.alice.add(f"The user owns boat {number}", infer=False)
    here.memory.run_jobs()
    assert "The user likes tea" not in here.texts
    assert here.job().result["refused"][0]["reason"] == "the same was written by hand"


def test_what_a_person_retired_since_stays_retired(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    id = here.alice.add("The user likes tea", infer=False)["results"][0]["id"]
    here.say("I like tea")
    here.alice.delete(id)
    here.memory.run_jobs()
    assert here.texts == []


# ── the context ──────────────────────────────────────────────────────────────────────────────────────────────


def test_background_news_stand_behind_the_boundary_and_in_changes_once(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    here.alice.add("Owns a boat", infer=False)
    here.say("I like tea")
    before = here.chat.get_context()
    here.memory.run_jobs()
    after = here.chat.get_context()
    assert after.system[: after.boundary] == before.system[: before.boundary]
    assert "- new: The user likes tea" in after.system[after.boundary :]
    assert after.changes == ("remembered: The user likes tea",)
    assert here.chat.get_context().changes == ()
    fresh = here.memory.session(namespace="acme", user="alice").get_context()
    assert "The user likes tea" in fresh.system[: fresh.boundary]


def test_a_correction_in_the_background_says_what_is_no_longer_true(world: Callable[..., World]) -> None:
    here = world(answer(memory_of("The user lives in Munich", "I live in Munich", attribute="home")))
    here.alice.add("The user lives in Berlin", infer=False)
    here.say("I live in Munich")
    here.memory.run_jobs()
    context = here.chat.get_context()
    news = context.system[context.boundary :]
    assert "- new: The user lives in Munich" in news
    assert "- no longer true: The user lives in Berlin" in news


def test_messages_given_to_add_are_stored_and_extracted(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    added = here.alice.add([{"role": "user", "content": "I like tea"}], run_id="r1")
    assert (added["results"], added["session_id"], added["jobs"]) == ([], "r1", 1)
    here.memory.run_jobs()
    assert [fact.text for fact in here.alice.get_all(run_id="r1")] == ["The user likes tea"]


def test_a_message_of_a_megabyte_is_clipped_for_the_model(world: Callable[..., World]) -> None:
    here = world(lambda call: answer(TEA))
    here.say("I like tea. " + "It rains. " * 100_000)
    here.memory.run_jobs()
    assert len(here.model.calls[0].text) < 10_000
    assert here.texts == ["The user likes tea"]


@pytest.mark.parametrize(
    ("said", "quote", "content"),
    [
        (
            "I submit on June 19; five days later I fly to Rome.",
            "five days later I fly to Rome",
            "flies to Rome five days later",
        ),
        ("我6月19日提交，五天后去罗马", "五天后去罗马", "五天后去罗马"),
    ],
)
def test_a_day_that_is_counted_from_another_gets_no_date(
    world: Any, said: str, quote: str, content: str
) -> None:
    made = world(answer(memory_of(content, quote, valid_from="2026-01-06")))
    made.say(said)
    made.chat.end()
    made.memory.run_jobs()
    [fact] = made.alice.get_all()
    assert fact.text == content and str(fact.valid_from)[:10] == "2026-01-01"  # when it was said
