"""Runs the golden scenarios of the firmware against this package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wellkept_flash import compact, files
from wellkept_flash.errors import FlashError
from wellkept_flash.session import Session

TYPES = {"user": 1, "final": 2, "tool_call": 3, "tool": 4}


def expand(value: Any) -> Any:
    """The value of a scenario's string expressions."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        return expand(value["$repeat"][0]) * value["$repeat"][1]
    if "$join" in value:
        return "".join(expand(item) for item in value["$join"])
    return {key: expand(item) for key, item in value.items()}


class Run:
    """One scenario, run in the folder ``root``; sessions are opened anew for each operation."""

    def __init__(self, scenario: Path, root: Path) -> None:
        self.expected = scenario / "expected"
        self.root = root
        self.disk = files.Disk(sync=False)
        self.loads: dict[int, Any] = {}
        self.findings: dict[int, list[str]] = {}
        self.errors: dict[int, FlashError] = {}
        self.compactions: list[dict[str, int]] = []
        self.snapshots: dict[str, dict[str, bytes]] = {}
        self._backend, self._max_chars = "openai_compatible", 4096
        for number, op in enumerate(json.loads((scenario / "scenario.json").read_text())["ops"]):
            self._number = number
            try:
                getattr(self, "_" + op["op"], self._ignore)(expand(op))
            except FlashError as error:
                self.errors[number] = error

    def session(self, name: str) -> Session:
        return Session(self.disk, f"{self.root}/sessions", name, self._backend, self._max_chars)

    def expected_loads(self) -> dict[int, Any]:
        loaded = json.loads((self.expected / "loaded.json").read_text())
        return {load["i"]: load.get("messages") for load in loaded}

    def _ignore(self, op: dict[str, Any]) -> None:
        pass

    def _init(self, op: dict[str, Any]) -> None:
        self._backend = op.get("backend", "openai_compatible")
        self._max_chars = op.get("max_message_chars", 4096)

    _reboot = _init

    def _user(self, op: dict[str, Any]) -> None:
        texts = op.get("texts", [op.get("text", "")])
        self.session(op["session"]).user(*([bytes.fromhex(op["text_hex"])] if "text_hex" in op else texts))

    def _tool_round(self, op: dict[str, Any]) -> None:
        self.session(op["session"]).tool_round(op["assistant"], op["results"])

    def _final(self, op: dict[str, Any]) -> None:
        session = self.session(op["session"])
        session.final(op.get("message"), op.get("text", ""))
        self._completed(session)

    def _failure_note(self, op: dict[str, Any]) -> None:
        self.session(op["session"]).failure_note(op.get("error", ""), op.get("tool_summary", ""))

    def _persist(self, op: dict[str, Any]) -> None:
        session = self.session(op["session"])
        batch = [(TYPES.get(r["type"], r["type"]), r.get("message"), r.get("text")) for r in op["records"]]
        session.persist(session.encode(batch))
        if op.get("completed"):
            self._completed(session)

    def _completed(self, session: Session) -> None:
        if session.size() > compact.LIMIT:
            self.compactions.append(compact.compact(session))

    def _load(self, op: dict[str, Any]) -> None:
        self.loads[self._number] = None
        loaded = self.session(op["session"]).load()
        self.loads[self._number] = loaded.messages
        self.findings[self._number] = loaded.findings

    def _snapshot(self, op: dict[str, Any]) -> None:
        self.snapshots[op["name"]] = {path.name: path.read_bytes() for path in self.root.glob("*/*")}

    def _path(self, op: dict[str, Any]) -> Path:
        if "session" not in op:
            return self.root / str(op["path"]).removeprefix("fatfs/")
        session = self.session(op["session"])
        part = op.get("part", "data")
        path = {"data": session.path, "idx": session.index, "blocked": session.blocked}[part]
        return Path(path)

    def _delete_file(self, op: dict[str, Any]) -> None:
        self._path(op).unlink()

    def _patch_file(self, op: dict[str, Any]) -> None:
        path, new = self._path(op), bytes.fromhex(op["hex"])
        data = bytearray(path.read_bytes())
        data[op["offset"] : op["offset"] + len(new)] = new
        path.write_bytes(data)

    def _truncate_file(self, op: dict[str, Any]) -> None:
        data = self._path(op).read_bytes()
        self._path(op).write_bytes(data[: op.get("size", len(data) - op.get("drop", 0))])

    def _append_file(self, op: dict[str, Any]) -> None:
        self._path(op).write_bytes(self._path(op).read_bytes() + op["text"].encode())

    def _write_file(self, op: dict[str, Any]) -> None:
        self._path(op).parent.mkdir(parents=True, exist_ok=True)
        self._path(op).write_bytes(bytes.fromhex(op["hex"]) if "hex" in op else op["text"].encode())
