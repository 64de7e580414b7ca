from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.policy.text import numbers


def read(text: str) -> list[tuple[str, str]]:
    return [(item.value, item.unit) for item in numbers.find(text) if not item.article]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我小孩今年五岁", ("5", "year")),
        ("５岁", ("5", "year")),
        ("five years old", ("5", "year")),
        ("五六岁", ("5~6", "year")),
        ("50多岁", ("50", "year")),
        ("¥1,200", ("1200", "CNY")),
        ("1200元", ("1200", "CNY")),
        ("一千二百块钱", ("1200", "CNY")),
        ("RMB 1200", ("1200", "CNY")),
        ("$3.5k", ("3500", "USD")),
        ("a hundred and five dollars", ("105", "USD")),
        ("两百", ("200", "")),
        ("三千五", ("3500", "")),
        ("一万二", ("12000", "")),
        ("1.5万", ("15000", "")),
        ("一亿二千万", ("120000000", "")),
        ("一百零五", ("105", "")),
        ("两万零三十", ("20030", "")),
        ("廿八", ("28", "")),
        ("三点五", ("3.5", "")),
        ("二〇二四", ("2024", "")),
        ("二三十个人", ("20~30", "")),
        ("百分之三十", ("30", "%")),
        ("30%", ("30", "%")),
        ("一米七八", ("178", "cm")),
        ("1米8", ("180", "cm")),
        ("三分之一", ("1/3", "")),
        ("twenty-one people", ("21", "")),
        ("two thousand three hundred", ("2300", "")),
        ("two dozen eggs", ("24", "")),
        ("3 million", ("3000000", "")),
        ("-5°C", ("-5", "degree")),
        ("十分钟", ("10", "minute")),
        ("三個小時", ("3", "hour")),
        ("one week", ("1", "week")),
        ("007", ("7", "")),
        ("1.50", ("1.5", "")),
    ],
)
def test_a_quantity_has_one_value_however_it_is_written(text: str, expected: tuple[str, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text", ["一起去吃饭", "统一一下", "十分好", "千万别忘", "百姓", "万一下雨", "no number here"]
)
def test_words_that_only_look_like_numbers_are_none(text: str) -> None:
    assert read(text) == []


def test_an_article_is_told_from_a_count() -> None:
    assert [item.article for item in numbers.find("一个孩子，一年，one of us, one week")] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3,4,5", ["3", "4", "5"]),
        ("1,2345", ["1", "2345"]),
        ("1,234,567", ["1234567"]),
        ("10:30", ["10", "30"]),
    ],
)
def test_commas_part_groups_of_three_only(text: str, values: list[str]) -> None:
    assert [value for value, _ in read(text)] == values


def test_a_number_of_any_length_is_exact() -> None:
    digits = "1" + "0" * 5_000 + "1"
    assert read(digits) == [(digits, "")]


@given(st.integers(min_value=0, max_value=99_999_999))
def test_a_chinese_numeral_has_the_value_it_was_written_from(number: int) -> None:
    assert numbers.chinese(_written(number)) == str(number)


@given(st.text(alphabet="0123456789,. 一二十百千万亿点分之五岁元$¥-abc", max_size=60))
def test_every_run_of_digits_is_in_a_quantity(text: str) -> None:
    inside = {place for item in numbers.find(text) for place in range(item.start, item.end)}
    assert all(place in inside for place, sign in enumerate(text) if sign in "0123456789")


def _written(number: int) -> str:
    """``number`` in full Chinese numerals, as taught: 零 for gaps, no 一 left out."""
    if number >= 10_000:
        high, low = divmod(number, 10_000)
        between = "零" if low and low < 1_000 else ""
        return f"{_written(high)}万{between}{_written(low) if low else ''}"
    text, gap = "", ""
    for scale, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, scale)
        if digit:
            text += (gap if text else "") + "零一二三四五六七八九"[digit] + unit
            gap = ""
        else:
            gap = "零"
    return text or "零"
