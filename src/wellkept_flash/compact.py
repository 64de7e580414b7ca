"""Compaction: what a session that grew too long keeps, and how it goes on when keeping is not enough.

First the firmware's own rules: all user and final records, the tool records of the newest completed tool
turn, and all of an unfinished last turn. Where that is still too much the firmware blocks the session for
ever; here the oldest turns fold into a summary, and last of all the long texts of tool records are clipped.
"""

import json

from wellkept_flash import text
from wellkept_flash.errors import NotFound
from wellkept_flash.shape import FINAL, RESULT, TOOL, USER

LIMIT = 153600
KEPT_TOOL_TURNS = 1
SUMMARY_MARK = "[Summary of the earlier conversation]"
SUMMARY_CHARS = 1200
_QUOTE_CHARS = 160
_CLIP_CHARS = 1024
_THINKING = ("reasoning_content", "reasoning", "thinking", "redacted_thinking")


def compact(session, limit=LIMIT, kept_tool_turns=KEPT_TOOL_TURNS):
    """Reduce ``session`` to at most ``limit`` bytes. A cut at any moment leaves the old state or the new one.

    Returns:
        A dict: the records ``kept``, ``dropped`` and ``clipped``, the turns ``folded`` into the summary.

    Raises:
        NotFound: there is no such session.
    """
    if session.size() < 0:
        raise NotFound("no such session")
    findings = []
    for _ in session.lines(0, findings):
        pass
    if findings:
        session.repair()
    plan = Plan(session, limit, kept_tool_turns)
    session.rewrite(plan.records())
    session.disk.remove(session.blocked)
    return {"kept": plan.kept, "dropped": plan.dropped, "clipped": plan.clipped, "folded": plan.folded}


class _Turn:
    """Records ``start`` to ``end`` (exclusive), the bytes of its texts and of its tool records."""

    def __init__(self, start):
        self.start = self.end = start
        self.texts = self.tools = 0
        self.completed = False

    def take(self, line):
        """Count ``line`` in."""
        self.end += 1
        self.completed = self.completed or line.type == FINAL
        if line.type in (USER, FINAL):
            self.texts += line.length
        else:
            self.tools += line.length


