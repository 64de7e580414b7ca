from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.shelf import Shelf, meaning_of
from wellkept.policy.recall import boosts
from wellkept.policy.recall.boosts import Age
from wellkept.policy.recall.corpus import Window
from wellkept.policy.recall.rank import rank
from wellkept.policy.recall.results import Ranking, Wish
from wellkept.policy.text import words

NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)


def ms(days_ago: float) -> int:
    return int((NOW - timedelta(days=days_ago)).timestamp() * 1000)


def shelf_of(*texts: str, apart: int = 10, role: str = "user") -> Shelf:
    """Texts under the keys 0, 10, 20 ..., which lie too far apart to be neighbours."""
    shelf = Shelf()
    for place, text in enumerate(texts):
        shelf.put(place * apart, text, role=role)
    return shelf


def keys(ranking: Ranking) -> list[int]:
    return [found.key for found in ranking.found]


PETS = (
    "My daughter keeps a parrot named Coco.",
    "The train to Leipzig was late again.",
    "我小孩今年五岁，对恐龙特别着迷",
    "周末想带他去看牙医",
    "I painted the kitchen yellow last Tuesday.",
)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("What is the parrot called?", 0),
        ("trains to LEIPZIG", 10),
        ("孩子喜欢恐龍吗", 20),
        ("牙", 30),
        ("When did I paint the kitchen?", 40),
    ],
)
def test_the_right_memory_comes_first(query: str, key: int) -> None:
    assert keys(rank(query, shelf_of(*PETS)))[0] == key


@pytest.mark.parametrize("query", ["", "?!", "🦖", "quantum chromodynamics", "\ud800", "量子物理", "\0"])
def test_nothing_relevant_is_an_answer(query: str) -> None:
    assert rank(query, shelf_of(*PETS)) == Ranking()
    assert rank(query, Shelf()) == Ranking()


def test_function_words_count_only_when_there_is_nothing_else() -> None:
    shelf = shelf_of("the who", "a parrot")
    assert keys(rank("the", shelf)) == [0]
    assert keys(rank("the parrot", shelf)) == [10]


@pytest.mark.parametrize(
    "query", ['"parrot" AND NEAR(x*', "parrot'; DROP TABLE events; --", "-parrot OR {col:x}^2"]
)
def test_syntax_is_plain_text(query: str) -> None:
    assert keys(rank(query, shelf_of(*PETS)))[0] == 0


def test_a_huge_query_and_a_huge_text() -> None:
    shelf = shelf_of(*PETS, "parrot " + "filler " * 20_000)
    assert 0 in keys(rank("parrot " + "noise " * 20_000, shelf))
    assert keys(rank("恐龙" * 50_000, shelf))[0] == 20


def test_an_answer_is_found_by_the_question_before_it() -> None:
    shelf = Shelf()
    shelf.put(100, "What do you do in Lisbon?", speaker="Ann")
    shelf.put(101, "Mostly ceramics.", speaker="Bo")
    shelf.put(500, "Nothing new here.", speaker="Ann")
    ranking = rank("Lisbon", shelf)
    assert keys(ranking) == [100, 101]
    assert ranking.found[1].parts.keys() & {"text", "neighbours"} == {"neighbours"}
    assert ranking.found[1].around == (100,)


def test_the_speaker_whom_the_question_names_is_favoured() -> None:
    shelf = Shelf()
    shelf.put(0, "I adopted a puppy", speaker="Ann")
    shelf.put(10, "I adopted a puppy too and more", speaker="Bo")
    assert keys(rank("What did Bo adopt?", shelf))[0] == 10
    assert keys(rank("What did Ann adopt?", shelf))[0] == 0
    both = rank("What did Ann and Bo adopt?", shelf)
    assert not any("speaker" in found.parts for found in both.found)


def test_the_assistant_is_heard_when_it_is_asked_for() -> None:
    shelf = Shelf()
    shelf.put(0, "Try the ramen bar at the harbour", role="assistant")
    shelf.put(10, "I had ramen at the harbour with Jo and Kim yesterday", role="user")
    assert keys(rank("ramen harbour", shelf))[0] == 10
    assert keys(rank("Which ramen bar did you recommend?", shelf))[0] == 0
    assert "role" not in rank("你推荐的 ramen", shelf).found[0].parts


