"""The memory as tools of a model: their definitions, and one function that executes a call in a user's
scope."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from wellkept.errors import InvalidInput, WellkeptError
from wellkept.policy.facts.labels import carries, catalogue, clean, left_out
from wellkept.store.facts import Fact

if TYPE_CHECKING:
    from wellkept.user import UserMemory, UserReader

Shape: TypeAlias = Literal["openai", "anthropic"]

RECALL_LIMIT = 8
MOST = 50
_STRINGS = {"type": "array", "items": {"type": "string"}}
_ID = {"type": "string", "description": "Exact id, as memory_recall or memory_list gave it."}
_LABELS = {**_STRINGS, "description": "1 to 3 short tags, whole words; reuse existing labels."}
_KEYWORDS = {**_STRINGS, "description": "1 to 3 words of the statement to find it by."}

TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "memory_store": (
        "Remember one durable fact about the user, when they ask to remember or keep something. A short statement in "
        "the user's language, not a quote. Casual self-introductions are remembered without this.",
        {
            "content": {"type": "string", "description": "The statement."},
            "attribute": {
                "type": "string",
                "description": "Which side of the user it tells, e.g. diet, home, job.",
            },
            "labels": _LABELS,
            "keywords": _KEYWORDS,
        },
        ("content",),
    ),
    "memory_recall": (
        "Look up what is remembered about the user. Give exact labels from the list of labels, or a query, or both. "
        "Do this before you answer what is remembered or preferred, and before an update or forget, to learn the id.",
        {
            "labels": {**_STRINGS, "description": "Exact labels."},
            "query": {"type": "string", "description": "What to look for, in plain words."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST,
                "description": "At most so many; 8 if not given.",
            },
        },
        (),
    ),
    "memory_list": (
        "List remembered facts, oldest first, a page at a time.",
        {
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST},
            "cursor": {"type": "string", "description": "next_cursor of the previous page."},
        },
        (),
    ),
    "memory_update": (
        "Correct a remembered fact by its id.",
        {
            "memory_id": _ID,
            "content": {"type": "string", "description": "The corrected statement."},
            "labels": _LABELS,
            "keywords": _KEYWORDS,
        },
        ("memory_id", "content"),
    ),
    "memory_forget": (
        "Stop remembering a fact, by its id, when the user asks for it.",
        {"memory_id": _ID},
        ("memory_id",),
    ),
}


def definitions(shape: Shape) -> list[dict[str, Any]]:
    """The tools as OpenAI's or Anthropic's API takes them. Raises InvalidInput for another shape."""
    if shape not in ("openai", "anthropic"):
        raise InvalidInput(f"There is no tool shape {shape!r}; choose 'openai' or 'anthropic'.")
    tools = []
    for name, (description, properties, required) in TOOLS.items():
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        }
        if shape == "anthropic":
            tools.append({"name": name, "description": description, "input_schema": schema})
        else:
            function = {"name": name, "description": description, "parameters": schema}
            tools.append({"type": "function", "function": function})
    return tools


def call(
    user: UserMemory,
    reader: UserReader,
    name: str,
    arguments: Mapping[str, Any] | str | None,
    *,
    max_labels: int,
    counting: bool,
) -> str:
    """The result of a call as JSON: ``{"ok": true, …}``, or ``{"ok": false, "error", "message"}`` for what
    the model did wrong. Of its labels those that fit are taken, and the others named.

    ``reader`` is of the same user, and searches without counting; ``counting`` is for what is recalled.
    """
    try:
        values = _arguments(name, arguments)
        given = values.get("labels", [])
        if name in ("memory_store", "memory_update") and given:
            values["labels"] = clean(given, limit=max_labels)
        dropped = left_out(given, values.get("labels", ()))
        told = {"labels_left_out": dropped} if dropped else {}
        return _json({"ok": True, **_run(user, reader, name, values, counting), **told})
    except _Refused as refused:
        return _json({"ok": False, **refused.answer})
    except (WellkeptError, ValueError) as error:
        return _json({"ok": False, "error": _code(error), "message": str(error)})


class _Refused(Exception):
    def __init__(self, error: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.answer = {"error": error, "message": message, **more}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _code(error: Exception) -> str:
    name = type(error).__name__
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


def _arguments(name: str, given: Mapping[str, Any] | str | None) -> dict[str, Any]:
    if name not in TOOLS:
        raise _Refused("unknown_tool", f"There is no tool {name!r}.", available_tools=list(TOOLS))
    try:
        values = dict(given) if isinstance(given, Mapping) else json.loads(given or "{}")
    except (TypeError, ValueError) as error:
        raise _Refused("invalid_json", f"The arguments are no JSON object: {error}") from error
    if not isinstance(values, dict):
        raise _Refused("invalid_json", "The arguments must be a JSON object.")
    _, properties, required = TOOLS[name]
    kept = {
        key: _value(key, value, properties[key])
        for key, value in values.items()
        if key in properties and value is not None
    }
    for key in required:
        if not kept.get(key):
            raise _Refused("missing_argument", f"{key} is required.")
    return kept


def _value(key: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """A value of the kind that the schema says; labels given as "a, b" are taken for a list."""
    if schema["type"] == "array":
        items = value.replace("，", ",").split(",") if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return [item.strip() for item in items if item.strip()]
    elif schema["type"] == "integer":
        if isinstance(value, int) and not isinstance(value, bool):
            return max(1, min(MOST, value))
    elif isinstance(value, str):
        return value
    raise _Refused("invalid_argument", f"{key} must be of type {schema['type']}.")


def _run(
    user: UserMemory, reader: UserReader, name: str, values: dict[str, Any], counting: bool
) -> dict[str, Any]:
    if name == "memory_store":
        return {
            "results": [each.to_dict() for each in user.keep(values.pop("content"), actor="tool", **values)]
        }
    if name == "memory_recall":
        recalled = _recall(user, reader, **values)
        if counting:
            user.used(recalled)
        return {"items": [_item(fact) for fact in recalled]}
    if name == "memory_list":
        page = user.get_all(limit=values.get("limit", RECALL_LIMIT), cursor=values.get("cursor"))
        return {"items": [_item(fact) for fact in page], "next_cursor": page.cursor}
    if name == "memory_update":
        id, content = values.pop("memory_id"), values.pop("content")
        return {"item": _item(user.update(id, content, actor="tool", **values))}
    change = user.delete(values["memory_id"], actor="tool")
    return {"forgotten": change.fact_id, "change_id": change.id}


def _recall(
    user: UserMemory,
    reader: UserReader,
    *,
    labels: Sequence[str] = (),
    query: str = "",
    limit: int = RECALL_LIMIT,
) -> list[Fact]:
    facts = list(user.get_all(limit=1 << 31, states=("active", "archived")))
    unknown = [label for label in labels if not any(carries(fact, [label]) for fact in facts)]
    if unknown:
        available = catalogue(facts)
        raise _Refused(
            "unknown_label",
            f"There is no label {unknown[0]!r}.",
            unknown_labels=unknown,
            available_labels=available,
        )
    chosen = [fact for fact in facts if not labels or carries(fact, labels)]
    if query.strip():
        order = [result.id for result in reader.search(query, kinds=["fact"], limit=1000)]
        chosen = sorted((fact for fact in chosen if fact.id in order), key=lambda fact: order.index(fact.id))
    else:
        chosen.sort(key=lambda fact: (-fact.uses, -fact.changed_at.timestamp(), fact.key))
    return chosen[:limit]


def _item(fact: Fact) -> dict[str, Any]:
    since = fact.valid_from or fact.created_at
    return {
        "id": fact.id,
        "memory": fact.text,
        "labels": list(fact.labels),
        "since": since.date().isoformat(),
    }
