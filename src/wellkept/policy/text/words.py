"""Text to index tokens and query terms, alike on every store and the same in each script.

Every token is made of a-z, 0-9 and non-ASCII characters, and holds no blank and no surrogate. So a store
may join tokens by blanks and read them with SQLite's ``ascii`` tokenizer, or write them as tsvector literals.

* NFKC, case folding, accents dropped, traditional Chinese taken for simplified (see ``han``).
* Scripts without blanks (Han, kana, Hangul, Thai ...): overlapping pairs of characters, and the last one
  alone, so that a query of one character is a prefix of some token wherever it stands: 恐龙特别 gives
  恐龙 龙特 特别 别.
* Words: the English stem (Porter 2 of Snowball). camelCase, snake_case, digits beside letters, addresses,
  dates and versions give their parts and the whole, joined by ``JOINT``: 2024-03-15 is 2024/03/15.
* Emoji: a token for each, without skin tone and variation marks; a flag is one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, islice
from operator import add
from typing import NamedTuple

from wellkept.policy.text import han, lazy
from wellkept.policy.text.stem import stem

TOKENS_VERSION = 3
"""Raised when the same text gives other tokens than before; see ``tokens_version``."""

JOINT = "ˑ"
"""Stands in a token for the separator between its parts. It is a letter to Unicode, and no word has it."""

MAX_TOKEN = 64
"""Longer words are clipped to this many characters, in the index and in queries alike."""

MAX_VOCABULARY = 200_000
"""Of a text with more different tokens than this, only those that come first count. A dump may have so many, hardly a book."""

MAX_TERMS = 512
"""A query keeps its first so many different terms: what has more is a document, not a question."""


class Term(NamedTuple):
    """One thing to look up in the index.

    Attributes:
        text: the token, or what the token starts with.
        prefix: True when every token that starts with ``text`` is meant (a single Chinese character).
        stop: True for a function word, which says nothing as long as there is another term.
    """

    text: str
    prefix: bool = False
    stop: bool = False


def index_tokens(text: str) -> list[str]:
    """The tokens of ``text`` in order, as often as they occur; none when it has no word, digit or emoji.

    See ``MAX_VOCABULARY`` for what is left out of the longest texts.
    """
    tokens = _tokens(text)
    return tokens if len(tokens) <= MAX_VOCABULARY else _with_first(tokens, MAX_VOCABULARY)


def _with_first(tokens: list[str], count: int) -> list[str]:
    """``tokens`` without those that are none of the first ``count`` different ones."""
    known = dict.fromkeys(tokens)
    if len(known) <= count:
        return tokens
    first = set(islice(known, count))
    return [token for token in tokens if token in first]


def _tokens(text: str) -> list[str]:
    if text.isascii():
        chunks = _ASCII_CHUNK.findall(text)
        short = len(text) <= MAX_TOKEN or max(map(len, chunks), default=0) <= MAX_TOKEN
        known = _known_word if short else _word_tokens
        return list(chain.from_iterable(map(known, chunks)))
    tokens: list[str] = []
    for kind, chunk in _chunks(text):
        if kind == "word":
            tokens += _word_tokens(chunk)
        elif kind == "run":
            tokens += map(add, chunk, chunk[1:])
            tokens.append(chunk[-1])
        else:
            tokens.append(_emoji(chunk))
    return tokens


def query_terms(text: str) -> list[Term]:
    """The different terms of a question, at most ``MAX_TERMS``. Plain text: nothing in it is syntax.

    A pair of characters stands for itself and a single one for all that it starts. To be OR-ed by the caller.
    """
    terms: dict[Term, None] = {}
    for kind, chunk in _chunks(text):
        if len(terms) >= MAX_TERMS:
            break
        if kind == "word":
            terms.update((Term(token, stop=token in _stop_stems()), None) for token in _word_tokens(chunk))
        elif kind == "run":
            terms.update((term, None) for term in _run_terms(chunk))
        else:
            terms[Term(_emoji(chunk))] = None
    return list(terms)[:MAX_TERMS]


@cache
def tokens_version() -> str:
    """What an index must say to have been made with just these tokens; one that says otherwise must be rebuilt.

    Releases of the stemmer differ in a few words, so its answers for some of those are part of it.
    """
    return f"{TOKENS_VERSION}:{' '.join(map(_stem, _STEMS_THAT_CHANGED))}"


def simplify(text: str) -> str:
    """``text`` with traditional characters as simplified ones, so that a pattern is written only once."""
    unchanged = text.isascii() or han.traditional().isdisjoint(text)
    return text if unchanged else text.translate(han.simplified())


def sentences(text: str) -> list[str]:
    """The sentences of ``text`` with their end marks; a line end is one."""
    return list(filter(None, map(str.strip, _SENTENCE.findall(text))))


@lru_cache(maxsize=16384)
def is_telling(token: str) -> bool:
    """False for function words and for the lone last character of a run, which its pair says better."""
    if len(token) <= 2 and _RUN.match(token):
        return len(token) == 2 and not _STOP_CHARACTERS.issuperset(token)
    return token not in _stop_stems()


def is_loose(token: str) -> bool:
    """True for a pair of characters of which one is a function word, as 的猫: less than a word."""
    return len(token) == 2 and not _STOP_CHARACTERS.isdisjoint(token)


def is_emoji(token: str) -> bool:
    """True for an emoji, which decorates what is said more often than it says something."""
    return token.startswith(JOINT)


def characters(token: str) -> list[str]:
    """The characters of a Chinese pair that are no function words; none of any other token."""
    pair = len(token) == 2 and _HAN.match(token) is not None
    return [character for character in token if pair and character not in _STOP_CHARACTERS]


def _chunks(text: str) -> Iterator[tuple[str | None, str]]:
    """The pieces of ``text`` that hold tokens: words with what joins them, runs of pairs, emoji."""
    if text.isascii():
        yield from (("word", chunk) for chunk in _ASCII_CHUNK.findall(text))
        return
    for match in _CHUNK.finditer(unicodedata.normalize("NFKC", text)):
        chunk = match[0]
        yield match.lastgroup, simplify(chunk) if match.lastgroup == "run" else chunk


def _run_terms(run: str) -> list[Term]:
    if len(run) == 1:
        return [Term(run, prefix=True, stop=run in _STOP_CHARACTERS)]
    pairs = map(add, run, run[1:])
    return [Term(pair, stop=_STOP_CHARACTERS.issuperset(pair)) for pair in pairs]


def _emoji(chunk: str) -> str:
    return JOINT + "".join(f"{ord(character):x}" for character in chunk)


def _word_tokens(chunk: str) -> tuple[str, ...]:
    return _known_word(chunk) if len(chunk) <= MAX_TOKEN else _word(chunk)


@lru_cache(maxsize=16384)
def _known_word(chunk: str) -> tuple[str, ...]:
    return _word(chunk)


def _word(chunk: str) -> tuple[str, ...]:
    """The tokens of a word or of words joined by single punctuation marks."""
    if chunk.isascii() and (chunk.isdigit() or (chunk.isalpha() and chunk.islower())):
        return (_stem(chunk),)
    chunk = _CONTRACTION.sub(r"\1", chunk.replace("’", "'"))
    chunk = _LANGUAGE.sub(lambda match: match[1] + _LANGUAGES[match[2]], _THOUSANDS.sub("", chunk))
    chunk = chunk.replace("#", "").rstrip("+")
    pieces = [piece for piece in _SEPARATORS.split(chunk) if piece]
    if len(pieces) > 1 and _ACRONYM.fullmatch(chunk):
        return (_fold("".join(pieces)),)
    tokens = [token for piece in pieces for token in _piece(piece)]
    if len(pieces) > 1:
        whole = JOINT.join(map(_fold, pieces))
        tokens.append(_VERSION.sub("", whole)[:MAX_TOKEN])
    return tuple(tokens)


def _piece(piece: str) -> list[str]:
    """A word without punctuation: its stem, and its parts when it is built like getUserById or python3."""
    tokens = [_stem(_ORDINAL.sub(r"\1", _fold(piece)))]
    if _BORDER.search(piece) and not tokens[0].isdigit():
        parts = _PART.findall(piece)
        if len(parts) <= _MAX_PARTS:
            tokens += [_stem(part.lower()) for part in parts]
    return tokens


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    letters = unicodedata.normalize("NFD", word.casefold())
    bare = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFKC", bare.translate(_LATIN))


def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word[:MAX_TOKEN]
    return stem(word[:MAX_TOKEN])


@cache
def _stop_stems() -> frozenset[str]:
    return frozenset(_stem(word) for word in _STOP_WORDS.split())


_RANGES = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u1100-\u11ff\uac00-\ud7a3"  # Hangul
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff"  # Han
    r"\uf900-\ufaff\U00020000-\U0003ffff"  # rare Han
    r"\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
)
# Accents and vowel signs are no \w to Python's re, but parts of words.
SPACED = rf"[^\W_{_RANGES}]"
"""One letter or digit of a script that parts its words by blanks, as a regular expression."""
_MARKS = r"[\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u093a-\u0957\u0962\u0963\u0981-\u0dff]"
_LETTER = rf"(?:[^\W_{_RANGES}]{_MARKS}*)"
_SEPARATOR = r"(?:_+|[.@'’\-‐/:+&,])"
_WORD = rf"{_LETTER}+(?:(?:\+\+|\#)(?!\w))?(?:{_SEPARATOR}{_LETTER}+(?:(?:\+\+|\#)(?!\w))?)*"
_FLAG = r"[\U0001f1e6-\U0001f1ff]{2}"
_SKINS = r"\U0001f3fb-\U0001f3ff"
_PICTURE = (
    rf"(?![{_SKINS}])[\u203c\u2049\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
)
_CHUNK = lazy.compile(rf"(?P<word>{_WORD})|(?P<run>[{_RANGES}]+)|(?P<emoji>{_FLAG}|{_PICTURE})")
_ASCII_CHUNK = lazy.compile(_WORD.replace(_LETTER, "[a-zA-Z0-9]"))
_RUN = lazy.compile(rf"[{_RANGES}]")
_HAN = lazy.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2}")
_SENTENCE = lazy.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_SEPARATORS = lazy.compile(_SEPARATOR)
_BORDER = lazy.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[0-9][a-zA-Z]|[a-zA-Z][0-9]")
_PART = lazy.compile(r"[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_STEMS_THAT_CHANGED = ("added", "evening", "emergency", "internal", "interfering", "dermatologist")
_MAX_PARTS = 6  # a hash or an id is one thing, not forty
_ACRONYM = lazy.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_CONTRACTION = lazy.compile(r"'s\b|'(t|re|ve|ll|d|m)\b", re.IGNORECASE)
_THOUSANDS = lazy.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_VERSION = lazy.compile(r"^v(?=\d)")
_ORDINAL = lazy.compile(r"^(\d+)(?:st|nd|rd|th)$")
_LANGUAGE = lazy.compile(r"\b([a-zA-Z])(\+\+|#)")
_LANGUAGES = {"++": "plusplus", "#": "sharp"}
_LATIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})

_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being both but by can could
cannot did didnt do does doesnt doing dont down during each few for from further had hadnt has hasnt have
havent having he her here hers herself him himself his how i id if ill im in into is isnt it its itself ive
just let lets me more most my myself no nor not of off on once only or other our ours ourselves out over own
please same she should so some such than that thats the their theirs them themselves then there these they
this those through to too under until up very was wasnt we were werent what whats when where which while who
whom whos whose why will with wont would wouldnt you your yours yourself yourselves
"""
_STOP_CHARACTERS = frozenset(
    "的了吗呢啊吧呀嘛么是我你您他她它们这那哪什怎谁在有和与就都也很还又而及或被把让给对从不没个为以之其"
)
