"""The HTTP API over a real socket: what each path does."""

from __future__ import annotations

import itertools
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.service import Running, running
from wellkept import Policy
from wellkept.server import Settings
from wellkept.testing import FakeModel

USERS = (f"user-{number}" for number in itertools.count(1))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    store = tmp_path_factory.mktemp("服务 with space") / "chat.db"
    settings = Settings(port=0, live_seconds=0.2, key_seconds=0.0)
    with running(str(store), settings, policy=Policy(debug_trace=20)) as service:
        yield service


class Api:
    """The API as one user has it: each test is about a user of its own."""

    def __init__(self, client: httpx2.Client) -> None:
        self.client = client
        self.who = {"namespace": "acme", "user": next(USERS)}

    def ask(self, method: str, path: str, status: int = 200, **options: Any) -> Any:
        params = {**self.who, **options.pop("params", {})}
        response = self.client.request(method, f"/v1{path}", params=params, **options)
        assert response.status_code == status, response.text
        kind = response.headers["content-type"]
        assert kind == ("application/json" if status < 400 else "application/problem+json")
        return response.json()

    def get(self, path: str, status: int = 200, **params: Any) -> Any:
        return self.ask("GET", path, status, params=params)

    def post(self, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        return self.ask("POST", path, status, json=body, headers=headers)

    def session(self, *texts: str) -> str:
        id = str(self.post("/sessions", {"title": "旅行"}, 201)["id"])
        if texts:
            self.say(id, *texts)
        return id

    def say(self, session: str, *texts: str) -> list[dict[str, Any]]:
        roles = itertools.cycle(("user", "assistant"))
        messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
        items: list[dict[str, Any]] = self.post(f"/sessions/{session}/messages", {"messages": messages}, 201)[
            "items"
        ]
        return items

    def add(self, text: str, **more: Any) -> str:
        added = self.post("/memories", {"messages": text, "infer": False, **more}, 201)
        return str(added["results"][0]["id"])


@pytest.fixture
def api(service: Running) -> Api:
    return Api(service.client)


# ── sessions and messages
# ────────────────────────────────────────────────────────────────────────────────────


def test_a_session_is_made_renamed_and_deleted(api: Api) -> None:
    id = api.session("hi", "hello")
    info = api.get(f"/sessions/{id}")
    assert (info["title"], info["events"], info["turns"]) == ("旅行", 2, 1)
    assert api.ask("PATCH", f"/sessions/{id}", json={"title": "Trip"})["title"] == "Trip"
    assert api.ask("DELETE", f"/sessions/{id}")["events"] == 2
    assert api.get(f"/sessions/{id}", 404)["code"] == "not_found"


def test_a_session_may_have_an_id_of_the_callers_own(api: Api) -> None:
    made = api.post("/sessions", {"id": "订单-7:α", "metadata": {"a": [1]}}, 201)
    again = api.post("/sessions", {"id": "订单-7:α", "title": "not taken"}, 200)
    assert again == made
    assert api.get("/sessions/订单-7:α")["metadata"] == {"a": [1]}
    assert "slash" in api.post("/sessions", {"id": "a/b"}, 422)["detail"]


def test_sessions_come_in_pages_last_active_first(api: Api) -> None:
    made = [api.session(f"number {number}") for number in range(5)]
    seen: list[str] = []
    cursor = None
    while True:
        page = api.get("/sessions", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [info["id"] for info in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == made[::-1]
    assert api.get("/sessions", 404, cursor="made up")["code"] == "not_found"


def test_messages_of_both_shapes_come_back_with_all_they_held(api: Api) -> None:
    id = api.session()
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    messages = [
        {"role": "user", "content": "恐龙🦖", "ts": "2026-06-01T09:00:00+08:00", "speaker": "小明"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
        {"role": "user", "content": "and?", "metadata": {"page": 3}},
    ]
    events = api.post(f"/sessions/{id}/messages", {"messages": messages}, 201)["items"]
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
    assert (events[0]["ts"], events[0]["speaker"]) == ("2026-06-01T01:00:00+00:00", "小明")
    assert events[1]["content"][0]["arguments"] == '{"a": 1}'
    assert events[3]["content"][0]["signature"] == "s"
    assert events[4]["metadata"] == {"page": 3}
    assert api.get(f"/sessions/{id}/messages")["items"] == events
    assert api.get(f"/sessions/{id}/messages/{events[2]['id']}") == events[2]
    shown = api.get(f"/sessions/{id}/context")["messages"]
    assert shown[1]["tool_calls"] == [call]


def test_messages_come_in_pages_backwards_and_forwards(api: Api) -> None:
    id = api.session()
    api.say(id, *map(str, range(7)))
    newest = api.get(f"/sessions/{id}/messages", limit=3)
    assert [event["content"] for event in newest["items"]] == ["4", "5", "6"]
    before = api.get(f"/sessions/{id}/messages", limit=3, cursor=newest["next"])
    assert [event["content"] for event in before["items"]] == ["1", "2", "3"]
    first = api.get(f"/sessions/{id}/messages", limit=3, cursor=before["next"])
    assert ([event["content"] for event in first["items"]], first["next"]) == (["0"], None)
    after = api.get(f"/sessions/{id}/messages", after=5)
    assert [event["content"] for event in after["items"]] == ["5", "6"]
    assert api.get(f"/sessions/{id}/messages", 422, cursor="-1")["code"] == "invalid_input"


@pytest.mark.parametrize(
    "where", [{"after": 1}, {"since": "2026-06-01T00:00:02Z"}, {"until": "2027-01-01T00:00:00Z"}]
)
def test_pages_forwards_lead_to_all_that_follows(api: Api, where: dict[str, Any]) -> None:
    id = api.session()
    said = [{"role": "user", "content": str(it), "ts": f"2026-06-01T00:00:0{it}Z"} for it in range(1, 10)]
    api.post(f"/sessions/{id}/messages", {"messages": said}, 201)
    page = api.get(f"/sessions/{id}/messages", limit=3, **where)
    found = page["items"]
    while page["next"]:
        page = api.get(f"/sessions/{id}/messages", limit=3, cursor=page["next"], **where)
        found += page["items"]
    first = 1 if "until" in where else 2
    assert [event["content"] for event in found] == [str(it) for it in range(first, 10)]


def test_all_messages_of_a_request_are_stored_or_none(api: Api) -> None:
    id = api.session()
    bad = {"messages": [{"role": "user", "content": "fine"}, {"role": "user", "content": " "}]}
    assert "empty" in api.post(f"/sessions/{id}/messages", bad, 422)["detail"]
    assert api.get(f"/sessions/{id}/messages")["items"] == []


def test_the_last_turn_can_be_taken_back(api: Api) -> None:
    id = api.session("one", "two", "three", "four")
    assert [event["content"] for event in api.ask("DELETE", f"/sessions/{id}/turn")["items"]] == [
        "three",
        "four",
    ]
    assert api.get(f"/sessions/{id}")["events"] == 2


def test_a_session_without_a_model_has_nothing_to_extract_at_its_end(api: Api) -> None:
    id = api.session("I like tea")
    assert api.post(f"/sessions/{id}/end", None, 200) == {"extracting": False}
    api.post("/sessions/nowhere/end", None, 404)


# ── the same request twice
# ───────────────────────────────────────────────────────────────────────────────────


def test_the_same_key_appends_once(api: Api) -> None:
    id = api.session()
    body = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    key = {"Idempotency-Key": "k1"}
    first = api.post(f"/sessions/{id}/messages", body, 201, **key)
    assert api.post(f"/sessions/{id}/messages", body, 201, **key) == first
    other = {"messages": [{"role": "user", "content": "other"}]}
    assert api.post(f"/sessions/{id}/messages", other, 409, **key)["code"] == "conflict"
    assert api.get(f"/sessions/{id}")["events"] == 2


def test_the_same_key_makes_one_session(api: Api) -> None:
    key = {"Idempotency-Key": "k2"}
    first = api.post("/sessions", {"title": "a"}, 201, **key)
    assert api.post("/sessions", {"title": "a"}, 201, **key) == first
    assert "another request" in api.post("/sessions", {"title": "b"}, 409, **key)["detail"]
    assert len(api.get("/sessions")["items"]) == 1


def test_what_failed_did_nothing_and_may_be_tried_again(api: Api) -> None:
    key = {"Idempotency-Key": "k3"}
    api.post("/sessions/later/end", None, 404, **key)
    api.post("/sessions", {"id": "later"}, 201)
    assert api.post("/sessions/later/end", None, 200, **key) == {"extracting": False}


def test_forgetting_with_a_key_gives_its_receipt_again_and_keeps_no_copy(api: Api, service: Running) -> None:
    api.session("My box is Xylophone-4712", "Noted.")
    key, what = {"Idempotency-Key": "k6"}, {"query": "Xylophone-4712"}
    assert api.post("/forget", {**what, "preview": True}, **key)["events"]
    receipt = api.post("/forget", what, **key)
    assert receipt["removed"]["events"] == 1
    assert api.post("/forget", what, **key) == receipt
    assert api.post("/forget", {"query": "another"}, 409, **key)["code"] == "conflict"
    folder = Path(service.memory.location).parent
    assert b"Xylophone-4712" not in b"".join(file.read_bytes() for file in folder.iterdir())


def test_every_post_takes_a_key(api: Api) -> None:
    paths = api.client.get("/openapi.json").json()["paths"]
    posts = {path: item["post"] for path, item in paths.items() if "post" in item and path.startswith("/v1")}
    for path, operation in posts.items():
        named = [it for it in operation["parameters"] if it["name"].lower() == "idempotency-key"]
        assert len(named) == 1, path
        refused = api.client.post(
            path.replace("{", "").replace("}", ""),
            params=api.who,
            json={},
            headers={"Idempotency-Key": "k" * 256},
        )
        assert (refused.status_code, "1 to 255" in refused.text) == (422, True), path


def test_keys_of_different_users_have_nothing_to_do_with_each_other(api: Api, service: Running) -> None:
    key = {"Idempotency-Key": "k4"}
    other = Api(service.client)
    assert api.post("/sessions", {}, 201, **key)["id"] != other.post("/sessions", {}, 201, **key)["id"]


def test_many_at_once_with_one_key_are_one(api: Api) -> None:
    statuses: list[int] = []

    def send() -> None:
        response = api.client.post(
            "/v1/sessions", params=api.who, json={"title": "once"}, headers={"Idempotency-Key": "k5"}
        )
        statuses.append(response.status_code)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [201] * 8
    assert len(api.get("/sessions")["items"]) == 1


# ── context and search
# ───────────────────────────────────────────────────────────────────────────────────────


def test_a_context_stays_in_its_budget_and_has_a_shape(api: Api) -> None:
    id = api.session(*[f"message {number} about 恐龙 and more words" for number in range(60)])
    context = api.get(f"/sessions/{id}/context", budget=400)
    assert 0 < context["tokens"] <= 400
    assert "trace" not in context
    full = api.post(f"/sessions/{id}/context", {"budget": 400, "trace": True, "shape": "anthropic"})
    assert full["trace"]
    assert {message["role"] for message in full["messages"]} <= {"user", "assistant"}
    then = api.get(f"/sessions/{id}/context", as_of=2)
    assert [message["content"] for message in then["messages"]] == [
        f"message {n} about 恐龙 and more words" for n in (0, 1)
    ]
    moment = api.get(f"/sessions/{id}/messages/{id}:60")["ts"]
    latest = api.get(f"/sessions/{id}/context", as_of=moment)
    assert latest["messages"] == api.post(f"/sessions/{id}/context", {"as_of": moment})["messages"]
    api.get(f"/sessions/{id}/context", 422, as_of="2026-06-01T12:00:00")
    api.get(f"/sessions/{id}/context", 422, as_of="-1")


def test_a_budget_that_is_too_small_says_by_how_much(api: Api) -> None:
    id = api.session("word " * 3000)
    problem = api.get(f"/sessions/{id}/context", 422, budget=10)
    assert (problem["code"], problem["missing"] > 0) == ("budget_exceeded", True)


def test_search_finds_and_explains(api: Api) -> None:
    id = api.session("我小孩今年五岁，对恐龙特别着迷", "Nice!", "The dentist is on Friday")
    found = api.get("/search", query="恐龙")["items"]
    assert found[0]["text"].startswith("我小孩")
    body = {"query": "dentist", "kinds": ["event"], "session_id": id, "limit": 1, "explain": True}
    assert api.post("/search", body)["items"][0]["text"] == "The dentist is on Friday"
    assert api.post("/search", {"query": "x", "session_id": "nope"}, 404)["code"] == "not_found"


# ── memories
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fact_lives_changes_rests_and_comes_back(api: Api) -> None:
    id = api.add("Allergic to peanuts", labels=["health"])
    assert api.get("/labels")["items"] == ["health"]
    assert api.get(f"/memories/{id}")["text"] == "Allergic to peanuts"
    changed = api.ask("PUT", f"/memories/{id}", json={"text": "Allergic to nuts"})
    assert (changed["id"], changed["text"], changed["labels"]) == (id, "Allergic to nuts", ["health"])
    assert api.post(f"/memories/{id}/pin")["pinned"] is True
    assert api.post(f"/memories/{id}/unpin")["pinned"] is False
    change = api.ask("DELETE", f"/memories/{id}")
    assert api.get("/memories")["items"] == []
    assert [fact["id"] for fact in api.get("/memories", state="retired")["items"]] == [id]
    api.post(f"/changes/{change['id']}/undo")
    assert [fact["text"] for fact in api.get("/memories")["items"]] == ["Allergic to nuts"]
    actions = [each["action"] for each in api.get(f"/memories/{id}/history")["items"]]
    assert actions == ["store", "update", "pin", "unpin", "retire", "undo"]
    assert api.get("/changes", limit=2)["items"][-1]["action"] == "undo"


def test_facts_come_in_pages(api: Api) -> None:
    ids = [api.add(f"Fact number {number}") for number in range(5)]
    first = api.get("/memories", limit=3)
    rest = api.get("/memories", limit=3, cursor=first["next"])
    assert [fact["id"] for fact in first["items"] + rest["items"]] == ids
    assert rest["next"] is None


def test_all_changes_can_be_reached(api: Api) -> None:
    for number in range(7):
        api.add(f"Fact number {number}")
    page = api.get("/changes", limit=3)
    found = page["items"]
    while page["next"]:
        page = api.get("/changes", limit=3, cursor=page["next"])
        found = page["items"] + found
    assert [change["after"]["text"] for change in found] == [f"Fact number {number}" for number in range(7)]
    later = api.get("/changes", limit=3, after=found[2]["id"], cursor=found[4]["id"])
    assert [change["id"] for change in later["items"]] == [found[3]["id"]]


def test_all_facts_retire_together_and_come_back_together(api: Api) -> None:
    api.add("One"), api.add("Two")
    changes = api.ask("DELETE", "/memories")["items"]
    assert api.get("/memories")["items"] == []
    api.post(f"/changes/{changes[0]['id']}/undo")
    assert len(api.get("/memories")["items"]) == 2


def test_forgetting_shows_first_then_erases_and_hands_out_a_receipt(api: Api, service: Running) -> None:
    secret = "Xylophone-4711"
    id = api.session(f"My box is {secret}", "Noted.")
    api.post(
        "/memories",
        {"messages": f"The box is {secret}", "infer": False},
        201,
        **{"Idempotency-Key": "keeps a copy"},
    )
    preview = api.post("/forget", {"query": secret, "preview": True})
    assert len(preview["facts"]) == 1
    assert len(preview["events"]) == 1
    assert api.get("/memories")["items"]
    receipt = api.post("/forget", {"query": secret})
    assert receipt["removed"]["events"] == 1
    assert receipt["left"] == {}
    assert api.get("/receipts")["items"][-1]["id"] == receipt["id"]
    assert [event["content"] for event in api.get(f"/sessions/{id}/messages")["items"]] == ["Noted."]
    folder = Path(service.memory.location).parent
    assert secret.encode() not in b"".join(file.read_bytes() for file in folder.iterdir())
    assert api.post("/forget", {"query": secret}, 422)["code"] == "invalid_input"
    assert api.post("/forget", {}, 422)["code"] == "invalid_input"


def test_inference_needs_a_model_and_says_so(api: Api) -> None:
    assert "model" in api.post("/memories", {"messages": "I live in Berlin"}, 422)["detail"]


def test_inference_runs_as_a_job() -> None:
    with running(settings=Settings(port=0), model=FakeModel()) as service:
        other = Api(service.client)
        body = {"messages": [{"role": "user", "content": "I live in Berlin"}], "run_id": "r1"}
        added = other.post("/memories", body, 201)
        assert added["session_id"] == "r1"
        assert other.get("/jobs")["items"][0]["kind"] == "extract"


# ── profile, summaries, traces, jobs
# ─────────────────────────────────────────────────────────────────────────


def test_a_profile_document_is_written_on_the_version_that_was_read(api: Api) -> None:
    empty = api.get("/profile/user")
    first = api.ask("PUT", "/profile/user", json={"text": "# 关于我"}, headers={"If-Match": empty["hash"]})
    assert first["version"] == 1
    stale = api.ask(
        "PUT", "/profile/user", 409, json={"text": "x"}, headers={"If-Match": f'"{empty["hash"]}"'}
    )
    assert stale["code"] == "conflict"
    assert [document["name"] for document in api.get("/profile")["items"]] == ["soul", "identity", "user"]
    assert len(api.get("/profile/user/versions")["items"]) == 1
    assert api.get("/profile/other", 422)["code"] == "invalid_input"


def test_summaries_jobs_and_spend_can_be_seen(api: Api, service: Running) -> None:
    id = api.session(*[f"On June {n % 28 + 1} I paid {n} euros" for n in range(60)])
    service.memory.run_jobs()
    jobs = api.get("/jobs", state="done", kind="summarize")["items"]
    assert jobs[0]["session_id"] == id
    assert api.get(f"/jobs/{jobs[0]['id']}") == jobs[0]
    assert api.post(f"/jobs/{jobs[0]['id']}/retry", None, 409)["code"] == "conflict"
    told = api.get(f"/sessions/{id}/summaries")
    assert told["items"][0]["version"] == 1
    assert api.ask("DELETE", f"/sessions/{id}/summaries")["dropped"] >= 1
    assert api.get("/spend")["items"] == []
    for day in ("-9e-216", "0", "2026-13-01"):
        assert api.get("/spend", since=day, status=422)["code"] == "invalid_input"
    assert {"namespace": "acme", "user": api.who["user"]} in api.get("/users")["items"]


def test_summaries_and_ledger_come_page_by_page(api: Api, service: Running) -> None:
    id = api.session()
    for day in range(1, 5):
        api.say(id, *[f"On June {day} I paid {n}.{day} euros for order AX-{day}{n}" for n in range(80)])
        service.memory.run_jobs()
    told = api.get(f"/sessions/{id}/summaries")
    versions = [summary["version"] for summary in told["items"]]
    assert versions[0] == 1 and len(versions) > 2 and told["next"] is None
    newest = api.get(f"/sessions/{id}/summaries", limit=1)
    assert newest["items"] == told["items"][-1:]
    earlier = api.get(f"/sessions/{id}/summaries", limit=1000, cursor=newest["next"])
    assert earlier["items"] == told["items"][:-1] and earlier["next"] is None
    ledger = api.get(f"/sessions/{id}/ledger", limit=1000)
    some = api.get(f"/sessions/{id}/ledger", limit=1)
    rest = api.get(f"/sessions/{id}/ledger", limit=1000, cursor=some["next"])
    assert some["items"] + rest["items"] == ledger["items"] and len(rest["items"]) > 1


def test_a_job_can_be_cancelled_and_tried_again(api: Api) -> None:
    api.session(*[f"message {n}" for n in range(60)])
    job = api.get("/jobs")["items"][0]
    assert api.post(f"/jobs/{job['id']}/cancel")["state"] == "cancelled"
    assert api.post(f"/jobs/{job['id']}/retry")["state"] == "ready"


def test_a_context_is_traced_and_replayed_under_another_budget_and_policy(api: Api) -> None:
    id = api.session(*[f"message {n} with some words in it" for n in range(40)])
    context = api.get(f"/sessions/{id}/context", budget=2000)
    [trace] = api.get("/traces", session_id=id)["items"]
    assert trace["id"] == context["trace_id"]
    assert api.get(f"/traces/{trace['id']}")["system"] == context["system"]
    same = api.post(f"/traces/{trace['id']}/replay", {})
    assert same["difference"] == ""
    smaller = api.post(f"/traces/{trace['id']}/replay", {"budget": 300})
    assert smaller["after"]["tokens"] <= 300
    wanted = {"policy": {"context_budget": 300}}
    assert api.post(f"/traces/{trace['id']}/replay", wanted)["after"] == smaller["after"]
    assert api.post(f"/traces/{trace['id']}/replay", {**wanted, "budget": 2000})["difference"] == ""
    for wrong in (0, None, "x", 1.5, True):
        api.post(f"/traces/{trace['id']}/replay", {"policy": {"context_budget": wrong}}, 422)
    changed = api.post(f"/traces/{trace['id']}/replay", {"policy": {"summary_share": 0.0}})
    assert changed["tokens"]["total"]
    assert api.post(f"/traces/{trace['id']}/replay", {"policy": {"nope": 1}}, 422)["code"] == "invalid_input"
    assert api.post(f"/traces/{trace['id']}/replay", {"policy": {"age_days": "x"}}, 422)
    assert api.get("/traces/nope", 404)["code"] == "not_found"


# ── files
# ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_exported_can_be_imported(api: Api, service: Running) -> None:
    id = api.session("我小孩今年五岁", "Lovely", "🦖")
    api.ask("PUT", "/profile/user", json={"text": "Parent"})
    api.add("Allergic to peanuts")
    response = api.client.get("/v1/export", params=api.who)
    assert response.headers["content-type"] == "application/x-ndjson"
    kinds = [json.loads(line)["kind"] for line in response.text.splitlines()]
    assert kinds == ["header", "session", *["event"] * 3, "fact", "change", "profile", "end"]
    other = Api(service.client)
    report = other.ask("POST", "/import", content=response.content)
    assert (report["sessions"], report["added"], report["facts"], report["skipped"]) == (1, 3, 1, [])
    assert [fact["text"] for fact in other.get("/memories")["items"]] == ["Allergic to peanuts"]
    assert other.ask("POST", "/import", content=response.content)["added"] == 0
    mine, theirs = api.get(f"/sessions/{id}/messages"), other.get(f"/sessions/{id}/messages")
    assert [event["content"] for event in theirs["items"]] == [event["content"] for event in mine["items"]]
    assert [event["ts"] for event in theirs["items"]] == [event["ts"] for event in mine["items"]]
    one = api.client.get("/v1/export", params={**api.who, "session_id": id})
    assert '"profile"' not in one.text


def test_an_export_leaves_no_file_behind(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    id = api.session()
    texts = [f"message {number}" for number in range(450)]
    api.say(id, *texts)
    for range_ in ({}, {"Range": "bytes=9999999-"}, {"Range": "bytes=abc"}):
        response = api.client.get("/v1/export", params=api.who, headers=range_)
        assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
        lines = [json.loads(line) for line in response.text.splitlines()]
        assert [line["content"] for line in lines if line["kind"] == "event"] == texts
    assert not list(tmp_path.iterdir())
    missing = api.client.get("/v1/export", params={**api.who, "session_id": "nowhere"})
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


def test_a_file_that_is_none_is_refused(api: Api) -> None:
    assert api.ask("POST", "/import", 422, content=b"\x00\x01nonsense")["code"] == "invalid_input"
    assert (
        api.ask("POST", "/import", 422, content=b"", params={"format": "../etc"})["code"] == "invalid_input"
    )


def test_what_was_done_is_listed_page_by_page(api: Api) -> None:
    id = api.session()
    for title in ("a", "b", "c"):
        api.ask("PATCH", f"/sessions/{id}", json={"title": title})
    api.ask("PUT", "/profile/soul", json={"text": "calm"})
    first = api.get("/actions", limit=3)
    assert [(it["action"], it["subject"]) for it in first["items"]] == [
        ("write_profile", "soul"), ("rename_session", id), ("rename_session", id),
    ]  # fmt: skip
    rest = api.get("/actions", limit=3, cursor=first["next"])
    assert [it["action"] for it in rest["items"]] == ["rename_session"] and rest["next"] is None
    assert {it["actor"] for it in first["items"]} == {"app"}
    assert api.get("/actions", 422, cursor="x")["code"] == "invalid_input"


# ── live
# ─────────────────────────────────────────────────────────────────────────────────────────────────────


def listen(api: Api, path: str, work: Any, count: int, **headers: str) -> list[tuple[str, Any]]:
    """The first events of a stream, while ``work`` is done."""
    events: list[tuple[str, Any]] = []
    with api.client.stream("GET", f"/v1{path}", params=api.who, headers=headers, timeout=10) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        started, kind = False, ""
        for line in response.iter_lines():
            if not started:
                started = True
                threading.Timer(0.2, work).start()
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: ") and kind != "ready":
                events.append((kind, json.loads(line[6:])))
                if len(events) == count:
                    break
    return events


def test_messages_are_streamed_as_they_come_also_those_of_other_writers(api: Api, service: Running) -> None:
    id = api.session("before")

    def work() -> None:
        api.say(id, "by http")
        session = service.memory.session(**api.who, session_id=id)
        session.add_message("assistant", "by the library")

    events = listen(api, f"/sessions/{id}/live", work, 3)
    assert [(kind, event["content"]) for kind, event in events] == [
        ("message", "before"),
        ("message", "by http"),
        ("message", "by the library"),
    ]
    resumed = listen(api, f"/sessions/{id}/live", lambda: None, 1, **{"Last-Event-ID": "2"})
    assert resumed[0][1]["content"] == "by the library"


def test_a_user_hears_of_sessions_jobs_and_facts(api: Api) -> None:
    def work() -> None:
        api.session("hi")
        api.add("Likes tea")

    kinds = {kind for kind, _ in listen(api, "/live", work, 2)}
    assert kinds <= {"session", "change"}
    assert kinds


def test_a_user_hears_of_what_is_done_to_anything_else(api: Api) -> None:
    [(kind, action)] = listen(api, "/live", lambda: api.ask("PUT", "/profile/soul", json={"text": "calm"}), 1)
    assert (kind, action["action"], action["subject"]) == ("action", "write_profile", "soul")


def test_a_user_hears_of_every_change_however_many_come_at_once(api: Api) -> None:
    ids = {api.add(f"Fact number {number}") for number in range(60)}
    events = listen(api, "/live", lambda: api.ask("DELETE", "/memories"), 60)
    assert [kind for kind, _ in events] == ["change"] * 60
    assert {change["fact_id"] for _, change in events} == ids


def test_a_session_that_goes_ends_its_stream(api: Api) -> None:
    id = api.session("hi")
    events = listen(api, f"/sessions/{id}/live", lambda: api.ask("DELETE", f"/sessions/{id}"), 2)
    assert [kind for kind, _ in events] == ["message", "gone"]


# ── health and metrics
# ───────────────────────────────────────────────────────────────────────────────────────


def test_health_readiness_and_metrics(api: Api) -> None:
    assert api.client.get("/healthz").json()["status"] == "ok"
    assert api.client.get("/readyz").json()["status"] == "ready"
    assert api.get("/me") == {"role": "admin", "namespace": None, "user": None, "key_id": None}
    api.session()
    text = api.client.get("/metrics").text
    assert 'wellkept_requests_total{method="POST",route="/v1/sessions",status="201"}' in text
    assert 'wellkept_jobs{state="failed"} 0.0' in text
    assert api.who["user"] not in text


def test_times_in_answers_are_aware(api: Api) -> None:
    info = api.get(f"/sessions/{api.session()}")
    assert datetime.fromisoformat(info["created_at"]).tzinfo is not None
    assert time.time() - datetime.fromisoformat(info["created_at"]).timestamp() < 60
