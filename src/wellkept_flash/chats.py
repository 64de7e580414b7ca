"""The sessions of a chat under short names, and the chat command ``/session new|list|switch|delete``."""

import json

from wellkept_flash import text
from wellkept_flash.errors import InvalidInput

MAX_ALIASES = 32
FIRST = "default_01"
_SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


class Chat:
    """One chat of a channel. Its names are kept in one JSON file in ``folder``."""

    def __init__(self, disk, folder, channel, chat_id):
        self._disk = disk
        self._name = f"{channel}:{chat_id}"
        self._path = f"{folder}/chat_{text.fnv1a(text.clean(self._name)):08x}.json"
        self._folder = folder
        self.active, self.aliases = self._read()

    @property
    def session_id(self):
        """Id of the session that is used now."""
        return self.id_of(self.active)

    def id_of(self, alias):
        """Session id that the name stands for."""
        return f"chat:{self._name}:{alias}"

    def new(self, alias=""):
        """Begin a session and use it. Raises InvalidInput for a bad or taken name, or for more than 32
        names."""
        alias = alias or self._free()
        if alias in self.aliases:
            raise InvalidInput("there is a session with this name: use /session switch " + alias)
        if not 1 <= len(alias) <= 32 or not all(char in _SAFE for char in alias):
            raise InvalidInput("a session name has 1 to 32 letters, digits, _ or -")
        if len(self.aliases) >= MAX_ALIASES:
            raise InvalidInput("32 sessions are the most for one chat: delete one first")
        aliases = list(self.aliases)
        aliases.append(alias)
        self._write(alias, aliases)

    def switch(self, alias):
        """Use an existing session. Raises InvalidInput when there is none of this name."""
        self._known(alias)
        self._write(alias, self.aliases)

    def delete(self, alias):
        """Take the name away; the caller removes the session's files. When it was in use, another one is
        used."""
        self._known(alias)
        left = [one for one in self.aliases if one != alias] or [FIRST]
        self._write(left[-1] if alias == self.active else self.active, left)

    def _known(self, alias):
        if alias not in self.aliases:
            raise InvalidInput("no session has this name: /session list shows them")

    def _free(self):
        number = 1
        while f"default_{number:02d}" in self.aliases:
            number += 1
        return f"default_{number:02d}"

    def _read(self):
        self._disk.settle(self._path)
        if self._disk.size(self._path) > 0:
            try:
                kept = json.loads(text.decode(self._disk.read(self._path)))
                aliases = [one for one in kept["aliases"] if isinstance(one, str)]
                if kept["active"] in aliases:
                    return kept["active"], aliases
            except (ValueError, KeyError, TypeError):
                return FIRST, [FIRST]
        return FIRST, [FIRST]

    def _write(self, active, aliases):
        self._disk.make(self._folder)
        kept = [("chat", self._name), ("active", active), ("aliases", aliases)]
        self._disk.write(self._path, text.clean(text.dumps(kept)))
        self.active, self.aliases = active, aliases
