"""The profile: three Markdown documents that go into every context as they are."""

from wellkept_flash import text
from wellkept_flash.errors import InvalidInput

# Names, titles and first texts are the firmware's (ESP-Claw, Apache-2.0).
DOCUMENTS = (
    (
        "user",
        "User Profile",
        "# User\n\nWrite down who the current user is, their preferences, and any standing guidance.\n",
    ),
    (
        "soul",
        "Agent Soul",
        "# Soul\n\nDescribe who the agent is, what it values, and how it prefers to help.\n",
    ),
    (
        "identity",
        "Agent Identity Card",
        "# Identity Card\n\n- Name:\n- Role:\n- Personality:\n- Strengths:\n",
    ),
)


class Profile:
    """The documents ``user``, ``soul`` and ``identity`` in ``folder``."""

    def __init__(self, disk, folder):
        self.disk = disk
        self._folder = folder

    def begin(self):
        """Write the first text of each document that is missing."""
        for name, _, first in DOCUMENTS:
            self.disk.settle(self.path(name))
            if self.disk.size(self.path(name)) < 0:
                self.disk.write(self.path(name), first.encode())

    def path(self, name):
        """Path of the document. Raises InvalidInput for another name."""
        if name not in [known for known, _, _ in DOCUMENTS]:
            raise InvalidInput("a profile has the documents user, soul and identity, not " + str(name))
        return self._folder + "/" + name + ".md"

    def read(self, name):
        """The text of the document, empty when there is none."""
        path = self.path(name)
        self.disk.settle(path)
        return text.decode(self.disk.read(path)) if self.disk.size(path) > 0 else ""

    def write(self, name, words):
        """Put ``words`` in the place of the document, all or nothing."""
        self.disk.write(self.path(name), text.clean(words))

    def context(self):
        """What the provider injects: each document that is not blank under its title; empty when all are."""
        pieces = []
        for name, title, _ in DOCUMENTS:
            words = self.read(name).strip()
            if words:
                pieces.append(f"{title} ({self.path(name)}):\n{words}\n\n")
        return "".join(pieces)
