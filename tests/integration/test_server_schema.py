"""The OpenAPI file, held against the service with generated requests, good and bad."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as conformance

from tests.service import Running, running
from wellkept.server import openapi
from wellkept.server.api import routes

EXAMPLES = 12
METHODS = ("get", "post", "put", "patch", "delete")

KNOWN = {"session_id": "s", "event_id": "s:1", "name": "user"}
ALWAYS = [
    checks.not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_schema_conformance,
]
CHOSEN = {
    GenerationMode.POSITIVE: ALWAYS,
    GenerationMode.NEGATIVE: [*ALWAYS, conformance.negative_data_rejection],
}


def described() -> dict[str, Any]:
    app = FastAPI(title="wellkept", version="1")
    app.router.routes += routes()
    openapi.install(app)
    return app.openapi()


OPENAPI = described()
NO_HTTP = "Invalid HTTP request received."
# A stream has no end to wait for.
OPERATIONS = [
    (method, path)
    for path, item in OPENAPI["paths"].items()
    for method in METHODS
    if method in item and not path.endswith("/live")
]
CASES = [
    (method, path, mode)
    for method, path in OPERATIONS
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    if mode is GenerationMode.POSITIVE or OPENAPI["paths"][path][method].get("parameters")
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    store = tmp_path_factory.mktemp("schema") / "chat.db"
    with running(str(store)) as service:
        chat = service.memory.session(namespace="acme", user="alice", session_id="s", create=True)
        chat.add_message("user", "我小孩今年五岁，对恐龙特别着迷")
        added = service.memory.user("alice", namespace="acme").add("Allergic to peanuts", infer=False)
        KNOWN["memory_id"] = added["results"][0]["id"]
        yield service


@pytest.mark.parametrize(("method", "path", "mode"), CASES)
def test_the_service_does_what_its_schema_says(
    service: Running, method: str, path: str, mode: GenerationMode
) -> None:
    operation = schemathesis.openapi.from_dict(OPENAPI)[path][method.upper()]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:
            at_home(case)
        response = case.call(base_url=service.url, timeout=20)
        if response.text != NO_HTTP:  # what is no HTTP is refused before the service sees it
            case.validate_response(response, checks=CHOSEN[mode])

    check()


def at_home(case: Any) -> None:
    """Let a request be about what is there: a made-up name is only ever not found."""
    for name in ("namespace", "user"):
        (case.query or {}).pop(name, None)
        (case.headers or {}).pop(f"x-wellkept-{name}", None)
    for name, value in KNOWN.items():
        if name in (case.path_parameters or {}):
            case.path_parameters[name] = value
