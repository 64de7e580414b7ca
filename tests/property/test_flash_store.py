"""A device's directory against a plain list: in whatever order things are done, and however often it is opened anew."""

from __future__ import annotations

import tempfile

from hypothesis import settings
from hypothesis.stateful import rule

from tests.property.test_store import Store
from wellkept import Memory


class FlashStore(Store):
    """The same rules, and at any time the directory may be closed and opened again."""

    def __init__(self) -> None:
        super().__init__()
        self.memory.close()
        self.folder = tempfile.TemporaryDirectory()
        self.open_again()

    def open_again(self) -> None:
        location = f"flash:{self.folder.name}/设备"
        self.memory = Memory(location, clock=self.clock, policy=self.memory.policy, worker=False)

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.open_again()
        for id, session in self.sessions.items():
            namespace, user = session.scope.namespace, session.scope.user
            self.sessions[id] = self.memory.session(namespace=namespace, user=user, session_id=id)


TestFlashStore = FlashStore.TestCase
TestFlashStore.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
