"""A worker's hold on the job that it is at: a sign of life now and then, because the work may take minutes and a worker
may be killed at any moment."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from wellkept.errors import StoreError

if TYPE_CHECKING:
    from wellkept.core import Core
    from wellkept.store.jobs import Job

LEASE_MS = 6_000
RENEW_SECONDS = 2.0


class Lease:
    """Keeps a claimed job inside ``with``, by renewing its lease in a thread. A job that ends before that is due costs no
    write.

    ``lost`` says that the job is somebody else's by now, or was cancelled: nothing that comes of it will be stored.
    """

    def __init__(self, core: Core, job: Job) -> None:
        self.lost = False
        self._core = core
        self._job = job
        self._over = threading.Event()

    def __enter__(self) -> Lease:
        # An interpreter that is ending starts no threads, and ends before the lease does.
        with suppress(RuntimeError):
            threading.Thread(target=self._keep, name="wellkept-lease", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _keep(self) -> None:
        while not self.lost and not self._over.wait(RENEW_SECONDS):
            # A store that cannot be written to now gives the job to nobody else, either.
            with suppress(StoreError):
                self.lost = not self._core.store.write(
                    lambda tables: tables.jobs.renew(self._job, until=self._core.now() + LEASE_MS)
                )
