"""The memory tools that a model calls, by the firmware's names; an answer is always whole JSON of at most
32 KB."""

import json

from wellkept_flash import text
from wellkept_flash.errors import InvalidInput, NotFound
from wellkept_flash.items import terms

OUTPUT_BYTES = 32768
PAGE = 20
WRITES = ("memory_store", "memory_update", "memory_forget")
_TEXT = {"type": "string"}
_TERMS = {"type": "string", "description": "up to 3, separated by commas"}
DEFINITIONS = (
    (
        "memory_store",
        "Remember one durable fact.",
        {"content": _TEXT, "tags": _TERMS, "keywords": _TERMS},
        ["content"],
    ),
    (
        "memory_recall",
        "Look up facts by labels of the catalogue, copied exactly.",
        {"summary_labels": {"type": "array", "items": _TEXT}, "limit": {"type": "integer"}},
        [],
    ),
    ("memory_list", "List the facts, a page at a time.", {"offset": {"type": "integer"}}, []),
    (
        "memory_update",
        "Change a fact by its id.",
        {"memory_id": _TEXT, "content": _TEXT, "tags": _TERMS, "keywords": _TERMS},
        ["memory_id"],
    ),
    ("memory_forget", "Forget a fact by its id.", {"memory_id": _TEXT}, ["memory_id"]),
)


def call(memory, name, arguments, recall_limit=8, output_bytes=OUTPUT_BYTES):
    """Run the tool ``name`` on the LongTerm ``memory``.

    Args:
        arguments: JSON text or a dict, as the model gave it.
        recall_limit: what a recall without a limit gives at most.
        output_bytes: the most bytes that an answer may take; a list goes on at its ``next_offset``.

    Returns:
        (answer as JSON text, labels of what was written).
    """
    try:
        given = json.loads(arguments) if isinstance(arguments, (str, bytes)) else arguments
        if not isinstance(given, dict):
            raise ValueError
    except ValueError:
        return text.dumps({"ok": False, "error": "invalid_json"}), []
    actions = {
        "memory_store": _store,
        "memory_update": _update,
        "memory_forget": _forget,
    }
    if name not in actions and name not in ("memory_recall", "memory_list"):
        return text.dumps([("ok", False), ("error", "no such tool: " + str(name))]), []
    try:
        if name == "memory_recall":
            return _recall(memory, given, recall_limit, output_bytes)
        if name == "memory_list":
            offset = max(0, _number(given, "offset"))
            return _page("memory_list", False, memory.listed(), offset, output_bytes), []
        return actions[name](memory, given)
    except InvalidInput as error:
        return text.dumps([("ok", False), ("error", str(error))]), []
    except NotFound:
        return text.dumps([("ok", False), ("error", name + "_failed"), ("code", "ESP_ERR_NOT_FOUND")]), []


def _store(memory, given):
    names = ("content", "tags", "keywords", "source", "memory_id")
    return _wrote("memory_store", memory.store(*[_words(given, name) for name in names]))


def _update(memory, given):
    memory_id = _required(given)
    names = ("content", "tags", "keywords", "source")
    return _wrote("memory_update", memory.update(memory_id, *[_words(given, name) for name in names]))


def _forget(memory, given):
    memory_id = _required(given)
    labels = memory.get(memory_id).labels
    memory.forget(memory_id)
    answer = [("ok", True), ("action", "memory_forget"), ("changed", True), ("memory_id", memory_id)]
    answer.extend([("summary", label) for label in labels[:1]])
    return text.dumps(answer), labels


def _recall(memory, given, limit, room):
    labels = given.get("summary_labels") or []
    labels = (
        [label for label in labels if isinstance(label, str)]
        if isinstance(labels, list)
        else terms(str(labels))
    )
    known = [label for label, _ in memory.labels()]
    for label in labels:
        if label not in known and not any(one[:8] == label for one in known):
            answer = [
                ("ok", False),
                ("error", "invalid_summary_labels"),
                ("message", "use labels of the catalogue"),
            ]
            answer.extend([("invalid_label", label), ("available_summary_labels", known)])
            return text.dumps(answer), []
    items = memory.recall(labels, max(0, _number(given, "limit")) or limit)
    return _page("memory_recall", True, items, 0, room), []


def _page(action, changed, items, offset, room):
    """Items from ``offset`` on as far as they fit; ``next_offset`` says where to go on."""
    shown = []
    size = 200
    for item in items[offset : offset + PAGE]:
        fields = item.fields()
        fields.append(("summary_labels", item.labels))
        piece = text.dumps(fields)
        size += len(piece.encode()) + 1
        if size > room:
            break
        shown.append(piece)
    answer = text.dumps([("ok", True), ("action", action), ("changed", changed)])[:-1]
    answer += ',"items":[' + ",".join(shown) + "]"
    if offset + len(shown) < len(items):
        answer += f',"next_offset":{offset + len(shown)},"total":{len(items)}'
    return answer + "}"


def _wrote(action, stored):
    answer = [("ok", True), ("action", action), ("changed", stored.changed), ("memory_id", stored.item.id)]
    labels = stored.item.labels
    answer.extend([("summary", label) for label in labels[:1]])
    if stored.conflicts:
        answer.append(("conflicts", stored.conflicts))
    return text.dumps(answer), labels if stored.changed else []


def _required(given):
    memory_id = _words(given, "memory_id")
    if not memory_id:
        raise InvalidInput("memory_id is required")
    return memory_id


def _words(given, name):
    value = given.get(name)
    if isinstance(value, list):
        return ",".join([str(one) for one in value])
    return value if isinstance(value, str) else ""


def _number(given, name):
    value = given.get(name)
    return value if isinstance(value, int) else 0
