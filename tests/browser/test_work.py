"""What a person does in the panel, clicked through: watch, replay, search, edit, undo, forget, decide, retry, log in."""

from __future__ import annotations

import re
from pathlib import Path

import openai

from tests.browser.conftest import Opener, Tab, serving
from tests.browser.scene import HOSTILE, NAMESPACE, USER
from wellkept import Memory
from wellkept.records import Draft
from wellkept.session import Session

SCOPE = {"namespace": NAMESPACE, "user": USER}


def test_from_the_first_page_to_what_the_model_saw_and_would_see(opened: Opener, shared_service: str) -> None:
    tab = opened(shared_service)
    page = tab.page
    page.goto(shared_service)
    page.get_by_role("link", name="alice").click()
    page.get_by_role("link", name="周末、会议和 the launch").click()
    page.get_by_role("link", name="Requests").click()
    page.get_by_text("We moved the launch to April 2. Daniel will write the release notes. (3)").click()
    page.get_by_role("heading", name="What the model saw").wait_for()
    assert page.locator(".side").count() == 1 and page.locator("svg.bar").count() == 1
    page.get_by_label("What if the budget were").fill("400")  # no button: it follows as one types
    page.get_by_text("of 400 tokens").first.wait_for()
    assert page.locator(".side").count() == 2 and page.locator(".piece.only").count() > 0
    assert "budget=400" in page.url
    page.get_by_text("… or the policy").click()
    page.get_by_label("recall_share").fill("0")
    page.get_by_label("What if the budget were").fill("")
    page.get_by_text("of 1,200 tokens").nth(1).wait_for()
    then, other = (page.locator("table.tiers tr", has_text="recall").locator("td").nth(at) for at in (0, 1))
    assert int(then.inner_text()) > 0 and other.inner_text() == "0"


def test_a_newcomer_chats_through_the_gateway_and_sees_the_request_replayed(
    opened: Opener, chromium: object, tmp_path: Path
) -> None:
    owner = ["--namespace", "家", "--user", "小明"]
    with serving(tmp_path / "new.db", *owner, "--fake-upstream") as url:
        tab = opened(url)
        page = tab.page
        page.goto(url)
        page.get_by_text("No conversation yet.").wait_for()
        session = {"X-Wellkept-Session": "first"}
        with openai.OpenAI(base_url=f"{url}/openai/v1", api_key="-", default_headers=session) as client:
            _ask(client, "我小孩今年五岁，对恐龙特别着迷")
            page.get_by_text("messages: 2, turns: 1").wait_for()  # the list follows by itself
            page.locator("a.row-main").click()
            page.get_by_text("对恐龙特别着迷").first.wait_for()
            page.get_by_role("link", name="Facts").click()
            page.get_by_label("Statement").fill("Allergic to peanuts")
            page.get_by_role("button", name="Save").click()
            page.get_by_role("link", name="Allergic to peanuts").wait_for()
            page.get_by_role("link", name="Sessions").click()
            page.locator("a.row-main").click()
            _ask(client, "周末去哪玩？")
            page.get_by_text("周末去哪玩？").first.wait_for()
        page.locator("#m3").get_by_role("link", name="What the model saw").click()
        page.get_by_text("recorded", exact=True).wait_for()
        assert "Allergic to peanuts" in page.locator(".edge-news, .edge-facts").all_inner_texts()[0]
        assert "恐龙" in page.locator(".side").inner_text()


def _ask(client: openai.OpenAI, text: str) -> None:
    client.chat.completions.create(model="wellkept-fake", messages=[{"role": "user", "content": text}])


def test_bars_are_as_wide_as_their_tokens(
    opened: Opener, shared_service: str, drawn: tuple[Path, dict[str, str]]
) -> None:
    tab = opened(shared_service)
    tab.open("request", id=drawn[1]["chat"], seq=49)
    bar = tab.page.locator("svg.bar")
    whole = bar.bounding_box()["width"]
    for row in tab.page.locator("table.tiers tbody tr:not(.sum)").all():
        tier = row.locator(".swatch").get_attribute("class").split("tier-")[1]
        tokens = int(row.locator("td").inner_text())
        width = bar.locator(f"rect.tier-{tier}").evaluate("it => it.getBoundingClientRect().width")
        assert abs(width - whole * tokens / 1200) < 2.5, tier


