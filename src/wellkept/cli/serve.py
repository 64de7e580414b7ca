"""``wellkept serve``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from wellkept import formats, samples
from wellkept.aio import AsyncMemory
from wellkept.cli.clock import StoryClock
from wellkept.cli.importer import Importer
from wellkept.cli.target import Target, mirror_option, target_options
from wellkept.errors import MissingExtra
from wellkept.memory import Memory
from wellkept.models import Model, load
from wellkept.records import Policy

if TYPE_CHECKING:
    from wellkept.server.settings import Settings

SAMPLE_NAMESPACE, SAMPLE_USER = "demo", "linyue"


def _address(value: str) -> str:
    """The address of an upstream."""
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise click.BadParameter(f"{value!r} is no address such as https://api.example.com/v1.")
    return value


@click.command("serve")
@target_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port; 0 for any free one.",
)
@click.option("--model", metavar="PROVIDER:MODEL", help="Writes summaries and facts, e.g. ollama:qwen3.")
@click.option(
    "--traces",
    default=50,
    show_default=True,
    help="Contexts of a session to keep for replay; -1 for all of them.",
)
@mirror_option
@click.option("--worker/--no-worker", default=True, show_default=True, help="Do background work in here too.")
@click.option(
    "--openai-upstream",
    type=_address,
    metavar="URL",
    envvar="WELLKEPT_OPENAI_UPSTREAM",
    show_envvar=True,
    help="Where the gateway sends OpenAI's requests; api.openai.com if not given.",
)
@click.option(
    "--anthropic-upstream",
    type=_address,
    metavar="URL",
    envvar="WELLKEPT_ANTHROPIC_UPSTREAM",
    show_envvar=True,
    help="Where the gateway sends Anthropic's requests; api.anthropic.com if not given.",
)
@click.option(
    "--memory-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="How long a request of the gateway waits for memory before it goes through without.",
)
@click.option("--fake-upstream", is_flag=True, help="Let a bundled stand-in for a model answer the gateway.")
@click.option("--sample", is_flag=True, help="Load the bundled conversation first.")
def serve_command(
    target: Target,
    host: str,
    port: int,
    model: str | None,
    traces: int,
    mirror: str | None,
    worker: bool,
    openai_upstream: str | None,
    anthropic_upstream: str | None,
    memory_seconds: float,
    fake_upstream: bool,
    sample: bool,
) -> None:
    """Serve a store over HTTP, with the gateway, MCP and the panel.

    Without any key (see `wellkept keys`) it listens on this machine only, and a request that names no namespace
    and user is about those given here.
    """
    from wellkept.server.fake import FakeUpstream
    from wellkept.server.settings import Settings

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    settings = Settings(
        host=host,
        port=port,
        namespace=target.namespace or (SAMPLE_NAMESPACE if sample else None),
        user=target.user or (SAMPLE_USER if sample else None),
        openai_upstream=openai_upstream or Settings.openai_upstream,
        anthropic_upstream=anthropic_upstream or Settings.anthropic_upstream,
        memory_seconds=memory_seconds,
    )
    if sample:
        _load_sample(target.location())
    with ExitStack() as stack:
        if fake_upstream:
            url = stack.enter_context(FakeUpstream()).url + "/v1"
            settings = replace(settings, openai_upstream=url, anthropic_upstream=url)
        _serve(
            target.location(),
            settings,
            _Options(load(model) if model else None, traces, mirror, worker, sample),
        )


@dataclass(frozen=True)
class _Options:
    model: Model | None
    traces: int
    mirror: str | None
    worker: bool
    sample: bool


def _serve(location: str, settings: Settings, options: _Options) -> None:
    try:
        from wellkept.server import app, run, spans
    except ImportError as error:
        raise MissingExtra("server", "The service") from error
    spans.export()
    with Memory(location, worker=False) as opened:
        run.check(opened, settings)
        has_keys = opened.keys.any()
    policy = Policy(debug_trace=options.traces)
    memory = AsyncMemory(
        location, model=options.model, policy=policy, worker=options.worker, mirror=options.mirror
    )
    run.serve(app.create_app(memory, settings), on_ready=lambda url: _greet(url, has_keys, options.sample))


def _load_sample(location: str) -> None:
    """Write the bundled conversation and facts from it into the store. Nothing is doubled when it is there already, and a fact
    that was changed or forgotten since stays so."""
    clock = StoryClock()
    with Memory(location, clock=clock, worker=False) as memory:
        importer = Importer(memory, clock, namespace=SAMPLE_NAMESPACE, user=SAMPLE_USER, skip_bad=False)
        importer.run(_sample())
        importer.run(formats.read(samples.facts()))


def _greet(url: str, has_keys: bool, sample: bool) -> None:
    click.echo(f"wellkept listens on {url}")
    if not has_keys:
        click.echo("There are no keys: only this machine can reach it. `wellkept keys create` makes one.")
    if sample:
        click.echo(f"\nThe panel: {url}/\n\nTo try in another terminal:\n")
        for command in _examples(url):
            click.echo(f"  {command}\n")


def _examples(url: str) -> tuple[str, ...]:
    """Three commands over the bundled conversation: search, a context, and a chat through the gateway."""
    session = next(item.external_id for item in _sample() if isinstance(item, formats.SessionStart))
    asked = '{"model": "any", "messages": [{"role": "user", "content": "离上线还有几天？"}]}'
    head = f"-H 'content-type: application/json' -H 'X-Wellkept-Session: {session}'"
    return (
        f"curl -sG {url}/v1/search --data-urlencode 'query=拾光 2.0 定在哪天上线？' -d limit=3",
        f"curl -s '{url}/v1/sessions/{session}/context?budget=1000'",
        f"curl -s {url}/openai/v1/chat/completions {head} -d '{asked}'",
    )


def _sample() -> Iterator[formats.Item]:
    return formats.read(Path(samples.path()))
