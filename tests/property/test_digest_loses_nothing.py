"""However small the limit: each number, date and amount is in the digest or is handed back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wellkept.policy.summaries.digest import Entry, digest
from wellkept.policy.text import tokens
from wellkept.policy.text.keydata import HARD, extract

SAID = (
    "我五岁。|I paid $30. |6月30日去，|必须吃药。|in May |on 3/4 |喜欢猫。|Bob said |at 4pm, |Ok. |\n"
    "|下午三点半|2024-01-02 |· 7; 8|[x]|a: b|`x_1` |[2024-06-12]|last Tuesday |下周三"
)
pieces = st.sampled_from(SAID.split("|"))
messages = st.lists(pieces, max_size=8).map("".join)


@given(st.lists(messages, max_size=6), messages, st.integers(0, 120))
def test_said_is_kept_or_handed_back(said: list[str], previous: str, limit: int) -> None:
    entries = [
        Entry(n, "user" if n % 2 else "助手", text, f"2024-06-1{n % 3}") for n, text in enumerate(said, 1)
    ]
    result = digest(entries, limit=limit, count=tokens.estimate, previous=previous)
    assert tokens.estimate(result.text) <= limit
    back = {(item.kind, item.value) for item in result.dropped}
    there = {(item.kind, item.value) for item in extract(result.text)}
    for text in said:
        for sentence in text.split("\n"):
            for item in extract(sentence):
                if item.kind in HARD:
                    assert (item.kind, item.value) in back | there or _written(item.text, result.text)
    assert result.kept == tuple(sorted(set(result.kept)))


def _written(text: str, digest_text: str) -> bool:
    """Joined lines can give a word another reading ("5" and "月"); as written it is still there."""
    return text in digest_text
