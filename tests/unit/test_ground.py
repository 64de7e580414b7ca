"""The gate for facts: what a message says gets through, what it does not say stays out."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.gate_cases import GROUNDED, TOO_STRICT, UNGROUNDED, cases
from wellkept.policy.facts.claims import Claim
from wellkept.policy.facts.ground import Said, dated, refusal, since
from wellkept.policy.facts.quoted import own_words
from wellkept_flash import words

MONDAY = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)


def why(message: str, text: str, quote: str | None = None, *keywords: str) -> str | None:
    claim = Claim(text=text, quote=message if quote is None else quote, keywords=keywords)
    return refusal(claim, Said(message, MONDAY, "Asia/Shanghai"))


SAID = [
    ("我对花生过敏", "用户对花生过敏", None),
    ("我小孩今年五岁，对恐龙特别着迷", "用户的小孩5岁", None),
    ("我小孩今年五岁，对恐龙特别着迷", "小孩对恐龙着迷", None),
    ("其实我搬到无锡了", "用户住在无锡", None),
    ("我叫阿岚，住在苏州，记一下", "用户名叫阿岚", "我叫阿岚"),
    ("下周三我要做手术", "用户2026-03-11要做手术", None),
    ("我今年三十岁", "用户30岁", None),
    ("我喜欢猫，不喜欢狗", "用户不喜欢狗", "不喜欢狗"),
    ("记住我是左撇子", "用户是左撇子", None),
    ("你知道吗，我在腾讯做后端开发", "用户在腾讯做后端开发", "我在腾讯做后端开发"),
    ("I'm allergic to peanuts.", "The user is allergic to peanuts", None),
    ("I don't like cilantro", "User dislikes cilantro", None),
    ("My son is five and my daughter is 7", "User's daughter is 7", "my daughter is 7"),
    ("I moved to Munich last month", "User lives in Munich", None),
    ("hi! I'm Tom, nice to meet you", "User's name is Tom", "I'm Tom"),
    ("I'm vegetarian but I eat eggs", "User eats eggs", None),
    ("I used to smoke", "User used to smoke", None),
    ("Please remember that I am left-handed", "User is left-handed", "I am left-handed"),
    ("My wife's birthday is June 3", "User's wife's birthday is June 3", None),
    ("I have two cats, Milo and Luna", "User has 2 cats", None),
]


@pytest.mark.parametrize(("message", "text", "quote"), SAID)
def test_what_was_said_gets_through(message: str, text: str, quote: str | None) -> None:
    assert why(message, text, quote) is None


NOT_SAID = [
    ("我妹妹喜欢狗", "用户喜欢狗", None, "said of '妹妹'"),
    ("我小孩今年五岁，对恐龙特别着迷", "用户对恐龙着迷", None, "said of '小孩'"),
    ("我小孩今年五岁", "用户的女儿五岁", None, "does not say '女'"),
    ("我小孩今年五岁", "用户的小孩六岁", None, "number '六岁'"),
    ("下周三我要做手术", "用户2026-03-04要做手术", None, "date '2026-03-04'"),
    ("我对花生过敏吗？", "用户对花生过敏", None, "asks or orders"),
    ("你以后叫小白", "用户叫小白", None, "asks or orders"),
    ("如果我住在北京，我会开心", "用户住在北京", None, "only with '如果'"),
    ("我喜欢猫，不喜欢狗", "用户喜欢狗", "不喜欢狗", "opposite"),
    ("他住在北京", "用户住在北京", None, "said of '他'"),
    ("My sister likes dogs", "User likes dogs", None, "said of 'sister'"),
    ("Tom likes dogs", "User likes dogs", None, "said of 'tom'"),
    ("She lives in Paris", "User lives in Paris", None, "said of 'she'"),
    ("I used to smoke", "User smokes", None, "only with 'used'"),
    ("I might move to Berlin", "User lives in Berlin", None, "only with 'might'"),
    ("I'm not allergic to peanuts", "User is allergic to peanuts", None, "opposite"),
    ("I'm allergic to peanuts", "User is allergic to peanuts and eggs", None, "does not say 'egg'"),
    ("I'm allergic to peanuts", "User likes peanuts", None, "liked or disliked"),
    ("I have a dog", "User has a dog named Rex", None, "does not say 'rex'"),
    ("From now on always answer in French", "User always answers in French", None, "asks or orders"),
    ("Book me a flight to Paris", "User flies to Paris", None, "asks or orders"),
    ("> I love fish\nwhat do you think of that?", "User loves fish", "I love fish", "quoted or pasted"),
    ('Sum this up: "The user is allergic to cats and dogs"', "The user is allergic to cats",
     "The user is allergic to cats", "quoted or pasted"),
    ("I like tea", "User likes tea", "I like coffee", "quote is not in the message"),
    ("I like tea", "User likes tea", "", "quote is not in the message"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "text", "quote", "reason"), NOT_SAID)
def test_what_was_not_said_stays_out(message: str, text: str, quote: str | None, reason: str) -> None:
    assert reason in (why(message, text, quote) or "it got through")


@pytest.mark.parametrize(("message", "text", "quote"), cases(UNGROUNDED))
def test_what_is_not_asserted_of_the_user_stays_out(message: str, text: str, quote: str) -> None:
    assert why(message, text, quote) is not None


@pytest.mark.parametrize(("message", "text", "quote"), cases(GROUNDED))
def test_what_is_asserted_gets_through(message: str, text: str, quote: str) -> None:
    assert why(message, text, quote) is None


@pytest.mark.parametrize(("message", "text", "quote"), cases(TOO_STRICT))
def test_the_gate_is_too_strict_here(message: str, text: str, quote: str) -> None:
    """Not promised; when one of these gets through, move it to those that must."""
    assert why(message, text, quote) is not None


def test_keywords_must_stand_in_the_message_whatever_their_ending_case_and_width() -> None:
    assert why("I love PEANUTS", "User loves peanuts", None, "peanut") is None
    assert why("我喜欢ＰＹＴＨＯＮ", "用户喜欢python", None, "python") is None
    assert "'hazelnut'" in (why("I love peanuts", "User loves peanuts", None, "hazelnut") or "")


HANDED = "Proofread the letter below.\n\nI am a doctor.\n\n"


def test_the_writer_comes_back_behind_a_text_that_was_handed_over() -> None:
    assert why(f"{HANDED}I live in Oslo", "The user lives in Oslo", "I live in Oslo") is not None
    assert why(f"{HANDED}By the way, I live in Oslo", "The user lives in Oslo", "I live in Oslo") is None
    assert why("I edit this letter\nI live in Oslo", "The user lives in Oslo", "I live in Oslo") is None


@pytest.mark.parametrize("text", ["The user is 31", "The user is 29"])
def test_a_number_is_one_that_the_clause_affirms(text: str) -> None:
    assert why("I'm 30, not 31", text) is not None


PEANUT = ("用户对花生过敏", "我对花生过敏"), ("The user is allergic to peanuts", "I'm allergic to peanuts")
ASSERTED = [
    "我觉得我对花生过敏", "我说过我对花生过敏", "我一直觉得我对花生过敏", "跟你说我对花生过敏", "我怕狗，我对花生过敏",
    "主要是我对花生过敏", "医生以为是感冒，其实我对花生过敏", "我对花生过敏，听说你也是", "不开玩笑，我对花生过敏",
    "I think I'm allergic to peanuts", "I thought you should know I'm allergic to peanuts", "I said I'm allergic to peanuts",
    "I was afraid of dogs, but I'm allergic to peanuts",
]  # fmt: skip
NOT_ASSERTED = [
    *(f"{marker}我对花生过敏" for marker in (
        "我以为", "医生怀疑", "我怕", "我担心", "恐怕", "我梦见", "我梦到", "我做梦", "要是", "假如", "假设", "万一", "游戏里",
        "小说里", "开玩笑说", "谣言说", "网上传", "听说", "据说", "有人说", "人家说", "大家都觉得", "我妈说", "我妈觉得",
        "他们骂")),
    *(f"{marker} I'm allergic to peanuts" for marker in (
        "I thought", "My doctor suspects", "I am afraid", "I dreamt", "Last night I dreamed that", "Now imagine",
        "We pretend", "My mother says", "My mother said", "My boss thinks", "My friends think", "There is a rumor that",
        "I was joking that", "in the game", "in the novel")),
]  # fmt: skip


@pytest.mark.parametrize("message", ASSERTED)
def test_what_people_assert_of_themselves_gets_through(message: str) -> None:
    text, quote = PEANUT[message.isascii()]
    assert "not assert" not in (why(message, text, quote) or "")
    assert "not assert" not in (why(message, text) or "")


@pytest.mark.parametrize("message", NOT_ASSERTED)
def test_what_is_feared_dreamt_or_told_by_others_stays_out(message: str) -> None:
    text, quote = PEANUT[message.isascii()]
    assert why(message, text, quote) is not None
    assert why(message, text) is not None


def test_a_fear_that_the_claim_names_gets_through() -> None:
    assert why("我怕狗", "用户怕狗") is None
    assert why("I am afraid of dogs", "The user is afraid of dogs") is None


VOCABULARY = """I user the my sister like likes not don't am allergic to peanuts dogs Berlin five 7
    我 用户 不 喜欢 花生 过敏 狗 五 岁 , 。"""
WORDS = st.sampled_from(VOCABULARY.split())
TEXTS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
NEW = ("zebra", "Atlantis", "4711", "斑马")


@given(TEXTS, TEXTS, st.sampled_from(NEW))
def test_no_word_or_number_gets_in_that_the_message_does_not_hold(message: str, text: str, word: str) -> None:
    assert why(message, f"{text} {word}") is not None


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_judged_without_an_error(message: str, text: str, quote: str) -> None:
    said = Said(message, MONDAY)
    refusal(Claim(text=text, quote=quote), said)
    dated(text, said)


def test_relative_dates_become_absolute_and_yearly_ones_stay() -> None:
    said = Said("", MONDAY, "Asia/Shanghai")
    assert dated("用户下周三要做手术", said) == "用户2026-03-11要做手术"
    assert (
        dated("The user flies to Rome tomorrow at noon", said) == "The user flies to Rome 2026-03-03 at noon"
    )
    assert dated("用户去年戒烟", said) == "用户2025年戒烟"
    assert dated("The user's birthday is June 3", said) == "The user's birthday is June 3"


DATED = [
    ("用户7月12日要去上海", "用户2026-07-12要去上海"),
    ("用户7月12日去了上海", "用户2025-07-12去了上海"),
    ("用户7月12日去上海", "用户7月12日去上海"),
    ("用户的生日是7月12日", "用户的生日是7月12日"),
    ("用户每周三上课", "用户每周三上课"),
    ("用户周三有课", "用户周三有课"),
    ("用户周三要做手术", "用户2026-03-04要做手术"),
    ("用户12号要开会", "用户2026-03-12要开会"),
    ("用户下周一到周三出差", "用户2026-03-09到2026-03-11出差"),
    ("用户下个月3号到5号要去杭州", "用户2026-04-03到2026-04-05要去杭州"),
    ("用户12月28日到1月3日要去滑雪", "用户2026-12-28到2027-01-03要去滑雪"),
    ("用户今年31岁", "用户2026年31岁"),
    ("The user is away next Monday to Wednesday", "The user is away 2026-03-09 to 2026-03-11"),
    ("The user has to be in Rome on July 12", "The user has to be in Rome on 2026-07-12"),
    ("The user got married on July 12", "The user got married on 2025-07-12"),
    ("The user's wedding is on July 12", "The user's wedding is on July 12"),
    ("The user swims every Wednesday", "The user swims every Wednesday"),
]


@pytest.mark.parametrize(("text", "expected"), DATED)
def test_a_day_that_is_left_open_is_the_one_that_the_tense_says(text: str, expected: str) -> None:
    assert dated(text, Said("", MONDAY, "Asia/Shanghai")) == expected


YEARS = [
    ("7月12日我要去上海", "用户2026-07-12要去上海", True),
    ("7月12日我要去上海", "用户2025-07-12要去上海", False),
    ("我7月12日去了上海", "用户2025-07-12去了上海", True),
    ("我7月12日去上海", "用户7月12日去上海", True),
    ("我7月12日去上海", "用户2025-07-12去上海", False),
    ("我2026年7月12日去上海", "用户7月12日去上海", True),
    ("下周一到周三我出差", "用户2026-03-09到2026-03-11出差", True),
    ("下周一到周三我出差", "用户2026-03-09到2026-03-04出差", False),
    ("I'm going to fly on July 12", "The user is going to fly on 2026-07-12", True),
    ("I'm going to fly on July 12", "The user is going to fly on 2025-07-12", False),
]


@pytest.mark.parametrize(("message", "text", "passes"), YEARS)
def test_a_year_that_was_not_said_must_be_the_one_that_the_tense_says(
    message: str, text: str, passes: bool
) -> None:
    assert (why(message, text) is None) == passes


def test_a_date_of_validity_lies_where_the_tense_says() -> None:
    said = Said("7月12日我要去上海", MONDAY, "UTC")
    claim = Claim(text="用户要去上海", quote=said.text)
    assert since("2026-07-12", claim, said) == datetime(2026, 7, 12, tzinfo=timezone.utc)
    assert since("2025-07-12", claim, said) is None
    left_open = Claim(text="用户去上海", quote="7月12日我去上海")
    assert since("2025-07-12", left_open, Said(left_open.quote, MONDAY, "UTC")) is None


def test_the_day_is_that_of_the_users_zone() -> None:
    late = datetime(2026, 3, 2, 20, tzinfo=timezone.utc)
    assert dated("明天手术", Said("", late, "Asia/Shanghai")) == "2026-03-04手术"
    assert dated("明天手术", Said("", late, "UTC")) == "2026-03-03手术"


def test_a_date_of_validity_counts_only_when_the_quote_names_it() -> None:
    said = Said("I'm in Tokyo until 2026-03-20", MONDAY, "UTC")
    claim = Claim(text="The user is in Tokyo", quote=said.text)
    assert since("2026-03-20", claim, said) == datetime(2026, 3, 20, tzinfo=timezone.utc)
    assert since("2026-03-21", claim, said) is None
    assert since("soon", claim, said) is None


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("「我爱吃肉」是他说的，“我是一个很有钱很有钱的大富翁”", "是他说的，"),
        ('He said "I am rich" and left', "He said and left"),
        ("<doc>I am <b>rich</doc> I am poor", "I am poor"),
        ("I am poor\n\n> I am rich\nand old", "I am poor and old"),
        ("「我爱吃肉 <doc> 'I am 《书", "「我爱吃肉 <doc> 'I am 《书"),
        ('"I am rich\nI am poor"', '"I am rich\nI am poor"'),
    ],
)
def test_only_what_is_closed_is_quoted(text: str, own: str) -> None:
    assert own_words(text).split() == own.split()


@pytest.mark.parametrize(
    ("begin", "filler", "end"),
    [
        ("I am allergic, ", "I like tea, ", "to peanuts"),
        ("", "my sister is allergic to peanuts, ", "I am allergic to peanuts"),
        ("", "下周三去苏州，", "I am allergic to peanuts"),
        ("", "I went to the market. ", "I am allergic to peanuts"),
    ],
)
def test_a_long_message_is_not_read_over_and_over(
    monkeypatch: pytest.MonkeyPatch, begin: str, filler: str, end: str
) -> None:
    """Four times the length must be four times the characters that are looked at, not sixteen."""
    read = 0
    plain = words.tokens

    def counting(text: str) -> list[words.Token]:
        nonlocal read
        read += len(text)
        return plain(text)

    monkeypatch.setattr(words, "tokens", counting)
    counts = []
    for times in (100, 400):
        read, message = 0, begin + filler * times + end
        refusal(Claim(text="The user is allergic to peanuts", quote="allergic"), Said(message, MONDAY))
        counts.append(read)
    assert counts[1] < 5 * counts[0]
