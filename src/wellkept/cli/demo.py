"""``wellkept demo``: a long conversation, played turn by turn, and what a model would be given on the way.

A scene that does not find what it promises ends the demo with an error, so that the demo is a check as well.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from wellkept.cli import render
from wellkept.cli.scenes import SCENES
from wellkept.cli.stage import NAMESPACE, USER, stage, story


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the store there, to look into it afterwards.",
)
def demo_command(folder: Path | None) -> None:
    """Play the bundled conversation (63 turns in 24 days, Chinese and English) without any model.

    Shows at chosen moments what a model would be given, tier by tier with tokens, and checks on the way that
    wellkept keeps what it promises.
    """
    with tempfile.TemporaryDirectory(prefix="wellkept-demo-") as temporary:
        path = _new_store(folder or Path(temporary))
        with stage(story(), str(path)) as play:
            for scene in SCENES:
                scene(play)
            if folder:
                scope = f"--store {path} --namespace {NAMESPACE} --user {USER}"
                play.show("", render.hint(f"Look around: wellkept show {play.chat.id} {scope}"))


def _new_store(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "demo.db"
    if path.exists():
        raise click.ClickException(f"{path} is there already. Name another folder, or remove it first.")
    return path
