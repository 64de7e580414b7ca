from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wellkept.policy.text import han, words


def finds(query: str, text: str) -> bool:
    """Whether an index of ``text`` alone would give it back for ``query``."""
    tokens = set(words.index_tokens(text))
    return any(
        any(token.startswith(term.text) for token in tokens) if term.prefix else term.text in tokens
        for term in words.query_terms(query)
    )


CELLS: dict[str, list[tuple[str, str]]] = {
    "Chinese, two characters": [
        ("恐龙", "我小孩今年五岁，对恐龙特别着迷"),
        ("着迷", "我小孩今年五岁，对恐龙特别着迷"),
        ("五岁", "我小孩今年五岁，对恐龙特别着迷"),
        ("花生", "她对花生过敏。"),
        ("过敏", "她对花生过敏。"),
        ("周末", "周末去哪玩？"),
        ("北京", "下个月搬到北京"),
        ("咖啡", "早上喝了两杯咖啡"),
        ("钢琴", "女儿每周二学钢琴"),
        ("会议", "会议改到三点"),
        ("高铁", "坐高铁去上海"),
        ("房贷", "房贷每月8500元"),
        ("血压", "最近血压有点高"),
        ("老师", "王老师说她进步很大"),
        ("阿哲", "組員阿哲後續有更新"),
    ],
    "Chinese, one character": [
        ("猫", "我家的猫叫豆豆"),
        ("猫", "猫"),
        ("猫", "我养了一只猫"),
        ("猫", "猫很可爱"),
        ("糖", "咖啡不加糖。"),
        ("狗", "不喜欢狗，但喜欢兔子"),
        ("茶", "茶 和 咖啡"),
        ("龍", "他屬龍"),
    ],
    "Chinese, three and more": [
        ("恐龙博物馆", "周末带孩子去了恐龙博物馆"),
        ("编辑器", "最喜欢的编辑器是 Vim"),
        ("五道口地铁站", "我住在五道口地铁站附近"),
        ("机器学习", "他在学机器学习"),
        ("一万二千元", "预算是一万二千元"),
        ("我小孩喜欢什么", "我小孩今年五岁"),
        ("牛肉面馆", "楼下新开了牛肉面馆"),
        ("中秋节", "中秋节回老家"),
        ("幼儿园", "她上的是双语幼儿园"),
        ("有没有养金鱼", "家里养了一条金鱼"),
        ("青霉素", "对青霉素过敏"),
        ("自行车", "骑自行车上班"),
    ],
    "traditional and full-width": [
        ("恐龙", "他對恐龍很著迷"),
        ("恐龍", "他对恐龙很着迷"),
        ("着迷", "他對恐龍很著迷"),
        ("著迷", "他对恐龙很着迷"),
        ("实验记录", "實驗紀錄還在整理"),
        ("图书馆", "圖書館三樓"),
        ("干净", "房間很乾淨"),
        ("头发", "她剪了頭髮"),
        ("后天", "後天出發"),
        ("台北", "臺北"),
        ("Python3", "Ｐｙｔｈｏｎ３"),
        ("ＡＢＣ", "abc"),
        ("１２３", "编号123"),
    ],
    "mixed scripts": [
        ("Python3", "用Python3写"),
        ("python", "用Python3写"),
        ("写", "用Python3写"),
        ("编辑器", "VS Code编辑器"),
        ("VS Code", "VS Code编辑器"),
        ("code", "VS Code编辑器"),
        ("iPhone", "买了iPhone15手机"),
        ("手机", "买了iPhone15手机"),
        ("15", "买了iPhone15手机"),
        ("8500", "房贷每月8500元"),
        ("GPT", "我用GPT-4写周报"),
        ("GPT-4", "我用GPT-4写周报"),
        ("会议", "meeting会议"),
    ],
    "English case": [
        ("caroline", "CAROLINE said hi"),
        ("PEANUTS", "allergic to peanuts"),
        ("HtTp", "an HTTP error"),
        ("straße", "STRASSE"),
        ("usa", "born in the U.S.A."),
        ("U.S.A.", "USA"),
        ("ID", "my id is 7"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
    ],
    "English stem": [
        ("run", "she was running"),
        ("paintings", "she painted a sunrise"),
        ("hobby", "her hobbies"),
        ("Caroline", "Caroline's birthday"),
        ("Caroline’s", "Caroline"),
        ("allergies", "an allergy"),
        ("adopting", "they adopted a dog"),
    ],
    "Japanese": [
        ("恐竜", "息子は恐竜が大好きです"),
        ("大好き", "息子は恐竜が大好きです"),
        ("ラーメン", "昨日ラーメンを食べた"),
        ("食べる", "昨日ラーメンを食べた"),
        ("猫", "猫を飼っています"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("カメラ", "新しいカメラを買った"),
        ("コーヒー", "コーヒーは飲まない"),
        ("が", "ねこがすき"),
        ("東京", "東京に住んでいる"),
        ("ﾗｰﾒﾝ", "ラーメン屋"),
        ("々", "人々"),
    ],
    "Korean": [
        ("한국어", "한국어를 공부해요"),
        ("고양이", "고양이를 키워요"),
        ("서울", "서울에서 살아요"),
        ("커피", "아침에 커피를 마셔요"),
        ("책", "책을 읽어요"),
        ("한국", "한국"),
    ],
    "emoji": [
        ("🦖", "我小孩喜欢🦖"),
        ("👍", "ok 👍🏽"),
        ("👍🏽", "ok 👍"),
        ("❤", "love ❤️"),
        ("🇨🇳", "from 🇨🇳 to 🇫🇷"),
        ("👩", "👨‍👩‍👧"),
        ("🎉🎂", "生日🎂"),
    ],
    "accents": [
        ("cafe", "a small café"),
        ("café", "a small cafe"),
        ("Angstrom", "Ångström"),
        ("nino", "el niño"),
        ("Łódź", "lodz"),
        ("Malmo", "Malmø"),
        ("resume", "my re\u0301sume\u0301"),
        ("Dvořák", "Dvorak"),
    ],
    "digits, ids, addresses, code": [
        ("3000", "it cost 3,000 dollars"),
        ("3,000", "it cost 3000"),
        ("2024-03-15", "due 2024/03/15"),
        ("1.2.3", "upgrade to v1.2.3"),
        ("v1.2.3", "version 1.2.3 is out"),
        ("10:30", "meet at 10:30."),
        ("15", "on March 15th"),
        ("bob.smith@example.com", "mail BOB.SMITH@example.com now"),
        ("example.com", "mail bob.smith@example.com now"),
        ("getUserById", "call getUserById(7)"),
        ("user by id", "call getUserById(7)"),
        ("get_user_by_id", "def get_user_by_id():"),
        ("HTTPServer", "class HTTPServer:"),
        ("server", "class HTTPServer:"),
        ("C++", "I write C++."),
        ("C#", "C# and F#"),
        ("12", "我住在12#-301"),
        ("12#", "我住在12#-301"),
        ("550e8400-e29b-41d4-a716-446655440000", "id=550e8400-e29b-41d4-a716-446655440000;"),
        ("O'Brien", "Mr O’Brien called"),
        ("__init__", "the __init__ method"),
        ("ABC-1234", "order abc-1234 arrived"),
        ("हिन्दी", "मैं हिन्दी बोलता हूँ"),
        ("สวัสดี", "สวัสดีครับ"),
    ],
}


@pytest.mark.parametrize(
    ("query", "text"),
    [pytest.param(*case, id=f"{cell}-{case[0]}") for cell, cases in CELLS.items() for case in cases],
)
def test_every_cell_of_the_table_is_full(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("恐龙", "我喜欢龙虾，害怕恐怖片"),
        ("猫", "我养了一条狗"),
        ("C++", "C# and c"),
        ("café", "coffee"),
        ("2024-03-15", "in June"),
        ("👍", "👎"),
        ("🇨🇳", "🇫🇷"),
        ("国", "한국"),
        ("cat", "concatenate"),
    ],
)
def test_other_words_are_not_found(query: str, text: str) -> None:
    assert not finds(query, text)


def test_the_inherent_miss_of_pairs() -> None:
    """天天 is no word of 今天天气, but its characters stand there side by side."""
    assert finds("天天", "今天天气")


def test_the_pairs_and_the_tail_of_a_run() -> None:
    assert words.index_tokens("恐龙特别") == ["恐龙", "龙特", "特别", "别"]
    assert words.query_terms("恐龙") == [words.Term("恐龙")]
    assert words.query_terms("猫") == [words.Term("猫", prefix=True)]


def test_a_repeated_word_counts_as_often_as_it_occurs() -> None:
    assert words.index_tokens("dog, DOG; dogs") == ["dog"] * 3
    assert words.query_terms("dog, DOG; dogs") == [words.Term("dog")]


def test_function_words_are_marked() -> None:
    assert [
        term.text for term in words.query_terms("What does she like about the cat?") if not term.stop
    ] == ["like", "cat"]
    assert [term.text for term in words.query_terms("你在什么地方") if not term.stop] == ["么地", "地方"]
    assert all(term.stop for term in words.query_terms("what is the? 的 是什么"))


@pytest.mark.parametrize(
    "text", ["", " \n\t", "?!… 。，、“”", "\ud800 \udfff", "--'\"*()^", "\0", "\ufe0f\u200d"]
)
def test_text_without_words_has_no_tokens(text: str) -> None:
    assert words.index_tokens(text) == []
    assert words.query_terms(text) == []


@pytest.mark.parametrize(
    "query",
    ['"dog" AND NEAR(cat*', "dog OR -cat", "'; DROP TABLE events; -- dog", "col:dog^2 {cat}", "dog\ud800\0*"],
)
def test_nothing_in_a_query_is_syntax(query: str) -> None:
    terms = words.query_terms(query)
    assert words.Term("dog") in terms
    assert not any(term.prefix for term in terms)


def test_large_texts_are_clipped_alike_in_index_and_query() -> None:
    word = "a" * 100_000
    assert [len(token) for token in words.index_tokens(word)] == [words.MAX_TOKEN]
    assert finds(word, word)
    assert len(words.query_terms(" ".join(map(str, range(20_000))))) == words.MAX_TERMS
    assert len(words.query_terms("".join(map(chr, range(0x4E00, 0x9000))))) == words.MAX_TERMS


def test_of_countless_different_words_the_first_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MAX_VOCABULARY", 3)
    assert words.index_tokens("a b c d a e c") == ["a", "b", "c", "a", "c"]
    assert words.index_tokens("a b c a b c") == ["a", "b", "c"] * 2


def test_threads_do_not_mix_their_stems() -> None:
    sample = [
        f"{word}{ending}" for word in ("walk", "talk", "paint", "climb") * 50 for ending in ("ing", "ed", "s")
    ]
    found: list[list[str]] = []

    def work() -> None:
        words._known_word.cache_clear()
        found.append([token for word in sample for token in words.index_tokens(word)])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert all(set(tokens) == {"walk", "talk", "paint", "climb"} for tokens in found)


SAMPLES = st.lists(
    st.sampled_from([text for cases in CELLS.values() for case in cases for text in case])
    | st.text(max_size=12),
    max_size=6,
).map(" ".join)


@given(SAMPLES)
@example("12#-301")
def test_tokens_can_be_joined_by_blanks(text: str) -> None:
    for token in words.index_tokens(text):
        assert 0 < len(token) <= words.MAX_TOKEN
        token.encode()
        assert all(not letter.isspace() and (letter.isalnum() or not letter.isascii()) for letter in token)


@given(SAMPLES)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert finds(text, text) == bool(words.index_tokens(text))


@given(st.lists(st.text(max_size=20), min_size=2, max_size=4))
def test_every_part_finds_the_whole(parts: list[str]) -> None:
    whole = "\n".join(parts)
    assert all(finds(part, whole) for part in parts if words.query_terms(part))


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_ascii_text_has_the_same_tokens_alone_and_beside_other_scripts(text: str) -> None:
    assert [*words.index_tokens(text), "猫"] == words.index_tokens(text + " 猫")


@given(st.text(max_size=30))
def test_case_and_width_make_no_difference(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    assert words.index_tokens(wide) == words.index_tokens(text)


def test_the_table_folds_once_and_for_all() -> None:
    table = han.simplified()
    assert len(table) > 4000
    assert not set(table.values()) & set(table)
    assert "實驗紀錄還在整理，著迷於恐龍".translate(table) == "实验纪录还在整理，着迷于恐龙"


def test_tokens_that_tell_something() -> None:
    tokens = words.index_tokens("the cats 我的猫很可爱")
    assert [token for token in tokens if words.is_telling(token)] == ["cat", "的猫", "猫很", "很可", "可爱"]
    assert [token for token in tokens if words.is_loose(token)] == ["我的", "的猫", "猫很", "很可"]
    assert words.characters("的猫") == ["猫"]
    assert words.characters("cat") == words.characters("かな") == []


def test_sentences_end_at_marks_and_lines() -> None:
    assert words.sentences("Hi! 你好。Really?\n- yes") == ["Hi!", "你好。", "Really?", "- yes"]
    assert words.sentences(" \n?! ") == []


def test_the_version_tells_releases_of_the_stemmer_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    words.tokens_version.cache_clear()
    before = words.tokens_version()
    assert before.startswith(f"{words.TOKENS_VERSION}:")
    monkeypatch.setattr(words, "_stem", lambda word: word[:4])
    words.tokens_version.cache_clear()
    assert words.tokens_version() != before
    words.tokens_version.cache_clear()
