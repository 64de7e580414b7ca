"""Turns what was read into HTML, with everything that was not written here escaped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from wellkept.policy.text.keydata import extract
from wellkept.records import plain

HERE = Path(__file__).parent
SECURITY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With "no-referrer" browsers would hide the origin of our own forms, and the check of it would refuse them.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def html(template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A template filled in, as a response that lets nothing else in."""
    return HTMLResponse(_environment().get_template(template).render(values), status, SECURITY)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(when=when, number=number, json=pretty, marked=marked)
    environment.globals["static"] = static
    return environment


@cache
def static(name: str) -> str:
    """The address of a static file, which changes with its content."""
    digest = hashlib.sha256((HERE / "static" / name).read_bytes()).hexdigest()
    return f"/static/{name}?{digest[:12]}"


def when(moment: datetime | None, zone: str) -> Markup:
    """A moment in the users' zone."""
    if moment is None:
        return Markup("")
    local = moment.astimezone(ZoneInfo(zone))
    return Markup('<time datetime="{}">{}</time>').format(local.isoformat(), local.strftime("%Y-%m-%d %H:%M"))


def number(value: float) -> str:
    """A number with its thousands apart."""
    return f"{value:,.0f}"


def pretty(value: Any) -> str:
    """Records or plain data as JSON to read."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2)


def marked(text: str) -> Markup:
    """``text`` with its key data marked, each kind as a class."""
    pieces, end = [], 0
    for datum in extract(text):
        if datum.start < end:
            continue
        pieces += [Markup.escape(text[end : datum.start])]
        pieces += [Markup('<mark class="key-{}">{}</mark>').format(datum.kind, datum.text)]
        end = datum.end
    return Markup("").join([*pieces, text[end:]])
