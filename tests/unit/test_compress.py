"""Which lines of a model's notes their messages bear out."""

from __future__ import annotations

import pytest

from wellkept.policy.summaries.compress import supported, topic_names, topics_of
from wellkept.policy.summaries.digest import Entry

HEARD = [
    Entry(1, "user", "我小孩今年五岁。恐龙馆6月8日到12日开放，门票120元。", "2026-03-04"),
    Entry(
        2,
        "user",
        "My flight is CA1837, at 07:45 on March 9. We leave tomorrow with 3 bags, $340.50.",
        "2026-03-04",
    ),
]


@pytest.mark.parametrize(
    "line",
    [
        "- Flight CA1838 leaves",
        "- It leaves at 08:45",
        "- It leaves on March 10",
        "- 门票130元",
        "- The ticket is 120 USD",
        "1. Room 17",
        "[2025-01-01]",
        "- I'm sorry, but I can't help with that.",
        "- 抱歉，我无法总结这段对话。",
        "- (none)",
        "- Preferences: (none)",
    ],
)
def test_a_line_with_key_data_that_nobody_said_or_without_any_sense_goes(line: str) -> None:
    kept, gone = supported(f"- A child who loves dinosaurs\n{line}", HEARD)
    assert kept == "- A child who loves dinosaurs"
    assert [each.startswith(line) for each in gone] == [True]


@pytest.mark.parametrize(
    "line",
    [
        "# trip 17",
        "[2026-03-04]",
        "7. The flight CA1837 leaves at 7:45 am on 2026-03-09.",
        "- The child is 5 years old; the museum is open until June 12 (120 CNY)",
        "- They leave on 2026-03-05",
        "- They leave on Friday with three suitcases",
        "- 机票 340.5 美元",
        "- Allergies: none",
    ],
)
def test_what_was_said_in_other_words_stays(line: str) -> None:
    assert supported(line, HEARD) == (line, ())


def test_a_topic_has_one_name_however_it_is_written() -> None:
    names = topic_names(["work", "Work ", "Trip\n to Rome", "TRIP TO ROME", "y" * 5_000, " "], ["Work"])
    assert list(names.values()) == ["Work", "Work", "Trip to Rome", "Trip to Rome", "y" * 40, "general"]


def test_a_heading_of_a_model_goes_to_the_topic_that_is_there() -> None:
    assert topics_of("# work\n- tea", known=["Work"]) == {"Work": "- tea"}
    assert topic_names(["General"], []) == {"General": "general"}
