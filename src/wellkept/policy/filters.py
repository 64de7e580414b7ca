"""mem0's filters over the fields of a record: ``{"labels": {"contains": "food"}, "uses": {"gte": 2}}``.

A field stands for equality with a value, for membership in a list, or carries operators: eq, ne, in, nin, gt, gte, lt, lte, contains,
icontains; ``"*"`` asks that it be set. ``AND``, ``OR`` (lists) and ``NOT`` (a list or one filter) combine. Docs: mem0's "Enhanced metadata
filtering".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wellkept.errors import InvalidInput


def _in(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, (list, tuple, set, frozenset)):
        raise InvalidInput(f"'in' and 'nin' take a list, not {wanted!r:.80}.")
    return any(each in wanted for each in value) if isinstance(value, list) else value in wanted


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def check(value: Any, wanted: Any) -> bool:
        if isinstance(value, str) != isinstance(wanted, str):
            return False
        return value is not None and wanted is not None and compare(value, wanted)

    return check


def _contains(value: Any, wanted: Any) -> bool:
    return value is not None and (wanted in value if isinstance(value, (list, str)) else False)


def _icontains(value: Any, wanted: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(str(wanted).casefold() in str(item).casefold() for item in items if item is not None)


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "in": _in,
    "nin": lambda value, wanted: not _in(value, wanted),
    "gt": _ordered(operator.gt),
    "gte": _ordered(operator.ge),
    "lt": _ordered(operator.lt),
    "lte": _ordered(operator.le),
    "contains": _contains,
    "icontains": _icontains,
}


def matches(filters: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether ``record`` passes ``filters``; all do pass empty ones. Raises InvalidInput for an unknown operator."""
    return all(_passes(name, wanted, record) for name, wanted in filters.items())


def _passes(name: str, wanted: Any, record: Mapping[str, Any]) -> bool:
    if name in ("AND", "OR"):
        results = [matches(part, record) for part in _parts(name, wanted)]
        return all(results) if name == "AND" else any(results)
    if name == "NOT":
        return not any(matches(part, record) for part in _parts(name, wanted if isinstance(wanted, list) else [wanted]))
    value = record.get(name)
    if isinstance(wanted, Mapping):
        return all(_operator(each)(value, operand) for each, operand in wanted.items())
    if wanted == "*":
        return value is not None
    if isinstance(wanted, (list, tuple)):
        return _in(value, wanted)
    return value == wanted or (isinstance(value, list) and wanted in value)


def _operator(name: str) -> Callable[[Any, Any], bool]:
    if name not in OPERATORS:
        raise InvalidInput(f"There is no filter operator {name!r}; there are: {', '.join(OPERATORS)}.")
    return OPERATORS[name]


def _parts(name: str, wanted: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(wanted, (list, tuple)) or not all(isinstance(part, Mapping) for part in wanted):
        raise InvalidInput(f"{name} takes a list of filters, not {wanted!r:.80}.")
    return wanted
