"""Filters as SQL over events; they mean what ``policy.recall.filters.matches`` does. Values are bound, never part of the text."""

from __future__ import annotations

import json
import math
from typing import Any

from wellkept.policy.recall.filters import Condition, Group, Test
from wellkept.records import ROLES

_ROLE = "CASE role " + " ".join(f"WHEN {number} THEN '{role}'" for number, role in enumerate(ROLES)) + " END"
_COLUMNS = {
    "role": _ROLE,
    "speaker": "speaker",
    "session_id": "(SELECT id FROM sessions s WHERE s.key = events.key >> 24)",
}
# As a list: a list's own elements, or the one value that there is; an object is like no value.
_LIST = """(
    SELECT CASE json_type(m, path) WHEN 'array' THEN json_extract(m, path) WHEN 'object' THEN '[{}]'
        ELSE json_array(json_extract(m, path)) END FROM (SELECT coalesce(metadata, '{}') AS m, ? AS path)
)"""
_TYPE = "coalesce(json_type(coalesce(metadata, '{}'), ?), 'null')"
_COMPARE = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_OPPOSITE = {"ne": "eq", "nin": "in"}

Sql = tuple[str, list[Any]]


def where(condition: Condition) -> Sql:
    """A boolean expression over a row of events, true or false, and its values. It calls ``casefold``."""
    if isinstance(condition, Group):
        return _group(condition)
    return _test(condition)


def _group(group: Group) -> Sql:
    parts = [where(condition) for condition in group.conditions]
    values = [value for _, found in parts for value in found]
    glue = " AND " if group.kind == "AND" else " OR "
    text = glue.join(f"({text})" for text, _ in parts) or ("1" if group.kind == "AND" else "0")
    return (f"NOT ({text})" if group.kind == "NOT" else text), values


def _test(test: Test) -> Sql:
    if test.operator in _OPPOSITE:
        text, values = _some(test.field, *_holds(_OPPOSITE[test.operator], test.value))
        return f"NOT {text}", values
    kind, path = _whole(test.field)
    if test.operator == "exists":
        return f"{kind} <> 'null'", path
    if test.operator == "contains":
        equal, values = _holds("eq", test.value)
        part = f"{equal} OR ({kind} <> 'array' AND type = 'text' AND instr(value, ?) > 0)"
        return _some(test.field, part, [*values, *path, str(test.value)])
    return _some(test.field, *_holds(test.operator, test.value))


def _whole(field: str) -> Sql:
    """The type of the whole value; 'null' for what is missing."""
    if field in _COLUMNS:
        return f"CASE WHEN {_COLUMNS[field]} IS NULL THEN 'null' ELSE 'text' END", []
    return _TYPE, [f'$."{field}"']


def _some(field: str, holds: str, values: list[Any]) -> Sql:
    """Whether ``holds`` is true of one of the values, of which each is a row of ``value`` and ``type``."""
    column = _COLUMNS.get(field)
    listed, path = (_LIST, [f'$."{field}"']) if column is None else (f"json_array({column})", [])
    return f"EXISTS (SELECT 1 FROM json_each({listed}) each WHERE {holds})", [*path, *values]


def _holds(operator: str, wanted: Any) -> Sql:
    """A test of one ``value`` of a ``type``."""
    if operator in _COMPARE:
        types = "('text')" if isinstance(wanted, str) else "('integer', 'real', 'true', 'false')"
        return f"type IN {types} AND value {_COMPARE[operator]} ?", [wanted]
    if operator == "icontains":
        return "type = 'text' AND instr(casefold(value), ?) > 0", [str(wanted).casefold()]
    # To SQLite, what is not a number would be nothing, which some values are; no JSON holds it.
    listed = [each for each in (wanted if operator == "in" else [wanted]) if _is_json(each)]
    equal = "EXISTS (SELECT 1 FROM json_each(?) wanted WHERE wanted.value IS each.value)"
    return f"type NOT IN ('array', 'object') AND {equal}", [json.dumps(listed)]


def _is_json(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
