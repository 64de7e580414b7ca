"""What may be stored: checks on what a caller passes in, each with an error that says what is accepted."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.policy.content import json_text
from wellkept.records import ROLES, Block, Content, Draft, Text, utc

MAX_NAME = 512
MAX_BUDGET = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def check_draft(draft: Draft) -> None:
    """Raise InvalidInput for a draft that could not be stored and read back as it is."""
    if draft.role not in ROLES:
        raise InvalidInput(f"The role is {draft.role!r}; it must be one of: {', '.join(ROLES)}.")
    if draft.speaker is not None:
        check_text("speaker", draft.speaker)
    if draft.idempotency_key is not None:
        check_text("idempotency_key", draft.idempotency_key, least=1)
    content = draft.content
    if not isinstance(content, str) and not _are_blocks(content):
        raise InvalidInput(
            f"The content is {type(content).__name__}; it must be text or a tuple of content blocks. "
            "What is in a provider's shape goes through add_messages."
        )
    if draft.role == "tool" and isinstance(content, str):
        raise InvalidInput(
            "A tool message needs the id of its call: pass a ToolResult block, or use add_messages."
        )
    if draft.role != "assistant" and _is_blank(content):
        raise InvalidInput(f"The {draft.role} message is empty. Only an assistant may say nothing.")


def _are_blocks(content: object) -> bool:
    return isinstance(content, tuple) and all(isinstance(block, Block) for block in content)


def _is_blank(content: Content) -> bool:
    if isinstance(content, str):
        return not content or content.isspace()
    return all(isinstance(block, Text) and not block.text.strip() for block in content)


def plain_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """``metadata`` as it will be read back: a copy of plain JSON data. Raises InvalidInput for anything else."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput(f"The metadata is {type(metadata).__name__}; it must map names to JSON data.")
    if not metadata:
        return {}
    text = json_text(dict(metadata))
    check_text("metadata", text)
    copy: dict[str, Any] = json.loads(text)
    return copy


def check_text(what: str, value: object, *, least: int = 0) -> None:
    """Raise InvalidInput unless ``value`` is text of at least ``least`` characters that UTF-8 can hold."""
    if not isinstance(value, str) or len(value) < least:
        raise InvalidInput(
            f"The {what} is {value!r:.80}; it must be text{' and not empty' if least else ''}."
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"The {what} holds a lone surrogate, which no encoding can store.") from error


def check_name(what: str, value: object) -> None:
    """Raise InvalidInput unless ``value`` can name a namespace, a user or a session."""
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise InvalidInput(f"The {what} is {value!r:.80}; it must be text of 1 to {MAX_NAME} characters.")
    if any(not character.isprintable() for character in value):
        raise InvalidInput(f"The {what} {value!r:.80} holds control characters or broken text.")


def check_messages(messages: object) -> None:
    """Raise InvalidInput unless ``messages`` is several things, as a single message is not."""
    if not isinstance(messages, Iterable) or isinstance(messages, (str, Mapping)):
        raise InvalidInput(f"The messages are {type(messages).__name__}; they must be a list of messages.")


def check_query(query: object) -> None:
    """Raise InvalidInput unless ``query`` is text, of whatever kind."""
    if not isinstance(query, str):
        raise InvalidInput(f"The query is {type(query).__name__}; it must be text.")


def check_limit(limit: int) -> int:
    """``limit``, no larger than any store can count. Raises InvalidInput unless it is a positive number."""
    if not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"The limit is {limit!r}; it must be a whole number and at least 1.")
    return min(limit, sys.maxsize)


def check_budget(budget: int) -> int:
    """``budget`` as it is. Raises InvalidInput unless it is a number of tokens that a context can have."""
    if not isinstance(budget, int) or isinstance(budget, bool) or not 1 <= budget <= MAX_BUDGET:
        raise InvalidInput(
            f"The budget is {budget!r:.80}; it must be a whole number of tokens, at least 1 and at most {MAX_BUDGET:,}."
        )
    return budget


def check_seq(what: str, seq: int | None) -> None:
    """Raise InvalidInput unless ``seq`` is a whole number, or None."""
    if seq is not None and (not isinstance(seq, int) or isinstance(seq, bool)):
        raise InvalidInput(f"{what} is {seq!r:.80}; it must be the seq of an event, a whole number.")


def milliseconds(moment: datetime | None) -> int | None:
    """Milliseconds since 1970, UTC, rounded down; None for None. Raises InvalidInput for a naive time."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise InvalidInput(f"The time is {moment!r:.80}; it must be an aware datetime.")
    if moment.utcoffset() is None:
        raise InvalidInput("The time has no zone. Pass an aware datetime, e.g. datetime.now(timezone.utc).")
    since = (moment - _EPOCH) // timedelta(milliseconds=1)
    try:
        utc(since)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"The time {moment} lies outside the years 1 to 9999 in UTC.") from error
    return since
