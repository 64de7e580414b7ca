"""The manager around the files: sessions, long-term memory, profile, extraction queue, stage notes and
context."""

from wellkept_flash import chats, compact, extract, longterm, messages, tools
from wellkept_flash.errors import InvalidInput, NotFound
from wellkept_flash.files import Disk
from wellkept_flash.profile import Profile
from wellkept_flash.session import Session

PREAMBLE = (
    "Only the labels of long-term memory are listed here. Before you answer what you remember or what the "
    "user prefers, call memory_recall with labels copied exactly from this list. Find an id that way before "
    "you update or forget.\n"
)


class Settings:
    """Every number that can be set, with the firmware's value as its default.

    Attributes:
        max_message_chars: code points of a user or final text.
        context_tokens: estimated tokens that the history may take in a request; 0: no limit, as in the
        firmware.
        max_user_texts: user texts in one batch.
        session_limit: bytes of a session's data file from which a completed turn compacts it.
        kept_tool_turns: newest completed turns that keep their tool records in a compaction.
        queue_length: extraction jobs that may wait.
        max_memories: memories that are taken from one message.
        max_items: live items of long-term memory.
        compact_changes: superseded lines from which a flush compacts long-term memory.
        compact_bytes: size of its records file from which a write compacts it.
        output_bytes: most bytes of a tool's answer.
        recall_limit: items that a recall gives when it names no limit.
        lightweight: put all memories into the context instead of the labels, and extract nothing.
    """

    def __init__(self, **changes):
        self.max_message_chars = 4096
        self.context_tokens = 0
        self.max_user_texts = 4
        self.max_memories = extract.MAX_MEMORIES
        self.output_bytes = tools.OUTPUT_BYTES
        self.session_limit = compact.LIMIT
        self.kept_tool_turns = compact.KEPT_TOOL_TURNS
        self.queue_length = 4
        self.max_items = longterm.MAX_ITEMS
        self.compact_changes = longterm.COMPACT_CHANGES
        self.compact_bytes = longterm.COMPACT_BYTES
        self.recall_limit = longterm.RECALL_LIMIT
        self.lightweight = False
        for name, value in changes.items():
            if not hasattr(self, name):
                raise InvalidInput("no such setting: " + name)
            setattr(self, name, value)


