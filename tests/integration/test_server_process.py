"""The service as a process: it starts, is killed, and is told to stop."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.service import Process, running
from tests.upstream import Upstream, stall_chunks
from wellkept import Memory
from wellkept.cli.serve import _examples
from wellkept.models import Reply
from wellkept.server import Settings

WHO = ("--namespace", "acme", "--user", "alice")


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def contents(store: Path, session: str) -> list[Any]:
    with Memory(str(store), worker=False) as memory:
        chat = memory.session(namespace="acme", user="alice", session_id=session)
        return [event.content for event in chat.get_events(after=0, limit=100_000)]


def test_it_starts_says_where_and_stops(tmp_path: Path) -> None:
    with Process("--store", str(tmp_path / "chat.db"), *WHO) as service:
        assert service.client.get("/healthz").status_code == 200
        assert service.client.post("/v1/sessions", json={"id": "s"}).status_code == 201
        assert service.stop(signal.SIGTERM) == 0
    assert "There are no keys: only this machine can reach it" in service.said
    assert "Traceback" not in service.said


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    """Four clients write while the process is killed; each acknowledged message is there, once, in order."""
    store = tmp_path / "chat.db"
    acknowledged: dict[str, list[str]] = {f"s{n}": [] for n in range(4)}
    with Process("--store", str(store), *WHO) as service:
        for session in acknowledged:
            service.client.post("/v1/sessions", json={"id": session})

        def write(session: str) -> None:
            with httpx2.Client(base_url=service.url, trust_env=False) as client:
                for number in range(100_000):
                    text = f"{session} 消息 {number}"
                    try:
                        answer = client.post(f"/v1/sessions/{session}/messages", json=said(text))
                    except httpx2.TransportError:
                        return
                    assert answer.status_code == 201
                    acknowledged[session].append(text)

        threads = [threading.Thread(target=write, args=(session,)) for session in acknowledged]
        for thread in threads:
            thread.start()
        while min(map(len, acknowledged.values())) < 20:
            time.sleep(0.01)
        service.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
    for session, texts in acknowledged.items():
        found = contents(store, session)
        assert found[: len(texts)] == texts
        assert len(found) <= len(texts) + 1, "at most the one that was not acknowledged any more"


def test_what_is_sent_again_with_its_key_after_a_kill_is_done_once(tmp_path: Path) -> None:
    """Eight clients begin sessions while the process is killed; each sends its last ones again."""
    store, sent = tmp_path / "chat.db", [0] * 8

    def begin(client: httpx2.Client, name: str) -> httpx2.Response:
        return client.post("/v1/sessions", json={"title": name}, headers={"Idempotency-Key": name})

    with Process("--store", str(store), *WHO) as service:

        def write(place: int) -> None:
            with httpx2.Client(base_url=service.url, trust_env=False) as client:
                while True:
                    sent[place] += 1
                    try:
                        begin(client, f"{place}-{sent[place]}")
                    except httpx2.TransportError:
                        return

        threads = [threading.Thread(target=write, args=(place,)) for place in range(8)]
        for thread in threads:
            thread.start()
        while min(sent) < 20:
            time.sleep(0.01)
        service.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
    with Process("--store", str(store), *WHO) as service:
        for place, count in enumerate(sent):
            for number in (count - 1, count):
                assert begin(service.client, f"{place}-{number}").status_code == 201
    with Memory(str(store), worker=False) as memory:
        found = memory.user("alice", namespace="acme").sessions(limit=100_000)
    assert sorted(info.title for info in found) == sorted(
        f"{place}-{number}" for place, count in enumerate(sent) for number in range(1, count + 1)
    )


def test_an_answer_that_a_caller_has_read_is_there_after_a_kill(tmp_path: Path) -> None:
    """Through the gateway: each question and each answer that came to its end, once, in order."""
    store = tmp_path / "chat.db"
    read: list[str] = []
    with Process("--store", str(store), *WHO, "--fake-upstream") as service:

        def chat() -> None:
            headers = {"X-Wellkept-Session": "s"}
            with httpx2.Client(base_url=service.url, trust_env=False) as client:
                for number in range(100_000):
                    asked = {"model": "m", "stream": number % 2 == 0, **said(f"第 {number} 个问题")}
                    try:
                        client.post("/openai/v1/chat/completions", json=asked, headers=headers)
                    except httpx2.TransportError:
                        return
                    read.append(f"第 {number} 个问题")

        thread = threading.Thread(target=chat)
        thread.start()
        while len(read) < 10:
            time.sleep(0.01)
        service.stop(signal.SIGKILL)
        thread.join()
    found = contents(store, "s")
    assert found[: 2 * len(read) : 2] == read
    assert all(
        answer.startswith(f"You said: {asked}\n") for asked, answer in zip(read, found[1::2], strict=False)
    )
    assert 2 * len(read) <= len(found) <= 2 * len(read) + 2, "at most the round that was not read to its end"


def test_requests_that_run_are_finished_before_the_end(tmp_path: Path) -> None:
    store = tmp_path / "chat.db"
    with Process("--store", str(store), *WHO) as service:
        service.client.post("/v1/sessions", json={"id": "s"})
        body = json.dumps(said("half here, half later")).encode()

        def slow() -> Any:
            yield body[:10]
            stopping.set()
            time.sleep(0.5)
            yield body[10:]

        stopping, answers = threading.Event(), []

        def send() -> None:
            with httpx2.Client(base_url=service.url, trust_env=False, timeout=20) as client:
                headers = {"content-type": "application/json"}
                answers.append(client.post("/v1/sessions/s/messages", content=slow(), headers=headers))

        thread = threading.Thread(target=send)
        thread.start()
        stopping.wait(10)
        time.sleep(0.2)
        assert service.stop(signal.SIGTERM) == 0
        thread.join()
    assert answers[0].status_code == 201
    assert contents(store, "s") == ["half here, half later"]


def test_a_stream_that_outlasts_the_stop_ends_without_a_trace(tmp_path: Path) -> None:
    with Upstream() as upstream:
        upstream.script = [stall_chunks("half of it")]
        where = ("--openai-upstream", upstream.url + "/v1")
        with Process("--store", str(tmp_path / "chat.db"), *WHO, *where) as service:
            body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
            path, headers = "/openai/v1/chat/completions", {"X-Wellkept-Session": "s"}
            with service.client.stream("POST", path, json=body, headers=headers) as response:
                pieces = response.iter_raw()
                assert b"half" in next(pieces)
                assert service.stop(signal.SIGTERM) == 0
                with pytest.raises(httpx2.RemoteProtocolError):
                    list(pieces)
    assert "Traceback" not in service.said
    assert contents(tmp_path / "chat.db", "s")[0] == "hi"


def test_live_streams_end_when_the_service_stops(tmp_path: Path) -> None:
    with Process("--store", str(tmp_path / "chat.db"), *WHO) as service:
        service.client.post("/v1/sessions", json={"id": "s"})
        with service.client.stream("GET", "/v1/live") as response:
            lines = response.iter_lines()
            next(lines)
            start = time.monotonic()
            assert service.stop(signal.SIGTERM) == 0
            assert time.monotonic() - start < 8
            assert list(lines) is not None
    assert "Traceback" not in service.said


class StuckModel:
    """A model that does not come back."""

    name = "stuck"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.released = threading.Event()

    def complete(self, *_: Any, **__: Any) -> Reply:
        self.asked.set()
        self.released.wait(60)
        raise AssertionError("nobody waits for this any more")


def test_a_job_that_does_not_end_is_handed_back(tmp_path: Path, monkeypatch: Any) -> None:
    from wellkept import jobs

    monkeypatch.setattr(jobs.Runner.stop, "__defaults__", (0.2,))
    store, model = tmp_path / "chat.db", StuckModel()
    with running(
        str(store), Settings(namespace="acme", user="alice", port=0), model=model, worker=True
    ) as service:
        service.client.post("/v1/sessions", json={"id": "s"})
        for number in range(60):
            service.client.post("/v1/sessions/s/messages", json=said(f"On June {number % 28 + 1}: {number}"))
        assert model.asked.wait(20)
    with Memory(str(store), worker=False) as memory:
        taken = [job for job in memory.jobs.list() if job.attempts]
        assert [job.state for job in taken] == ["ready"]
        assert "begins again" in (taken[0].last_error or "")
    model.released.set()


def test_a_worker_beside_it_does_the_jobs(tmp_path: Path) -> None:
    store = tmp_path / "chat.db"
    with Process("--store", str(store), *WHO, "--no-worker") as service:
        service.client.post("/v1/sessions", json={"id": "s"})
        for number in range(60):
            service.client.post("/v1/sessions/s/messages", json=said(f"On June {number % 28 + 1}: {number}"))
        assert service.client.get("/v1/jobs").json()["items"][0]["state"] == "ready"
        worker = subprocess.Popen(
            [sys.executable, "-m", "wellkept.cli", "worker", "--store", str(store)], env=service.environment
        )
        try:
            deadline = time.monotonic() + 20
            while not service.client.get("/v1/jobs?state=done").json()["items"]:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            worker.terminate()
            assert worker.wait(20) == 0


def test_the_sample_conversation_is_loaded_once_and_its_examples_work(tmp_path: Path) -> None:
    store = tmp_path / "chat.db"
    for _ in range(2):
        with Process("--store", str(store), "--sample", "--fake-upstream") as service:
            [info] = service.client.get("/v1/sessions").json()["items"]
            service.stop()
        assert info["events"] == 149
    with Process("--store", str(store), "--sample", "--fake-upstream") as service:
        search, context, chat = [
            subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True).stdout
            for command in _examples(service.url)
        ]
        assert "6月28日" in search
        assert 0 < json.loads(context)["tokens"] <= 1000
        assert "离上线还有几天？" in json.loads(chat)["choices"][0]["message"]["content"]
        service.stop()
        assert f"The panel: {service.url}/" in service.said


def test_keys_are_made_listed_and_revoked_by_command(tmp_path: Path) -> None:
    store = str(tmp_path / "chat.db")

    def keys(*arguments: str) -> str:
        command = [sys.executable, "-m", "wellkept.cli", "keys", *arguments, "--store", store]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=Process.environment)
        return done.stdout

    secret = keys("create", "--namespace", "acme", "--role", "reader").strip()
    assert secret.startswith("wk_")
    assert secret not in keys("list")
    listed = json.loads(keys("list", "--json"))
    assert [(key["role"], key["user"], key["revoked_at"]) for key in listed] == [("reader", None, None)]
    keys("revoke", listed[0]["id"])
    assert json.loads(keys("list", "--json"))[0]["revoked_at"]
    with sqlite3.connect(store) as database:
        assert secret not in str(database.execute("SELECT * FROM api_keys").fetchall())
    database.close()


def test_a_login_outlives_its_process_and_ends_everywhere_with_its_key(tmp_path: Path) -> None:
    store = str(tmp_path / "chat.db")
    with Memory(store, worker=False) as memory:
        key, secret = memory.keys.create(namespace="acme", user="alice", role="reader")
    with Process("--store", store) as first, Process("--store", store) as second:
        form = {"data": {"key": secret}, "headers": {"sec-fetch-site": "same-origin"}}
        cookie = {"cookie": first.client.post("/login", **form).headers["set-cookie"].partition(";")[0]}
        assert second.client.get("/sessions").status_code == 303
        assert second.client.get("/sessions", headers=cookie).status_code == 200
        first.stop(signal.SIGKILL)
        assert second.client.get("/sessions", headers=cookie).status_code == 200
        with Process("--store", store) as third:
            assert third.client.get("/sessions", headers=cookie).status_code == 200
            with Memory(store, worker=False) as memory:
                memory.keys.revoke(key.id)
            for service in (second, third):
                assert service.client.get("/sessions", headers=cookie).status_code == 303
