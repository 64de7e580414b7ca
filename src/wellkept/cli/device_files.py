"""Between a device's directory and a store: the directory as items to import, a user's memory as a directory."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.formats import Entry, Extra, Item, Note, SessionStart, import_key
from wellkept.policy.claims import Claim
from wellkept.records import Event, Record
from wellkept.store.facts import Fact
from wellkept.store.flash.faults import typed_errors
from wellkept.store.flash.messages import Backend, draft_of, record_of
from wellkept_flash import folder, images
from wellkept_flash.items import Item as Memorised
from wellkept_flash.profile import DOCUMENTS

_TYPES = {name: number for number, name in folder.TYPE_NAMES.items()}
_CLOCK_WAS_SET = datetime(2001, 1, 1, tzinfo=timezone.utc)  # FAT's time begins in 1980, a chip's in 1970


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """The ``folder.Folder`` of a directory, or of a littlefs or FAT image unpacked for the moment."""
    with typed_errors():
        if not os.path.isfile(path):
            yield folder.Folder(path)
            return
        with tempfile.TemporaryDirectory() as unpacked:
            images.unpack(path, unpacked)
            yield folder.Folder(unpacked)


# ── device → store ──────────────────────────────────────────────────────────────────────────────────────────


def items(device: Any, known: Callable[[str], Sequence[str]], sessions: Iterator[Any]) -> Iterator[Item]:
    """What a directory holds, each message with the record that it came from in its metadata.

    Args:
        device: the ``folder.Folder``.
        known: gives the checksums of the records of a session that were imported before, in order.
        sessions: those to take, of this directory.
    """
    for session in sessions:
        yield from _session(device, session, known(session.id))
    for name, text in device.profile().items():
        if text.strip() and text != _first_text(name):
            yield Extra(kind="profile", data={"name": name, "text": text})


def _session(device: Any, session: Any, known: Sequence[str]) -> Iterator[Item]:
    file = os.path.basename(session.path)
    written = _changed_at(session.path)
    findings = session.findings()
    yield SessionStart(external_id=session.id, created_at=written, metadata={"device": {"file": file}})
    times = Counter(known)
    for record in _new_ones(list(device.records(session, findings)), known):
        times[record["sha"]] += 1
        item = _entry(session.id, record, times[record["sha"]])
        yield item if isinstance(item, Note) else replace(item, draft=replace(item.draft, ts=written))
    for finding in findings:
        yield Note(text=f"{file}: {finding}")


def _entry(session: str, record: Mapping[str, Any], occurrence: int) -> Entry | Note:
    """``occurrence`` keeps apart two records that say the same."""
    try:
        draft = draft_of(_TYPES[record["type"]], record["format"], record["text"])
    except InvalidInput as error:
        return Note(text=f"record {record['seq']} of {session} is left out: {error}")
    if draft.role == "user" and not draft.content:
        return Note(text=f"record {record['seq']} of {session} is left out: it is empty")
    source = {"device": {"session": session, "record": record["seq"], "sha256": record["sha"]}}
    return Entry(
        session=session,
        draft=replace(
            draft,
            metadata={**(draft.metadata or {}), **source},
            idempotency_key=import_key("device", session, f"{record['sha']}:{occurrence}"),
        ),
    )


def _new_ones(records: Sequence[Mapping[str, Any]], known: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """The records behind the last one that is known.

    A device adds at the end only. What it dropped, clipped or folded into a summary since stands before that.
    """
    at = first_new = 0
    for number, record in enumerate(records, 1):
        if record["sha"] in known[at:]:
            at = known.index(record["sha"], at) + 1
            first_new = number
    return records[first_new:]


def claim_of(memory: Mapping[str, Any]) -> Claim:
    """The statement of a memory of ``Folder.facts``."""
    keywords = tuple(filter(None, memory["keywords"].split(",")))
    return Claim(text=memory["content"], labels=tuple(memory["labels"]), keywords=keywords)


def origin_of(memory: Mapping[str, Any]) -> dict[str, Any]:
    """What a fact's metadata says of the memory that it was on the device."""
    names = ("id", "source", "created_at", "updated_at", "access_count")
    return {**{name: memory[name] for name in names}, "sha256": memory["sha"]}


def moment_of(seconds: int) -> int | None:
    """The time of a device in milliseconds; None when its clock was not set."""
    return seconds * 1000 if seconds > _CLOCK_WAS_SET.timestamp() else None


def _changed_at(path: str) -> datetime | None:
    """When the file was last written, if the clock that says so was set."""
    moment = datetime.fromtimestamp(os.stat(path).st_mtime, timezone.utc) if os.path.exists(path) else None
    return moment if moment and moment > _CLOCK_WAS_SET else None


def _first_text(name: str) -> str:
    return next(first for known, _, first in DOCUMENTS if known == name)


# ── store → device ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Written(Record):
    """What an export wrote, and what a person should hear of."""

    sessions: int = 0
    records: int = 0
    facts: int = 0
    documents: int = 0
    notes: list[str] = field(default_factory=list)


def write(
    path: str,
    sessions: Iterator[tuple[str, Sequence[Event]]],
    facts: Sequence[Fact],
    profile: Mapping[str, str],
    backend: Backend,
) -> Written:
    """Make the directory ``path``, which appears when it is complete; one that is there must be empty.

    Raises:
        InvalidInput: there is something at ``path``.
    """
    target = Path(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(
            f"{path} is not empty. Give a new directory, and copy it to the device from there."
        )
    report = Written(facts=len(facts), documents=len(profile), notes=[*_too_long(facts)])
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as made, typed_errors():
        inside = os.path.join(made, "device")
        batches = _counted(sessions, backend, report)
        folder.write(inside, batches, [_memory(fact) for fact in facts], dict(profile))
        os.replace(inside, target)
    return report


def _counted(
    sessions: Iterator[tuple[str, Sequence[Event]]], backend: Backend, report: Written
) -> Iterator[tuple[str, Backend, list[tuple[int, str, None]]]]:
    for id, events in sessions:
        report.sessions += 1
        report.records += len(events)
        if events:
            yield id, backend, [(*record_of(event, backend), None) for event in events]


def _memory(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.metadata.get("device", {}).get("id", fact.id),
        "content": fact.text,
        "tags": ",".join(fact.labels),
        "keywords": ",".join(fact.keywords),
        "source": fact.metadata.get("device", {}).get("source", "wellkept"),
        "created_at": int(fact.created_at.timestamp()),
        "updated_at": int(fact.changed_at.timestamp()),
        "access_count": fact.uses,
    }


def _too_long(facts: Sequence[Fact]) -> Iterator[str]:
    for fact in facts:
        if Memorised(fact.id, fact.text).content != fact.text:
            yield f"memory {fact.id} is cut to the 255 bytes that a device keeps"
