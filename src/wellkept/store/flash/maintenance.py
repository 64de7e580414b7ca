"""The doctor for a device's directory that nobody has open. Nothing is written unless it shall be repaired."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from wellkept.errors import NotFound
from wellkept.policy.text.tokens import estimate
from wellkept.store.flash import JOURNAL, FlashStore, care
from wellkept.store.flash.faults import typed_errors
from wellkept.store.flash.journal import disk_of
from wellkept.store.flash.location import SCHEME, parse
from wellkept.store.flash.places import Places
from wellkept.store.health import Finding, Report
from wellkept.store.sqlite.tally import tally


def doctor(location: str, *, repair: bool = False) -> Report:
    """The state of the directory that ``location`` (``flash:DIR``) names, and what the firmware makes of it.

    With ``repair`` damage is set aside, what is derived is made anew, and blocked sessions are freed.

    Raises:
        NotFound: there is no such directory. SchemaTooNew: it needs a newer wellkept.
        StoreBusy: it is open elsewhere, and shall be repaired.
    """
    root, _, backend = parse(location)
    if not os.path.isdir(root):
        raise NotFound(f"There is no directory {root}.")
    if repair:
        with closing(FlashStore(location, tally=tally(estimate))) as store:
            return store.doctor(repair=True)
    with typed_errors():
        found = list(care.findings(Places(disk_of("normal"), root, backend, lambda: 0)))
        return Report(location=location, findings=(*found, *_beside(root)))


def _beside(root: str) -> Iterator[Finding]:
    """What is wrong with what we keep beside the device's files: a copy is opened, which puts it right there."""
    with tempfile.TemporaryDirectory() as made:
        copy = shutil.copytree(root, os.path.join(made, "copy"))
        with closing(FlashStore(SCHEME + copy, tally=tally(estimate), durability="normal")) as store:
            for finding in store.doctor().findings:
                if finding.subject != "file" or JOURNAL in finding.text:
                    yield replace(finding, repaired=False)