def test_a_time_is_favoured_for_a_question_that_asks_when() -> None:
    shelf = shelf_of("The choir concert was great fun", "The choir concert was last Friday")
    assert keys(rank("When was the choir concert?", shelf))[0] == 10
    assert rank("When was the choir concert?", shelf).found[0].parts["time"] == boosts.TELLS_TIME
    assert "time" not in rank("How was the choir concert?", shelf).found[0].parts


def test_the_window_favours_what_was_said_then() -> None:
    shelf = Shelf()
    for key, days in ((0, 300), (10, 100), (20, 5)):
        shelf.put(key, "went hiking with number " + str(key), ts=ms(days))
    window = Window(NOW - timedelta(days=110), NOW - timedelta(days=90))
    ranking = rank("hiking", shelf, wish=Wish(window=window))
    assert keys(ranking)[0] == 10
    assert ranking.found[0].parts["date"] == boosts.IN_WINDOW
    assert len(ranking.found) == 3


def test_the_new_replaces_the_old_unless_the_past_is_asked_for() -> None:
    shelf = Shelf()
    shelf.put(0, "my office is in Berlin", ts=ms(200))
    shelf.put(10, "my office is in Hamburg", ts=ms(0))
    wish = Wish(age=Age(now=NOW))
    assert keys(rank("where is my office", shelf, wish=wish)) == [10, 0]
    assert rank("where is my office", shelf, wish=wish).found[1].parts["age"] == pytest.approx(0.7)
    assert keys(rank("where was my office before", shelf, wish=wish)) == [0, 10]
    assert keys(rank("where is my office", shelf)) == [0, 10]


def test_age_alone_takes_nothing_from_a_memory() -> None:
    shelf = Shelf()
    shelf.put(0, "allergic to peanuts", ts=ms(900))
    shelf.put(10, "bought a jar with peanuts for the birds in our garden", ts=ms(0))
    ranking = rank("peanuts", shelf, wish=Wish(age=Age(now=NOW)))
    assert keys(ranking) == [0, 10]
    assert not any("age" in found.parts for found in ranking.found)


def test_two_old_memories_are_not_parted_by_age() -> None:
    shelf = Shelf()
    shelf.put(0, "my office is in Berlin", ts=ms(200))
    shelf.put(10, "my office is in Hamburg", ts=ms(100))
    assert not any("age" in found.parts for found in rank("office", shelf, wish=Wish(age=Age(now=NOW))).found)


@given(st.floats(-1000, 1000), st.floats(0, 100), st.floats(0.01, 1))
def test_age_discounts_evenly_and_within_bounds(first: float, more: float, discount: float) -> None:
    age = Age(now=NOW, discount=discount)
    young, old = age.factor(ms(first)), age.factor(ms(first + more))
    assert discount - 1e-9 <= old <= young <= 1


def test_texts_that_say_the_same_are_one_result_with_all_its_sources() -> None:
    shelf = shelf_of(
        "Anna's birthday is on May 5th", "anna's birthday is on May 5th!", "Anna likes jazz on vinyl"
    )
    ranking = rank("When is Anna's birthday?", shelf)
    assert [(found.key, found.same) for found in ranking.found] == [(0, (10,)), (20, ())]
    assert [(dropped.key, dropped.reason) for dropped in ranking.dropped] == [(10, "says the same as 0")]


def test_the_limit_and_the_threshold_say_what_they_dropped() -> None:
    shelf = shelf_of("parrot food", "parrot cage with a swing", "the parrot can talk")
    ranking = rank("parrot food", shelf, wish=Wish(limit=1))
    assert keys(ranking) == [0]
    assert {dropped.reason for dropped in ranking.dropped} == {"over the limit of 1"}
    strict = rank("parrot food", shelf, wish=Wish(threshold=0.9))
    assert keys(strict) == [0]
    assert all("below the threshold" in dropped.reason for dropped in strict.dropped)


def test_relevance_counts_the_words_that_are_missing_and_no_decoration() -> None:
    shelf = shelf_of("恐龙", "a parrot", "tea 🍵")
    assert [f.relevance for f in rank("恐龙 🦕", shelf).found] == [1.0]
    assert [f.relevance for f in rank("恐龙 parade", shelf).found] < [0.5]
    assert keys(rank("parrot 🍵🦕", shelf)) == [10, 20]
    assert keys(rank("🍵🦕", shelf, wish=Wish(threshold=0.9))) == [20]


