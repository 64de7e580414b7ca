from __future__ import annotations

from collections.abc import Iterable

import pytest

from wellkept.policy.summaries import digest as module
from wellkept.policy.summaries.digest import Digest, Entry, digest, sentences, shortened
from wellkept.policy.text import tokens
from wellkept.policy.text.keydata import HARD, KeyDatum, extract, missing

CHAT = [
    Entry(1, "user", "我小孩今年五岁，对恐龙特别着迷。今天阳光真好啊。", "2024-06-12"),
    Entry(2, "assistant", "好的！自然博物馆6月30日有展览，门票120元。祝你们玩得开心。", "2024-06-12"),
    Entry(3, "user", "他对花生过敏，不能吃花生酱。哈哈。", "2024-06-13"),
    Entry(
        4,
        "user",
        "I love hiking. Nice weather. We met Bob at 4pm, and it cost $35.50, a lot.",
        "2024-06-13",
    ),
]


def made(limit: int, entries: list[Entry] = CHAT, previous: str = "") -> Digest:
    return digest(entries, limit=limit, count=tokens.estimate, previous=previous)


def hard(text: str) -> set[tuple[str, str]]:
    return {(item.kind, item.value) for item in extract(text) if item.kind in HARD}


def test_sentences_that_carry_something_stay_in_order_with_their_speaker_and_day() -> None:
    assert made(1000).text.splitlines() == [
        "[2024-06-12]",
        "user: 我小孩今年五岁，对恐龙特别着迷。 今天阳光真好啊。",
        "assistant: 自然博物馆6月30日有展览，门票120元。",
        "[2024-06-13]",
        "user: 他对花生过敏，不能吃花生酱。",
        "user: I love hiking. We met Bob at 4pm, and it cost $35.50, a lot.",
    ]


def test_with_room_nothing_is_dropped_and_every_speaking_entry_is_kept() -> None:
    assert (made(1000).kept, made(1000).dropped) == ((1, 2, 3, 4), ())


@pytest.mark.parametrize("limit", [0, 5, 20, 40, 60, 80, 100, 120, 150])
def test_the_limit_holds_and_what_is_lost_is_handed_back(limit: int) -> None:
    result = made(limit)
    assert tokens.estimate(result.text) <= limit
    lost = {(item.kind, item.value) for item in result.dropped}
    for entry in CHAT:
        assert {
            (i.kind, i.value) for i in missing(extract(entry.text), result.text) if i.kind in HARD
        } <= lost


def test_numbers_survive_preferences_and_names() -> None:
    result = made(90)
    assert {"5 year", "120 CNY", "35.5 USD"} <= {value for _, value in hard(result.text)}
    assert "hiking" not in result.text


def test_a_sentence_is_cut_to_its_clauses_before_it_goes() -> None:
    long = "We had a wonderful time with everybody there, the ticket was $35, and the weather was lovely."
    result = made(20, [Entry(1, "user", long)])
    assert result.text == "user: the ticket was $35,"


def test_the_newest_constraints_outlive_many_numbers() -> None:
    entries = [Entry(n, "user", f"I paid ${n * 11} for it.") for n in range(2, 80)]
    result = made(200, [Entry(1, "user", "I am allergic to peanuts."), *entries])
    assert "user: I am allergic to peanuts." in result.text
    assert len(hard(result.text)) > 20


def test_a_relative_day_left_alone_says_which_day_it_is() -> None:
    talk = "We came home last Friday, and everybody there in the house was happy to see all of us again."
    assert made(15, [Entry(1, "user", talk, "2024-06-12")]).text == "· last Friday = 2024-06-07"


@pytest.mark.parametrize(
    "text",
    [
        "You submit on June 19; five days later is the launch, and all of us are going to celebrate there.",
        "压测在6月8日到12日，修性能在6月15日—19日，大家都辛苦一点，做完这些之后我们一起去好好地庆祝一下。",
        "We met every Monday in the old house, and everybody there was happy to see all of us again.",
        "My daughter was born on the 5th, and everybody there was happy to see all of us again.",
        "我每周五休息，那天我一般都在家里看书听音乐，有时候也会和朋友们一起出去走一走看一看。",
    ],
)
def test_a_day_that_the_sentence_counts_from_elsewhere_gets_no_date(text: str) -> None:
    for limit in range(6, 40, 3):
        assert "=" not in made(limit, [Entry(1, "user", text, "2026-06-01")]).text


def test_what_is_handed_back_says_on_which_day_it_was_said() -> None:
    (datum,) = made(0, [Entry(1, "user", "We came home last Friday.", "2024-06-12")]).dropped
    assert (datum.text, datum.said) == ("last Friday", "2024-06-12")


def test_a_sentence_of_numbers_without_end_is_handed_back_whole() -> None:
    result = made(100, [Entry(1, "user", ", ".join(str(n) for n in range(10, 20_010)))])
    assert tokens.estimate(result.text) <= 100
    assert {item.value for item in result.dropped} | {value for _, value in hard(result.text)} == {
        str(n) for n in range(10, 20_010)
    }


def test_the_oldest_gives_way_first() -> None:
    entries = [Entry(n, "user", f"I paid ${n * 11} for it.") for n in range(1, 30)]
    kept = {value for _, value in hard(made(60, entries).text)}
    dropped = [int(item.value.split()[0]) for item in made(60, entries).dropped if item.kind in HARD]
    assert kept and dropped == sorted(dropped)
    assert max(dropped) < min(int(value.split()[0]) for value in kept)


def test_small_talk_alone_still_gives_a_digest() -> None:
    result = made(
        100, [Entry(1, "user", "Hello there!"), Entry(2, "assistant", "Nice weather. Indeed it is.")]
    )
    assert result.text == "user: Hello there!\nassistant: Nice weather."


