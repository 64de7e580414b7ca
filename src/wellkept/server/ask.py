"""What the gateway does with memory for one request: all of it in the library's words, each step one hop."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from starlette.requests import Request

from wellkept.arrivals import Arrival, as_stored
from wellkept.errors import InvalidInput, WellkeptError
from wellkept.memory import Memory
from wellkept.policy.context.messages import parse
from wellkept.policy.context.overlap import new_part, reach
from wellkept.policy.context.repair import repair, unanswered
from wellkept.policy.context.uncut import ends_with, latest, uncut
from wellkept.records import Content, Draft, Event, Scope, Text, blocks_of, text_of
from wellkept.server.answers import Answer
from wellkept.server.auth import check_headers, check_session, decoded, scope_of
from wellkept.server.problems import Problem, shown
from wellkept.server.providers import Json, Provider
from wellkept.server.service import Service
from wellkept.session import Session

READ_ONLY = "read-only"
_ROUND = 16
"""Events of a session's end in which the call is found that a result answers: other results may stand between."""


@dataclass(frozen=True)
class Ask:
    """What the headers of a request say to the gateway.

    Attributes:
        session_id: the conversation, made when the user has none with that id.
        read_only: nothing of this request is written anywhere.
        tools: the model may use memory by itself.
        budget: tokens for the context; the policy's if None.
    """

    scope: Scope
    session_id: str
    read_only: bool = False
    tools: bool = False
    budget: int | None = None


async def asked(service: Service, request: Request) -> Ask | None:
    """What a request wants of memory; None when it names no session.

    Raises a problem, or NotFound, for a caller who may not have it.
    """
    headers = request.headers
    check_headers(request)
    visitor = await service.doorkeeper.admit(headers.get("x-wellkept-key"))
    session = _decoded(headers, "x-wellkept-session")
    if session is None:
        return None
    check_session(session)
    read_only = _choice(headers, "x-wellkept-mode", READ_ONLY)
    visitor.may("reader" if read_only else "writer")
    tools = _choice(headers, "x-wellkept-tools", "1")
    if read_only and tools:
        raise Problem(
            422, "invalid_input", "Memory tools write; leave X-Wellkept-Tools out of a read-only request."
        )
    names = {name: _decoded(headers, f"x-wellkept-{name}") for name in ("namespace", "user")}
    return Ask(
        scope=scope_of(visitor, service.settings, names["namespace"], names["user"]),
        session_id=session,
        read_only=read_only,
        tools=tools,
        budget=_number(headers, "x-wellkept-budget"),
    )


def _decoded(headers: Mapping[str, str], name: str) -> str | None:
    value = headers.get(name)
    return None if value is None else decoded(name, value)


def _choice(headers: Mapping[str, str], name: str, wanted: str) -> bool:
    value = headers.get(name, "")
    if value not in ("", wanted):
        raise Problem(422, "invalid_input", f"{name} is {value!r:.40}; it may be {wanted!r} or left out.")
    return value == wanted


def _number(headers: Mapping[str, str], name: str) -> int | None:
    value = headers.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and int(value[:12]) > 0 and len(value) < 10):
        raise Problem(422, "invalid_input", f"{name} is {value!r:.40}; it must be a number of tokens.")
    return int(value)


# ── before the request
# ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Prepared:
    """A request with memory in it, and what it cost; without it where ``failure`` kept the context from being made.
    ``session`` is the conversation that its answer belongs to, ``begun`` how the caller began the answer."""

    body: Json
    session: Session | None = None
    begun: Sequence[Draft] = ()
    tokens: int = 0
    trace_id: str | None = None
    failure: Exception | None = None


def prepare(memory: Memory, ask: Ask, provider: Provider, body: Json) -> Prepared:
    """Append what is new of the caller's messages, and put the context in their place.

    Raises what kept the messages from being appended.
    """
    sent = provider.drafts(body)
    if all(draft.role == "assistant" for draft in sent):
        raise InvalidInput("The request has no message to remember or to answer.")
    return (
        _read(memory, ask, provider, body, sent)
        if ask.read_only
        else _write(memory, ask, provider, body, sent)
    )


