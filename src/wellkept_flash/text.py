"""Text for the flash files: clean UTF-8, the cut by code points, the name hash, JSON in the firmware's
style."""

MAX_CUT = 4096
_ESCAPES = (  # the backslash first: the others bring new ones
    ("\\", "\\\\"),
    ('"', '\\"'),
    ("\b", "\\b"),
    ("\f", "\\f"),
    ("\n", "\\n"),
    ("\r", "\\r"),
    ("\t", "\\t"),
)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_LEADING_ZERO = ("00", "01", "02", "03", "04", "05", "06", "07", "08", "09")
_MAX_DEPTH = 64


def clean(data):
    """``data`` (str or bytes) as bytes of strict UTF-8; what is no valid character is dropped, byte by
    byte."""
    if isinstance(data, str):
        data = _encode(data)
    return data if _is_clean(data) else _taken(data, len(data), len(data))


def decode(data):
    """``data`` (bytes) as text; invalid UTF-8 is dropped."""
    return clean(data).decode()


def cut(data, limit=MAX_CUT):
    """The first ``limit`` code points of ``data`` (str or bytes) as clean bytes, at most 16,384 bytes.

    A character that would exceed the bytes is skipped; a shorter one after it may still fit, as in the
    firmware.
    """
    data = clean(data) if limit else b""
    return data if len(data) <= min(limit, MAX_CUT) else _taken(data, limit, min(limit, MAX_CUT) * 4)


def cut_bytes(data, limit):
    """The longest clean beginning of ``data`` (str or bytes) that takes at most ``limit`` bytes."""
    data = clean(data)
    while limit < len(data) and limit and data[limit] & 0xC0 == 0x80:
        limit -= 1
    return data[:limit]


