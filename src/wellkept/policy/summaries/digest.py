"""The built-in summariser: sentences that carry something, in order, inside a token limit. No model.

A digest is plain text. A line ``[2024-06-12]`` dates what follows, ``speaker: …`` quotes what somebody
said, and ``· 5岁; 6月30日`` lists key data whose sentences had to go. A digest can be digested again
together with what came after it. When room gets short, names go first, then wishes and to-dos, then whole
sentences in favour of their numbers, dates and amounts; always the oldest first. A fifth of the room is kept
for the newest constraints and wishes, and bare values take no more than three quarters as long as there are sentences.
What is left out is handed back for the ledger.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, TypeAlias

from wellkept.policy.text import days, lazy
from wellkept.policy.text.dates import parse
from wellkept.policy.text.keydata import HARD, KeyDatum, Kind, extract
from wellkept.policy.text.remember import remembered
from wellkept.records import Record

Key: TypeAlias = tuple[str, str, str]
Form: TypeAlias = Literal["full", "clauses", "values", "gone"]


@dataclass(frozen=True, slots=True)
class Entry(Record):
    """One message to digest. ``speaker`` and ``date`` stand in the digest as they are given ("" for none)."""

    seq: int
    speaker: str
    text: str
    date: str = ""


@dataclass(frozen=True)
class Sentence(Record):
    """A sentence and its key data (places relative to the sentence), with what is found out of it once for all digests.

    ``rank`` says what the sentence is kept for: 0 nothing, 1 names, places and ids, 2 preferences and
    to-dos, 3 constraints, 4 numbers, dates, times and amounts.
    """

    text: str
    data: tuple[KeyDatum, ...]
    rank: int

    @cached_property
    def keys(self) -> dict[Key, KeyDatum]:
        """Its key data by what makes two of them the same, wherever they are said."""
        return {(datum.kind, datum.value, ""): datum for datum in self.data}

    @cached_property
    def relative(self) -> bool:
        """Whether a day that it names depends on the day it was said."""
        return any(map(_relative, self.data))

    @cached_property
    def clauses(self) -> tuple[str, tuple[KeyDatum, ...]]:
        """Those with numbers, dates, times, amounts or constraints, and their key data."""
        edges = [0, *(match.end() for match in _CLAUSE_BREAK.finditer(self.text)), len(self.text)]
        wanted = (datum for datum in self.data if datum.kind in HARD or datum.kind == "constraint")
        kept = {clause for datum in wanted for clause in _inside(datum, edges)}
        data = tuple(datum for datum in self.data if kept.issuperset(_inside(datum, edges)))
        text = "".join(self.text[edges[clause] : edges[clause + 1]] for clause in sorted(kept))
        return text.strip(), data

    @cached_property
    def alone(self) -> dict[int, str]:
        """How its values are written where they stand alone, by their place: those that once had to (``_alone``)."""
        return {}

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """Of its key data."""
        return frozenset(datum.kind for datum in self.data)


@dataclass(frozen=True, slots=True)
class Digest(Record):
    """A digest: its ``text``, the seqs of the entries it speaks of, and the key data that had no room.

    ``bared``: key data that the text still says, but no longer the sentences that they stood in.
    """

    text: str
    kept: tuple[int, ...]
    dropped: tuple[KeyDatum, ...]
    bared: tuple[KeyDatum, ...] = ()


class _Piece(NamedTuple):
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
        count: a counter of tokens; it is asked for each of some ten drafts where room is short.
        previous: text of an older digest; its lines come first and give way first.
    """
    pieces = _unrepeated([*_parsed(previous), *_chosen(entries)])
    fitted = _fitted(pieces, limit, count)
    there = {key for piece in fitted for key in _keys(piece)}
    dropped = {
        key: replace(datum, said=piece.date)
        for piece in pieces
        for key, datum in _keys(piece).items()
        if key not in there
    }
    return Digest(_rendered(fitted), _spoken_of(fitted), tuple(dropped.values()), _bared(pieces, fitted))


def shortened(entries: Iterable[Entry], limit: int, count: Callable[[str], int]) -> str:
    """The text of a digest of ``entries`` alone, for one that is not kept: what it leaves out is not noted."""
    return _rendered(_fitted(_unrepeated(_chosen(entries)), limit, count))


