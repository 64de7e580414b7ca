"""Words for the facts policy: a text becomes tokens, each with a kind, the same on a chip and on a computer.

MicroPython has no Unicode tables, so the few rules about characters that are needed stand here.
"""

WORD, NUMBER, NOT, LIKE, HATE, MARK, SKIP = "word", "number", "not", "like", "hate", "mark", "skip"

# SKIP words say nothing; MARK words change what a statement claims (time, extent, exception).
_ENGLISH = (
    (
        NOT,
        " not no never none neither nor nobody nothing without cannot cant dont doesnt didnt isnt arent "
        "wasnt werent wont wouldnt havent hasnt hadnt couldnt shouldnt stopped quit ",
    ),
    (LIKE, " like likes love loves enjoy enjoys adore adores "),
    (HATE, " hate hates dislike dislikes detest detests loathe loathes "),
    (
        MARK,
        " only except unless but although rarely seldom sometimes usually often always used formerly former "
        "was were had will would wants want plans plan hopes hope might may maybe if almost nearly ",
    ),
    (SKIP, " a an the is am are be do does really very longer anymore "),
)
# The WORD phrases keep a character inside them from being taken for one of the other kinds.
_CHINESE = (
    (
        WORD,
        " 不但 不仅 不只 不过 不管 不同 差不多 不久 不锈钢 没关系 没错 淹没 "
        "沉没 特别 区别 分别 别墅 别人 别的 性别 级别 个别 告别 "
        "可爱 爱人 爱情 恋爱 爱好 爱尔兰 爱心 亲爱 爱马仕 未来 想念 理想 思想 将军 麻将 但丁 三文鱼 "
        "三明治 四川 五花肉 百合 千万 万一 百度 一起 一直 一样 一定 一般 一些 一下 一点 一切 一旦 统一 十分 ",
    ),
    (NOT, " 不 没 没有 未 别 勿 不再 从不 从来不 并不 绝不 戒 "),
    (LIKE, " 喜欢 喜爱 热爱 钟爱 爱 "),
    (HATE, " 讨厌 厌恶 反感 痛恨 恨 "),
    (
        MARK,
        " 只 仅 除 除了 除非 但 但是 可是 却 曾 曾经 以前 之前 过去 从前 将 将要 打算 计划 想 想要 "
        "希望 可能 也许 有时 偶尔 很少 经常 总是 通常 如果 几乎 ",
    ),
    (SKIP, " 很 非常 超级 真的 "),
)


def _joined(table):
    """The members of all kinds as one text, so that looking for a word is one search, and where those of each end."""
    every, ends = "", []
    for kind, members in table:
        every += members
        ends.append((len(every), kind))
    return every, ends


_ENGLISH = _joined(_ENGLISH)
_CHINESE = _joined(_CHINESE)
# In 对花生不过敏 and 不同意 the first character denies: what may follow it then.
_APART = {"不过": "敏年夜生节", "不同": "意", "不管": "理", "没错": "过"}
_SUBJECTS = " i im my me mine user users 我 我的 本人 用户 用户的 "
# Most characters are one of these, and no call is needed to know it.
_PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789"
_HAN = "\u3040"  # none stands before it
_SYMBOLS = "+#%$=<>&@_°£¥"
_NUMERALS = "零一二三四五六七八九十百千万亿〇两"
# How Chinese phrases of a kind begin: most characters begin none.
_OPENING = "".join([word[0] for word in _CHINESE[0].split()]) + _SUBJECTS
_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10000, "亿": 100000000}
_SPELLED = (
    " zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
)


class Token:
    """A piece of a text: its folded ``text``, its ``kind``, and ``broke``: punctuation stands before it."""

    def __init__(self, text, kind, broke):
        self.text = text
        self.kind = kind
        self.broke = broke
        self.spelled = False


def is_spaced(before, after):
    """True for two characters that stand apart in a text: neither is Han."""
    return (before < _HAN or not is_han(before)) and (after < _HAN or not is_han(after))


def is_han(char):
    """True for Han characters and kana, which are tokens of their own."""
    code = ord(char)
    if code < 0x3040:
        return False
    return code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code < 0x40000


def is_subject(token):
    """True for the words by which a text names the user: I, my, the user, 我, 用户."""
    return " " + token.text + " " in _SUBJECTS


def fold(text):
    """``text`` in lower case (Latin, Greek, Cyrillic), full-width forms made plain."""
    if len(text.encode()) == len(text):
        return text.lower()
    return "".join([char if char in _PLAIN or "\u3000" < char < "\uff01" else _fold(char) for char in text])


def tokens(text):
    """The tokens of ``text`` in order. Numbers are canonical: 五, five, 5 and ５ are all ``5``."""
    text = fold(text)
    found = []
    at, size = 0, len(text)
    broke = False
    while at < size:
        if text[at] == " ":
            at += 1
            continue
        end, word, kind = _next(text, at)
        if word == "只" and found and found[-1].kind == NUMBER:
            kind = WORD  # the measure word of 一只猫, not "only"
        if kind:
            found.append(Token(word, kind, broke))
            broke = False
        elif not word.isspace() and word not in "'-\u200d\ufe0f":
            broke = True
        at = end
    return _english_numbers(found)