def cut_chars(text, limit):
    """The first ``limit`` code points of the str ``text``, with an ellipsis when something was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def fnv1a(data):
    """The 32-bit FNV-1a hash of ``data`` (bytes); Fowler, Noll and Vo, constants 2166136261 and 16777619."""
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def quote(text):
    """The str ``text`` as a JSON string: escapes as the firmware writes them, everything else literal."""
    for char, escape in _ESCAPES:
        if char in text:
            text = text.replace(char, escape)
    if text and min(text) < " ":
        for code in range(32):
            text = text.replace(chr(code), f"\\u{code:04x}")
    return '"' + text + '"'


def dumps(value):
    """``value`` as JSON in the firmware's style: no spaces, integral numbers without a point, order kept.

    A list of (key, value) tuples stands for an object, because a dict has no order on MicroPython.

    Raises:
        TypeError: for a type that JSON does not have.
    """
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, dict):
        value = value.items()
    elif isinstance(value, (list, tuple)) and not (value and isinstance(value[0], tuple)):
        return "[" + ",".join([dumps(item) for item in value]) + "]"
    elif not isinstance(value, (list, tuple)):
        raise TypeError("not JSON: " + str(type(value)))
    return "{" + ",".join([quote(str(key)) + ":" + dumps(item) for key, item in value]) + "}"


def canonical(source):
    """The JSON text ``source`` (str or bytes) written again in the firmware's style, clean, on one line.

    Raises:
        ValueError: when it is not exactly one JSON value.
    """
    source = decode(source)
    pieces = []
    end = _space(source, _value(source, 0, pieces, 0))
    if end != len(source):
        raise ValueError("text behind the JSON value")
    return "".join(pieces)


def tokens(text):
    """Estimate of the tokens in the str ``text``, by the rule of the firmware's later token window.

    A character with a lead byte E0 to EF counts 1, four others count 1 together.
    """
    wide = len([char for char in text if 0x800 <= ord(char) <= 0xFFFF])
    return wide + (len(text) - wide + 3) // 4


def _encode(text):
    try:
        return text.encode()
    except UnicodeError:  # a lone surrogate
        return text.encode("utf-8", "ignore")


def _is_clean(data):
    try:
        data.decode()
    except UnicodeError:
        return False
    if 0xED not in data and 0xC0 not in data and 0xC1 not in data and 0xE0 not in data and 0xF0 not in data:
        return 0xF4 not in data
    return sum([size for _, size in _characters(data)]) == len(data)


def _taken(data, limit, room):
    """The first ``limit`` characters of ``data`` without those that do not fit into the ``room`` that is
    left."""
    pieces = []
    start = end = 0
    for at, size in _characters(data):
        if size > room:
            continue
        if at != end:
            pieces.append(data[start:end])
            start = at
        end = at + size
        room -= size
        limit -= 1
        if not limit:
            break
    pieces.append(data[start:end])
    return b"".join(pieces)


def _characters(data):
    """(offset, size) of each valid character of ``data``."""
    at = 0
    end = len(data)
    while at < end:
        size = _size(data, at, end)
        if size:
            yield at, size
        at += size or 1


def _size(data, at, end):
    lead = data[at]
    if lead < 0x80:
        return 1
    size = 2 if 0xC2 <= lead <= 0xDF else 3 if 0xE0 <= lead <= 0xEF else 4 if 0xF0 <= lead <= 0xF4 else 0
    if not size or at + size > end or any(data[at + more] & 0xC0 != 0x80 for more in range(1, size)):
        return 0
    second = data[at + 1]
    low = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
    high = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
    return size if low <= second <= high else 0


def _number(value):
    if value != value or value in (float("inf"), float("-inf")):
        return "null"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def _space(source, at):
    while at < len(source) and source[at] in " \t\r\n":
        at += 1
    return at


def _value(source, at, pieces, depth):
    at = _space(source, at)
    char = source[at : at + 1]
    if char == '"':
        return _string(source, at, pieces)
    if char and char in "{[" and depth < _MAX_DEPTH:
        return _container(source, at, pieces, depth)
    for word in ("true", "false", "null"):
        if source[at : at + len(word)] == word:
            pieces.append(word)
            return at + len(word)
    end = at
    while end < len(source) and source[end] in "+-.0123456789eE":
        end += 1
    number = source[at:end]
    float(number)
    if number[0] == "+" or (number.lstrip("-") + " ")[:2] in _LEADING_ZERO:
        raise ValueError("not a number: " + number)
    pieces.append(number)
    return end


def _container(source, at, pieces, depth):
    closing = "}" if source[at] == "{" else "]"
    pieces.append(source[at])
    at = _space(source, at + 1)
    if source[at : at + 1] == closing:
        pieces.append(closing)
        return at + 1
    while True:
        if closing == "}":
            at = _space(source, _string(source, _space(source, at), pieces))
            _expect(source, at, ":")
            pieces.append(":")
            at += 1
        at = _space(source, _value(source, at, pieces, depth + 1))
        if source[at : at + 1] != ",":
            _expect(source, at, closing)
            pieces.append(closing)
            return at + 1
        pieces.append(",")
        at += 1


def _expect(source, at, char):
    if source[at : at + 1] != char:
        raise ValueError("expected " + char + " at character " + str(at))


def _string(source, at, pieces):
    _expect(source, at, '"')
    end = source.find('"', at + 1)
    inside = source[at + 1 : end]
    if end < 0:
        raise ValueError("a string without an end")
    if "\\" not in inside:
        pieces.append(quote(inside))
        return end + 1
    inside, end = _unescape(source, at + 1)
    pieces.append(quote(inside))
    return end


def _unescape(source, at):
    """The string that begins at ``at``, behind its quote, and the place behind its end."""
    pieces = []
    while True:
        stop = at
        while source[stop : stop + 1] not in ("\\", '"', ""):
            stop += 1
        pieces.append(source[at:stop])
        if source[stop : stop + 1] == '"':
            return "".join(pieces), stop + 1
        char = source[stop + 1 : stop + 2]
        at = stop + 2
        if char == "u":
            code, at = _unicode(source, at)
            pieces.append(chr(code))
        elif char in _PLAIN:
            pieces.append(_PLAIN[char])
        else:
            raise ValueError("a bad escape at character " + str(stop))


def _unicode(source, at):
    code = _hex(source, at)
    at += 4
    if 0xD800 <= code <= 0xDBFF and source[at : at + 2] == "\\u":
        low = _hex(source, at + 2)
        if 0xDC00 <= low <= 0xDFFF:
            return 0x10000 + (code - 0xD800) * 1024 + low - 0xDC00, at + 6
    return 0xFFFD if 0xD800 <= code <= 0xDFFF else code, at


def _hex(source, at):
    digits = source[at : at + 4]
    if len(digits) < 4 or not all(char in "0123456789abcdefABCDEF" for char in digits):
        raise ValueError("a bad escape at character " + str(at))
    return int(digits, 16)
