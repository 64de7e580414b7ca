"""What an import brings along: an application that appends and shows must start quickly."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import is_dataclass
from typing import get_type_hints

import wellkept
from wellkept.store.apikeys import ApiKey
from wellkept.store.jobs import Job
from wellkept.store.traces import Trace

LATER = {
    "asyncio",
    "logging",
    "wellkept.recall",
    "wellkept.facts.extract",
    "wellkept.policy.summaries.digest",
}


LOOP = """
with Memory(":memory:") as memory:
    chat = memory.session(namespace="acme", user="alice")
    chat.add_message("user", "Hello, words to be stemmed")
    chat.get_context()
"""


def loaded_after(code: str) -> set[str]:
    whole = f"import sys\nfrom wellkept import Memory\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_memory_is_imported_without_what_only_some_applications_need() -> None:
    assert LATER.isdisjoint(loaded_after(""))


def test_the_first_turn_needs_no_recall_no_dates_and_no_other_language() -> None:
    loaded = loaded_after(LOOP)
    assert LATER.isdisjoint(loaded)
    assert not any(name.endswith("serbian_stemmer") for name in loaded)


def test_every_public_name_is_there() -> None:
    assert all(getattr(wellkept, name).__name__ == name for name in wellkept.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(wellkept, "Recollection")


def test_the_types_of_records_can_be_read_by_other_libraries() -> None:
    """Web frameworks make their schemas of them: no name of an annotation may be there for type checkers alone."""
    public = [getattr(wellkept, name) for name in wellkept.__all__]
    for record in [*filter(is_dataclass, public), Job, Trace, ApiKey]:
        assert get_type_hints(record)
