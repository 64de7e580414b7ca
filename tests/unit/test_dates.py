from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import InvalidInput
from wellkept.policy.text import dates

SHANGHAI = "Asia/Shanghai"
WEDNESDAY = datetime(2024, 6, 12, 15, 0, tzinfo=ZoneInfo(SHANGHAI))


def days(text: str, prefer: dates.Prefer = "past") -> tuple[str, str]:
    """First and last day of the only moment in ``text``."""
    (span,) = dates.find(text, WEDNESDAY, SHANGHAI, prefer=prefer)
    assert span.since is not None and span.until is not None
    return str(span.since.date()), str((span.until - timedelta(seconds=1)).date())


def hours(text: str) -> tuple[str, str]:
    (span,) = dates.find(text, WEDNESDAY, SHANGHAI)
    assert span.since is not None and span.until is not None
    return f"{span.since:%m-%d %H:%M}", f"{span.until:%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("今天", "2024-06-12", "2024-06-12"),
        ("昨天", "2024-06-11", "2024-06-11"),
        ("前天", "2024-06-10", "2024-06-10"),
        ("大前天", "2024-06-09", "2024-06-09"),
        ("明天", "2024-06-13", "2024-06-13"),
        ("后天", "2024-06-14", "2024-06-14"),
        ("大後天", "2024-06-15", "2024-06-15"),
        ("三天前", "2024-06-09", "2024-06-09"),
        ("3天后", "2024-06-15", "2024-06-15"),
        ("两周前", "2024-05-27", "2024-06-02"),
        ("三个月前", "2024-03-01", "2024-03-31"),
        ("半年前", "2023-12-01", "2023-12-31"),
        ("五年前", "2019-01-01", "2019-12-31"),
        ("上周", "2024-06-03", "2024-06-09"),
        ("上上周", "2024-05-27", "2024-06-02"),
        ("上周三", "2024-06-05", "2024-06-05"),
        ("下周三", "2024-06-19", "2024-06-19"),
        ("上个星期天", "2024-06-09", "2024-06-09"),
        ("下禮拜五", "2024-06-21", "2024-06-21"),
        ("这周五", "2024-06-14", "2024-06-14"),
        ("上周末", "2024-06-08", "2024-06-09"),
        ("这周末", "2024-06-15", "2024-06-16"),
        ("周一", "2024-06-10", "2024-06-10"),
        ("周末", "2024-06-08", "2024-06-09"),
        ("上个月", "2024-05-01", "2024-05-31"),
        ("上个月底", "2024-05-21", "2024-05-31"),
        ("上月15号", "2024-05-15", "2024-05-15"),
        ("下个月初", "2024-07-01", "2024-07-10"),
        ("月底", "2024-06-21", "2024-06-30"),
        ("六月底", "2024-06-21", "2024-06-30"),
        ("4月中旬", "2024-04-11", "2024-04-20"),
        ("三月", "2024-03-01", "2024-03-31"),
        ("8号", "2024-06-08", "2024-06-08"),
        ("31号", "2024-05-31", "2024-05-31"),
        ("去年", "2023-01-01", "2023-12-31"),
        ("前年", "2022-01-01", "2022-12-31"),
        ("去年夏天", "2023-06-01", "2023-08-31"),
        ("明年春天", "2025-03-01", "2025-05-31"),
        ("去年六月", "2023-06-01", "2023-06-30"),
        ("去年圣诞节", "2023-12-25", "2023-12-25"),
        ("国庆节", "2023-10-01", "2023-10-01"),
        ("2023年5月8日", "2023-05-08", "2023-05-08"),
        ("２０２３年５月８日", "2023-05-08", "2023-05-08"),
        ("二〇二三年五月", "2023-05-01", "2023-05-31"),
        ("五月八号", "2024-05-08", "2024-05-08"),
        ("5月8日星期三", "2024-05-08", "2024-05-08"),
        ("过去三天", "2024-06-09", "2024-06-12"),
        ("三月到五月", "2024-03-01", "2024-05-31"),
        ("yesterday", "2024-06-11", "2024-06-11"),
        ("the day before yesterday", "2024-06-10", "2024-06-10"),
        ("tomorrow", "2024-06-13", "2024-06-13"),
        ("last Tuesday", "2024-06-11", "2024-06-11"),
        ("last Wednesday", "2024-06-05", "2024-06-05"),
        ("next Friday", "2024-06-14", "2024-06-14"),
        ("this Friday", "2024-06-14", "2024-06-14"),
        ("on Monday", "2024-06-10", "2024-06-10"),
        ("Tuesday of last week", "2024-06-04", "2024-06-04"),
        ("last week", "2024-06-03", "2024-06-09"),
        ("the week before last", "2024-05-27", "2024-06-02"),
        ("last weekend", "2024-06-08", "2024-06-09"),
        ("two weeks ago", "2024-05-27", "2024-06-02"),
        ("a month ago", "2024-05-01", "2024-05-31"),
        ("in 3 days", "2024-06-15", "2024-06-15"),
        ("in the last two weeks", "2024-05-29", "2024-06-12"),
        ("last month", "2024-05-01", "2024-05-31"),
        ("early next month", "2024-07-01", "2024-07-10"),
        ("in March", "2024-03-01", "2024-03-31"),
        ("in march", "2024-03-01", "2024-03-31"),
        ("last March", "2024-03-01", "2024-03-31"),
        ("end of June", "2024-06-21", "2024-06-30"),
        ("in 2019", "2019-01-01", "2019-12-31"),
        ("summer of 2023", "2023-06-01", "2023-08-31"),
        ("last summer", "2023-06-01", "2023-08-31"),
        ("3/22", "2024-03-22", "2024-03-22"),
        ("3/22/2023", "2023-03-22", "2023-03-22"),
        ("22/3/2023", "2023-03-22", "2023-03-22"),
        ("2023-05-08", "2023-05-08", "2023-05-08"),
        ("2023/05/08", "2023-05-08", "2023-05-08"),
        ("2023-05", "2023-05-01", "2023-05-31"),
        ("May 8th", "2024-05-08", "2024-05-08"),
        ("the 8th of May", "2024-05-08", "2024-05-08"),
        ("8 May, 2023", "2023-05-08", "2023-05-08"),
        ("May 2023", "2023-05-01", "2023-05-31"),
        ("Wednesday, May 8", "2024-05-08", "2024-05-08"),
        ("by the 5th", "2024-06-05", "2024-06-05"),
        ("Christmas 2022", "2022-12-25", "2022-12-25"),
        ("between 3/22 and 4/1", "2024-03-22", "2024-04-01"),
        ("from March to May", "2024-03-01", "2024-05-31"),
    ],
)
def test_days(text: str, first: str, last: str) -> None:
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("周一", "2024-06-17"),
        ("周五", "2024-06-14"),
        ("三月", "2025-03-01"),
        ("8号", "2024-07-08"),
        ("周末", "2024-06-15"),
    ],
)
def test_an_open_date_may_mean_the_coming_one(text: str, first: str) -> None:
    assert days(text, "future")[0] == first


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("1:56 pm", "06-12 13:56", "06-12 13:57"),
        ("3pm", "06-12 15:00", "06-12 16:00"),
        ("下午三点半", "06-12 15:30", "06-12 15:31"),
        ("下午3点15分", "06-12 15:15", "06-12 15:16"),
        ("晚上8点", "06-12 20:00", "06-12 21:00"),
        ("晚上12点", "06-13 00:00", "06-13 01:00"),
        ("凌晨12点半", "06-12 00:30", "06-12 00:31"),
        ("下午一点", "06-12 13:00", "06-12 14:00"),
        ("三点一刻", "06-12 15:15", "06-12 15:16"),
        ("20:30", "06-12 20:30", "06-12 20:31"),
        ("明天早上9点", "06-13 09:00", "06-13 10:00"),
        ("昨晚", "06-11 18:00", "06-12 00:00"),
        ("今早", "06-12 05:00", "06-12 12:00"),
        ("last night", "06-11 18:00", "06-12 00:00"),
        ("yesterday at 3pm", "06-11 15:00", "06-11 16:00"),
        ("3:30 in the afternoon", "06-12 15:30", "06-12 15:31"),
        ("tomorrow morning", "06-13 05:00", "06-13 12:00"),
        ("half past three", "06-12 15:30", "06-12 15:31"),
        ("quarter to five", "06-12 16:45", "06-12 16:46"),
        ("at noon", "06-12 12:00", "06-12 13:00"),
        ("半小时前", "06-12 14:30", "06-12 14:31"),
        ("2 hours ago", "06-12 13:00", "06-12 14:00"),
        ("明天下午3点到5点", "06-13 15:00", "06-13 18:00"),
        ("2024-06-05T10:00:00Z", "06-05 18:00", "06-05 19:00"),
    ],
)
def test_times(text: str, since: str, until: str) -> None:
    assert hours(text) == (since, until)


