"""The panel without a browser: who gets in, what is refused, what each answer carries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.browser.scene import HOSTILE, NAMESPACE, USER, build
from wellkept import AsyncMemory, Memory, Policy
from wellkept.server import Settings, create_app
from wellkept.server.panel.desk import COOKIE

SCOPE = {"namespace": NAMESPACE, "user": USER}
LOCAL = "http://127.0.0.1:8765"
OURS = {"sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("panel") / "scene.db"
    return path, build(path)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@contextmanager
def panel(store: Path, *, base: str = LOCAL, **settings: Any) -> Iterator[TestClient]:
    app = create_app(AsyncMemory(str(store), worker=False), Settings(**{"key_seconds": 0.0, **settings}))
    with TestClient(app, base_url=base, follow_redirects=False, headers={"accept-language": "en"}) as client:
        yield client


def at(page: str, **values: Any) -> str:
    return f"/{page}?{urlencode({**SCOPE, **values})}"


def login(client: TestClient, secret: str, **form: str) -> Any:
    return client.post("/login", data={"key": secret, **form}, headers=OURS)


# ── what each answer carries ─────────────────────────────────────────────────────────────────────────────────


def test_no_answer_lets_a_foreign_script_or_frame_in(scene: tuple[Path, dict[str, str]]) -> None:
    path, ids = scene
    pages = [
        "/users", "/login", at("sessions"), at("session", id=ids["hostile"]), at("session", id="none"),
        at("session/newer", id=ids["chat"], after=0), at("search", query=HOSTILE), "/sessions?namespace=&user=",
    ]  # fmt: skip
    with panel(path) as client:
        for page in pages:
            answer = client.get(page)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy and "form-action 'self'" in policy
            assert answer.headers["cache-control"] == "no-store"
            assert "<script>document" not in answer.text and "<img src=x" not in answer.text
            assert " onload=" not in answer.text.replace("svg onload", "")
            assert "style=" not in answer.text


def test_hostile_text_is_shown_as_text(scene: tuple[Path, dict[str, str]]) -> None:
    path, ids = scene
    with panel(path) as client:
        for page in ("sessions", "facts", "changes", "profile"):
            assert HOSTILE in unescape(client.get(at(page)).text)
        assert HOSTILE in unescape(client.get(at("session", id=ids["hostile"])).text)


def test_an_error_is_a_page_that_says_what_to_do(scene: tuple[Path, dict[str, str]]) -> None:
    path, _ = scene
    with panel(path) as client:
        missing = client.get(at("session", id="<b>nobody's</b>"))
        assert missing.status_code == 404 and "Not found" in missing.text and "<b>nobody" not in missing.text
        assert client.get(at("jobs", before=-1)).status_code == 422
        assert client.get(at("request", id=_first(client), seq=10**30)).status_code == 422
        chinese = client.get(at("fact", id="x"), headers={"accept-language": "zh-CN,zh;q=0.9,en;q=0.5"})
        assert chinese.status_code == 404 and "没有找到" in chinese.text and 'lang="zh-CN"' in chinese.text


def _first(client: TestClient) -> str:
    return str(client.get(f"/v1/sessions?{urlencode(SCOPE)}").json()["items"][0]["id"])


# ── who gets in ──────────────────────────────────────────────────────────────────────────────────────────────


def test_without_keys_the_panel_is_open_and_says_so(scene: tuple[Path, dict[str, str]]) -> None:
    with panel(scene[0]) as client:
        page = client.get(at("sessions"))
        assert page.status_code == 200 and "There are no keys" in page.text


def test_the_first_page_leads_to_the_one_user_or_asks_which(
    scene: tuple[Path, dict[str, str]], store: Path
) -> None:
    with Memory(str(store), worker=False) as memory:
        memory.session(namespace="a&b", user="小明")
    with panel(store) as client:
        to = client.get("/")
        assert (to.status_code, client.get(to.headers["location"]).status_code) == (303, 200)
        assert "小明" in client.get(to.headers["location"]).text
    with panel(scene[0]) as client:
        assert "alice" in client.get("/").text and "bob &lt;b&gt;" in client.get("/").text
    with panel(scene[0], namespace=NAMESPACE, user=USER) as client:
        assert client.get("/").headers["location"] == "/sessions"


def test_where_there_is_a_key_one_logs_in_with_it(store: Path) -> None:
    secret = _keyed(store, role="writer")
    with panel(store) as client:
        away = client.get(at("facts"))
        assert away.status_code == 303 and away.headers["location"].startswith(
            "/login?next=/facts%3Fnamespace"
        )
        assert "opens nothing" in login(client, "wk_wrong").text
        assert login(client, "").status_code == 401
        let_in = login(client, secret, next=at("facts"))
        assert let_in.headers["location"] == at("facts")
        cookie = let_in.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Secure" not in cookie
        assert secret not in cookie
        assert client.get(at("facts")).status_code == 200
        assert client.get("/sessions?namespace=other&user=alice").status_code == 404
        client.post("/logout", headers=OURS)
        assert client.get(at("facts")).status_code == 303


def test_a_stolen_or_forged_cookie_opens_nothing(store: Path) -> None:
    secret = _keyed(store, role="admin")
    with panel(store) as client:
        login(client, secret)
        token = client.cookies[COOKIE]
        client.post("/logout", headers=OURS)
        for forged in (token, secret, "x", ""):
            client.cookies.clear()
            client.cookies.set(COOKIE, forged)
            assert client.get(at("facts")).status_code == 303


def test_a_revoked_key_ends_its_logins_at_once(store: Path) -> None:
    secret = _keyed(store, role="admin")
    with panel(store, key_seconds=60.0) as client:
        login(client, secret)
        assert client.get(at("facts")).status_code == 200
        with Memory(str(store), worker=False) as memory:
            memory.keys.revoke(memory.keys.all()[0].id)
        assert client.get(at("facts")).status_code == 303


def test_over_https_the_cookie_never_travels_in_clear(store: Path) -> None:
    secret = _keyed(store, role="reader")
    with panel(store, base="https://127.0.0.1:8765") as client:
        assert "Secure" in login(client, secret).headers["set-cookie"]
    with panel(store, base="http://memory.example") as client:  # behind a proxy that ends TLS
        for scheme in ("http", "https"):
            origin = {**OURS, "origin": f"{scheme}://memory.example"}
            cookie = client.post("/login", data={"key": secret}, headers=origin).headers["set-cookie"]
            assert ("Secure" in cookie) == (scheme == "https")


def test_an_address_without_a_page_is_told_to_a_person_and_a_program_as_each_reads_it(store: Path) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "zh"}
    with panel(store) as client:
        for path in ("/nothing", "/v1/nothing", "/sessions/", "/static/nothing.css"):
            page = client.get(path, headers=browser)
            assert page.status_code == 404 and "没有找到" in page.text and "这个地址没有页面" in page.text
            assert "script-src 'self'" in page.headers["content-security-policy"]
            assert client.get(path).json()["code"] == "not_found"
        assert client.post("/nothing", headers=browser).json()["code"] == "not_found"
        assert client.get("/v1/memories?user=x", headers=browser).json()["code"] == "invalid_input"


def test_a_reader_sees_and_cannot_change(store: Path) -> None:
    with Memory(str(store), worker=False) as memory:
        fact = memory.user(USER, namespace=NAMESPACE).keep("Lives in Porto")[0].id
    secret = _keyed(store, role="reader")
    with panel(store) as client:
        login(client, secret)
        page = client.get(at("fact", id=fact)).text
        assert "Lives in Porto" in page and "fact/edit" not in page and "fact/pin" not in page
        refused = client.post(at("fact/retire", id=fact), headers=OURS)
        assert refused.status_code == 403 and "role writer" in refused.text
        assert client.get(at("forget", query="Porto")).status_code == 403
    with Memory(str(store), worker=False) as memory:
        assert memory.user(USER, namespace=NAMESPACE).get(fact).state == "active"


def test_a_writer_cannot_erase(store: Path) -> None:
    with Memory(str(store), worker=False) as memory:
        fact = memory.user(USER, namespace=NAMESPACE).keep("Lives in Porto")[0].id
    secret = _keyed(store, role="writer")
    with panel(store) as client:
        login(client, secret)
        assert client.post(at("forget"), data={"fact": fact}, headers=OURS).status_code == 403


def _keyed(store: Path, role: Any) -> str:
    with Memory(str(store), worker=False) as memory:
        return memory.keys.create(namespace=NAMESPACE, role=role)[1]


@pytest.mark.parametrize(
    "next", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nx: y", "javascript:x"]
)
def test_login_leads_nowhere_else(store: Path, next: str) -> None:
    secret = _keyed(store, role="reader")
    with panel(store) as client:
        assert login(client, secret, next=next).headers["location"] == "/"


def test_a_login_holds_in_every_process_on_the_store_and_over_a_restart(store: Path) -> None:
    secret = _keyed(store, role="reader")
    with panel(store) as client, panel(store) as other:
        login(client, secret)
        token = client.cookies[COOKIE]
        other.cookies.set(COOKIE, token)
        assert other.get(at("facts")).status_code == 200
    with panel(store) as restarted:
        restarted.cookies.set(COOKIE, token)
        page = restarted.get(at("facts"))
        assert page.status_code == 200 and "Log out" in page.text
        restarted.post("/logout", headers=OURS)
    with panel(store) as client:
        client.cookies.set(COOKIE, token)
        away = client.get(at("facts"))
        assert away.status_code == 303
        assert f'{COOKIE}=""' in away.headers["set-cookie"], "the browser forgets what opens nothing"


# ── other sites ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "headers",
    [{}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "none"},
     {"origin": "http://localhost:1"}, {"origin": "null"}, {"origin": "http://evil.example"}],
)  # fmt: skip
def test_a_form_of_another_site_does_nothing(store: Path, headers: dict[str, str]) -> None:
    with panel(store) as client:
        answer = client.post(at("facts/add"), data={"text": "Trusts everyone"}, headers=headers)
        assert answer.status_code in (403, 421)
    with Memory(str(store), worker=False) as memory:
        assert len(memory.user(USER, namespace=NAMESPACE).get_all()) == 0


def test_our_own_forms_are_known_by_either_header(store: Path) -> None:
    with panel(store) as client:
        for headers in (OURS, {"origin": LOCAL}):
            assert client.post("/look", data={"theme": "dark"}, headers=headers).status_code == 303


def test_a_form_that_is_none_is_refused(store: Path) -> None:
    with panel(store) as client:
        for body in (b"\xff\xfe=1", b"text=%ff", b"&".join(b"a=1" for _ in range(200))):
            assert client.post(at("facts/add"), content=body, headers=OURS).status_code == 422


# ── doing ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_person_does_here_is_written_as_the_users_change(store: Path) -> None:
    with panel(store) as client:
        client.post(at("facts/add"), data={"text": "住在杭州", "labels": "家，城市、住处"}, headers=OURS)
        with Memory(str(store), worker=False) as memory:
            user = memory.user(USER, namespace=NAMESPACE)
            [fact] = user.get_all()
            assert fact.labels == ("家", "城市", "住处")
            client.post(at("fact/edit", id=fact.id), data={"text": "住在上海", "labels": ""}, headers=OURS)
            client.post(at("fact/retire", id=fact.id), headers=OURS)
            assert [change.action for change in user.history(fact.id)] == ["store", "update", "retire"]
            assert {change.actor for change in user.history(fact.id)} == {"user"}
            last = user.history(fact.id)[-1].id
            client.post(at("changes/undo", change=last, fact=fact.id), headers=OURS)
            assert user.get(fact.id).state == "active"


def test_what_a_person_does_to_anything_else_stands_among_the_changes_too(store: Path) -> None:
    with Memory(str(store), worker=False) as memory, panel(store) as client:
        chat = memory.session(namespace=NAMESPACE, user=USER, session_id="trip & tour", create=True)
        user = memory.user(USER, namespace=NAMESPACE)
        client.post(at("facts/add"), data={"text": "住在杭州"}, headers=OURS)
        client.post(at("session/rename", id=chat.id), data={"title": "Trip"}, headers=OURS)
        client.post(
            at("profile", name="user"),
            data={"text": "x", "hash": user.profile.get("user").hash},
            headers=OURS,
        )
        client.post(at("summaries/rebuild", id=chat.id), headers=OURS)
        page = client.get(at("changes")).text
        said = [
            words
            for words in ("summaries rebuilt", "profile written", "session renamed", "stored")
            if words in page
        ]
        assert said == sorted(said, key=page.index) and len(said) == 4
        assert at("session", id=chat.id) in unescape(page) and page.count("by the user") == 4
        client.post(at("session/delete", id=chat.id), headers=OURS)
        page = client.get(at("changes"), headers={"accept-language": "zh"}).text
        assert "会话删除" in page and page.count("会话已不存在") == 3 and "trip" not in page
        assert {each.actor for each in user.actions()} == {"user"}


def test_all_that_was_done_is_reached_page_by_page(store: Path) -> None:
    with Memory(str(store), worker=False) as memory:
        chat, user = memory.session(namespace=NAMESPACE, user=USER), memory.user(USER, namespace=NAMESPACE)
        for number in range(70):
            user.keep(f"Fact number {number}.")
            if number % 7 == 0:
                chat.rename(f"Title {number}")
    seen, pages, address = "", 0, at("changes")
    with panel(store) as client:
        while address:
            page = unescape(client.get(address).text)
            assert page.count('<div class="row-note">') <= 50
            seen, pages = seen + page, pages + 1
            address = page.split('class="button" href="')[1].split('"')[0] if "More" in page else ""
    assert pages == 2 and seen.count("session renamed") == 10
    assert [seen.count(f"Fact number {number}.<") for number in range(70)] == [1] * 70


def test_erasing_takes_only_what_was_shown(store: Path) -> None:
    with Memory(str(store), worker=False) as memory:
        user = memory.user(USER, namespace=NAMESPACE)
        user.keep("Likes peanuts")
        with panel(store) as client:
            seal = _seal(client.get(at("forget", query="peanuts")).text)
            user.keep("Sells peanuts at the market")
            form = {"query": "peanuts", "fact": "", "seal": seal}
            assert client.post(at("forget"), data=form, headers=OURS).status_code == 409
            assert len(user.get_all()) == 2
            form["seal"] = _seal(client.get(at("forget", query="peanuts")).text)
            done = client.post(at("forget"), data=form, headers=OURS)
            assert done.headers["location"].startswith("/receipts")
            assert "found nothing left" in client.get(done.headers["location"]).text
        assert len(user.get_all()) == 0 and user.receipts()[0].removed["facts"] == 2


def _seal(page: str) -> str:
    return page.split('name="seal" value="')[1].split('"')[0]


def test_a_document_changed_meanwhile_is_not_overwritten(store: Path) -> None:
    with Memory(str(store), worker=False) as memory:
        profile = memory.user(USER, namespace=NAMESPACE).profile
        seen = profile.get("user").hash
        profile["user"] = "written by another"
        with panel(store) as client:
            late = client.post(at("profile", name="user"), data={"text": "mine", "hash": seen}, headers=OURS)
            assert late.status_code == 409 and profile["user"] == "written by another"
            now = {"text": "mine\r\nand yours", "hash": profile.get("user").hash}
            assert client.post(at("profile", name="user"), data=now, headers=OURS).status_code == 303
        assert profile["user"] == "mine\nand yours"


def test_the_summaries_of_a_long_session_come_page_by_page(store: Path) -> None:
    policy = Policy(summarize_every=2, recent_window_size=1, context_budget=400)
    with Memory(str(store), worker=False, policy=policy) as memory:
        chat = memory.session(namespace=NAMESPACE, user=USER)
        for number in range(70):
            chat.add_message(
                "user", f"Order {number}: {number} crates of apples, {number + 7} of pears for €{number}.50"
            )
            memory.run_jobs()
        newest, lines = chat.summaries()[-1].version, chat.ledger()
    assert newest > 12 and len(lines) > 60
    with panel(store) as client:
        first = client.get(at("summaries", id=chat.id)).text
        assert first.count("What changed since") == 10 and f">v{newest}<" in first and ">v1<" not in first
        assert first.count("<tr>") == 51 and first.count(">current<") == 1
        earlier = client.get(at("summaries", id=chat.id, before=newest - 9)).text
        assert (
            f">v{newest - 10}<" in earlier and "What changed since" in earlier and ">current<" not in earlier
        )
        assert at("summaries", id=chat.id, before=newest - 9) in unescape(first)
        last = client.get(at("summaries", id=chat.id, before=3, skip=50)).text
        assert last.count("What changed since") == 1 and "Earlier versions" not in last
        assert last.count("<tr>") == min(len(lines) - 50, 50) + 1


def test_another_users_job_is_not_found(scene: tuple[Path, dict[str, str]]) -> None:
    with Memory(str(scene[0]), worker=False) as memory:
        [job, *_] = [it for it in memory.jobs.list(namespace=NAMESPACE) if it.scope.user != USER]
    with panel(scene[0]) as client:
        assert client.get(at("job", id=job.id)).status_code == 404
        assert client.post(at("job/cancel", id=job.id), headers=OURS).status_code == 404


# ── the replay ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_recorded_request_is_shown_as_it_was(scene: tuple[Path, dict[str, str]]) -> None:
    path, ids = scene
    with Memory(str(path), worker=False) as memory:
        chat = memory.session(**SCOPE, session_id=ids["chat"])
        trace = chat.traces.list()[1]
    with panel(path) as client:
        page = unescape(client.get(at("request", id=ids["chat"], trace=trace.id)).text)
        assert trace.system[: trace.boundary].splitlines()[-2] in page and "recorded" in page
        smaller = unescape(client.get(at("request", id=ids["chat"], trace=trace.id, budget=400)).text)
        assert smaller.count('class="side"') == 2 and "of 400 tokens" in smaller
        other = unescape(client.get(at("request", id=ids["chat"], trace=trace.id, recall_share="0")).text)
        assert "What if" in other and other.count('class="side"') == 2
        for wrong, said in (
            ("budget=0", "whole number"),
            ("recall_share=much", "no number"),
            ("recall_share=7", "between 0 and 1"),
        ):
            page = client.get(at("request", id=ids["chat"], trace=trace.id) + f"&{wrong}")
            assert page.status_code == 200 and said in page.text and page.text.count('class="side"') == 1


def test_a_request_without_a_trace_is_rebuilt(scene: tuple[Path, dict[str, str]]) -> None:
    path, ids = scene
    with panel(path) as client:
        page = client.get(at("request", id=ids["chat"], seq=5)).text
        assert "rebuilt" in page and "会议改到" in page and "The order number" not in page
        other = client.get(at("request", id=ids["chat"], seq=5, recall_share="0")).text
        assert page.count('class="side"') == 1 and other.count('class="side"') == 2
        tiny = client.get(at("request", id=ids["chat"], seq=5, budget=10))
        assert tiny.status_code == 200 and "no room for the newest user message" in tiny.text
