from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept import samples
from wellkept.errors import InvalidInput
from wellkept.formats import BadLine, Extra, read, write
from wellkept.formats.values import values

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures" / "formats").iterdir())
JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    10**400,
    1.5,
    "",
    "界",
    "\ud83d",
    [],
    [None],
    [[]],
    {},
    {"type": 5},
    {"": {}},
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container in ``value`` with each of its keys."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


@given(st.sampled_from([*FIXTURES, samples.path()]), st.randoms(use_true_random=False))
def test_a_field_of_any_kind_in_any_place_is_reported_at_worst(path: Path, chance: random.Random) -> None:
    """Whatever stands in the place of a field, the file is read on and what is read can be exported."""
    found = [
        value for _, value in values([path.read_text(encoding="utf-8")]) if not isinstance(value, BadLine)
    ]
    broken = copy.deepcopy(found)
    container, key = chance.choice(list(places(broken[:20])))
    container[key] = copy.deepcopy(chance.choice(JUNK))
    text = "\n".join(json.dumps(value) for value in broken)
    try:
        items = list(read(io.StringIO(text)))
    except InvalidInput:
        return
    write((item for item in items if not isinstance(item, BadLine)), io.StringIO())


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("depth", [300, 900, 5000])
def test_deep_nesting_is_reported(path: Path, depth: int) -> None:
    found = [
        value for _, value in values([path.read_text(encoding="utf-8")]) if not isinstance(value, BadLine)
    ]
    text = json.dumps(found[-1])
    deep = "[" * depth + "]" * depth
    at = text.rindex("}")
    nested = text[:at] + f', "deep": {deep}' + text[at:]
    try:
        list(read(io.StringIO(nested + "\n" + text)))
    except InvalidInput as error:
        assert "nested too deeply" in str(error)


@pytest.mark.parametrize("depth", [900, 100_000])
def test_deep_nesting_in_an_export_costs_its_line_at_worst(depth: int) -> None:
    head = '{"kind": "header", "format": "wellkept", "version": "1.0"}\n'
    deep = '{"kind": "fact", "x": ' + "[" * depth + "]" * depth + "}\n"
    found = next(read(io.StringIO(head + deep)))
    # How deep is too deep depends on the interpreter.
    assert isinstance(found, (BadLine, Extra))
    assert found.line == 2
    assert "nested" in found.reason if isinstance(found, BadLine) else depth == 900
