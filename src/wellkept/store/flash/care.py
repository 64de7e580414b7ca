"""Looking a device's directory over, and copying it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from wellkept.errors import InvalidInput
from wellkept.store.flash.places import Places
from wellkept.store.health import Finding, Progress
from wellkept_flash import health


def findings(places: Places) -> Iterator[Finding]:
    """What is damaged, and what the firmware would not read, in the directory of each user."""
    for home in places.homes():
        if places.holds_something(home):
            report = health.check(places.path(home), places.disk)
            named = [(f"{home}/{one['name']}".lstrip("/"), one) for one in report["sessions"]]
            for name, one in [*named, (f"{home}/memory".lstrip("/"), report["memory"])]:
                for text in one["findings"]:
                    yield Finding(subject="file", text=f"{name}: {text}", damage=one["damaged_bytes"] > 0)
                if one["firmware"] != health.READS:
                    yield Finding(
                        subject="file", text=f"{name}: the firmware {one['firmware']}", damage=False
                    )


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
