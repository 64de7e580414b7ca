"""The panel's catalogues: nothing missing in either language, nothing that no page uses."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

pytest.importorskip("jinja2", reason="the panel needs the extra `server`")

from wellkept.policy.text.keydata import KINDS
from wellkept.server.panel import differences, shots
from wellkept.server.panel.words import DEFAULT, LANGUAGES, REASONS, Words, choose
from wellkept.store.actions import Verb
from wellkept.store.facts import Actor, FactState
from wellkept.store.jobs import JobState

PANEL = Path(shots.__file__).parent
ENGLISH, CHINESE = Words("en").texts, Words("zh").texts


PAGES = "\n".join(path.read_text("utf-8") for path in sorted((PANEL / "templates").glob("*.html")))


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text)} - {None}


def test_both_languages_have_the_same_keys_with_the_same_values() -> None:
    assert list(ENGLISH) == list(CHINESE)
    assert {key: fields(text) for key, text in ENGLISH.items()} == {
        key: fields(text) for key, text in CHINESE.items()
    }
    assert all(text.strip() for text in (*ENGLISH.values(), *CHINESE.values()))


def test_chinese_is_chinese() -> None:
    assert [key for key, text in CHINESE.items() if not re.search("[\u4e00-\u9fff]", text)] == []


def test_every_key_of_a_page_is_in_the_catalogue() -> None:
    whole = set(re.findall(r"""t\(["']([a-z_.0-9]+)["'][,)]""", PAGES))
    assert len(whole) > 100 and whole - ENGLISH.keys() == set()


def test_every_key_of_the_catalogue_is_on_a_page() -> None:
    starts = tuple(f"{group}." for group in re.findall(r't\.named\("(\w+)"', PAGES)) + tuple(
        re.findall(r"""t\(["']([a-z_.]+[._])["'] [~+]""", PAGES)
    )
    ends = tuple(re.findall(r"""t\(\w+ ~ ["'](\.[a-z]+)["']""", PAGES))
    assert {"tier.", "state."} <= set(starts) and ".title" in ends
    made = [key for key in ENGLISH if key.startswith(starts) or key.endswith(ends) or key in REASONS]
    assert [key for key in ENGLISH if not re.search(f"""["']{key}["']""", PAGES) and key not in made] == []


@pytest.mark.parametrize(
    "group, names",
    [("tier", (*shots.TIERS, shots.FRAME, "free")), ("key", KINDS), ("actor", get_args(Actor)),
     ("state", (*get_args(FactState), *get_args(JobState))), ("kind", ("event", "fact", "summary")), ("action", get_args(Verb))],
)  # fmt: skip
def test_what_the_library_names_has_a_word(group: str, names: tuple[str, ...]) -> None:
    assert [name for name in names if f"{group}.{name}" not in ENGLISH] == []


@pytest.mark.parametrize(
    "wanted, accepted, language",
    [
        (None, "", DEFAULT), (None, "zh-CN,zh;q=0.9,en;q=0.8", "zh"), (None, "en-GB,zh;q=0.9", "en"),
        (None, "fr,zh;q=0.2,en;q=0.7", "en"), (None, "fr,de", DEFAULT), (None, "zh;q=0,fr", DEFAULT),
        (None, ";;q=x,,zh-Hans", "zh"), ("zh", "en", "zh"), ("tlh", "zh", "zh"),
    ],
)  # fmt: skip
def test_which_language(wanted: str | None, accepted: str, language: str) -> None:
    assert choose(wanted, accepted) == language and language in LANGUAGES


def test_reasons_are_said_in_the_language_and_unknown_ones_as_they_are() -> None:
    assert Words("zh").reason("over the limit of 8") == "超过上限 8"
    assert Words("zh").reason("gave way to the conversation") == "让位给对话本身"
    assert (
        Words("en").reason("relevance 0.10 is below the threshold 0.25")
        == "relevance 0.10 is below the threshold 0.25"
    )
    assert Words("zh").reason("because of the moon") == "because of the moon"
    assert all(Words("zh").reason(start) != start for start in REASONS.values())


def test_a_difference_holds_both_texts() -> None:
    before, after = "- 会议 3 月 12 日\n- AX-20931\nthe same\n", "- 会议 4 月 2 日\nthe same\n- new line 新"
    pieces = differences.differences(before, after)
    assert "".join(text for kind, text in pieces if kind != "gone") == after
    assert "".join(text for kind, text in pieces if kind != "new") == before
    assert ("same", "the same\n") in pieces and ("gone", "3") in pieces
