"""Looking a device's directory over, and copying it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wellkept.errors import InvalidInput
from wellkept.store.flash.places import Places
from wellkept.store.health import Finding, Progress
from wellkept_flash import health
from wellkept_flash.folder import Folder


def check(path: str) -> dict[str, Any]:
    """``health.check``, which would finish the replacements that a power cut left half-done, without writing anything.

    ``cut_off`` names the files whose replacement waits; as they are, the firmware may lose them.
    """
    drafts = sorted(Path(path).rglob("*.new")) if os.path.isdir(path) else []
    with tempfile.TemporaryDirectory() as made:
        looked_at = shutil.copytree(path, os.path.join(made, "copy")) if drafts else path
        report: dict[str, Any] = health.check(looked_at)
    cut_off = [str(draft.relative_to(path).with_suffix("")) for draft in drafts]
    return {**report, "root": path, "healthy": report["healthy"] and not drafts, "cut_off": cut_off}


def findings(places: Places) -> Iterator[Finding]:
    """What is damaged, and what the firmware would not read, in the directory of each user."""
    for home in places.homes():
        if places.holds_something(home):
            report = check(places.path(home))
            named = [(f"{home}/{one['name']}".lstrip("/"), one) for one in report["sessions"]]
            for name, one in [*named, (f"{home}/memory".lstrip("/"), report["memory"])]:
                yield from _findings(name, one)
            for name in report["cut_off"]:
                yield _finding(name, "a power cut interrupted its replacement", damage=True)


def _findings(name: str, report: Mapping[str, Any]) -> Iterator[Finding]:
    for text in [*report["findings"], *report["notes"]]:
        yield _finding(name, text, damage=report["damaged_bytes"] > 0)
    if report["firmware"] != health.READS:
        yield _finding(name, f"the firmware {report['firmware']}", damage=True)


def _finding(name: str, text: str, *, damage: bool) -> Finding:
    return Finding(subject="file", text=f"{name}: {text}", damage=damage)


def lift_blocks(places: Places) -> Iterator[Finding]:
    """Free the sessions that the firmware gave up."""
    for home in places.homes():
        for session in (
            Folder(places.path(home), places.disk).sessions() if places.holds_something(home) else ()
        ):
            if places.disk.size(session.blocked) >= 0:
                session.lift_block()
                yield Finding(subject="file", text=f"{session.id}: blocked by the firmware", repaired=True)


def copy(root: str, path: str, leave_out: str, progress: Progress | None) -> None:
    """Copy the directory to ``path``, where it appears when it is complete.

    Raises InvalidInput when there is something at ``path``.
    """
    target = Path(path)
    if target.exists():
        raise InvalidInput(
            f"There is something at {path} already. A backup of a device's directory is a new directory."
        )
    files = [file for file in sorted(Path(root).rglob("*")) if file.is_file() and file.name != leave_out]
    sizes = [file.stat().st_size for file in files]
    with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=f"{target.name}.") as made:
        for number, file in enumerate(files):
            there = Path(made, "copy", file.relative_to(root))
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, there)
            _sync(there)
            if progress is not None:
                progress(sum(sizes[: number + 1]), sum(sizes))
        os.replace(Path(made, "copy"), target)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