class Plan:
    """What is kept of a session. It looks at the lines turn by turn and never holds them all."""

    def __init__(self, session, limit, kept_tool_turns):
        self._session = session
        self._kept_turns = []
        self._last = None
        self._start = 0  # the first record that does not fold
        self._clip_from = self._drop_tools_until = -1
        self._summary = ""
        self.kept = self.dropped = self.clipped = self.folded = 0
        size = self._survey(kept_tool_turns)
        if size > limit:
            size = self._fold(size, limit // 2)
        if size > limit:
            self._clip(limit)

    def records(self):
        """Yield (type, format, Line or bytes) of what is kept."""
        if self._summary:
            content = SUMMARY_MARK + "\n" + self._summary
            yield (
                USER,
                self._session.format,
                text.clean('{"role":"user","content":' + text.quote(content) + "}"),
            )
        for number, line in self._remaining():
            if line.type in (TOOL, RESULT) and number < self._drop_tools_until:
                self.dropped += 1
                continue
            self.kept += 1
            clipped = self._clipped(number, line)
            self.clipped += clipped is not None
            yield line.type, line.format, line if clipped is None else clipped

    def _survey(self, kept_tool_turns):
        """Find the turns whose tool records stay; returns the bytes that are kept by the firmware's rules."""
        texts = 0
        for turn in self._turns():
            texts += turn.texts
            self._last = turn
            if turn.completed and turn.tools:
                self._kept_turns.append(turn)
                self._kept_turns = self._kept_turns[-kept_tool_turns:] if kept_tool_turns else []
        if self._last and not self._last.completed:
            self._kept_turns.append(self._last)
        return texts + sum([turn.tools for turn in self._kept_turns])

    def _turns(self):
        turn = None
        for line in self._session.lines():
            if turn is None or line.type == USER:
                if turn:
                    yield turn
                turn = _Turn(turn.end if turn else 0)
            turn.take(line)
        if turn:
            yield turn

    def _keeps(self, number, line):
        if line.type in (USER, FINAL):
            return True
        return any(turn.start <= number < turn.end for turn in self._kept_turns)

    def _remaining(self):
        """Yield (number, line) of what is kept and not folded."""
        for number, line in enumerate(self._session.lines()):
            if number >= self._start and self._keeps(number, line):
                yield number, line
            elif number >= self._start:
                self.dropped += 1

    def _fold(self, size, target):
        """Fold turns from the oldest on until ``size`` is down to ``target``; returns the size that remains.

        The last turn never folds. Half the limit is the target, so that not every turn has to compact again.
        """
        quotes = _Quotes(min(SUMMARY_CHARS, target // 3))
        for turn in self._turns():
            if size <= target or turn.start == self._last.start:
                break
            size -= turn.texts + (turn.tools if turn in self._kept_turns else 0)
            self._start = turn.end
            self.folded += 1
        for number, line in enumerate(self._session.lines()):
            if number >= self._start:
                break
            if line.type in (USER, FINAL):
                quotes.take(line.type, self._session.text(line))
        self._summary = quotes.text
        return size + self._summary_size()

    def _summary_size(self):
        return len(self._summary.encode()) + 200 if self._summary else 0

    def _clip(self, limit):
        """Clip tool records and answers; if that is not enough, leave out the oldest tool rounds that
        remain."""
        self._clip_from = self._start
        sizes = []
        for number, line in self._remaining():
            clipped = self._clipped(number, line)
            sizes.append((number, line.type, line.length if clipped is None else len(clipped) + 1))
        self.dropped = 0
        room = limit - self._summary_size()
        total = sum([size for _, _, size in sizes])
        for number, kind, size in sizes:
            if total <= room:
                break
            if kind in (TOOL, RESULT):
                total -= size
                self._drop_tools_until = number + (2 if kind == TOOL else 1)

    def _clipped(self, number, line):
        """``line`` with its long texts cut, None when it is left as it is."""
        if number < self._clip_from or self._clip_from < 0 or line.type == USER or line.length <= _CLIP_CHARS:
            return None
        try:
            return clipped(self._session.text(line))
        except MemoryError:
            return _unreadable(line)


def clipped(source):
    """The record ``source`` (bytes) without thinking, its long texts cut with a mark."""
    return text.clean(text.dumps(_clip_message(json.loads(text.decode(source)))))


class _Quotes:
    """The text of the summary: a line for a turn, as many of the newest as fit.

    It is one string, because many small ones would leave a small heap in pieces.
    """

    def __init__(self, limit):
        self.text = ""
        self._limit = limit

    def take(self, kind, source):
        """Add the text of a user or final record."""
        words = _words(json.loads(text.decode(source)))
        quote = text.cut_chars(_one_line(words[: 4 * _QUOTE_CHARS]), _QUOTE_CHARS)
        if words.startswith(SUMMARY_MARK):
            self._add(words[len(SUMMARY_MARK) + 1 :])
        elif kind == USER:
            self._add("- " + quote)
        elif quote and " → " not in self.text[self.text.rfind("\n") + 1 :]:
            self._add(" → " + quote, "")
        elif quote:
            self._add("- → " + quote)

    def _add(self, line, separator="\n"):
        self.text = self.text + separator + line if self.text else line
        while len(self.text) > self._limit and "\n" in self.text:
            self.text = self.text[self.text.find("\n") + 1 :]


def _one_line(words):
    return " ".join(words.split())


def _words(message):
    """What a person would read of a message."""
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, str):
        return content
    return "".join([block.get("text") or "" for block in content or [] if isinstance(block, dict)])


def _clip_text(words):
    if len(words) <= _CLIP_CHARS:
        return words
    return words[:_CLIP_CHARS] + f" … [clipped: {len(words) - _CLIP_CHARS} of {len(words)} characters]"


def _clip_message(message):
    """``message`` without thinking, its long texts cut with a mark; ids and names stay."""
    if isinstance(message, list):
        return [_clip_message(one) for one in message if not _is_thinking(one)]
    if isinstance(message, str):
        return _clip_text(message)
    if not isinstance(message, dict):
        return message
    clipped = {}
    for key, value in message.items():
        if key == "arguments" and isinstance(value, str) and len(value) > _CLIP_CHARS:
            clipped[key] = f'{{"clipped":{len(value)}}}'
        elif key not in _THINKING:
            clipped[key] = _clip_message(value)
    return clipped


def _is_thinking(block):
    return isinstance(block, dict) and block.get("type") in _THINKING


def _unreadable(line):
    """What stands for a record that is too large for the heap."""
    note = f"[clipped: {line.length} bytes]"
    if line.type == FINAL:
        return text.clean('{"role":"assistant","content":' + text.quote(note) + "}")
    return None
