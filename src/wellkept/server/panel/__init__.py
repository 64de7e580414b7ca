"""The panel: pages at ``/`` that show a person what the memory holds, and what a model saw of it.

Templates on the server, htmx in the browser, no build step. Every action calls the verb of the library that the HTTP
API calls, on behalf of the user.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from wellkept.server import problems
from wellkept.server.panel import (
    desk,
    door,
    facts,
    forget,
    jobs,
    requests,
    review,
    search,
    sessions,
    summaries,
)

NOUNS = (door, sessions, requests, summaries, facts, forget, review, search, jobs)


def install(app: FastAPI) -> None:
    """Put the panel's pages into ``app``."""
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    for noun in NOUNS:
        app.include_router(noun.router, include_in_schema=False)
    app.add_exception_handler(HTTPException, _lost)


async def _lost(request: Request, error: Exception) -> Response:
    """A page for a person at an address where there is nothing; programs get the problem."""
    nowhere = (
        isinstance(error, HTTPException)
        and error.status_code == 404
        and not isinstance(error, problems.Problem)
    )
    if nowhere and request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return desk.lost(request)
    return await problems.answer_to(request, error)
