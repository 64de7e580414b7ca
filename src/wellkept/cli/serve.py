"""``wellkept serve``."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from wellkept import formats, samples
from wellkept.aio import AsyncMemory
from wellkept.cli.clock import StoryClock
from wellkept.cli.importer import Importer
from wellkept.cli.target import Target, target_options
from wellkept.errors import MissingExtra
from wellkept.memory import Memory
from wellkept.models import load

SAMPLE_NAMESPACE, SAMPLE_USER = "demo", "linyue"


@click.command("serve")
@target_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8765, show_default=True, help="The port; 0 for any free one.")
@click.option("--model", metavar="PROVIDER:MODEL", help="Writes summaries and facts, e.g. ollama:qwen3.")
@click.option("--worker/--no-worker", default=True, show_default=True, help="Do background work in here too.")
@click.option("--sample", is_flag=True, help="Load the bundled conversation first.")
def serve_command(
    target: Target, host: str, port: int, model: str | None, worker: bool, sample: bool
) -> None:
    """Serve a store over HTTP, with the gateway, MCP and the panel.

    Without any key (see `wellkept keys`) it listens on this machine only, and a request that names no namespace
    and user is about those given here.
    """
    try:
        from wellkept.server import Settings, create_app
        from wellkept.server.run import check, serve
    except ImportError as error:
        raise MissingExtra("server", "The service") from error
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    location = target.location()
    if sample:
        _load_sample(location)
    settings = Settings(host=host, port=port, namespace=target.namespace, user=target.user)
    memory = AsyncMemory(location, model=load(model) if model else None, worker=worker)
    with Memory(location, worker=False) as looked_at:
        check(looked_at, settings)
        open_door = not looked_at.keys.any()
    serve(create_app(memory, settings), on_ready=lambda url: _greet(url, open_door, target, sample))


def _load_sample(location: str) -> None:
    """Write the bundled conversation into the store; nothing is doubled when it is there already."""
    clock = StoryClock()
    with Memory(location, clock=clock, worker=False) as memory:
        importer = Importer(memory, clock, namespace=SAMPLE_NAMESPACE, user=SAMPLE_USER, skip_bad=False)
        importer.run(formats.read(Path(samples.path())))


def _greet(url: str, open_door: bool, target: Target, sample: bool) -> None:
    click.echo(f"wellkept listens on {url}")
    if open_door:
        click.echo("There are no keys: only this machine can reach it. `wellkept keys create` makes one.")
