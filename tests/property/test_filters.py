"""A filter means the same in SQL as in Python, whatever the metadata holds."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept import Memory
from wellkept.policy.recall.filters import matches, parse

FIELDS = st.sampled_from(["a", "b c", "role", "speaker"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, -2.5]),
    st.sampled_from(["", "a", "A", "user", "Ärger", "ärger 1", "1", '{"x":1}', "[1]", "猫", "null"]),
)
METADATA = st.dictionaries(
    st.sampled_from(["a", "b c"]),
    st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.just({"x": 1}), st.just([{"x": 1}, [1]])),
)
WANTED = st.one_of(SCALARS, st.sampled_from([float("nan"), float("inf")]))
TESTS = st.one_of(
    st.builds(lambda field, value: {field: value}, FIELDS, st.one_of(WANTED, st.just("*"))),
    st.builds(lambda field, values: {field: {"in": values}}, FIELDS, st.lists(WANTED, max_size=3)),
    st.builds(lambda field, values: {field: {"nin": values}}, FIELDS, st.lists(WANTED, max_size=3)),
    st.builds(
        lambda field, operator, value: {field: {operator: value}},
        FIELDS,
        st.sampled_from(["ne", "gt", "gte", "lt", "lte", "contains", "icontains"]),
        WANTED.filter(lambda value: value is not None),
    ),
)
FILTERS = st.recursive(
    TESTS,
    lambda parts: st.builds(
        lambda kind, many: {kind: many},
        st.sampled_from(["AND", "OR", "NOT"]),
        st.lists(parts, min_size=1, max_size=3),
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(METADATA, st.sampled_from([None, "a", "Ärger"])), min_size=1, max_size=6), FILTERS)
def test_a_filter_lets_through_what_it_says(
    messages: list[tuple[dict[str, Any], str | None]], wanted: dict[str, Any]
) -> None:
    with Memory(":memory:", worker=False) as memory:
        session = memory.session(namespace="n", user="u")
        for number, (metadata, speaker) in enumerate(messages):
            session.add_message("user", f"dinosaur number {number}", metadata=metadata, speaker=speaker)
        condition = parse(wanted)
        expected = [
            number
            for number, (metadata, speaker) in enumerate(messages)
            if matches(condition, {**metadata, "role": "user", "speaker": speaker})
        ]
        found = memory.user("u", namespace="n").search("dinosaur", filters=wanted, limit=50)
        assert sorted(int(result.text[-1]) for result in found) == expected
