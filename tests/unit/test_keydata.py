from __future__ import annotations

from datetime import datetime, timezone

import pytest

from wellkept.errors import InvalidInput
from wellkept.policy.text import keydata
from wellkept.policy.text.keydata import extract, missing


def found(text: str, kind: str) -> list[str]:
    return [item.value for item in extract(text) if item.kind == kind]


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        ("amount", "我小孩今年五岁", ["5 year"]),
        ("amount", "My son is five years old", ["5 year"]),
        ("amount", "预算1,200元，也就是¥１２００", ["1200 CNY", "1200 CNY"]),
        ("amount", "占百分之三十, about 30%", ["30 %", "30 %"]),
        ("number", "两只猫和3条狗", ["2", "3"]),
        ("date", "6月30日 and June 30", ["--06-30", "--06-30"]),
        ("date", "去年夏天", ["year-1/summer"]),
        ("date", "last Tuesday\nJames came", ["wd2-1"]),
        ("date", "Last Friday James came", ["wd5-1"]),
        ("name", "Last Friday James came", ["james"]),
        ("date", "必须在6月30日前付1200元", ["--06-30"]),
        ("amount", "必须在6月30日前付1200元", ["1200 CNY"]),
        ("number", "住在北京市中关村大街27号", ["27"]),
        ("name", "Ada Lovelace\nBob Jones", ["adalovelace", "bobjones"]),
        ("time", "下午三点半, 3:30 pm, 15:30", ["T15:30", "T15:30", "T15:30"]),
        ("id", "订单号SF1234567890，版本v1.2.3", ["sf1234567890", "v1.2.3"]),
        ("id", "Order ORD-2024-06-30-17 or #4521", ["ord-2024-06-30-17", "#4521"]),
        ("id", "打138-0013-8000或写a.b@example.com", ["13800138000", "a.b@example.com"]),
        ("id", "+86 138 0013 8000", ["13800138000"]),
        ("id", "见https://example.com/a?b=1。", ["https://example.com/a?b=1"]),
        (
            "id",
            "call get_user(), parseDate and src/app/main.py",
            ["get_user", "parsedate", "src/app/main.py"],
        ),
        ("id", "commit 3f2a9bc", ["3f2a9bc"]),
        ("name", "王老师和小李说好了", ["王老师", "小李"]),
        ("name", "我叫李小明", ["李小明"]),
        ("name", "We met Ada Lovelace and Caroline's mom", ["adalovelace", "caroline"]),
        ("name", "Bart在公园跳舞", ["bart"]),
        ("name", "她在读《三体》", ["三体"]),
        ("place", "我住在北京市海淀区，常去自然博物馆", ["北京市海淀区", "自然博物馆"]),
        ("place", "I live in Paris near Central Park", ["paris", "centralpark"]),
        ("constraint", "他对花生过敏，不能吃花生酱", ["他对花生过敏", "不能吃花生酱"]),
        ("constraint", "Please never call me before noon", ["pleasenevercallmebeforenoon"]),
        ("constraint", "I'm allergic to shellfish", ["imallergictoshellfish"]),
        ("todo", "记得周五前交报告", ["记得周五前交报告"]),
        ("todo", "I need to renew my passport.", ["ineedtorenewmypassport"]),
        ("todo", "明天要开会", ["明天要开会"]),
    ],
)
def test_each_kind_is_listed_with_its_value(kind: str, text: str, values: list[str]) -> None:
    assert found(text, kind) == values


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("constraint", "I don't know"), ("constraint", "别的都好"), ("constraint", "不要紧"),
        ("todo", "我不要"), ("todo", "主要是天气"), ("place", "我走路去"), ("id", "2024-06-30"),
        ("name", "Hello there. Great!"), ("name", "On Monday I rested"), ("name", "## Next Steps"),
        ("id", "It takes 30min or 5kg"), ("number", "一起去，一个人"), ("number", "One of us, loved ones"),
    ],
)  # fmt: skip
def test_look_alikes_are_left_out(kind: str, text: str) -> None:
    assert found(text, kind) == []


