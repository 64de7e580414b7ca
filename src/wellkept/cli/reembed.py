"""``wellkept reembed``: give every document a vector of the chosen embedder."""

from __future__ import annotations

import click

from wellkept.cli.output import clean, print_json, progress
from wellkept.cli.target import Target, target_options
from wellkept.memory import Memory
from wellkept.models import load_embedder


@click.command("reembed")
@target_options
@click.option(
    "--embedder",
    required=True,
    metavar="PROVIDER[:MODEL]",
    help="local, ollama:bge-m3, openai:MODEL or sentence-transformers:MODEL.",
)
def reembed_command(target: Target, embedder: str) -> None:
    """Make the vectors that search by meaning needs, where the embedder's are missing.

    Vectors of other embedders are ignored by search and replaced here. Without --user all users of the namespace, without
    --namespace all of the store. Stopped half-way, it goes on where it was when it is called again.
    """
    with Memory(target.existing(), embedder=load_embedder(embedder), worker=False) as memory:
        scopes = [scope for scope in memory.scopes(target.namespace) if target.user in (None, scope.user)]
        waiting = sum(memory.user(scope.user, namespace=scope.namespace).reembed() for scope in scopes)
        with progress() as bar:
            task = bar.add_task("Embedding", total=waiting)
            while memory.run_jobs(limit=1):
                bar.update(task, completed=waiting - memory.unembedded())
        left, counts = memory.unembedded(), memory.vectors()
    if target.json:
        print_json({"embedded": waiting - left, "left": left, "vectors": counts})
        return
    click.echo(
        f"{waiting - left} documents embedded, {left} left." + (" See: wellkept jobs list" if left else "")
    )
    for name, count in counts.items():
        click.echo(clean(f"{count} vectors of {name}"))