def test_feedback_words_are_named() -> None:
    shelf = shelf_of(
        "the marathon needs new running shoes", "running shoes and socks", "socks from Oslo", "tea"
    )
    ranking = rank("marathon", shelf)
    assert "shoe" in ranking.added
    assert 10 in keys(ranking)


def test_vectors_bring_what_shares_no_word_when_it_is_close_enough() -> None:
    shelf = shelf_of("My kid adores dinosaurs", "The tax office wrote", "Rain all week")
    cosines = {0: 0.97, 10: 0.78, 20: 0.90}
    ranking = rank("儿子喜欢什么", shelf, meaning_of(cosines, (0.75, 0.99)))
    assert keys(ranking) == [0]
    assert ranking.found[0].relevance == pytest.approx(0.22 / 0.24)
    assert [dropped.key for dropped in ranking.dropped] == [20]
    assert "shares no word" in ranking.dropped[0].reason


def test_vectors_and_words_are_added_on_one_scale() -> None:
    shelf = shelf_of("the garden gate", "the garden hose", "a hedge", "a lawn")
    near = {0: 0.5, 10: 0.9, 20: 0.4, 30: 0.3}
    alike = rank("garden", shelf, meaning_of(near))
    scaled = rank("garden", shelf, meaning_of({key: cosine / 10 + 0.8 for key, cosine in near.items()}))
    assert keys(alike)[0] == keys(scaled)[0] == 10
    assert [f.score for f in alike.found] == pytest.approx([f.score for f in scaled.found])


def test_equal_cosines_and_foreign_keys_do_no_harm() -> None:
    shelf = shelf_of("garden gate", "garden hose")
    assert keys(rank("garden", shelf, meaning_of({0: 0.8, 10: 0.8}))) == [0, 10]
    assert keys(rank("garden", shelf, meaning_of({0: 0.1, 999: 0.9}))) == [0, 10]
    assert keys(rank("garden", shelf, meaning_of({}))) == [0, 10]


WORDS = st.sampled_from(
    ("cat", "dogs", "running", "Paris", "恐龙", "猫", "喜欢", "2024", "v1.2", "the", "的", "ok?")
)
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


@given(st.lists(TEXTS, max_size=12), TEXTS, st.sampled_from([1, 10]))
def test_every_text_with_a_telling_word_of_the_question_is_found(
    texts: list[str], query: str, apart: int
) -> None:
    shelf = shelf_of(*texts, apart=apart)
    ranking = rank(query, shelf, wish=Wish(limit=50))
    reached = {key for found in ranking.found for key in (found.key, *found.same)}
    terms = words.query_terms(query)
    for term in [term for term in terms if not term.stop] or terms:
        for place, text in enumerate(texts):
            tokens = words.index_tokens(text)
            if term.text in tokens or (term.prefix and any(token.startswith(term.text) for token in tokens)):
                assert place * apart in reached


@given(st.lists(TEXTS, max_size=12), TEXTS, st.integers(1, 5))
def test_order_parts_and_bounds_hold(texts: list[str], query: str, limit: int) -> None:
    shelf = shelf_of(*texts, apart=1)
    ranking = rank(query, shelf, wish=Wish(limit=limit, age=Age(now=NOW)))
    assert ranking == rank(query, shelf, wish=Wish(limit=limit, age=Age(now=NOW)))
    assert len(ranking.found) <= limit
    scores = [found.score for found in ranking.found]
    assert scores == sorted(scores, reverse=True)
    assert all(
        score > 0 and 0 <= found.relevance <= 1 + 1e-9
        for score, found in zip(scores, ranking.found, strict=True)
    )
    mentioned = keys(ranking) + [dropped.key for dropped in ranking.dropped]
    assert len(mentioned) == len(set(mentioned))


def test_the_parts_make_up_the_score() -> None:
    added = {"text", "feedback", "neighbours", "meaning"}
    for found in rank("When did I paint the kitchen?", shelf_of(*PETS), wish=Wish(age=Age(now=NOW))).found:
        score = sum(value for name, value in found.parts.items() if name in added)
        for name, value in found.parts.items():
            score *= 1 if name in added else value
        assert score == pytest.approx(found.score)
