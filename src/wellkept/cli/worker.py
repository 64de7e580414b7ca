"""``wellkept worker``."""

from __future__ import annotations

import logging
import signal
import threading

import click

from wellkept.cli.target import Target, mirror_option, target_options
from wellkept.memory import Memory
from wellkept.models import load


@click.command("worker")
@target_options
@click.option("--model", metavar="PROVIDER:MODEL", help="Writes summaries and facts, e.g. ollama:qwen3.")
@mirror_option
def worker_command(target: Target, model: str | None, mirror: str | None) -> None:
    """Do the background work of a store, beside the processes that use it, until told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with Memory(target.location(), model=load(model) if model else None, mirror=mirror) as memory:
        memory.start_worker()
        click.echo(f"Working on {target.location()}. Stop with Ctrl-C.")
        stop.wait()