def _bared(before: Iterable[_Piece], after: Iterable[_Piece]) -> tuple[KeyDatum, ...]:
    return tuple(
        replace(datum, said=new.date)
        for old, new in zip(before, after, strict=True)
        if new.form == "values" != old.form
        for datum in new.data
    )


def _spoken_of(pieces: Iterable[_Piece]) -> tuple[int, ...]:
    return tuple(sorted({piece.line for piece in pieces if piece.line > 0 and piece.text}))


_ABSOLUTE = lazy.compile(r"\d{4}|--\d\d")


def _relative(datum: KeyDatum) -> bool:
    """Whether the datum means another day when it is said on another day."""
    return datum.kind == "date" and not _ABSOLUTE.match(datum.value)


def _keys(piece: _Piece) -> dict[Key, KeyDatum]:
    """What it says by what makes two data the same."""
    if piece.data is piece.sentence.data and not (piece.date and piece.sentence.relative):
        return piece.sentence.keys
    return {(datum.kind, datum.value, piece.date if _relative(datum) else ""): datum for datum in piece.data}


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────

_BLOCK = lazy.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_END = lazy.compile(
    r"[。！？…]+[”」』）)\"']*|[!?]+[\"')”]*(?=\s|$|[\u4e00-\u9fff])|[；;](?=\s|$|[\u4e00-\u9fff])|\n+"
    r"|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\be\.g)(?<!\bi\.e)(?<!\b[A-Z])(?<!\n\d)(?<!\n\d\d)"
    r"\.[\"')”]*(?=\s+[^a-z\s]|\s*$)"
)
_PREFERENCE = lazy.compile(
    r"喜欢|喜歡|讨厌|討厭|偏好|最爱|最愛|爱吃|爱喝|愛吃|愛喝|不爱|不愛|热爱|宁愿|宁可|更想|习惯"
    r"|習慣|着迷|害怕|受不了"
    r"|\b(?:loves?|hates?|prefers?|preferred|favou?rites?|enjoys?|dislikes?|fond of"
    r"|can['’]t stand|obsessed|likes"
    r"|(?<!as )(?:i|we|they|you|really|also|don['’]t|didn['’]t) like[ds]?)\b",
    re.IGNORECASE,
)
_QUOTED = 400  # characters
_AROUND = 120


