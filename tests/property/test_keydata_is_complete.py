"""No number, date or amount is overlooked: a naive scanner that knows no dates or units is the judge."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.policy.text import numbers
from wellkept.policy.text.keydata import extract, missing

NUMERALS = "零〇一二两三四五六七八九十百千万亿"
DIGIT_RUN = re.compile(r"\d+")
NUMERAL_RUN = re.compile(f"[{NUMERALS}]+")
NO_NUMBER = re.compile(numbers.NOT_NUMBERS)

written = st.one_of(
    st.integers(0, 10**9).map(str),
    st.integers(0, 10**7).map("{:,}".format),
    st.decimals(0, 10**6, places=2, allow_nan=False).map(str),
    st.text(alphabet="二三四五六七八九", min_size=1, max_size=1),
    st.builds(lambda a, b: f"{a}十{b}", *[st.sampled_from("二三四五六七八九")] * 2),
    st.builds(lambda a, b: f"{a}百{b}十", *[st.sampled_from("二三四五六七八九")] * 2),
)
units = st.sampled_from(
    ["", "元", "岁", "只猫", "个月", " dollars", "%", "号", "月", "点", "年", " kg", "km", "/", "-", ":"]
)
around = st.sampled_from(
    [
        "",
        " ",
        "，",
        "last Tuesday\nJames ",
        "。",
        ", ",
        "\n",
        "我花了",
        "in May ",
        "on ",
        "去年",
        "下午",
        "order ",
        "v",
        "#",
        "http://x.org/",
        "$",
        "¥",
    ]
)
texts = st.lists(st.tuples(around, written, units), max_size=8).map(
    lambda parts: "".join(map("".join, parts))
)
free_texts = st.text(
    alphabet="0123456789１２３,.:/-%$¥ 一二三五十百千万点半月日号年岁元周上下个AbcMay\n，。#_@x", max_size=80
)


def _covered(text: str) -> set[int]:
    return {
        place
        for item in extract(text)
        if item.kind not in ("constraint", "todo", "name", "place")
        for place in range(item.start, item.end)
    }


@settings(max_examples=300)
@given(st.one_of(texts, free_texts))
def test_every_digit_is_in_a_key_datum(text: str) -> None:
    covered = _covered(text)
    overlooked = [run[0] for run in DIGIT_RUN.finditer(text) if not covered >= set(range(*run.span()))]
    assert overlooked == []


@settings(max_examples=300)
@given(texts)
def test_every_chinese_numeral_is_in_a_key_datum(text: str) -> None:
    covered = _covered(text) | {place for word in NO_NUMBER.finditer(text) for place in range(*word.span())}
    overlooked = [
        run[0]
        for run in NUMERAL_RUN.finditer(text)
        if run[0] not in "一零百千万亿" and not covered & set(range(*run.span()))
    ]
    assert overlooked == []


@given(st.one_of(texts, free_texts, st.text(max_size=200)))
def test_extracting_is_deterministic_and_places_are_right(text: str) -> None:
    items = extract(text)
    assert items == extract(text)
    assert all(text[item.start : item.end] == item.text and item.text for item in items)
    assert [item.start for item in items] == sorted(item.start for item in items)


@given(st.one_of(texts, free_texts))
def test_a_text_says_all_of_itself(text: str) -> None:
    assert missing(extract(text), text) == ()
