"""Filters on what a search may find: the grammar that the field knows, checked before any store sees it.

``{"city": "上海"}`` · ``{"score": {"gte": 3, "lt": 9}}`` · ``{"OR": [{"role": "user"}, {"tag": {"in": ["a", "b"]}}]}``

Fields are ``role``, ``speaker``, ``session_id`` and the keys of an event's metadata. Operators: eq, ne, in, nin, gt,
gte, lt, lte, contains (a part of a text, or an element of a list), icontains, and "*" as a value for "has it". A list
is what one of its elements is. ``AND``, ``OR`` and ``NOT`` take lists of filters. In a store every operator means what
``matches`` does.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from wellkept.errors import InvalidInput
from wellkept.records import Record

Operator: TypeAlias = Literal[
    "eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "icontains", "exists"
]
OPERATORS = ("eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "icontains")
COLUMNS = ("role", "speaker", "session_id")
DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Test(Record):
    """``field operator value``. ``field`` is one of ``COLUMNS`` or a key of the metadata."""

    __test__ = False  # no test case, whatever its name

    field: str
    operator: Operator
    value: Any


@dataclass(frozen=True, slots=True)
class Group(Record):
    """All, any or none of ``conditions`` hold."""

    kind: Literal["AND", "OR", "NOT"]
    conditions: tuple[Condition, ...]


Condition: TypeAlias = Test | Group
ANYTHING = Group("AND", ())


def parse(filters: Mapping[str, Any] | None, *, depth: int = 0) -> Condition:
    """The condition that ``filters`` say. Raises InvalidInput, which names what is not understood."""
    if filters is None:
        return ANYTHING
    if not isinstance(filters, Mapping):
        raise InvalidInput(
            f"A filter is {type(filters).__name__}; it must be a mapping from fields to values."
        )
    if depth > DEEPEST:
        raise InvalidInput(f"The filters are nested more than {DEEPEST} deep.")
    conditions = [found for field, value in filters.items() for found in _read(field, value, depth)]
    return conditions[0] if len(conditions) == 1 else Group("AND", tuple(conditions))


def _read(field: object, value: Any, depth: int) -> list[Condition]:
    if field in ("AND", "OR", "NOT"):
        if field != "AND" and not isinstance(value, Mapping) and not value:
            raise InvalidInput(f"The filter {field} has no conditions; it takes a list of them.")
        many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        return [Group(field, tuple(parse(item, depth=depth + 1) for item in many))]
    if not isinstance(field, str) or not field or '"' in field or not field.isprintable():
        raise InvalidInput(f"The filter field {field!r:.80} is not a name.")
    if value == "*":
        return [Test(field, "exists", None)]
    if isinstance(value, Mapping):
        if not value:
            raise InvalidInput(f"The filter on {field!r} has no operator; there are: {', '.join(OPERATORS)}.")
        return [_test(field, operator, operand) for operator, operand in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [_test(field, "in", list(value))]
    return [_test(field, "eq", value)]


def _test(field: str, operator: Any, value: Any) -> Test:
    if operator not in OPERATORS:
        raise InvalidInput(
            f"The filter operator {operator!r} on {field!r} is unknown; there are: {', '.join(OPERATORS)}."
        )
    if operator in ("in", "nin"):
        if not isinstance(value, (list, tuple, set)):
            raise InvalidInput(f"The filter {operator!r} on {field!r} takes a list of values.")
        return Test(field, operator, [_plain(field, item) for item in value])
    if value is None and operator not in ("eq", "ne"):
        raise InvalidInput(f"The filter {operator!r} on {field!r} compares with nothing; it takes a value.")
    return Test(field, operator, _plain(field, value))


def _plain(field: str, value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise InvalidInput(
        f"The filter on {field!r} compares with {type(value).__name__}; it takes text, numbers or truth."
    )


def matches(condition: Condition, record: Mapping[str, Any]) -> bool:
    """Whether ``record`` fulfils ``condition``; a list fulfils what one of its elements does."""
    if isinstance(condition, Group):
        results = (matches(part, record) for part in condition.conditions)
        if condition.kind == "NOT":
            return not any(results)
        return all(results) if condition.kind == "AND" else any(results)
    value = record.get(condition.field)
    if condition.operator in ("ne", "nin"):
        return not _holds("eq" if condition.operator == "ne" else "in", value, condition.value)
    return _holds(condition.operator, value, condition.value)


def _holds(operator: str, value: Any, wanted: Any) -> bool:
    if operator == "exists":
        return value is not None
    values = value if isinstance(value, list) else [value]
    if operator == "contains" and isinstance(value, str):
        return str(wanted) in value
    if operator == "icontains":
        return any(isinstance(each, str) and str(wanted).casefold() in each.casefold() for each in values)
    return any(_COMPARE[operator](each, wanted) for each in values)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def check(value: Any, wanted: Any) -> bool:
        kind = str if isinstance(wanted, str) else (int, float)
        return isinstance(value, kind) and compare(value, wanted)

    return check


_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operators.eq,
    "contains": operators.eq,
    "in": lambda value, wanted: value in wanted,
    "gt": _ordered(operators.gt),
    "gte": _ordered(operators.ge),
    "lt": _ordered(operators.lt),
    "lte": _ordered(operators.le),
}
