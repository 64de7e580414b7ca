"""Which day a statement names, and which it leaves open."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from wellkept.policy.text import days

AT = datetime(2026, 3, 4, 9, tzinfo=timezone.utc)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("flies to Rome five days later", "I submit on June 19; five days later I fly to Rome."),
        ("五天后去罗马", "我6月19日提交，五天后去罗马"),
        ("用户五天后去罗马", "我6月19日提交。五天后去罗马。"),
        ("flies home in three days", "On May 2 I land in Oslo and in three days I fly home."),
        ("两周后复查", "我手术两周后复查"),
        ("婚礼三天前订酒店", ""),
        ("三天后他回来了", ""),
        ("The next day we went home", ""),
        ("The previous week was hard", ""),
        ("We built it in two days", ""),
        ("goes to the gym on Friday", "I will go to the gym every Friday."),
        ("每周五休息了", ""),
        ("每月底要发工资", ""),
        ("I have to work on Mondays", ""),
        ("My son was born on the 5th", ""),
        ("不过周五有空", ""),
        ("I'm excited about Friday", ""),
    ],
)
def test_what_may_be_counted_from_another_day_stays_as_it_was_said(text: str, heard: str) -> None:
    assert days.dated(text, AT, "UTC", heard) == text


@pytest.mark.parametrize(
    ("text", "heard", "expected"),
    [
        ("用户五天后去罗马", "你好！我五天后去罗马", "用户2026-03-09去罗马"),
        ("我三天前搬家了", "", "我2026-03-01搬家了"),
        ("I fly in five days", "", "I fly 2026-03-09"),
        ("I moved here two years ago", "", "I moved here 2024"),
        ("别忘了周五交报告", "", "别忘了2026-03-06交报告"),
        ("On Friday, I will fly", "", "On 2026-03-06, I will fly"),
        (
            "We met on Monday and I will fly on Friday",
            "",
            "We met on 2026-03-02 and I will fly on 2026-03-06",
        ),
        ("我们要7月10日到13日去旅行", "", "我们要2026-07-10到2026-07-13去旅行"),
        ("考试要在7月10日，不是11日", "", "考试要在2026-07-10，不是11日"),
        ("flies tomorrow", "On June 19 I submit, but tomorrow I fly.", "flies 2026-03-05"),
    ],
)
def test_what_is_counted_from_the_day_of_speaking_is_that_day(text: str, heard: str, expected: str) -> None:
    assert days.dated(text, AT, "UTC", heard) == expected


def test_a_date_that_nobody_said_is_no_moment_of_a_fact() -> None:
    heard = "我6月19日提交，五天后去罗马"
    assert days.moment("2026-03-09", "五天后去罗马", AT, "UTC", heard) is None
    assert days.moment("2026-03-09", "我五天后去罗马", AT, "UTC") == datetime(2026, 3, 9, tzinfo=timezone.utc)