def test_a_digest_of_a_digest_is_itself() -> None:
    first = made(1000).text
    assert made(1000, [], first).text == first


def test_a_short_digest_of_a_short_digest_is_itself() -> None:
    first = made(70).text
    assert "· " in first
    assert made(70, [], first).text == first


def test_new_entries_stand_behind_the_previous_digest() -> None:
    first = made(1000, CHAT[:2]).text
    both = made(1000, CHAT[2:], first)
    assert both.text == made(1000).text
    assert both.kept == (3, 4)


def test_a_summary_in_free_prose_may_be_the_previous_one() -> None:
    result = made(
        200, CHAT[2:3], "The user's child is 5 years old.\nThey plan to visit the museum on June 30."
    )
    assert result.text.startswith(
        "The user's child is 5 years old.\nThey plan to visit the museum on June 30.\n[2024-06-13]"
    )


def test_what_is_said_twice_stands_once() -> None:
    result = made(200, [Entry(1, "user", "I am 30 years old."), Entry(9, "user", "I am 30 years old.")])
    assert result.text == "user: I am 30 years old."
    assert result.kept == (9,)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("今天很好。明天呢？走吧！", ["今天很好。", "明天呢？", "走吧！"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("I met Dr. Who. He is 3.5 m tall!", ["I met Dr. Who.", "He is 3.5 m tall!"]),
        ("See https://x.org/a?b=1. Then go.", ["See https://x.org/a?b=1.", "Then go."]),
        ("Use e.g. this one. Or U.S. law", ["Use e.g. this one.", "Or U.S. law"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("Run:\n```\na = 1. \nb = 2.\n```\nDone.", ["Run:", "``` a = 1.  b = 2. ```", "Done."]),
        ("", []),
    ],
)
def test_sentences_end_where_readers_end_them(text: str, parts: list[str]) -> None:
    assert [part.text for part in sentences(text)] == parts


ZH = [
    "第{n}次会议定在{m}月{d}日下午{h}点，预算是{a}元。大家都很期待。",
    "我们店这周卖了{a}杯奶茶，退款{b}元，老板挺满意的。",
    "医生说每天最多吃{h}片，{m}月{d}日复查，记得带上病历。",
    "嗯嗯，我知道啦。周末去爬山，来回{b}公里。",
]
EN = [
    "The meeting number {n} is on 2024-{m:02d}-{d:02d} at {h}:30 pm, the budget is ${a}. Everybody nods.",
    "We sold {a} cups this week, refunded {b} dollars, and the boss was rather happy.",
    "I moved to flat {b} and pay €{a} a month, which is fine.",
    "Haha, I see. We hiked {b} km last weekend, and it was lovely.",
]


@pytest.mark.parametrize("patterns", [ZH, EN], ids=["zh", "en"])
def test_thirty_merges_lose_no_number_and_keep_the_last_ten(patterns: list[str]) -> None:
    summary = ""
    ledger: list[KeyDatum] = []
    rounds: list[list[KeyDatum]] = []
    for merge in range(30):
        entries = [_entry(patterns, merge * 10 + n) for n in range(10)]
        rounds.append([item for entry in entries for item in extract(entry.text) if item.kind in HARD])
        result = digest(entries, limit=1_500, count=tokens.estimate, previous=summary)
        summary, ledger = result.text, [*ledger, *result.dropped]
    written = {(item.kind, item.value) for item in ledger}
    everything = [item for items in rounds for item in items]
    lost = [item for item in missing(everything, summary) if (item.kind, item.value) not in written]
    recent = [item for items in rounds[-10:] for item in items]
    assert lost == []
    assert len(_unique(missing(recent, summary))) <= 0.1 * len(_unique(recent))


def _entry(patterns: list[str], n: int) -> Entry:
    numbers = {
        "n": n + 1,
        "m": n % 12 + 1,
        "d": n % 28 + 1,
        "h": n % 11 + 1,
        "a": 1000 + 37 * n,
        "b": 200 + 13 * n,
    }
    role = "user" if n % 2 else "assistant"
    return Entry(
        n + 1, role, patterns[n % len(patterns)].format(**numbers), f"2024-06-{n // 10 % 28 + 1:02d}"
    )


def _unique(items: Iterable[KeyDatum]) -> set[tuple[str, str]]:
    return {(item.kind, item.value) for item in items}


@pytest.mark.parametrize("limit", [-50, 0, 1])
def test_without_any_room_all_is_handed_back(limit: int) -> None:
    result = made(limit)
    assert result.text == ""
    assert {(item.kind, item.value) for item in result.dropped} >= {
        ("amount", "120 CNY"),
        ("amount", "35.5 USD"),
    }


@pytest.mark.parametrize("limit", [0, 20, 60, 2_000])
def test_what_is_shortened_on_the_spot_is_the_text_of_a_digest(limit: int) -> None:
    entries = [
        Entry(n, "user", f"Tomorrow we pay {n}00 yuan for it; that is fine.", "2026-03-01") for n in range(9)
    ]
    assert (
        shortened(entries, limit, tokens.estimate) == digest(entries, limit=limit, count=tokens.estimate).text
    )


def test_a_message_is_read_once_however_many_digests_it_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        Entry(n, "user", f"Room {n}1 costs {n}5 euros a night. " * 500 + "Breakfast is at 8.", "2026-03-01")
        for n in range(1, 20)
    ]
    read: list[str] = []
    monkeypatch.setattr(module, "extract", lambda text: read.append(text) or extract(text))
    for first in range(9):
        shortened(entries[first : first + 10], 200, tokens.estimate)
    assert read.count("Breakfast is at 8.") == 18
