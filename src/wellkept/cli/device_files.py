"""Between a device's directory and a store: the directory as items to import, a user's memory as a directory."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, get_args

from wellkept.errors import InvalidInput
from wellkept.formats import Entry, Extra, Item, Note, SessionStart, import_key
from wellkept.policy.facts.claims import Claim
from wellkept.records import Event
from wellkept.store.facts import Fact
from wellkept.store.flash.faults import typed_errors
from wellkept.store.flash.messages import Backend, draft_of, line_of
from wellkept_flash import compact, folder, images
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


def unpack(path: str, directory: str) -> None:
    """Put the files of an image, or a copy of a directory, into the new ``directory``.

    Raises:
        InvalidInput: there is something at ``directory``, or ``path`` is no image.
    """
    with appearing(directory) as inside:
        if os.path.isfile(path):
            images.unpack(path, inside)
        else:
            shutil.copytree(path, inside)


# ── device → store ──────────────────────────────────────────────────────────────────────────────────────────


def items(device: Any, known: Callable[[str], Sequence[set[str]]], sessions: Iterator[Any]) -> Iterator[Item]:
    """What a directory holds, each message with the record that it came from in its metadata.

    Args:
        device: the ``folder.Folder``.
        known: gives, for each message of a session that the store has, the checksums of ``records_of``.
        sessions: those to take, of this directory.
    """
    for session in sessions:
        yield from _session(device, session, known(session.id))
    for name, text in device.profile().items():
        if text.strip() and text != _first_text(name):
            yield Extra(kind="profile", data={"name": name, "text": text})


def records_of(event: Event) -> set[str]:
    """Checksums of the record that a message was taken from, and of those that an export makes of it."""
    lines = [line_of(event, backend)[1] for backend in get_args(Backend)]
    found = {hashlib.sha256(form).hexdigest() for line in lines for form in (line, compact.clipped(line))}
    source: Mapping[str, Any] = event.metadata.get("device", {})
    return found | ({source["sha256"]} if source.get("session") == event.session_id else set())


def _session(device: Any, session: Any, known: Sequence[set[str]]) -> Iterator[Item]:
    file = os.path.basename(session.path)
    written = _changed_at(session.path)
    findings = session.findings()
    yield SessionStart(external_id=session.id, created_at=written, metadata={"device": {"file": file}})
    times = Counter(sha for shas in known for sha in shas)
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


def _new_ones(records: Sequence[Mapping[str, Any]], known: Sequence[set[str]]) -> Sequence[Mapping[str, Any]]:
    """The records behind the last one that is known.

    A device adds at the end only. What it dropped, clipped or folded into a summary since stands before that.
    """
    at = first_new = 0
    for number, record in enumerate(records, 1):
        place = next((place for place in range(at, len(known)) if record["sha"] in known[place]), None)
        if place is not None:
            at, first_new = place + 1, number
    return records[first_new:]


def claim_of(memory: Mapping[str, Any]) -> Claim:
    """The statement of a memory of ``Folder.facts``."""
    keywords = tuple(filter(None, memory["keywords"].split(",")))
    return Claim(text=memory["content"], labels=tuple(memory["labels"]), keywords=keywords)


def history_of(memory: Mapping[str, Any]) -> tuple[dict[str, Any], int | None, int | None]:
    """Metadata that say which memory of the device it was, and when (ms) it was made and changed, where that is known."""
    names = ("id", "source", "created_at", "updated_at", "access_count")
    source = {**{name: memory[name] for name in names}, "sha256": memory["sha"]}
    return {"device": source}, _moment(memory["created_at"]), _moment(memory["updated_at"])


def origin(fact: Fact) -> str:
    """Id of the memory of a device that a fact is: of the one it was taken from, else of the one an export makes of it."""
    source: Mapping[str, Any] = fact.metadata.get("device", {})
    return str(source.get("id") or fact.id)


def checksums(fact: Fact) -> Iterator[str]:
    """Of its text where it came from, and of its text as a device keeps it."""
    yield fact.metadata.get("device", {}).get("sha256", "")
    yield hashlib.sha256(Memorised(fact.id, fact.text).content.encode()).hexdigest()


def _moment(seconds: int) -> int | None:
    """The time of a device in milliseconds; None when its clock was not set."""
    return seconds * 1000 if seconds > _CLOCK_WAS_SET.timestamp() else None


def _changed_at(path: str) -> datetime | None:
    """When the file was last written, if the clock that says so was set."""
    moment = datetime.fromtimestamp(os.stat(path).st_mtime, timezone.utc) if os.path.exists(path) else None
    return moment if moment and moment > _CLOCK_WAS_SET else None


def _first_text(name: str) -> str:
    return next(first for known, _, first in DOCUMENTS if known == name)


# ── store → device ──────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def appearing(path: str) -> Iterator[str]:
    """A directory to make, which stands at ``path`` when it is complete; one that is there must be empty.

    Raises:
        InvalidInput: there is something at ``path``.
    """
    target = Path(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(
            f"{path} is not empty. Give a new directory, and copy it to the device from there."
        )
    with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=f"{target.name}.") as made:
        inside = os.path.join(made, "device")
        yield inside
        os.replace(inside, target)


def made_short(directory: str) -> Iterator[str]:
    """Fold what the firmware would block for being too long; says what became of it."""
    for session in folder.Folder(directory).sessions():
        if session.size() > compact.LIMIT:
            done = compact.compact(session)
            yield (
                f"{session.id} is longer than a device takes: {done['folded']} turns were folded into a summary, "
                f"{done['dropped']} tool records left out"
            )


def cut_short(facts: Sequence[Fact]) -> Iterator[str]:
    """Says which memories are longer than a device takes."""
    for fact in facts:
        if Memorised(fact.id, fact.text).content != fact.text:
            yield f"memory {fact.id} is cut to the 255 bytes that a device keeps"
