"""The MCP server with the official client, over stdio and over streamable HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.service import ROOT, Running, running
from wellkept import Memory

READING = {"memory_recall", "memory_list", "memory_context"}
ALL = READING | {"memory_store", "memory_update", "memory_forget"}
Work = Callable[[Client], Awaitable[None]]


def stdio(store: Path, *arguments: str) -> Any:
    command = ["-m", "wellkept.cli", "mcp", "--store", str(store), "--namespace", "acme", "--user", "alice"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return stdio_client(StdioServerParameters(command=sys.executable, args=[*command, *arguments], env=env))


@asynccontextmanager
async def http(service: Running, key: str | None = None) -> AsyncIterator[Any]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=20) as client,
        streamable_http_client(service.url + "/mcp", http_client=client) as streams,
    ):
        yield streams


def talk(transport: Any, work: Work) -> None:
    async def main() -> None:
        async with Client(transport) as client:
            await work(client)

    anyio.run(main)


async def result(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    called = await client.call_tool(tool, arguments)
    data: dict[str, Any] = json.loads(called.content[0].text)  # type: ignore[union-attr]
    assert called.structured_content == data
    assert called.is_error is not data["ok"]
    return data


async def whole_life(client: Client) -> None:
    stored = await result(client, "memory_store", content="Allergic to peanuts", labels=["health"])
    id = stored["results"][0]["id"]
    found = await result(client, "memory_recall", query="peanuts 花生")
    assert [item["memory"] for item in found["items"]] == ["Allergic to peanuts"]
    assert (await result(client, "memory_update", memory_id=id, content="Allergic to nuts"))["ok"]
    listed = await result(client, "memory_list")
    assert [(item["id"], item["memory"]) for item in listed["items"]] == [(id, "Allergic to nuts")]
    context = await result(client, "memory_context", query="nuts", budget=1000)
    assert "Allergic to nuts" in context["text"]
    assert (await result(client, "memory_forget", memory_id=id))["forgotten"] == id
    assert (await result(client, "memory_list"))["items"] == []


async def tools(client: Client) -> dict[str, Any]:
    return {tool.name: tool for tool in (await client.list_tools()).tools}


def test_a_facts_whole_life_over_stdio(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        assert set(await tools(client)) == ALL
        await whole_life(client)

    talk(stdio(tmp_path / "chat.db"), work)
    with Memory(str(tmp_path / "chat.db"), worker=False) as memory:
        assert [
            fact.text for fact in memory.user("alice", namespace="acme").get_all(states=("retired",))
        ] == ["Allergic to nuts"]


def test_a_facts_whole_life_over_http() -> None:
    with running() as service:
        talk(http(service), whole_life)


def test_tools_say_what_they_do_and_have_no_argument_for_whose_memory(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        known = await tools(client)
        for name, tool in known.items():
            assert tool.annotations.read_only_hint is (name in READING)
            assert tool.annotations.open_world_hint is False
            assert tool.description
            properties = set(tool.input_schema["properties"])
            assert not properties & {"user", "user_id", "namespace", "scope"}
        destructive = {name for name, tool in known.items() if tool.annotations.destructive_hint}
        assert destructive == {"memory_update", "memory_forget"}

    talk(stdio(tmp_path / "chat.db"), work)


def test_the_context_is_that_of_the_latest_conversation_or_the_one_named(tmp_path: Path) -> None:
    store = tmp_path / "chat.db"
    with Memory(str(store), worker=False) as memory:
        for user, session, text in (
            ("alice", "first", "周六去看恐龙展"),
            ("alice", "second", "On Monday I fly to Berlin"),
            ("bob", "his", "4711"),
        ):
            chat = memory.session(namespace="acme", user=user, session_id=session, create=True)
            chat.add_message("user", text)

    async def work(client: Client) -> None:
        assert "Berlin" in (await result(client, "memory_context"))["text"]
        assert "恐龙展" in (await result(client, "memory_context", session_id="first"))["text"]
        foreign = await result(client, "memory_context", session_id="his")
        assert (foreign["ok"], foreign["error"]) == (False, "not_found")
        assert "4711" not in json.dumps(await result(client, "memory_recall", query="4711"))
        wrong = await result(client, "memory_context", user="bob")
        assert wrong["error"] == "invalid_argument"

    talk(stdio(store), work)


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (
            r'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\ud800"}}',
            7,
            types.INVALID_REQUEST,
        ),
        ('{"jsonrpc": "2.0", "id": 8, "methodd": "ping"}', 8, types.INVALID_REQUEST),
        ("no JSON", None, types.PARSE_ERROR),
        ("[]", None, types.PARSE_ERROR),
    ],
)
def test_a_line_that_is_no_request_is_answered(tmp_path: Path, line: str, id: int | None, code: int) -> None:
    command = ["-m", "wellkept.cli", "mcp", "--store", str(tmp_path / "chat.db"), "--namespace", "acme"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, *command, "--user", "alice"],
        input=line + "\n", env=env, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert (answer["id"], answer["error"]["code"]) == (id, code)


def test_a_tool_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    for options, offered in (((), ALL), (("--read-only",), READING)):

        async def work(client: Client, offered: set[str] = offered) -> None:
            refused = await result(client, "memory_erase")
            assert refused["error"] == "unknown_tool"
            assert set(refused["available_tools"]) == offered

        talk(stdio(tmp_path / "chat.db", *options), work)


def test_a_reading_client_is_offered_no_tool_that_writes_and_may_call_none(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        assert set(await tools(client)) == READING
        assert (await result(client, "memory_store", content="x"))["error"] == "forbidden"

    talk(stdio(tmp_path / "chat.db", "--read-only"), work)


def test_what_a_reading_client_recalls_is_not_counted(tmp_path: Path) -> None:
    def uses() -> int:
        with Memory(tmp_path / "chat.db", worker=False) as memory:
            [fact] = memory.user("alice", namespace="acme").get_all()
            return fact.uses

    async def work(client: Client) -> None:
        assert len((await result(client, "memory_recall", query="恐龙"))["items"]) == 1

    with Memory(tmp_path / "chat.db", worker=False) as memory:
        memory.user("alice", namespace="acme").add("喜欢恐龙", infer=False)
    talk(stdio(tmp_path / "chat.db", "--read-only"), work)
    assert uses() == 0
    talk(stdio(tmp_path / "chat.db"), work)
    assert uses() == 1


def test_over_http_the_key_says_whose_memory_it_is() -> None:
    with running() as service:
        keys = service.memory.keys
        _, alice = keys.create(namespace="acme", user="alice")
        _, bob = keys.create(namespace="acme", user="bob", role="reader")
        _, everybody = keys.create(namespace="acme")

        async def remember(client: Client) -> None:
            assert (await result(client, "memory_store", content="Likes 恐龙"))["ok"]

        async def look(client: Client) -> None:
            assert set(await tools(client)) == READING
            assert (await result(client, "memory_list"))["items"] == []

        talk(http(service, alice), remember)
        talk(http(service, bob), look)
        assert service.client.post("/mcp", json={}).status_code == 401
        refused = service.client.post("/mcp", json={}, headers={"authorization": f"Bearer {everybody}"})
        assert (refused.status_code, refused.json()["code"]) == (403, "unbound")


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}])
def test_pages_of_other_sites_do_not_get_in(headers: dict[str, str]) -> None:
    with running() as service:
        assert service.client.post("/mcp", json={}, headers=headers).status_code == 421