@remembered(1 << 20)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of ``text`` with their key data. Code blocks, URLs and abbreviations stay whole.

    They are remembered, so that the digests of a conversation read each message once.
    """
    return tuple(_sentence(part) for part in _split(text) if part)


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
    elif "todo" in kinds or (not text.endswith(("?", "？")) and _PREFERENCE.search(text)):
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


_HEADER = lazy.compile(r"\[([^\[\]]+)\]")
_SPOKEN = lazy.compile(r"([^:：\n]{1,60}): (.+)")
_VALUES = "· "


def _parsed(text: str) -> Iterator[_Piece]:
    """The pieces of an older digest; lines get negative numbers."""
    date, lines = "", text.split("\n")
    for number, line in enumerate(lines, -len(lines)):
        if header := _HEADER.fullmatch(line.strip()):
            date = header[1]
        elif line.startswith(_VALUES):
            for value in line[len(_VALUES) :].split("; "):
                sentence = _value(value)
                yield _Piece(number, date, "", sentence, "values", value, sentence.data)
        elif line.strip():
            spoken = _SPOKEN.fullmatch(line.strip())
            speaker, words = (spoken[1], spoken[2]) if spoken else ("", line.strip())
            for part in sentences(words):
                yield _Piece(number, date, speaker, part, "full", part.text, part.data)


@lru_cache(maxsize=2_048)  # each version of a summary has most of the last one's
def _value(text: str) -> Sentence:
    """A value that stands alone. It has been read out of a text, and is short."""
    return Sentence(text, extract(text), 4)


def quote(sentence: Sentence, datum: KeyDatum) -> str:
    """What ``sentence`` says around ``datum``: all of it, but of a long one (a table, a log in one line) only so much that a
    reader sees what is meant."""
    start, end = max(0, datum.start - _AROUND), datum.end + _AROUND
    if len(sentence.text) <= _QUOTED:
        return sentence.text
    before, after = "… " if start else "", " …" if end < len(sentence.text) else ""
    return f"{before}{sentence.text[start:end].strip()}{after}"


def quotable(text: str, seq: int) -> Iterator[Entry]:
    """The lines of an older digest that say where their key data stood, each with its day and the given ``seq``."""
    date = ""
    for line in text.split("\n"):
        if header := _HEADER.fullmatch(line.strip()):
            date = header[1]
        elif not line.startswith(_VALUES):
            yield Entry(seq, "", line, date)


def _unrepeated(pieces: list[_Piece]) -> list[_Piece]:
    """``pieces`` without those that are said again later by the same speaker."""
    last = {(piece.speaker, piece.sentence.text): place for place, piece in enumerate(pieces)}
    return [piece for place, piece in enumerate(pieces) if last[piece.speaker, piece.sentence.text] == place]


# ── room ─────────────────────────────────────────────────────────────────────────────────────────────


_MACHINES = ("assistant", "tool", "system")  # their words bind nobody
_TOKENS_PER_VALUE = 2  # a value and what parts it from the next


def _fitted(pieces: list[_Piece], limit: int, count: Callable[[str], int]) -> list[_Piece]:
    """``pieces`` after as few concessions as ``limit`` allows."""
    if count(_rendered(pieces)) <= limit:
        return pieces
    last = {key: place for place, piece in enumerate(pieces) for key in _keys(piece)}
    ranked = [place for place, piece in enumerate(pieces) if piece.sentence.rank == 4]
    bare = {place: _bare(pieces[place], place, last, limit) for place in ranked}
    sizes = {place: count(piece.text) + 1 for place, piece in bare.items()}
    steps = [
        (place, bare[place] if form == "values" else _reduced(pieces[place], form))
        for place, form in _concessions(pieces, _protected(pieces, limit, count), sizes, limit * 3 // 4)
    ]
    few, many = 0, len(steps)
    while few + 1 < many:
        middle = (few + many) // 2
        enough = count(_rendered(_conceded(pieces, steps[:middle]))) <= limit
        few, many = (few, middle) if enough else (middle, many)
    return _conceded(pieces, steps[:many])


def _conceded(pieces: Sequence[_Piece], steps: Iterable[tuple[int, _Piece]]) -> list[_Piece]:
    conceded = list(pieces)
    for place, piece in steps:
        conceded[place] = piece
    return conceded


def _protected(pieces: list[_Piece], limit: int, count: Callable[[str], int]) -> set[int]:
    """What people said that binds, the newest first, in two fifths of ``limit`` by their shorter form.

    First the sentences that bind to a day, a time or an amount (a deadline is never too old to matter), then the other
    constraints; then wishes and to-dos, as far as a fifth of ``limit`` holds all.
    """
    newest = [place for place in range(len(pieces) - 1, -1, -1) if pieces[place].speaker not in _MACHINES]
    kinds = {place: pieces[place].sentence.kinds for place in newest}
    bound = [place for place in newest if "constraint" in kinds[place]]
    dated = [place for place in newest if kinds[place] & {"constraint", "todo"} and kinds[place] & HARD]
    wished = [place for place in newest if pieces[place].sentence.rank == 2]
    taken, protected = 0, set()
    most = dict.fromkeys((*dated, *bound), limit * 2 // 5)
    for place in dict.fromkeys((*most, *wished)):
        text = pieces[place].sentence.clauses[0] or pieces[place].text
        taken += count(f"{pieces[place].speaker}: {text}\n")
        if taken > most.get(place, limit // 5):
            break
        protected.add(place)
    return protected


def _concessions(
    pieces: list[_Piece], protected: set[int], sizes: Mapping[int, int], room: int
) -> Iterator[tuple[int, Form]]:
    """What to give up, in this order, each from the oldest piece to the newest; the protected at the end.

    Before bare values take more than ``room`` (a piece takes its part of ``sizes``), the oldest of them go, those
    that a machine said before those of people: what is new is worth its sentences.
    """
    open_to = [place for place in range(len(pieces)) if place not in protected]
    ranks = [piece.sentence.rank for piece in pieces]
    for rank in (0, 1):
        yield from ((place, "gone") for place in open_to if ranks[place] == rank)
    spoken = [place for place, rank in enumerate(ranks) if rank == 4 and pieces[place].form != "values"]
    yield from ((place, "clauses") for place in spoken)
    yield from ((place, "gone") for place in open_to if ranks[place] == 2)
    machines: deque[int] = deque()
    people: deque[int] = deque()
    for place in (place for place in open_to if ranks[place] == 4):
        fresh = pieces[place].form != "values"
        if fresh:
            yield place, "values"
        (people if fresh and pieces[place].speaker not in _MACHINES else machines).append(place)
        room -= sizes[place]
        while room < 0 and (machines or people):
            oldest = (machines or people).popleft()
            room += sizes[oldest]
            yield oldest, "gone"
    yield from ((place, "gone") for place in open_to if ranks[place] == 3)
    yield from ((place, "gone") for place in (*machines, *people, *sorted(protected)))


def _bare(piece: _Piece, place: int, last: Mapping[Key, int], limit: int) -> _Piece:
    """``piece`` as bare values: those that are said at its ``place`` for the ``last`` time, no more than may ever fit."""
    sentence = piece.sentence
    own = [datum for key, datum in _keys(piece).items() if datum.kind in HARD and last[key] == place]
    data = tuple(own[: max(limit // _TOKENS_PER_VALUE, 0)])
    values = [_alone(datum, sentence) + _day(datum, sentence, piece.date) for datum in data]
    return _Piece(piece.line, piece.date, piece.speaker, sentence, "values", "; ".join(values), data)


def _reduced(piece: _Piece, form: Form) -> _Piece:
    """``piece`` in its clauses that count, or gone."""
    text, data = piece.sentence.clauses if form == "clauses" else ("", ())
    return _Piece(piece.line, piece.date, piece.speaker, piece.sentence, form, text, data)


_CLAUSE_BREAK = lazy.compile(r"[，；]|[,;](?=\s)")


def _inside(datum: KeyDatum, edges: list[int]) -> range:
    """The clauses, by number, that ``datum`` reaches into."""
    return range(bisect_right(edges, datum.start) - 1, bisect_left(edges, datum.end))


def _alone(datum: KeyDatum, sentence: Sentence) -> str:
    """``datum`` as written, with the word before it where it would not be understood alone ("in May")."""
    if datum.start not in sentence.alone:
        sentence.alone[datum.start] = _understood(datum, sentence.text)
    return sentence.alone[datum.start]


def _understood(datum: KeyDatum, sentence: str) -> str:
    if any((other.kind, other.value) == (datum.kind, datum.value) for other in extract(datum.text)):
        return datum.text
    before = sentence[max(0, datum.start - 30) : datum.start].rstrip().rpartition(" ")[2]
    return f"{before} {datum.text}".strip()


def _day(datum: KeyDatum, sentence: Sentence, said: str) -> str:
    """The day that a relative ``datum`` means, behind an equals sign; "" where its sentence leaves that open."""
    return _meant(datum, sentence.text, said) if said and sentence.relative and _relative(datum) else ""


@lru_cache(maxsize=1_024)
def _meant(datum: KeyDatum, sentence: str, said: str) -> str:
    reference = parse(said, "UTC")
    day = days.meant(sentence, datum.start, reference, "UTC") if reference else None
    return f" = {day}" if day else ""


def _rendered(pieces: Sequence[_Piece]) -> str:
    """The text of ``pieces``: one line of bare values, then the sentences by day and line."""
    spoken = [piece for piece in pieces if piece.text and piece.form != "values"]
    values = "; ".join(piece.text for piece in pieces if piece.text and piece.form == "values")
    lines = [_VALUES + values] if values else []
    date, line = "", None
    for piece in spoken:
        if piece.date and piece.date != date:
            lines.append(f"[{piece.date}]")
        elif piece.line == line:
            lines[-1] += f" {piece.text}"
            continue
        date, line = piece.date or date, piece.line
        lines.append(f"{piece.speaker}: {piece.text}" if piece.speaker else piece.text)
    return "\n".join(lines)