def test_messages_appear_as_they_are_said(
    opened: Opener, service: str, scene: tuple[Path, dict[str, str]]
) -> None:
    path, ids = scene
    tab = opened(service)
    tab.open("session", id=ids["chat"])
    tab.page.get_by_text("It is forgotten.").wait_for()
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(**SCOPE, session_id=ids["chat"])
        for number in range(3):
            chat.add_message("user", f"刚刚说的第 {number} 句 {HOSTILE}")
            tab.page.get_by_text(f"刚刚说的第 {number} 句").wait_for()
        chat.append([*_burst()])
        tab.page.get_by_text("the last of a burst").wait_for()
    said = tab.page.locator(".message .who").all_inner_texts()
    numbers = [int(re.search(r"#(\d+)", text)[1]) for text in said]
    assert numbers == sorted(set(numbers)) and tab.page.title() != "stolen"


def _burst() -> list[Draft]:
    return [Draft(role="user", content=f"one of many {n}") for n in range(60)] + [
        Draft(role="assistant", content="the last of a burst")
    ]


def test_search_answers_while_one_types_and_explains(opened: Opener, shared_service: str) -> None:
    tab = opened(shared_service)
    tab.open("search")
    tab.page.get_by_label("What are you looking for?").press_sequentially("恐龙", delay=30)
    first = tab.page.locator("li.found").first
    first.wait_for()
    assert (
        "恐龙" in first.inner_text() and "score" in first.inner_text() and "its words" in first.inner_text()
    )
    tab.page.get_by_label("Kind").select_option("fact")
    tab.page.wait_for_url("**kind=fact**")
    tab.page.get_by_text("孩子五岁，喜欢恐龙").wait_for()
    assert {
        text.split()[0] for text in tab.page.locator("li.found .row-note:not(.parts)").all_inner_texts()
    } == {"fact"}


def test_a_fact_is_edited_and_the_next_context_shows_it(
    opened: Opener, service: str, scene: tuple[Path, dict[str, str]]
) -> None:
    path, ids = scene
    tab = opened(service)
    page = tab.page
    tab.open("facts")
    page.get_by_role("link", name="Lives in Porto, near the river").click()
    page.get_by_label("Statement").fill("住在波尔图 <b>河边</b>")
    page.get_by_label("Labels").fill("home, 城市")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="住在波尔图 <b>河边</b>").wait_for()
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_role("button", name="Unpin").wait_for()
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(**SCOPE, session_id=ids["chat"])
        assert "住在波尔图 <b>河边</b>" in chat.get_context().system
    page.get_by_role("button", name="Retire").click()
    page.locator(".changes .badge", has_text="retired").wait_for()
    with Memory(str(path), worker=False) as memory:
        assert "住在波尔图" not in memory.session(**SCOPE, session_id=ids["chat"]).get_context().system
    page.locator(".changes li", has_text="retired").first.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Retire").wait_for()


def test_a_fact_is_added_found_by_its_label_and_forgotten_with_a_receipt(
    opened: Opener, service: str
) -> None:
    tab = opened(service)
    page = tab.page
    tab.open("facts")
    form = page.locator("form", has=page.get_by_role("heading", name="Remember something"))
    form.get_by_label("Statement").fill("Collects <i>zeppelin</i> stamps")
    form.get_by_label("Labels").fill("hobby")
    form.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Labels", exact=True).click()
    page.get_by_role("link", name="hobby").click()
    page.get_by_role("link", name="Collects <i>zeppelin</i> stamps").click()
    page.get_by_role("link", name="Forget …").click()
    page.get_by_role("heading", name="Facts that would go (1)").wait_for()
    page.get_by_role("button", name="Erase all of it").click()
    page.get_by_role("heading", name="Receipt 1").wait_for()
    page.get_by_text("A second look found nothing left.").wait_for()
    tab.open("search", query="zeppelin")
    assert "zeppelin" not in page.locator("#results").inner_text()


