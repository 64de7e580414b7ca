"""Errors as problem details (RFC 9457): every error of ours has a status, a code and a next step."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from wellkept import errors
from wellkept.errors import BudgetExceeded, WellkeptError
from wellkept.server.providers import error_at

log = logging.getLogger("wellkept.server")

MEDIA_TYPE = "application/problem+json"
# What is about a person stays in no cache, and is taken for nothing but what it says it is.
PRIVATE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
STATUS: dict[type[WellkeptError], int] = {
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.InvalidInput: 422,
    errors.BudgetExceeded: 422,
    errors.StoreReadOnly: 403,
    errors.StoreBusy: 503,
    errors.StoreFull: 507,
    errors.ModelError: 502,
    errors.MissingExtra: 501,
    errors.Unsupported: 501,
}


class ProblemBody(BaseModel):
    """An error as its reader gets it: ``detail`` says what to do next, ``code`` is for programs."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    missing: int | None = None


class Problem(HTTPException):
    """An error of the service itself, with what its problem body says."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.code = code


def status_of(error: WellkeptError) -> int:
    """The HTTP status that stands for one of the library's errors."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def shown(error: WellkeptError) -> str:
    """What an error says to a caller, to whom it is nothing where the store lies."""
    path = error.path if isinstance(error, errors.StoreError) else ""
    return str(error).replace(path, "the store") if path else str(error)


def code_of(error: WellkeptError) -> str:
    """The name of one of the library's errors as programs read it: ``not_found``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()


def problem(
    status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """The response that tells an error."""
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code, **more}
    data = json.dumps(body, ensure_ascii=False).encode(errors="replace")
    return Response(data, status, {**PRIVATE, **(headers or {})}, MEDIA_TYPE)


def of_error(error: WellkeptError) -> Response:
    """One of the library's errors as a response."""
    more = {"missing": error.missing} if isinstance(error, BudgetExceeded) else {}
    status = status_of(error)
    headers = {"retry-after": "1"} if status == 503 else {}
    return problem(status, code_of(error), shown(error), headers=headers, **more)


async def _library(request: Request, error: Exception) -> Response:
    assert isinstance(error, WellkeptError)
    if isinstance(error, errors.StoreError):
        log.warning("A request failed: %s", error)
    return of_error(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if found and found[0]["type"] == "json_invalid":
        return problem(400, "broken_json", f"The body is no JSON: {found[0]['ctx']['error']}.")
    if any(item["loc"] == ("body",) and item["type"] != "missing" for item in found) and not is_json(request):
        return problem(415, "not_json", "Send the body as JSON, with Content-Type: application/json.")
    said = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in found)
    return problem(422, "invalid_input", said)


def is_json(request: Request) -> bool:
    """Whether a request says that its body is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path, status, detail = request.url.path, error.status_code, error.detail
    meant = path.rstrip("/")
    if isinstance(error, Problem):
        return told(path, status, error.code, detail, error.headers)
    if status == 404:
        detail = f"There is nothing at {path!r:.200}. The list of paths is at /openapi.json."
        if meant.endswith(("/chat/completions", "/messages", "/responses")):
            detail += " The base URL for a provider's SDK ends in /openai/v1 or /anthropic."
    if status == 400 and isinstance(error.__cause__, (ValueError, RecursionError)):
        detail = f"The body cannot be read: {error.__cause__}."
    if status == 405:
        return told(path, status, _code(status), detail, {"allow": _allowed(request)})
    # Whoever forgot the gateway's prefix reads OpenAI's errors only.
    at = "/openai/" if meant.endswith("/chat/completions") else path
    return told(at, status, _code(status), detail, error.headers)


def _allowed(request: Request) -> str:
    """The methods of every route that there is at a path: each alone knows its own."""
    methods: set[str] = set()
    for route in request.app.router.routes:
        if route.matches(request.scope)[0] is Match.PARTIAL:
            methods |= route.methods
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))


def told(
    path: str, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as the clients know it who ask at ``path``: a provider's, or a problem."""
    known = error_at(path, status, detail)
    if known is None:
        return problem(status, code, detail, headers=headers)
    return Response(known, status, {"x-wellkept-source": "gateway", **(headers or {})}, "application/json")


def _code(status: int) -> str:
    return HTTPStatus(status).phrase.lower().replace(" ", "_")


async def _unexpected(request: Request, error: Exception) -> Response:
    return problem(500, "internal_error", "This should not happen. The service's log says more.")


_HANDLERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    WellkeptError: _library,
    RequestValidationError: _invalid,
    HTTPException: _http,
    Exception: _unexpected,
}


def install(app: FastAPI) -> None:
    """Have every error of ``app`` told as a problem."""
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)


async def answer_to(request: Request, error: Exception) -> Response:
    """What ``app`` would answer to an error."""
    kind, handler = next(item for item in _HANDLERS.items() if isinstance(error, item[0]))
    if kind is Exception:
        log.error("A request failed", exc_info=error)
    return await handler(request, error)
