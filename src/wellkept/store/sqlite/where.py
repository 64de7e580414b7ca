"""Filters as SQL over events: the values are always bound, never part of the statement."""

from __future__ import annotations

import json
from typing import Any

from wellkept.policy.filters import Condition, Group, Test
from wellkept.records import ROLES

_COMPARE = {"eq": "IS", "ne": "IS NOT", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_ROLE = "CASE role " + " ".join(f"WHEN {number} THEN '{role}'" for number, role in enumerate(ROLES)) + " END"
_COLUMNS = {
    "role": _ROLE,
    "speaker": "speaker",
    "session_id": "(SELECT id FROM sessions s WHERE s.key = events.key >> 24)",
}


def where(condition: Condition) -> tuple[str, list[Any]]:
    """A boolean expression over a row of events, and its values."""
    if isinstance(condition, Group):
        return _group(condition)
    field, values = _field(condition)
    return _test(condition, field, values)


def _group(group: Group) -> tuple[str, list[Any]]:
    parts = [where(condition) for condition in group.conditions]
    values = [value for _, found in parts for value in found]
    glue = " AND " if group.kind == "AND" else " OR "
    text = glue.join(f"({text})" for text, _ in parts) or ("1" if group.kind == "AND" else "0")
    # A comparison with nothing is unknown in SQL; "none of these" must then hold.
    return (f"NOT coalesce({text}, 0)" if group.kind == "NOT" else text), values


def _field(test: Test) -> tuple[str, list[Any]]:
    if test.field in _COLUMNS:
        return _COLUMNS[test.field], []
    return "json_extract(coalesce(metadata, '{}'), ?)", [f'$."{test.field}"']


def _test(test: Test, field: str, values: list[Any]) -> tuple[str, list[Any]]:
    if test.operator == "exists":
        return f"{field} IS NOT NULL", values
    if test.operator in ("in", "nin"):
        absent = "NOT " if test.operator == "nin" else ""
        listed = f"EXISTS (SELECT 1 FROM json_each(?) WHERE value IS {field})"
        return f"{absent}{listed}", [json.dumps(test.value), *values]
    if test.operator in ("contains", "icontains"):
        return _contains(test, field, values)
    return f"{field} {_COMPARE[test.operator]} ?", [*values, test.value]


def _contains(test: Test, field: str, values: list[Any]) -> tuple[str, list[Any]]:
    """A part of a text, or an element of a list (whose text in JSON is looked through)."""
    if test.operator == "icontains":
        return f"instr(lower({field}), lower(?)) > 0", [*values, str(test.value)]
    return f"instr({field}, ?) > 0", [*values, str(test.value)]