def test_what_waits_is_decided(opened: Opener, service: str) -> None:
    tab = opened(service)
    page = tab.page
    tab.open("sessions")
    page.get_by_role("link", name="Review 1").click()
    page.get_by_text("Drives a blue 2014 Skoda").wait_for()
    page.get_by_role("button", name="Erase").click()
    page.get_by_text("Nothing waits for a decision.").wait_for()
    page.get_by_role("link", name="Facts").click()
    page.get_by_role("link", name="Receipts").click()
    page.get_by_role("heading", name="Receipt 1").wait_for()


def test_a_failed_job_shows_its_raw_reply_and_is_tried_again(opened: Opener, service: str) -> None:
    tab = opened(service)
    page = tab.page
    tab.open("jobs", state="failed")
    page.locator(".rows a").first.click()
    assert HOSTILE in page.locator("pre").first.inner_text() and page.title() != "stolen"
    page.get_by_role("button", name="Retry now").click()
    page.get_by_role("heading", name="ready").wait_for()
    page.get_by_role("button", name="Cancel the job").click()
    page.get_by_role("heading", name="cancelled").wait_for()


def test_the_list_of_jobs_follows_what_happens(
    opened: Opener, service: str, scene: tuple[Path, dict[str, str]]
) -> None:
    tab = opened(service)
    tab.open("jobs", state="cancelled")
    tab.page.get_by_text("No job here.").wait_for()
    with Memory(str(scene[0]), worker=False) as memory:
        alice = memory.user(USER, namespace=NAMESPACE)
        [failed] = memory.jobs.list(scope=alice.scope, state="failed")
        memory.jobs.retry(failed.id)
        memory.jobs.cancel(failed.id)
    tab.page.locator(".rows a", has_text="extract facts").wait_for()


def test_summaries_show_versions_differences_key_data_and_the_ledger(
    opened: Opener, shared_service: str, drawn: tuple[Path, dict[str, str]]
) -> None:
    tab = opened(shared_service, locale="zh-CN")
    tab.open("summaries", id=drawn[1]["chat"])
    page = tab.page
    assert page.locator("section.summary").count() >= 3
    assert page.locator("section.summary mark.key-date").count() > 0
    assert page.locator(".difference ins, .difference del").count() > 0
    page.get_by_role("heading", name="关键数据簿").wait_for()
    assert page.locator("table tbody tr").count() > 0


def test_a_session_is_renamed_and_deleted(
    opened: Opener, service: str, scene: tuple[Path, dict[str, str]]
) -> None:
    tab = opened(service)
    page = tab.page
    tab.open("session", id=scene[1]["hostile"])
    page.get_by_text("Rename or delete").click()
    page.get_by_label("Title").fill("Plain title")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Plain title").wait_for()
    page.get_by_text("Rename or delete").click()
    page.get_by_role("link", name="Delete for good").click()
    page.get_by_role("button", name="Delete for good").click()
    page.get_by_role("heading", name="Sessions").wait_for()
    assert page.get_by_text("Plain title").count() == 0


def test_one_logs_in_with_a_key_and_out_again(opened: Opener, chromium: object, tmp_path: Path) -> None:
    store = tmp_path / "keyed.db"
    with Memory(str(store), worker=False) as memory:
        chat: Session = memory.session(**SCOPE, title="Locked away")
        chat.add_message("user", "Hello")
        secret = memory.keys.create(namespace=NAMESPACE, role="reader")[1]
    with serving(store, "--no-worker") as url:
        tab = opened(url)
        page = tab.page
        tab.open("session", id=chat.id)
        page.get_by_label("Key").fill("wk_wrong")
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("This key opens nothing").wait_for()
        tab.faults.clear()  # Chromium notes the status 401
        page.get_by_label("Key").fill(secret)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("heading", name="Locked away").wait_for()
        _check_cookie(tab, secret)
        assert page.get_by_text("Rename or delete").count() == 0
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Key").wait_for()
        tab.open("sessions")
        page.get_by_label("Key").wait_for()
        assert page.get_by_text("Locked away").count() == 0


def _check_cookie(tab: Tab, secret: str) -> None:
    [cookie] = [it for it in tab.page.context.cookies() if it["name"] == "wellkept_login"]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and secret not in cookie["value"]
    assert "wellkept_login" not in tab.page.evaluate("document.cookie")
