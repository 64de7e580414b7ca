from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import InvalidInput, MissingExtra
from wellkept.policy.text import tokens

CLEAN = [
    "我小孩今年五岁，对恐龙特别着迷，周末想带他去自然博物馆看看。",
    "下午三点半在南京西路的咖啡馆见面，记得带上合同。",
    "圖書館的實驗紀錄還在整理初版，先用熟悉的方式比較安心。",
    "I went to the shop on Tuesday and bought three apples, then I called my sister.",
    "Internationalization of the authentication configuration is comprehensively documented.",
    '{"id": 17, "name": "Ada", "tags": ["a", "b"], "ok": true, "when": "2026-03-01T10:00:00Z"}',
    '{\n  "city": "上海",\n  "temperature": 23.5,\n  "wind": null\n}',
    "def total(items):\n    return sum(item.price * item.count for item in items)\n",
    "🎉🎉 生日快乐 🎂 happy birthday 👨‍👩‍👧‍👦 ❤️",
    "🦕🦖🦕🦖",
    "Bart在圣诞节晚会上跳舞，感觉非常开心。",
    "https://example.com/docs/setup?lang=zh&page=2",
]


@pytest.fixture(scope="module", params=["o200k_base", "qwen3", "deepseek_v3"])
def real(request: pytest.FixtureRequest) -> tokens.Exact:
    pytest.importorskip("splintr", reason="needs the extra tokens")
    return tokens.exact(request.param)


@pytest.mark.parametrize("text", CLEAN)
def test_with_the_margin_an_estimate_never_undercounts_clean_text(text: str, real: tokens.Exact) -> None:
    assert tokens.estimate(text) * 1.1 >= real(text)


@pytest.mark.parametrize("text", CLEAN)
def test_an_estimate_is_below_the_byte_bound_and_not_wildly_high(text: str, real: tokens.Exact) -> None:
    assert tokens.estimate(text) <= min(len(text.encode()), 3 * real(text) + 4)


def test_nothing_takes_no_token() -> None:
    assert tokens.estimate("") == 0


def test_a_huge_text_is_counted_by_its_bytes() -> None:
    assert tokens.estimate("word " * 2_000_000) == 10_000_000
    assert tokens.estimate("字" * 1_000_000) == 3_000_000


def test_lone_surrogates_are_counted() -> None:
    assert tokens.estimate("a\ud800b") > 0


def test_exact_counts_a_lone_surrogate(real: tokens.Exact) -> None:
    assert real("a\ud800b") >= 2


def test_exact_knows_a_published_count() -> None:
    pytest.importorskip("splintr", reason="needs the extra tokens")
    assert tokens.exact("cl100k_base")("tiktoken is great!") == 6


def test_an_unknown_vocabulary_is_refused() -> None:
    pytest.importorskip("splintr", reason="needs the extra tokens")
    with pytest.raises(InvalidInput, match="nonsense"):
        tokens.exact("nonsense")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    with pytest.raises(MissingExtra, match=r"wellkept\[tokens\]"):
        tokens.exact()


def test_only_the_estimate_asks_for_a_margin() -> None:
    assert tokens.is_estimated(tokens.estimate)
    assert not tokens.is_estimated(len)


@given(st.text(st.sampled_from(" \n\t\r\x1c,.aZ9"), max_size=60))
def test_the_pieces_of_a_text_are_counted_line_by_line_and_are_the_same(text: str) -> None:
    pieces = len(tokens._PIECES.findall(text))
    assert tokens.estimate(text) == min(len(text), int(pieces * 1.2) + 1)
