"""Every page in both languages and both themes, wide and narrow: whole, translated, safe and accessible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Opener, Tab
from tests.browser.scene import NAMESPACE, USER
from wellkept import Memory

AXE = Path(__file__).with_name("axe.js").read_text("utf-8")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}


def pages(store: Path, ids: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    with Memory(str(store), worker=False) as memory:
        alice = memory.user(USER, namespace=NAMESPACE)
        facts = list(alice.get_all(states=("active", "retired")))
        [failed] = memory.jobs.list(scope=alice.scope, state="failed")
        trace = memory.session(namespace=NAMESPACE, user=USER, session_id=ids["chat"]).traces.list()[0].id
    yield from [("users", {}), ("login", {}), ("sessions", {})]
    for id in ids.values():
        yield from [(name, {"id": id}) for name in ("session", "requests", "summaries", "session/delete")]
        yield "request", {"id": id, "seq": 3}
    yield "request", {"id": ids["chat"], "trace": trace, "budget": 500}
    yield from [
        ("facts", {}),
        ("facts", {"state": "retired"}),
        ("labels", {}),
        ("changes", {}),
        ("receipts", {}),
    ]
    yield from [("fact", {"id": fact.id}) for fact in facts[:3]]
    yield from [
        ("forget", {}),
        ("forget", {"query": "peanuts"}),
        ("forget", {"query": "nothing of the kind"}),
    ]
    yield from [("search", {}), ("search", {"query": "花生 peanuts onerror"}), ("review", {}), ("jobs", {})]
    yield from [("job", {"id": failed.id}), ("spend", {}), ("profile", {})]


@pytest.mark.parametrize(
    "locale, theme, width", [("en-US", "light", 1200), ("zh-CN", "dark", 390)], ids=["wide", "narrow"]
)
def test_every_page(
    opened: Opener,
    shared_service: str,
    drawn: tuple[Path, dict[str, str]],
    locale: str,
    theme: str,
    width: int,
) -> None:
    tab = opened(shared_service, locale=locale, theme=theme, width=width)
    store, ids = drawn
    for name, values in pages(store, ids):
        where = f"{name} {values}"
        answer = tab.open(name, **values)
        assert answer.status == 200, where
        assert tab.faults == [], where
        assert "stolen" not in tab.page.title() or name in ("session",), where
        assert tab.page.evaluate("document.title") != "stolen", where
        assert tab.page.get_attribute("html", "lang") == ("zh-CN" if locale == "zh-CN" else "en")
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, f"{where} is too wide"
        assert serious(tab) == [], where


def serious(tab: Tab) -> list[str]:
    """What axe finds of weight on the page."""
    tab.page.evaluate(AXE)
    found = tab.page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{it['id']}: {node['html'][:120]}"
        for it in found["violations"]
        if it["impact"] in ("serious", "critical")
        for node in it["nodes"]
    ]


def test_dark_and_light_follow_the_switch(opened: Opener, shared_service: str) -> None:
    tab = opened(shared_service, theme="light")
    tab.open("sessions")

    def ground() -> str:
        return str(tab.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = ground()
    tab.page.get_by_role("button", name="Dark colours").click()
    tab.page.wait_for_load_state()
    dark = ground()
    assert dark != light and "/sessions" in tab.page.url
    tab.page.reload()
    assert ground() == dark
    tab.page.get_by_role("button", name="Light colours").click()
    tab.page.wait_for_load_state()
    assert ground() == light


def test_the_language_follows_the_switch(opened: Opener, shared_service: str) -> None:
    tab = opened(shared_service)
    tab.open("facts")
    tab.page.get_by_role("button", name="中文").click()
    tab.page.get_by_role("heading", name="事实", exact=True).wait_for()
    tab.page.get_by_role("link", name="会话").click()
    tab.page.get_by_role("heading", name="会话", exact=True).wait_for()
    tab.page.get_by_role("button", name="English").click()
    tab.page.get_by_role("heading", name="Sessions", exact=True).wait_for()


def test_by_keyboard_alone(opened: Opener, shared_service: str) -> None:
    tab = opened(shared_service)
    keys = tab.page.keyboard
    tab.open("sessions")
    keys.press("Tab")
    assert focus(tab) == "Skip to content"
    outline = tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    keys.press("Enter")
    keys.press("Tab")
    assert "周末" in focus(tab)
    keys.press("Enter")
    tab.page.get_by_role("heading", name="周末、会议和 the launch").wait_for()
    tab.open("search")
    assert tab.page.evaluate("document.activeElement.name") == "query"
    keys.type("peanuts")
    keys.press("Enter")
    tab.page.get_by_text("The user is allergic to peanuts").first.wait_for()


def focus(tab: Tab) -> str:
    return str(tab.page.evaluate("document.activeElement.textContent")).strip()


def test_without_scripts_it_works_as_well(
    chromium: Any, shared_service: str, drawn: tuple[Path, dict[str, str]]
) -> None:
    context = chromium.new_context(java_script_enabled=False, locale="en-US")
    page = context.new_page()
    page.goto(f"{shared_service}/search?namespace={NAMESPACE}&user={USER}")
    page.get_by_label("What are you looking for?").fill("peanuts")
    page.get_by_role("button", name="Search").click()
    page.get_by_text("The user is allergic to peanuts").first.wait_for()
    page.goto(f"{shared_service}/request?namespace={NAMESPACE}&user={USER}&id={drawn[1]['chat']}&seq=9")
    page.get_by_label("What if the budget were").fill("400")
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("of 400 tokens").first.wait_for()
    context.close()
