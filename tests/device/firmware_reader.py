"""Loads a session and the memories as the firmware does, written from its specification alone."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any


class Erased(Exception):
    """Here the firmware would recreate both files empty."""


def load_session(data_file: Path, backend: int = 1) -> list[dict[str, Any]]:
    """The messages that the loader would hand on. Raises Erased where it would erase."""
    data, index = data_file.read_bytes(), Path(f"{data_file}.idx").read_bytes()
    if len(index) < 8 or struct.unpack("<IHH", index[:8]) != (0x58444843, 1, 10) or (len(index) - 8) % 10:
        raise Erased("header")
    entries = list(struct.iter_unpack("<IIBB", index[8:]))
    if bool(entries) != bool(data):
        raise Erased("empty")
    messages: list[dict[str, Any]] = []
    for offset, length, kind, style in entries:
        if not length or offset + length > len(data) or not 1 <= kind <= 4 or style > 2:
            raise Erased("entry")
        if data[offset + length - 1 : offset + length] != b"\n":
            raise Erased("newline")
        try:
            value = json.loads(data[offset : offset + length - 1])
        except ValueError as error:
            raise Erased("json") from error
        same = style == backend or 0 in (style, backend)
        if kind in (3, 4) and not same:
            continue
        messages.extend(value if kind == 4 else [value])
    return messages


def load_memories(folder: Path) -> dict[str, dict[str, Any]]:
    """Live items by id: the later line wins. Raises Erased where every request would fail."""
    try:
        index = json.loads((folder / "memory_index.json").read_bytes())
    except ValueError as error:
        raise Erased("index") from error
    if index["version"] != 3:
        raise Erased("version")
    items: dict[str, dict[str, Any]] = {}
    for line in (folder / "memory_records.jsonl").read_bytes().splitlines():
        if len(line) > 1023:
            continue
        item = json.loads(line)
        items[item["id"]] = item
    return {key: item for key, item in items.items() if not item["deleted"]}
