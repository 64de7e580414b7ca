"""Masking of secrets before they are stored: identity numbers, bank cards, keys, passwords, numbers to call.

Numbers are checked, not only matched: identity cards by province, birthday and the check digit of GB
11643-1999, bank cards by issuer prefix and the Luhn digit of ISO/IEC 7812-1. So order numbers and time
stamps stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from wellkept.errors import InvalidInput
from wellkept.policy.text import lazy
from wellkept.policy.text.numbers import half_width
from wellkept.records import Block, Content, Record, Secret, Text, ToolCall, ToolResult

KINDS: tuple[Secret, ...] = ("id_card", "bank_card", "api_key", "password", "mobile", "email")
DEFAULT: tuple[Secret, ...] = ("id_card", "bank_card", "api_key", "password")


@dataclass(frozen=True, slots=True)
class Masked(Record):
    """What was masked: its kind and its place in the text before masking, never the secret itself."""

    kind: Secret
    start: int
    end: int


def redact(text: str, kinds: Iterable[Secret] = DEFAULT) -> tuple[str, tuple[Masked, ...]]:
    """``text`` with each secret of ``kinds`` replaced by ``[redacted:kind]``, and a list of what was masked.

    Full-width digits are read as digits, and Chinese may stand right beside a number. Masking twice changes
    nothing.

    Raises:
        InvalidInput: a kind is none of ``KINDS``.
    """
    chosen = tuple(kinds)
    if unknown := [kind for kind in chosen if kind not in KINDS]:
        raise InvalidInput(f"redaction kind {unknown[0]!r} is unknown: choose from {', '.join(KINDS)}")
    folded = half_width(text)
    found = sorted(
        (Masked(kind, start, end) for kind in chosen for start, end in _FINDERS[kind](folded)),
        key=lambda mask: (mask.start, -mask.end, KINDS.index(mask.kind)),
    )
    pieces, masked, place = [], [], 0
    for mask in found:
        if mask.start >= place:
            pieces += [text[place : mask.start], f"[redacted:{mask.kind}]"]
            masked.append(mask)
            place = mask.end
    return "".join([*pieces, text[place:]]), tuple(masked)


def redact_content(content: Content, kinds: Iterable[Secret]) -> Content:
    """``content`` with the secrets masked in all that a person or a tool wrote; thinking is signed and stays."""
    chosen = tuple(kinds)
    if isinstance(content, str):
        return redact(content, chosen)[0]
    return tuple(_redact_block(block, chosen) for block in content)


def _redact_block(block: Block, kinds: tuple[Secret, ...]) -> Block:
    if isinstance(block, Text):
        return replace(block, text=redact(block.text, kinds)[0])
    if isinstance(block, ToolCall):
        return replace(block, arguments=redact(block.arguments, kinds)[0])
    if isinstance(block, ToolResult):
        return replace(block, content=redact_content(block.content, kinds))
    return block


# ── numbers with a check digit ───────────────────────────────────────────────────────────────────────

_ID_CARD = lazy.compile(r"(?<![0-9A-Za-z])\d{6}([ -]?)(?:19|20)\d{6}\1\d{3}[0-9Xx](?![0-9A-Za-z])", re.ASCII)
_OLD_ID_CARD = lazy.compile(r"身份证(?:号码?)?[是为:：\s]{0,3}(?P<number>\d{15})(?!\d)", re.ASCII)
_PROVINCES = frozenset(
    [
        *range(11, 16),
        *range(21, 24),
        *range(31, 38),
        *range(41, 47),
        *range(50, 55),
        *range(61, 66),
        71,
        81,
        82,
        83,
        91,
    ]
)
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _id_cards(text: str) -> Iterator[tuple[int, int]]:
    for match in _ID_CARD.finditer(text):
        if _is_id_card(re.sub(r"[ -]", "", match[0]).upper()):
            yield match.span()
    for match in _OLD_ID_CARD.finditer(text):
        if int(match["number"][:2]) in _PROVINCES and _is_day(f"19{match['number'][6:12]}"):
            yield match.span("number")


def _is_id_card(number: str) -> bool:
    if int(number[:2]) not in _PROVINCES or not _is_day(number[6:14]):
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=False))
    return "10X98765432"[total % 11] == number[17]


def _is_day(digits: str) -> bool:
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return True


_BANK_CARD = lazy.compile(
    r"(?<![0-9A-Za-z.+-])\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![0-9A-Za-z]|[.-]\d)", re.ASCII
)
_AMEX = lazy.compile(r"(?<![0-9A-Za-z.+-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![0-9A-Za-z])", re.ASCII)
_ISSUERS = lazy.compile(
    r"(?:62\d{14,17}|9558\d{15}|4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d"
    r"|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|35\d{14}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d)\d{12})"
)
_ORDER_BEFORE = lazy.compile(
    r"(?:订单|訂單|运单|快递|流水|单号|order|tracking|invoice)[^\d]{0,8}$", re.IGNORECASE
)


def _bank_cards(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_BANK_CARD, _AMEX):
        for match in pattern.finditer(text):
            number = re.sub(r"\D", "", match[0])
            named_otherwise = _ORDER_BEFORE.search(text[max(0, match.start() - 20) : match.start()])
            if _ISSUERS.fullmatch(number) and _luhn(number) and not named_otherwise:
                yield match.span()


def _luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    return (sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])) % 10 == 0


# ── words that are secrets ───────────────────────────────────────────────────────────────────────────

_API_KEY = lazy.compile(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|\Z)"
    r"|(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{16,}|(?:AKIA"
    r"|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{30,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"
    r"|(?i:bearer)\s+(?P<token>(?=[A-Za-z._~+/=-]{0,40}\d)[A-Za-z0-9._~+/=-]{16,}))",
    re.ASCII | re.DOTALL,
)


def _api_keys(text: str) -> Iterator[tuple[int, int]]:
    return (match.span(match.lastgroup or 0) for match in _API_KEY.finditer(text))


_SECRET = r"(?P<{name}>(?!\[redacted)[!-~]{{4,64}})"
_PASSWORD = lazy.compile(
    r"(?:密码|密碼|口令|(?<![A-Za-z])(?:password|passwd|pwd|passphrase|passcode|pass\s?word))"
    rf"(?:\s?[:=]\s?[\"'“‘]?{_SECRET.format(name='assigned')}|\s?(?:是|为|為|改成了?|设成了?|就是"
    rf"|is|was)\s?[:\"'“‘]?\s?"
    rf"{_SECRET.format(name='said')}|\s?{_SECRET.format(name='beside')})"
    r"|(?<![A-Za-z])PIN(?:\s?码)?\s?(?:[:=是]|is)\s?(?P<pin>\d{4,8})(?!\d)"
    r"|[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:(?P<url>(?!\[redacted)[^\s@/]{1,128})@",
    re.IGNORECASE,
)
_NO_PASSWORD = lazy.compile(
    r"(?:str|string|text|null|none|nil|true|false|required|optional|password|undefined"
    r"|getpass\S*|os\.\S*|\*+|\.+"
    r"|<.*>|\$?\{.*\}?)\W*",
    re.IGNORECASE,
)


def _passwords(text: str) -> Iterator[tuple[int, int]]:
    for match in _PASSWORD.finditer(text):
        kind = match.lastgroup or "said"
        secret = match[kind].rstrip("\"'”’.,;)")
        plain_word = kind in ("said", "beside") and not re.search(r"\d", secret)
        shouted = kind == "said" and re.search(r"[^a-zA-Z'-]", secret)
        if secret and not _NO_PASSWORD.fullmatch(secret) and (not plain_word or shouted):
            yield match.start(kind), match.start(kind) + len(secret)


_MOBILE = lazy.compile(
    r"(?<![0-9A-Za-z.])(?:\+?86[- ]?)?1[3-9]\d([- ]?)\d{4}\1\d{4}(?![0-9A-Za-z])", re.ASCII
)
_EMAIL = lazy.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]"
    r"{2,24}(?![A-Za-z0-9])"
)


def _mobiles(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _MOBILE.finditer(text))


def _emails(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _EMAIL.finditer(text))


_FINDERS: dict[Secret, Callable[[str], Iterator[tuple[int, int]]]] = {
    "id_card": _id_cards,
    "bank_card": _bank_cards,
    "api_key": _api_keys,
    "password": _passwords,
    "mobile": _mobiles,
    "email": _emails,
}