@pytest.mark.parametrize(
    "text",
    [
        "I may go", "they march on", "一点建议", "有两点建议", "1/2 cup", "3个月", "5号楼", "2月30日",
        "天天向上", "早点睡", "9999年前", "version 1.2.3", "call 555-1234", "the second one", "分享一下",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert dates.find(text, WEDNESDAY, SHANGHAI) == ()


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("since March", "2024-03-01", None),
        ("三月以来", "2024-03-01", None),
        ("before May 8", None, "2024-05-08"),
        ("五月之前", None, "2024-05-01"),
        ("after 2023-05-08", "2023-05-09", None),
    ],
)
def test_a_range_may_be_open(text: str, since: str | None, until: str | None) -> None:
    (span,) = dates.find(text, WEDNESDAY, SHANGHAI)
    assert span.kind == "range"
    assert (span.since and str(span.since.date())) == since
    assert (span.until and str(span.until.date())) == until


def test_several_moments_of_a_sentence_come_in_order_with_their_places() -> None:
    text = "What did I say last Tuesday about 下周三 at 3pm?"
    spans = dates.find(text, WEDNESDAY, SHANGHAI)
    assert [text[span.start : span.end] for span in spans] == ["last Tuesday", "下周三 at 3pm"]


def test_the_zone_decides_what_today_is() -> None:
    late = datetime(2024, 6, 12, 23, 0, tzinfo=timezone.utc)
    (there,) = dates.find("today", late, SHANGHAI)
    (here,) = dates.find("today", late, "America/New_York")
    assert there.since is not None and here.since is not None
    assert (str(there.since), str(here.since)) == ("2024-06-13 00:00:00+08:00", "2024-06-12 00:00:00-04:00")


