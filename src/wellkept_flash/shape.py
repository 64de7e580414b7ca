"""The shape of a record: is this stream of bytes one JSON value, and what kind of message is it?

It reads in pieces and keeps a few words, so a record of any size can be judged on a small heap.
"""

USER, FINAL, TOOL, RESULT = 1, 2, 3, 4
UNKNOWN, OPENAI, ANTHROPIC, RESPONSES = 0, 1, 2, 3

_VALUE, _ITEM, _KEY, _COLON, _COMMA, _TEXT, _ESCAPE, _HEX, _SCALAR, _DONE = range(10)
_SPACES = b" \t\r"
_LITERALS = (b"true", b"false", b"null")
_LONGEST = 24
_DEEPEST = 1000  # as deep as the firmware reads


class Malformed(ValueError):
    """The bytes are no JSON value."""


class Shape:
    """Fed with the bytes of a record, it finds the end of the JSON value and the kind of the message."""

    def __init__(self):
        self.role = ""
        self.format = UNKNOWN
        self.tools = self.content = False
        self._state = _VALUE
        self._stack = bytearray()
        self._keys = []
        self._word = bytearray()
        self._is_key = False
        self._digits = 0

    @property
    def done(self):
        """True when the value is complete."""
        return self._state == _DONE

    @property
    def type(self):
        """The record type that the message has, 0 when it is none that is known."""
        if not self.done:
            return 0
        if self.role == "user" and self.content:
            return USER
        if self.role == "assistant":
            return TOOL if self.tools else FINAL
        return RESULT if self.role == "tool" else 0

    def feed(self, data):
        """Take ``data``; returns how many bytes belong to the value (all of them unless it ends here).

        Raises:
            Malformed: when no JSON value begins with what was fed.
        """
        at = 0
        while at < len(data) and self._state != _DONE:
            if self._state == _TEXT:
                at = self._text(data, at)
            elif self._state == _SCALAR and data[at] in b",]} \t\r":
                self._end_scalar()
            else:
                self._take(data[at])
                at += 1
        return at

    def _take(self, byte):
        if self._state == _ESCAPE:
            self._escape(byte)
        elif self._state == _HEX:
            self._hex(byte)
        elif self._state == _SCALAR:
            self._word.append(byte)
        elif byte in _SPACES:
            return
        elif byte == 0x22 and self._state in (_VALUE, _ITEM, _KEY):
            self._is_key = self._state == _KEY
            self._word = bytearray()
            self._state = _TEXT
        elif self._state == _COLON and byte == 0x3A:
            self._state = _VALUE
        elif self._state == _COMMA and byte == 0x2C:
            self._state = _KEY if self._stack[-1] == 0x7B else _VALUE
        elif byte in b"]}":
            self._close(byte)
        elif self._state in (_VALUE, _ITEM) and byte in b"{[":
            self._open(byte)
        elif self._state in (_VALUE, _ITEM) and byte in b"-0123456789tfn":
            self._word = bytearray((byte,))
            self._state = _SCALAR
        else:
            raise Malformed()

    def _text(self, data, at):
        end = data.find(b'"', at)
        escape = data.find(b"\\", at, end if end >= 0 else len(data))
        stop = escape if escape >= 0 else end if end >= 0 else len(data)
        if stop > at:
            inside = data[at:stop]
            if min(inside) < 0x20:
                raise Malformed()
            if len(self._word) < _LONGEST:
                self._word.extend(inside[:_LONGEST])
        if escape >= 0:
            self._state = _ESCAPE
        elif end >= 0:
            self._end_text()
        return stop + 1 if escape >= 0 or end >= 0 else stop

    def _escape(self, byte):
        if byte not in b'"\\/bfnrtu':
            raise Malformed()
        self._digits = 4
        self._state = _HEX if byte == 0x75 else _TEXT

    def _hex(self, byte):
        if byte not in b"0123456789abcdefABCDEF":
            raise Malformed()
        self._digits -= 1
        if not self._digits:
            self._state = _TEXT

    def _end_text(self):
        word = bytes(self._word)
        if self._is_key:
            self._keys[-1] = word
            self._state = _COLON
            if word == b"content" and len(self._stack) == 1:
                self.content = True
            return
        key = self._keys[-1] if self._keys else b""
        depth = len(self._stack)
        if key == b"role" and depth <= 2 and not (depth == 2 and self._stack[0] == 0x7B):
            self.role = self.role or (
                "tool" if depth == 2 and word == b"tool" else _role(word) if depth == 1 else ""
            )
        elif key == b"type" and word in (b"tool_use", b"thinking", b"text") and self._keys[0] == b"content":
            self.format = ANTHROPIC
            self.tools = self.tools or word == b"tool_use"
        elif key == b"type" and word == b"function_call" and depth == 2:
            self.format, self.tools, self.role = RESPONSES, True, "assistant"
        self._after_value()

    def _open(self, byte):
        if len(self._stack) >= _DEEPEST:
            raise Malformed()
        if byte == 0x7B and len(self._stack) == 2 and self._keys[0] == b"tool_calls":
            self.tools, self.format = True, OPENAI
        self._stack.append(byte)
        self._keys.append(b"")
        self._state = _KEY if byte == 0x7B else _ITEM

    def _close(self, byte):
        opened = self._stack[-1] if self._stack else 0
        closable = (
            self._state == _COMMA or self._state == _ITEM or (self._state == _KEY and self._keys[-1] == b"")
        )
        if opened != byte - 2 or not closable:
            raise Malformed()
        self._stack = self._stack[:-1]
        self._keys.pop()
        self._after_value()

    def _end_scalar(self):
        word = bytes(self._word)
        if word not in _LITERALS and not _is_number(word):
            raise Malformed()
        self._after_value()

    def _after_value(self):
        self._state = _COMMA if self._stack else _DONE


def _is_number(word):
    """True for a number as JSON spells it."""
    if word[:1] == b"-":
        word = word[1:]
    whole = word
    for mark in (b"e", b"E", b"."):
        whole = whole.split(mark)[0]
    rest = word[len(whole) :]
    if not whole.isdigit() or (len(whole) > 1 and whole[:1] == b"0"):
        return False
    if rest[:1] == b".":
        figures = rest[1:].replace(b"E", b"e").split(b"e")[0]
        if not figures.isdigit():
            return False
        rest = rest[1 + len(figures) :]
    power = rest[1:].lstrip(b"+-")
    return not rest or (rest[:1] in b"eE" and power.isdigit() and len(rest) - len(power) <= 2)


def _role(word):
    return {b"user": "user", b"assistant": "assistant", b"tool": "tool"}.get(word, "")
