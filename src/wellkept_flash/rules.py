"""The facts policy that chip and computer share: are two statements the same, finer, opposite or different?

Likeness only proposes. Before anything is merged, negation, liking, numbers and marks of time and extent are
compared, and what is not certain counts as different: a fact kept twice costs a line, one merged is gone.
"""

import binascii
import hashlib

from wellkept_flash import words

SAME = "same"
NARROWER = "narrower"
BROADER = "broader"
CONFLICT = "conflict"
DIFFERENT = "different"

# How a Chinese statement goes on when something is added to it, and how an address ends.
_JOINERS = "和 跟 与 及 并 且 在 因 尤 还 每 从 以"
_PLACES = "区市县路街省镇号村楼室"
_ENGLISH_JOINERS = " and as with at in on for because especially every near since from "
# With these verbs "does not do" and "hates to do" are taken for one statement (我不吃辣, 我讨厌吃辣).
_VERBS = "吃喝看听玩坐去穿用抽做养住骑开打"


class Statement:
    """What a text claims: ``core`` tokens without subject and filler, and what turns their meaning.

    Attributes:
        tokens: all of its tokens.
        normal: the normal text.
        turns: how many negations and dislikes it holds; an odd number makes it negative.
        stances: how many words of liking or disliking it holds.
        marks: the words of time, extent and exception, in order.
    """

    def __init__(self, text):
        self.tokens = words.tokens(text)
        self.normal = _join(self.tokens) or text.strip()
        self.core = []
        self.turns = self.stances = 0
        self.marks = []
        for token in self.tokens:
            self._take(token)

    def _take(self, token):
        kind = token.kind
        if kind in (words.WORD, words.NUMBER):
            if self.core or not words.is_subject(token):
                self.core.append(token)
        elif kind == words.MARK:
            self.marks.append(token.text)
        else:
            self.turns += kind in (words.NOT, words.HATE)
            self.stances += kind in (words.LIKE, words.HATE)

    @property
    def negative(self):
        """True when it denies or dislikes."""
        return self.turns % 2 == 1

    def key(self):
        """The core as a list of words, the leading verb without its ending."""
        key = [token.text for token in self.core]
        if key:
            key[0] = _stem(key[0])
        return key

    def stems(self):
        """The core without the endings of its words: too coarse to merge by, fine to oppose by."""
        return [_stem(token.text) for token in self.core]

    def joints(self):
        """The sizes at which the core can end and be a vaguer statement: what follows there is added behind a comma
        or a joining word, or is the rest of an address."""
        place = bool(self.core) and self.core[-1].text in _PLACES
        found = []
        home = False
        for at in range(1, len(self.core)):
            before, token = self.core[at - 1], self.core[at]
            home = home or before.text == "住"
            joins = token.broke or token.text in _JOINERS or " " + token.text + " " in _ENGLISH_JOINERS
            if joins or (home and place):
                found.append(at)
        return found

    def frame(self):
        """The core with each number masked."""
        key = self.key()
        return ["0" if self.core[at].kind == words.NUMBER else key[at] for at in range(len(key))]


def normal(text):
    """``text`` without differences of case, width, punctuation, spaces and the ways to write a number.

    Symbols that mean something stay: ``C++`` and ``C#`` stay apart, 五岁 becomes 5岁. A text of
    punctuation alone is returned stripped.
    """
    return _join(words.tokens(text)) or text.strip()


def fingerprint(text):
    """32 hex digits of the SHA-256 of the whole normal text."""
    return binascii.hexlify(hashlib.sha256(normal(text).encode()).digest()).decode()[:32]


def numbers(text):
    """The numbers in ``text``, in order, as canonical strings; 五 and ``five`` count too."""
    return [token.text for token in words.tokens(text) if token.kind == words.NUMBER]


def polarity(text):
    """-1 when ``text`` denies or dislikes, else 1."""
    return -1 if Statement(text).negative else 1


def relation(new, old):
    """How the statement ``new`` stands to ``old``.

    Returns:
        SAME: it says nothing else. NARROWER: it says the same and more. BROADER: ``old`` already says more.
        CONFLICT: both cannot hold (opposite polarity, or the same words around other numbers).
        DIFFERENT: all else, everything doubtful included.
    """
    return compare(Statement(new), Statement(old))


def compare(a, b):
    """``relation`` of two Statements, for one that is compared with many."""
    if a.normal == b.normal:
        return SAME
    if not a.core or not b.core or a.marks != b.marks or not _comparable(a, b):
        return DIFFERENT
    if a.negative != b.negative:
        return CONFLICT if a.stems() == b.stems() else DIFFERENT
    if a.turns == b.turns and a.stances < 2 and b.stances < 2:
        if a.key() == b.key():
            return SAME
        if _extends(a, b):
            return NARROWER
        if _extends(b, a):
            return BROADER
    return CONFLICT if a.turns == b.turns and a.frame() == b.frame() else DIFFERENT


def target(new, olds, related):
    """Which of the statements ``olds`` a correction ``new`` replaces.

    Args:
        new: the corrected statement.
        olds: the statements that stand now.
        related: for each of them, whether it shares a label or keyword with the new one.

    Returns:
        The index of the one that fits best. None when none fits or two fit equally well: in doubt nothing is
        replaced.
    """
    best, index, tie = 0.0, None, False
    new = Statement(new)
    for at, old in enumerate(olds):
        fit = _fit(new, Statement(old), related[at])
        if fit > best:
            best, index, tie = fit, at, False
        elif fit and fit == best:
            tie = True
    return None if tie else index


def score(uses, changed):
    """What an item is worth when room is short: 3 per use, 1 per hour from 1970 to ``changed`` (seconds)."""
    return 3 * uses + changed // 3600


def _fit(a, b, related):
    verdict = compare(a, b)
    if verdict in (CONFLICT, NARROWER):
        return 2.0
    if verdict != DIFFERENT or not a.core or not b.core:
        return 0.0
    mine, theirs = a.key(), b.key()
    if mine[0] != theirs[0] and not _extends(a, b, True):
        return 0.0
    shared = len([word for word in mine if word in theirs])
    fit = 2.0 * shared / (len(mine) + len(theirs)) + (0.5 if related else 0.0)
    return fit if fit >= 0.5 else 0.0


def _join(tokens):
    """Token texts in a row, with a space only between two that are written with letters or figures."""
    pieces = []
    last = ""
    for token in tokens:
        if last and words.is_spaced(last, token.text[0]):
            pieces.append(" ")
        pieces.append(token.text)
        last = token.text[-1]
    return "".join(pieces)


def _comparable(a, b):
    """False where a bare noun could be read as a verb: "does not smoke" is not "hates smoke"."""
    return bool(a.stances) == bool(b.stances) or (a.core[0].text in _VERBS and b.core[0].text in _VERBS)


def _extends(longer, shorter, anyhow=False):
    """True when ``longer`` is ``shorter`` and more behind one of its joints; ``anyhow``: and more."""
    size = len(shorter.core)
    if size >= len(longer.core) or longer.key()[:size] != shorter.key():
        return False
    return anyhow or size in longer.joints()


def _stem(word):
    if word in ("has", "goes"):
        return "have" if word == "has" else "go"
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("shes", "ches", "sses", "xes", "zes")) else word[:-1]
