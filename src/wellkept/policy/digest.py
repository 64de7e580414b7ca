"""The built-in summariser: sentences that carry something, in order, inside a token limit. No model.

A digest is plain text. A line ``[2024-06-12]`` dates what follows, ``speaker: …`` quotes what somebody
said, and ``· 5岁; 6月30日`` lists key data whose sentences had to go. A digest can be digested again
together with what came after it. When room gets short, names go first, then wishes and to-dos, then whole
sentences in favour of their numbers, dates and amounts; always the oldest first. What is left out is handed
back for the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from wellkept.policy.keydata import HARD, KeyDatum, extract
from wellkept.records import Record

Key: TypeAlias = tuple[str, str]
Form: TypeAlias = Literal["full", "clauses", "values", "gone"]


@dataclass(frozen=True, slots=True)
class Entry(Record):
    """One message to digest. ``speaker`` and ``date`` stand in the digest as they are given ("" for none)."""

    seq: int
    speaker: str
    text: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class Sentence(Record):
    """A sentence and its key data (places relative to the sentence).

    ``rank``: 0 nothing to keep, 1 names, places and ids, 2 preferences and to-dos, 3 constraints, 4
    numbers, dates, times and amounts.
    """

    text: str
    data: tuple[KeyDatum, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class Digest(Record):
    """A digest: its ``text``, the seqs of the entries it speaks of, and the key data that had no room."""

    text: str
    kept: tuple[int, ...]
    dropped: tuple[KeyDatum, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence on its way into a digest. ``line`` is the same for sentences that share a line."""

    line: int
    date: str
    speaker: str
    sentence: Sentence
    form: Form = "full"
    text: str = ""
    data: tuple[KeyDatum, ...] = ()


def digest(
    entries: Iterable[Entry], *, limit: int, count: Callable[[str], int], previous: str = ""
) -> Digest:
    """A digest of ``previous`` (an older one, or any summary) and of ``entries``, which come after it.

    Args:
        limit: tokens that the text may take, as ``count`` counts them; never exceeded.
        previous: text of an older digest; its lines come first and give way first.
    """
    pieces = _unrepeated([*_parsed(previous), *_chosen(entries)])
    said = {datum for piece in pieces for datum in _keys(piece.sentence.data)}
    fitted = _fitted(pieces, limit, count)
    there = {key for piece in fitted if piece.form != "gone" for key in _keys(piece.data)}
    dropped = {
        (datum.kind, datum.value): datum
        for piece in pieces
        for datum in piece.sentence.data
        if (datum.kind, datum.value) not in there
    }
    kept = sorted({piece.line for piece in fitted if piece.line > 0 and piece.form != "gone"})
    return Digest(_rendered(fitted), tuple(kept), tuple(dropped.values()) if said - there else ())


def _keys(data: Iterable[KeyDatum]) -> Iterator[Key]:
    return ((datum.kind, datum.value) for datum in data)


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────