def test_29_february_is_in_the_last_leap_year() -> None:
    reference = datetime(2023, 1, 1, tzinfo=timezone.utc)
    (span,) = dates.find("2月29日", reference, "UTC")
    assert span.since is not None and span.since.year == 2020


@pytest.mark.parametrize("zone", ["Nowhere/Nothing", "../etc/passwd", ""])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        dates.find("today", WEDNESDAY, zone)


def test_a_naive_reference_is_refused() -> None:
    with pytest.raises(InvalidInput, match="aware"):
        dates.find("today", datetime(2024, 6, 12), "UTC")  # noqa: DTZ001


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("week+1/3", "2024-06-19"), ("month-1", "2024-05"), ("year-1", "2023"), ("2023-05-08", "2023-05-08"),
        ("week-1", "2024-06-03/2024-06-09"), ("--06/end", "2024-06-21/2024-06-30"),
        ("day-1T15:00", "2024-06-11T15:00"),
    ],
)  # fmt: skip
def test_a_relative_value_is_made_absolute(value: str, expected: str) -> None:
    assert dates.absolute(value, WEDNESDAY, SHANGHAI) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00+08:00"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00+08:00"),
        ("2023/04/10 (Mon) 14:47", "2023-04-10T14:47:00+08:00"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00+08:00"),
        ("March-15-2024", "2024-03-15T00:00:00+08:00"),
        ("2026-03-01", "2026-03-01T00:00:00+08:00"),
        ("2023-05-08T10:11:12Z", "2023-05-08T18:11:12+08:00"),
        ("2024年6月30日 下午3点", "2024-06-30T15:00:00+08:00"),
    ],
)
def test_date_strings_are_parsed(text: str, expected: str) -> None:
    moment = dates.parse(text, SHANGHAI)
    assert moment is not None and moment.isoformat() == expected


@pytest.mark.parametrize(
    "text", ["", "May 8", "yesterday", "hello 2023-05-08", "2023-13-40", "2023-05-08 and 2023-05-09"]
)
def test_what_is_no_complete_date_is_not_parsed(text: str) -> None:
    assert dates.parse(text, "UTC") is None


@pytest.mark.parametrize("part", ["locomo", "longmemeval", "beam_100k", "madial_zh", "eventmem_zh"])
def test_every_date_of_the_recall_data_is_parsed(part: str, shared: Path) -> None:
    import json

    lines = (shared / "bench" / part / "corpus.jsonl").read_text("utf-8").splitlines()
    written = {json.loads(line)["date"] for line in lines}
    assert [text for text in written if dates.parse(text, "UTC") is None] == []


@given(
    st.text(alphabet="0123456789/-:. 年月日号上下周个三天前后去今明点半午lastnexMayFridg", max_size=40),
    st.datetimes(),
)
def test_any_text_at_any_time_gives_intervals_that_are_no_empty_ones(text: str, naive: datetime) -> None:
    reference = naive.replace(tzinfo=timezone.utc)
    if not 2 <= reference.year <= 9998:
        return
    for span in dates.find(text, reference, "UTC"):
        assert 0 <= span.start < span.end <= len(text)
        assert span.since is None or span.until is None or span.since < span.until


def test_a_date_that_begins_a_line_is_seen() -> None:
    for text in ("买好了。\n2月21日8:21出发", "好\n  5月20日，北京", "See you.\nMay 8th, noon"):
        assert next(word.kind for word in dates.words(text)) == "date", text