@pytest.mark.parametrize(
    "text", ["2024-06-30 15:30", "v1.2.3", "138-0013-8000", "https://x.org/42", "6月30日下午3点"]
)
def test_digits_of_a_date_time_or_id_are_no_numbers_too(text: str) -> None:
    assert not [item for item in extract(text) if item.kind in ("number", "amount")]


def test_a_datum_says_where_it_stands_in_the_text_as_written() -> None:
    text = "Ｍy son is ５岁, we leave on Ｊune 30."
    for item in extract(text):
        assert text[item.start : item.end] == item.text
    assert [item.text for item in extract(text)] == ["５岁", "Ｊune 30"]


def test_with_a_reference_relative_dates_become_absolute() -> None:
    reference = datetime(2024, 6, 12, 20, 0, tzinfo=timezone.utc)
    items = extract("下周三，昨天，去年，9999年前", reference=reference, zone="Asia/Shanghai")
    assert [item.value for item in items if item.kind == "date"] == [
        "2024-06-19",
        "2024-06-12",
        "2023",
        "year-9999",
    ]


def test_an_open_date_is_the_last_or_the_coming_one() -> None:
    reference = datetime(2024, 6, 12, tzinfo=timezone.utc)
    (last,) = extract("周五", reference=reference)
    (coming,) = extract("周五", reference=reference, prefer="future")
    assert (last.value, coming.value) == ("2024-06-07", "2024-06-14")


def test_a_naive_reference_is_refused() -> None:
    with pytest.raises(InvalidInput, match="aware"):
        extract("昨天", reference=datetime(2024, 6, 12))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("我小孩五岁", "The child is 5 years old"),
        ("我小孩五岁", "child: 5"),
        ("预算1,200元", "budget ¥1200"),
        ("June 30", "2024年6月30日"),
        ("去年6月30日", "6月30日"),
        ("3:30开会", "会议下午三点半"),
        ("两只猫", "2 cats"),
        ("打138-0013-8000", "phone +86 13800138000"),
        ("王老师来了", "王老师到访"),
        ("I must not eat peanuts at school", "must not eat peanuts (school)"),
        ("在北京市住", "住北京市"),
    ],
)
def test_what_a_summary_says_in_other_words_is_not_missing(source: str, summary: str) -> None:
    assert missing(extract(source), summary) == ()


@pytest.mark.parametrize(
    ("source", "summary", "lost"),
    [
        ("五岁", "6岁", ["5 year"]),
        ("15 apples", "5 apples", ["15"]),
        ("1200元", "1200美元", ["1200 CNY"]),
        ("June 30", "June 3", ["--06-30"]),
        ("2024-06-30", "2023-06-30", ["2024-06-30"]),
        ("下午三点", "早上三点", ["T15:00"]),
        ("订单SF123456", "订单SF123457", ["sf123456"]),
        ("Ada and Bob met Carol", "Ada met Bob", ["carol"]),
        ("他对花生过敏", "他喜欢恐龙", ["他对花生过敏"]),
        ("5只猫，5只狗", "猫和狗", ["5"]),
    ],
)
def test_what_a_summary_lost_is_named_once(source: str, summary: str, lost: list[str]) -> None:
    assert [item.value for item in missing(extract(source), summary)] == lost


def test_nothing_has_no_key_data() -> None:
    assert extract("") == extract(" \n") == extract("\0\ud800") == ()


def test_kinds_are_the_nine_of_the_glossary() -> None:
    assert len(set(keydata.KINDS)) == 9
    assert set(keydata.KINDS) > keydata.HARD


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "- Daniel: Then nothing may slip: my vacation starts on June 29 and I will be hiking without a laptop.",
            "Then nothing may slip: my vacation starts on June 29 and I will be hiking without a laptop",
        ),
        ("You must " + "wander " * 20 + "on", "You must " + "wander " * 11),
        ("我" * 100 + "必须" + "你" * 100, "我" * 80 + "必须" + "你" * 80),
    ],
)
def test_a_clause_that_is_cut_begins_and_ends_with_a_whole_word(text: str, said: str) -> None:
    [clause] = [item for item in extract(text) if item.kind == "constraint"]
    assert clause.text == said.rstrip()
