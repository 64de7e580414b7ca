"""What an import brings along: an application that appends and shows must start quickly."""

from __future__ import annotations

import subprocess
import sys

import wellkept

LATER = {"asyncio", "logging", "wellkept.recall", "wellkept.facts.extract", "wellkept.policy.digest"}


def test_a_memory_is_imported_without_what_only_some_applications_need() -> None:
    code = "import sys; from wellkept import Memory; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert LATER.isdisjoint(done.stdout.split())


def test_every_public_name_is_there() -> None:
    assert all(getattr(wellkept, name).__name__ == name for name in wellkept.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(wellkept, "Recollection")