def _write(memory: Memory, ask: Ask, provider: Provider, body: Json, sent: Sequence[Draft]) -> Prepared:
    session, begun = memory.append_new(Arrival(ask.scope, ask.session_id, sent))
    try:
        context = session.get_context(_question(sent), ask.budget)
        shown = _uncut(session, context.events, sent[: len(sent) - len(begun)])
        asked = provider.with_context(body, context.system, [*shown, *begun])
    except Exception as error:  # noqa: BLE001 - what was appended gets its answer, whatever happens to the context
        return Prepared(body, session, begun, failure=error)
    beyond = sum(event.tokens for event in shown) - sum(event.tokens for event in context.events)
    return Prepared(asked, session, begun, context.tokens + beyond, context.trace_id)


def _uncut(session: Session, shown: Sequence[Event], sent: Sequence[Draft]) -> Sequence[Event]:
    """The events of a context, with what the caller says since the last answer that it knows as it is stored."""
    said = list(takewhile(lambda draft: draft.role != "assistant", reversed(sent)))[::-1]
    if ends_with(shown, said):
        return shown
    return uncut(shown, latest(session.get_recent(len(said) + _ROUND), len(said)))


def _read(memory: Memory, ask: Ask, provider: Provider, body: Json, sent: Sequence[Draft]) -> Prepared:
    """Without appending anything: what is new stands behind the context of what is stored."""
    scope = ask.scope
    reader = memory.read_only().session(namespace=scope.namespace, user=scope.user, session_id=ask.session_id)
    stored = reader.get_recent(reach(len(sent)))
    start, end = new_part(stored, as_stored(memory.policy, sent))
    new, begun = sent[start:end], sent[end:]
    context = reader.get_context(_question(sent), ask.budget)
    items: list[Event | Draft] = [*unanswered(context.events, new), *new]
    asked = provider.with_context(body, context.system, [*repair(items), *begun])
    return Prepared(asked, tokens=context.tokens)


def _question(sent: Sequence[Draft]) -> str | None:
    return next((text_of(draft.content) for draft in reversed(sent) if draft.role == "user"), None)


# ── after it
# ────────────────────────────────────────────────────────────────────────────────────────────────


def record(
    session: Session,
    provider: Provider,
    answer: Answer,
    used: Sequence[Json] = (),
    begun: Sequence[Draft] = (),
) -> bool:
    """Append the answer, as far as it came, with the memory tools that it used; whether there was anything of it. Where its
    provider leaves out how it was ``begun``, that stands before it.

    What was cut off is appended with the reason: the user has seen it.
    """
    message = answer.message()
    if message is None:
        return False
    draft = parse(mended(message), shape=provider.name)
    for beginning in begun if provider.goes_on else ():
        draft = replace(draft, content=_whole(beginning.content, draft.content))
    about: dict[str, Any] = {"provider": provider.name, "model": answer.model, "stop": answer.stop}
    if answer.usage:
        about["usage"] = answer.usage
    if used:
        about["memory_tools"] = list(used)
    if not answer.complete:
        about["incomplete"] = answer.fault or "the connection was cut"
    session.append([replace(draft, metadata={**(draft.metadata or {}), "gateway": about})])
    return True


def _whole(begun: Content, rest: Content) -> Content:
    """An answer from its beginning on."""
    first, second = tuple(blocks_of(begun)), tuple(blocks_of(rest))
    if first and second and isinstance(first[-1], Text) and isinstance(second[0], Text):
        return (*first[:-1], replace(second[0], text=first[-1].text + second[0].text), *second[1:])
    return first + second


def describe(error: BaseException) -> str:
    """An error as a header's value."""
    said = shown(error) if isinstance(error, WellkeptError) else str(error)
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return "".join(c if " " <= c <= "~" else "?" for c in text)[:300]


def body_of(raw: bytes) -> Json:
    """The JSON object of a request. Raises InvalidInput."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The request is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise InvalidInput("The request is no JSON object.")
    # Only an escape can bring half a character.
    return mended(body) if b"\\u" in raw else body


def mended(value: Any) -> Any:
    """JSON data in which halves of a character are put together, and those that stand alone are the replacement character:
    who cuts a text by UTF-16, as JavaScript does, leaves such halves, which nothing can store."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value
