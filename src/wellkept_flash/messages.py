"""Loaded messages in the shape that a provider takes: every tool call with its result, every result with
its call."""

from wellkept_flash import text

MESSAGE_TOKENS = 4
NO_RESULT = "[no result: the request was interrupted]"
OPENING = "[the conversation goes on]"


def to_openai(messages):
    """``messages`` for an OpenAI-compatible API; calls without a result get one that says so, lone results
    are left out."""
    shaped = []
    for message in paired(messages):
        if message.get("role") == "tool":
            message = {key: value for key, value in message.items() if key != "is_error"}
        shaped.append(message)
    return shaped


def to_anthropic(messages):
    """``messages`` for Anthropic's API: the results of one round are one user message, and a user message
    comes first."""
    shaped = []
    for message in paired(messages):
        if message.get("role") != "tool":
            if message.get("content"):
                shaped.append(message)
            continue
        block = {
            "type": "tool_result",
            "tool_use_id": message["tool_call_id"],
            "content": message.get("content") or "",
        }
        if message.get("is_error"):
            block["is_error"] = True
        if shaped and shaped[-1]["role"] == "user" and _holds_results(shaped[-1]):
            shaped[-1]["content"].append(block)
        else:
            shaped.append({"role": "user", "content": [block]})
    if shaped and shaped[0]["role"] != "user":
        shaped.insert(0, {"role": "user", "content": OPENING})
    return shaped


def paired(messages):
    """``messages`` in which each tool call is followed by its result and no result stands alone."""
    shaped = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.get("role") == "tool":
            continue
        shaped.append(message)
        calls = call_ids(message)
        results = {}
        while calls and at < len(messages) and messages[at].get("role") == "tool":
            results.setdefault(messages[at].get("tool_call_id"), messages[at])
            at += 1
        shaped.extend([results.get(call) or _missing(call) for call in calls])
    return shaped


def within(messages, budget):
    """The newest turns of ``messages`` that take at most ``budget`` tokens, by the firmware's estimate.

    A turn is kept or left out as a whole; the newest one is always there.
    """
    used = 0
    start = len(messages)
    for at in range(len(messages) - 1, -1, -1):
        used += MESSAGE_TOKENS + text.tokens(text.dumps(messages[at]))
        if used > budget and start < len(messages):
            break
        if messages[at].get("role") == "user":
            start = at
    return messages[start:] or messages


def call_ids(message):
    """Ids of the tool calls in a message of either shape."""
    if message.get("role") != "assistant":
        return []
    calls = message.get("tool_calls")
    found = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    found.extend([block.get("id") for block in blocks if block.get("type") == "tool_use"])
    return found


def _missing(call):
    return {"role": "tool", "tool_call_id": call, "content": NO_RESULT, "is_error": True}


def _holds_results(message):
    content = message["content"]
    return isinstance(content, list) and content[0].get("type") == "tool_result"