class Device:
    """The memory of one device in ``root`` (folders ``sessions`` and ``memory``).

    Args:
        root: the folder.
        clock: gives the seconds since 1970.
        backend: whose raw messages the sessions hold.
        model: takes a system text and a user text and returns the reply; None: nothing is extracted.
        settings: Settings.
        disk: the Disk to use.

    It is used from one thread. ``work`` does what may take long; call it when the device is idle.
    """

    def __init__(self, root, clock, backend="openai_compatible", model=None, settings=None, disk=None):
        self.disk = disk or Disk()
        self.settings = settings or Settings()
        self.backend = backend
        self._root = root
        self._model = model
        self._queue = []
        self._notes = {}
        self._manual = []
        self.refused = []
        folder = root + "/memory"
        self.disk.make(folder)
        self.disk.make(root + "/sessions")
        self.profile = Profile(self.disk, folder)
        self.profile.begin()
        self.memory = longterm.LongTerm(
            self.disk,
            folder,
            clock,
            self.settings.max_items,
            self.settings.compact_changes,
            self.settings.compact_bytes,
        )
        self.memory.begin()

    # ── the conversation ──

    def session(self, session_id):
        """The Session with this id, whether it has records or not."""
        limits = self.settings
        return Session(
            self.disk,
            self._root + "/sessions",
            session_id,
            self.backend,
            limits.max_message_chars,
            limits.max_user_texts,
        )

    def final(self, session_id, message=None, words=""):
        """Append the final answer, which completes the turn, and compact the session if it is too long."""
        session = self.session(session_id)
        session.final(message, words)
        if session.size() > self.settings.session_limit:
            compact.compact(session, self.settings.session_limit, self.settings.kept_tool_turns)

    def command(self, channel, chat_id, line):
        """Answer a chat line that begins with ``/session``; returns the text for the user, None for another
        line."""
        parts = line.split()
        if not parts or parts[0] != "/session":
            return None
        chat = self.chat(channel, chat_id)
        action = parts[1] if len(parts) > 1 else "list"
        name = parts[2] if len(parts) > 2 else ""
        try:
            return self._command(chat, action, name)
        except InvalidInput as error:
            return str(error)

    def chat(self, channel, chat_id):
        """The Chat, whose ``session_id`` is the session in use."""
        return chats.Chat(self.disk, self._root + "/sessions", channel, chat_id)

    # ── extraction ──

    def request(self, request_id, session_id, words):
        """Queue the extraction from a user text; returns False when it is not queued. It holds up nothing."""
        if self._model is None or self.settings.lightweight or not (request_id and session_id and words):
            return False
        if len(self._queue) >= self.settings.queue_length:
            self.refused.append("extraction queue is full")
            return False
        self._queue.append((request_id, session_id, words))
        return True

    def work(self):
        """Do one queued extraction and write the caches when there is none; returns True while there is
        more to do.

        A failing model or an unusable reply costs this one job and is said in ``refused``.
        """
        if not self._queue:
            self.memory.flush()
            return False
        request_id, session_id, words = self._queue.pop(0)
        labels = [label for label, _ in self.memory.labels()]
        try:
            reply = self._model(extract.SYSTEM, extract.prompt(labels, words))
            found = extract.parse(reply, self.settings.max_memories)
        except (OSError, ValueError) as error:
            self.refused.append(f"extraction failed: {error}")
            return True
        if request_id in self._manual:
            self._manual.remove(request_id)
        else:
            applied = extract.apply(self.memory, words, found)
            self.refused.extend(applied.refused)
            self._note(session_id, applied.labels)
        self.refused = self.refused[-20:]
        return True

    def tool(self, name, arguments, request_id=0, session_id=""):
        """Run a memory tool; a write by tool in a request wins over what is extracted from it. Returns JSON
        text."""
        answer, labels = tools.call(
            self.memory, name, arguments, self.settings.recall_limit, self.settings.output_bytes
        )
        if name in tools.WRITES and labels:
            self._note(session_id, labels)
            if [job for job in self._queue if job[0] == request_id]:
                self._manual.append(request_id)
        return answer

    def stage_note(self, session_id):
        """What memory changed for this session since the last note, for the user to see; None when nothing.
        Never waits."""
        labels = self._notes.pop(session_id, None)
        return "Memory update: [" + ";".join(labels) + "]" if labels else None

    # ── context ──

    def providers(self):
        """(title, text) of what goes into the system text of every model call, in the firmware's order."""
        sections = [("Editable Profile Memory", self.profile.context())]
        if self.settings.lightweight:
            sections.append(("Long-term Memory", "\n".join(self.memory.markdown()) + "\n"))
        else:
            lines = ["- " + label for label, _ in self.memory.labels()] or ["- (empty)"]
            sections.append(("Long-term Memory", PREAMBLE + "\n".join(lines) + "\n"))
        return [section for section in sections if section[1]]

    def history(self, session_id):
        """The session's messages in the shape of the backend, for the start of a request; empty without
        history."""
        try:
            loaded = self.session(session_id).load().messages
        except NotFound:
            return []
        if self.settings.context_tokens:
            loaded = messages.within(loaded, self.settings.context_tokens)
        if self.backend == "anthropic_compatible":
            return messages.to_anthropic(loaded)
        return messages.to_openai(loaded)

    def context(self, session_id, words, system=""):
        """(system text, messages) of a request; ``words`` is added where the history does not hold it yet."""
        for title, section in self.providers():
            system += "\n\n## " + title + "\n" + section
        history = self.history(session_id)
        if words and (not history or history[-1].get("role") != "user"):
            history.append({"role": "user", "content": words})
        return system, history

    # ── inside ──

    def _note(self, session_id, labels):
        noted = self._notes.setdefault(session_id, [])
        noted.extend([label for label in labels if label not in noted])

    def _command(self, chat, action, name):
        if action == "new":
            chat.new(name)
            return "New session: " + chat.active
        if action == "switch":
            chat.switch(name)
            return "Session: " + chat.active
        if action == "delete":
            chat.delete(name)
            self.session(chat.id_of(name)).remove()
            return "Deleted: " + name + ". Session: " + chat.active
        if action == "list":
            return "\n".join([("* " if one == chat.active else "- ") + one for one in chat.aliases])
        return "Use /session new [name], list, switch <name> or delete <name>."