_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_END = re.compile(
    r"[。！？…]+[”」』）)\"']*|[!?]+[\"')”]*(?=\s|$|[\u4e00-\u9fff])|[；;](?=\s|$|[\u4e00-\u9fff])|\n+"
    r"|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\be\.g)(?<!\bi\.e)(?<!\b[A-Z])(?<!\n\d)(?<!\n\d\d)"
    r"\.[\"')”]*(?=\s+[^a-z\s]|\s*$)"
)
_PREFERENCE = re.compile(
    r"喜欢|喜歡|讨厌|討厭|偏好|最爱|最愛|爱吃|爱喝|愛吃|愛喝|不爱|不愛|热爱|宁愿|宁可|更想|习惯"
    r"|習慣|着迷|害怕|受不了"
    r"|\b(?:loves?|hates?|prefers?|preferred|favou?rites?|enjoys?|dislikes?|fond of"
    r"|can['’]t stand|obsessed|likes"
    r"|(?:i|we|they|you|really|also|don['’]t|didn['’]t) like[ds]?)\b",
    re.IGNORECASE,
)
_CACHED = 8_192


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of ``text`` with their key data. Code blocks, URLs and abbreviations stay whole.

    Texts of usual length are remembered, so that the digest of a conversation reads each message once.
    """
    return _remembered(text) if len(text) <= _CACHED else _sentences(text)


def _sentences(text: str) -> tuple[Sentence, ...]:
    return tuple(_sentence(part) for part in _split(text) if part)


_remembered = lru_cache(maxsize=4_096)(_sentences)


def _split(text: str) -> Iterator[str]:
    """Parts of ``text`` up to the end of each sentence, stripped."""
    place = 0
    for block in _BLOCK.finditer(text):
        yield from _split_prose(text[place : block.start()])
        yield block[0].strip()
        place = block.end()
    yield from _split_prose(text[place:])


def _split_prose(text: str) -> Iterator[str]:
    place = 0
    for end in _END.finditer(text):
        yield text[place : end.end()].strip()
        place = end.end()
    yield text[place:].strip()


def _sentence(text: str) -> Sentence:
    data = extract(text)
    kinds = {datum.kind for datum in data}
    if kinds & HARD:
        rank = 4
    elif "constraint" in kinds:
        rank = 3
    elif "todo" in kinds or _PREFERENCE.search(text):
        rank = 2
    else:
        rank = 1 if kinds else 0
    return Sentence(" ".join(text.split("\n")), data, rank)


# ── pieces ───────────────────────────────────────────────────────────────────────────────────────────


def _chosen(entries: Iterable[Entry]) -> list[_Piece]:
    """The sentences worth keeping; of a conversation without any, the first sentence of each message."""
    every = [(entry, sentences(entry.text)) for entry in entries]
    pieces = [_piece(entry, part) for entry, parts in every for part in parts if part.rank]
    return pieces or [_piece(entry, parts[0]) for entry, parts in every if parts]


def _piece(entry: Entry, sentence: Sentence) -> _Piece:
    return _Piece(entry.seq, entry.date, entry.speaker, sentence, "full", sentence.text, sentence.data)


_HEADER = re.compile(r"\[([^\[\]]+)\]")
_SPOKEN = re.compile(r"([^:：\n]{1,60}): (.+)")
_VALUES = "· "


def _parsed(text: str) -> Iterator[_Piece]:
    """The pieces of an older digest; lines get negative numbers."""
    date, lines = "", text.splitlines()
    for number, line in enumerate(lines, -len(lines)):
        if header := _HEADER.fullmatch(line.strip()):
            date = header[1]
        elif line.startswith(_VALUES):
            for value in line[len(_VALUES) :].split("; "):
                sentence = Sentence(value, extract(value), 4)
                yield _Piece(number, date, "", sentence, "values", value, sentence.data)
        elif line.strip():
            spoken = _SPOKEN.fullmatch(line.strip())
            speaker, words = (spoken[1], spoken[2]) if spoken else ("", line.strip())
            for part in sentences(words):
                yield _Piece(number, date, speaker, part, "full", part.text, part.data)


def _unrepeated(pieces: list[_Piece]) -> list[_Piece]:
    """``pieces`` without those that are said again later by the same speaker."""
    last = {(piece.speaker, piece.sentence.text): place for place, piece in enumerate(pieces)}
    return [piece for place, piece in enumerate(pieces) if last[piece.speaker, piece.sentence.text] == place]


# ── room ─────────────────────────────────────────────────────────────────────────────────────────────


def _fitted(pieces: list[_Piece], limit: int, count: Callable[[str], int]) -> list[_Piece]:
    fitted = list(pieces)
    if count(_rendered(fitted)) <= limit:
        return fitted
    costs = [_cost(piece, count) for piece in fitted]
    headers = sum(count(f"[{date}]\n") for date in {piece.date for piece in fitted})
    room = limit - headers - sum(costs)
    last = {key: place for place, piece in enumerate(fitted) for key in _keys(piece.data)}
    for place, form in _concessions(fitted):
        if room >= 0 and count(_rendered(fitted)) <= limit:
            break
        piece = fitted[place] = _reduced(fitted[place], form, place, last)
        cost = _cost(piece, count)
        room, costs[place] = room + costs[place] - cost, cost
    return fitted


def _cost(piece: _Piece, count: Callable[[str], int]) -> int:
    if piece.form == "gone" or not piece.text:
        return 0
    return count(f"{piece.text}; " if piece.form == "values" else f"{piece.speaker}: {piece.text}\n")


def _concessions(pieces: list[_Piece]) -> Iterator[tuple[int, Form]]:
    """What to give up, in this order, each from the oldest piece to the newest."""
    steps: tuple[tuple[int, Form], ...] = (
        (0, "gone"), (1, "gone"), (4, "clauses"), (2, "gone"), (4, "values"), (3, "gone"), (4, "gone"),
    )  # fmt: skip
    for rank, form in steps:
        for place, piece in enumerate(pieces):
            if piece.sentence.rank == rank and not (piece.form == "values" and form != "gone"):
                yield place, form


def _reduced(piece: _Piece, form: Form, place: int, last: Mapping[Key, int]) -> _Piece:
    """``piece`` in a shorter ``form``; as values, only those that no later piece says."""
    if form == "gone":
        return replace(piece, form=form, text="", data=())
    if form == "clauses":
        text, data = _clauses(piece.sentence)
        return replace(piece, form=form, text=text, data=data)
    own = {key: datum for key, datum in zip(_keys(piece.data), piece.data, strict=True) if last[key] == place}
    data = tuple(datum for datum in own.values() if datum.kind in HARD)
    text = "; ".join(_bare(datum, piece.sentence.text) for datum in data)
    return replace(piece, form=form, text=text, data=data)


_CLAUSE_BREAK = re.compile(r"[，；]|[,;](?=\s)")


@lru_cache(maxsize=4_096)
def _clauses(sentence: Sentence) -> tuple[str, tuple[KeyDatum, ...]]:
    """The clauses of ``sentence`` that hold numbers, dates, times or amounts, and their key data."""
    edges = [0, *(match.end() for match in _CLAUSE_BREAK.finditer(sentence.text)), len(sentence.text)]
    wanted = [datum for datum in sentence.data if datum.kind in HARD]
    kept = [
        (low, high)
        for low, high in pairwise(edges)
        if any(datum.start < high and datum.end > low for datum in wanted)
    ]
    data = tuple(
        datum
        for datum in sentence.data
        if datum.kind in HARD or any(low <= datum.start and datum.end <= high for low, high in kept)
    )
    return "".join(sentence.text[low:high] for low, high in kept).strip(), data


@lru_cache(maxsize=4_096)
def _bare(datum: KeyDatum, sentence: str) -> str:
    """``datum`` as written, with the word before it where it would not be understood alone ("in May")."""
    if any((other.kind, other.value) == (datum.kind, datum.value) for other in extract(datum.text)):
        return datum.text
    before = sentence[: datum.start].rstrip().rpartition(" ")[2]
    return f"{before} {datum.text}".strip()


def _rendered(pieces: Iterable[_Piece]) -> str:
    lines: list[str] = []
    date = speaker = ""
    line: int | None = None
    form: Form = "gone"
    for piece in pieces:
        if piece.form == "gone" or not piece.text:
            continue
        if piece.date != date:
            date, line, form = piece.date, None, "gone"
            lines.append(f"[{date}]")
        values = piece.form == "values"
        if values and form == "values":
            lines[-1] += f"; {piece.text}"
        elif values:
            lines.append(_VALUES + piece.text)
        elif piece.line == line and form != "values" and speaker == piece.speaker:
            lines[-1] += f" {piece.text}"
        else:
            lines.append(f"{piece.speaker}: {piece.text}" if piece.speaker else piece.text)
        line, speaker, form = piece.line, piece.speaker, piece.form
    return "\n".join(lines)
