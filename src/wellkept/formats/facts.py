"""What is known of a user as lines of our own export: facts, the log of their changes, tombstones, how far each conversation
was read for facts, the profile with its history, what waits for a decision, and receipts.

    {"kind": "fact", "namespace": "…", "user": "…", "id": "…", "text": "…", "state": "active", "labels": […], …}
    {"kind": "change", "namespace": "…", "user": "…", "id": 7, "operation": 7, "fact": "…", "action": "store",
     "actor": "app", "at": ms, "after": {…}}
    {"kind": "tombstones", "namespace": "…", "user": "…", "origins": [["salt", "namespace", "user"]], "graves": [["hex", ms]]}
    {"kind": "extracted", "namespace": "…", "user": "…", "session": "…", "seq": 12}
    {"kind": "profile", "namespace": "…", "user": "…", "name": "user", "text": "…", "version": 3, "at": ms}
    {"kind": "profile_version", …, the same for each earlier version}
    {"kind": "doubt", "namespace": "…", "user": "…", "asks": "replace", "facts": ["…"], "text": "…", "at": ms}
    {"kind": "receipt", "namespace": "…", "user": "…", "at": ms, "removed": {"events": 2}, "left": {}, "resumed": false}

The fields of a fact are those of ``Fact``. Times are milliseconds since 1970, UTC; absent and null are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar, get_args

from wellkept.errors import InvalidInput
from wellkept.formats.fields import list_of, optional, required
from wellkept.formats.items import Extra
from wellkept.ids import is_number
from wellkept.policy.checks import check_text, milliseconds
from wellkept.policy.facts.claims import USER
from wellkept.records import DOCUMENTS, Document, Scope, utc
from wellkept.store.facts import Actor, Book, Change, Doubt, Fact, FactState, Graves

KINDS = ("fact", "change", "tombstones", "extracted", "profile", "profile_version", "doubt", "receipt")

T = TypeVar("T", bound=str)
_MOMENTS = ("valid_from", "valid_to", "created_at", "changed_at", "last_used")
_LONGEST = 100  # of an action
_MOST = 1 << 53


def lines(scope: Scope, book: Book) -> Iterator[Extra]:
    """A book as lines of an export."""
    whose = {"namespace": scope.namespace, "user": scope.user}
    for fact in book.facts:
        yield Extra(kind="fact", data={**whose, **_fact_data(fact)})
    for change in book.changes:
        yield Extra(kind="change", data={**whose, **_change_data(change)})
    if book.graves.hashes:
        origins = [list(origin) for origin in book.graves.origins]
        graves = [[hash.hex(), at] for hash, at in book.graves.hashes.items()]
        yield Extra(kind="tombstones", data={**whose, "origins": origins, "graves": graves})
    for session, seq in book.extracted.items():
        yield Extra(kind="extracted", data={**whose, "session": session, "seq": seq})
    newest = {document.name: document for document in sorted(book.documents, key=lambda it: it.version)}
    for document in book.documents:
        kind = "profile" if document is newest[document.name] else "profile_version"
        yield Extra(kind=kind, data={**whose, **_document_data(document)})
    for doubt in book.doubts:
        said = {"asks": doubt.kind, "facts": list(doubt.facts), "text": doubt.text}
        yield Extra(kind="doubt", data={**whose, **said, "at": milliseconds(doubt.at)})
    for at, receipt in book.receipts:
        yield Extra(kind="receipt", data={**whose, "at": at, **receipt})


def _document_data(document: Document) -> dict[str, Any]:
    return {
        "name": document.name,
        "text": document.text,
        "version": document.version,
        "at": milliseconds(document.updated_at),
    }


def _fact_data(fact: Fact) -> dict[str, Any]:
    data = {name: value for name, value in fact.to_dict().items() if value and name != "key"}
    return data | {name: milliseconds(getattr(fact, name)) for name in _MOMENTS if name in data}


def _change_data(change: Change) -> dict[str, Any]:
    data = {
        "id": change.id,
        "operation": change.operation,
        "fact": change.fact_id,
        "action": change.action,
        "actor": change.actor,
        "at": milliseconds(change.at),
    }
    return data | ({"after": _fact_data(change.after)} if change.after else {})


def page(kind: str, data: Mapping[str, Any]) -> Book:
    """The book that holds one line. Raises InvalidInput, which says what is wrong with it."""
    if kind == "fact":
        return Book(facts=(_fact(data),))
    if kind == "change":
        return Book(changes=(_change(data),))
    if kind == "extracted":
        return Book(extracted={required(data, "session", str): _number(data, "seq")})
    if kind in ("profile", "profile_version"):
        return Book(documents=(_document(data),))
    if kind == "doubt":
        return Book(doubts=(_doubt(data),))
    if kind == "receipt":
        return Book(receipts=(_receipt(data),))
    return Book(graves=_graves(data))


def _fact(data: Mapping[str, Any]) -> Fact:
    moments = {name: _moment(data, name) for name in _MOMENTS}
    if moments["created_at"] is None or moments["changed_at"] is None:
        raise InvalidInput("'created_at' and 'changed_at' must say when the fact was made and changed")
    superseded_by = optional(data, "superseded_by", str)
    return Fact(
        id=_id(data, "id"),
        key=0,
        text=required(data, "text", str),
        subject=optional(data, "subject", str) or USER,
        attribute=optional(data, "attribute", str) or "",
        labels=tuple(list_of(data, "labels", str)),
        keywords=tuple(list_of(data, "keywords", str)),
        quote=optional(data, "quote", str) or "",
        state=_one_of(data, "state", get_args(FactState)),
        pinned=bool(optional(data, "pinned", bool)),
        sources=tuple(list_of(data, "sources", str)),
        superseded_by=_id(data, "superseded_by") if superseded_by else None,
        uses=_number(data, "uses") if data.get("uses") else 0,
        metadata=optional(data, "metadata", dict) or {},
        **moments,  # type: ignore[arg-type]
    )


def _change(data: Mapping[str, Any]) -> Change:
    after = optional(data, "after", dict)
    return Change(
        id=_number(data, "id"),
        operation=_number(data, "operation"),
        fact_id=_id(data, "fact"),
        action=required(data, "action", str)[:_LONGEST],
        actor=_one_of(data, "actor", get_args(Actor)),
        at=_at(data),
        before=None,
        after=None if after is None else _fact(after),
    )


def _document(data: Mapping[str, Any]) -> Document:
    text = optional(data, "text", str) or ""
    check_text("profile document", text)
    return Document(
        name=_one_of(data, "name", DOCUMENTS),
        text=text,
        hash=hashlib.sha256(text.encode()).hexdigest(),
        version=_number(data, "version") if data.get("version") else 0,
        updated_at=_moment(data, "at"),
    )


def _doubt(data: Mapping[str, Any]) -> Doubt:
    text = optional(data, "text", str) or ""
    check_text("question", text)
    facts = list_of(data, "facts", str)
    return Doubt(
        id=0,
        kind=_one_of(data, "asks", ("replace", "erase", "forget")),
        facts=tuple(_id({"facts": id}, "facts") for id in facts),
        text=text,
        at=_at(data),
    )


def _receipt(data: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
    counts = {name: _counts(data, name) for name in ("removed", "left")}
    resumed = {"resumed": True} if optional(data, "resumed", bool) else {}
    return milliseconds(_at(data)) or 0, {**counts, **resumed}


def _counts(data: Mapping[str, Any], name: str) -> dict[str, int]:
    counts = required(data, name, dict)
    return {place[:_LONGEST]: _number(counts, place) for place in counts}


def _graves(data: Mapping[str, Any]) -> Graves:
    try:
        origins = tuple(
            (str(salt), str(space), str(user)) for salt, space, user in list_of(data, "origins", list)
        )
        hashes = {
            bytes.fromhex(hash): milliseconds(utc(at)) or 0 for hash, at in list_of(data, "graves", list)
        }
    except (TypeError, ValueError, OverflowError, OSError):
        raise InvalidInput("'origins' and 'graves' must be as an export writes them") from None
    return Graves(origins=origins, hashes=hashes)


def _id(data: Mapping[str, Any], name: str) -> str:
    id = required(data, name, str)
    if not is_number(id):
        raise InvalidInput(f"{name!r} must be the id of a fact, not {id!r:.60}")
    return id


def _number(data: Mapping[str, Any], name: str) -> int:
    number = required(data, name, int)
    if not 0 <= number < _MOST:
        raise InvalidInput(f"{name!r} must be a number from 0 to 2^53, not {number}")
    return number


def _one_of(data: Mapping[str, Any], name: str, known: tuple[T, ...]) -> T:
    value = required(data, name, str)
    for each in known:
        if each == value:
            return each
    raise InvalidInput(f"{name!r} must be one of {', '.join(known)}, not {value!r:.60}")


def _at(data: Mapping[str, Any]) -> datetime:
    at = _moment(data, "at")
    if at is None:
        raise InvalidInput("'at' is missing; it must say when that was")
    return at


def _moment(data: Mapping[str, Any], name: str) -> datetime | None:
    ms = optional(data, name, int)
    try:
        return None if ms is None else utc(ms)
    except (OverflowError, ValueError, OSError):
        raise InvalidInput(
            f"{name!r} is no time: {ms} milliseconds lie outside the years 1 to 9999"
        ) from None