def _fold(char):
    code = ord(char)
    if 0xFF01 <= code <= 0xFF5E:
        code -= 0xFEE0
    if 0x41 <= code <= 0x5A or (0xC0 <= code <= 0xDE and code != 0xD7):
        return chr(code + 32)
    if 0x391 <= code <= 0x3A9 or 0x410 <= code <= 0x42F:
        return chr(code + 32)
    if 0x400 <= code <= 0x40F:
        return chr(code + 80)
    if 0x100 <= code <= 0x137 or 0x14A <= code <= 0x177:
        return chr(code | 1)
    return {0x2019: "'", 0xFFE5: "¥", 0x3000: " "}.get(code) or chr(code)


def _is_letter(char):
    code = ord(char)
    if code < 0xC0:
        return 0x30 <= code <= 0x39 or 0x61 <= code <= 0x7A
    return not (is_han(char) or _is_symbol(char) or _is_punctuation(code))


def _is_symbol(char):
    code = ord(char)
    return char in _SYMBOLS or 0x20A0 <= code <= 0x2BFF or 0x1F000 <= code <= 0x1FBFF


def _is_punctuation(code):
    if 0xFE00 <= code <= 0xFFEF:
        return True
    return code in (0xD7, 0xF7) or 0x2000 <= code <= 0x206F or 0x3000 <= code <= 0x303F


def _is_figure(char):
    return "0" <= char <= "9"


def _next(text, at):
    """The piece of ``text`` that begins at ``at``: its end, its word and its kind ("" for punctuation)."""
    char = text[at]
    if _is_figure(char):
        return _figures(text, at)
    if char in _PLAIN:
        return _letters(text, at)
    if is_han(char):
        return _chinese(text, at)
    if char == "-" and _is_figure(text[at + 1 : at + 2]) and not (at and _is_letter(text[at - 1])):
        end, word, kind = _figures(text, at + 1)
        return end, "-" + word, kind
    if _is_letter(char):
        return _letters(text, at)
    return at + 1, char, WORD if _is_symbol(char) else ""


def _figures(text, at):
    end = at
    while end < len(text) and (_is_figure(text[end]) or _joins_figures(text, end)):
        end += 1
    word = text[at:end]
    parts = word.split(",")
    if len(parts) > 1 and all(len(part.split(".")[0]) == 3 for part in parts[1:]):
        word = "".join(parts)
    if word.count(".") == 1 and word.replace(".", "").isdigit():
        word = word.rstrip("0").rstrip(".")
    return end, word, NUMBER


def _joins_figures(text, at):
    return text[at] in ".,:/-" and _is_figure(text[at - 1]) and _is_figure(text[at + 1 : at + 2])


def _letters(text, at):
    end, size = at, len(text)
    while end < size:
        char = text[end]
        if char not in _PLAIN and (char == " " or not (_is_letter(char) or _joins_letters(text, end))):
            break
        end += 1
    while end < size and text[end] in "+#":
        end += 1
    word = text[at:end]
    if word.endswith("'re"):
        word = word[:-3]  # "are" says nothing, and "we're" is not "were"
    word = word.replace("'", "")
    return end, word, _kind(_ENGLISH, word) or WORD


def _joins_letters(text, at):
    return text[at] in "'._@" and at + 1 < len(text) and _is_letter(text[at + 1])


def _kind(table, word):
    every, ends = table
    at = every.find(" " + word + " ")
    if at < 0:
        return ""
    return [kind for end, kind in ends if at < end][0]


def _chinese(text, at):
    for size in (4, 3, 2, 1) if text[at] in _OPENING else ():
        phrase = text[at : at + size]
        if phrase in _APART and _is_apart(text, at, phrase):
            continue
        if " " + phrase + " " in _SUBJECTS:
            return at + len(phrase), phrase, WORD
        kind = _kind(_CHINESE, phrase)
        if kind:
            return at + len(phrase), phrase, kind
    end = at
    while end < len(text) and text[end] in _NUMERALS:
        end += 1
    if text[at:end] not in "百千万亿":
        return end, _chinese_number(text[at:end]), NUMBER
    return at + 1, text[at], WORD


def _is_apart(text, at, phrase):
    return text[at + 2 : at + 3] and text[at + 2] in _APART[phrase]


def _chinese_number(text):
    text = text.replace("〇", "零").replace("两", "二")
    if not any(char in _UNITS for char in text):
        return "".join([str(_NUMERALS.index(char)) for char in text])
    total = section = figure = 0
    for char in text:
        unit = _UNITS.get(char)
        if unit is None:
            figure = _NUMERALS.index(char)
        elif unit >= 10000:
            total = (total + section + figure) * unit
            section = figure = 0
        else:
            section += (figure or 1) * unit
            figure = 0
    return str(total + section + figure)


def _english_numbers(found):
    result = []
    for token in found:
        value = _english_value(token.text) if token.kind == WORD else -1
        if value < 0:
            result.append(token)
            continue
        last = result[-1] if result else None
        if last and last.spelled and not token.broke and _continues(int(last.text), value):
            number = int(last.text)
            last.text = str(number * value if value >= 100 else number + value)
        else:
            token.text = str(value)
            token.kind = NUMBER
            token.spelled = True
            result.append(token)
    return result


def _english_value(word):
    at = _SPELLED.find(" " + word + " ")
    if at < 0:
        return at
    place = _SPELLED[:at].count(" ")
    return place if place < 20 else 1000 if place == 29 else 10 * (place - 18)


def _continues(number, value):
    if value >= 100:
        return 0 < number < value
    return number >= 20 and (number % 100 == 0 or (number % 10 == 0 and value < 10))
