"""``wellkept keys``."""

from __future__ import annotations

from typing import get_args

import click

from wellkept.cli.output import local, print_json, print_table
from wellkept.cli.target import Target, target_options
from wellkept.store.apikeys import ApiKey, KeyRole


@click.group("keys")
def keys_command() -> None:
    """Keys of the service: each opens one namespace, or one user in it."""


@keys_command.command("create")
@target_options
@click.option(
    "--role",
    type=click.Choice(get_args(KeyRole)),
    default="writer",
    show_default=True,
    help="What it may do: read, also write, or also erase and manage.",
)
@click.option("--label", default="", metavar="TEXT", help="What it is for, to be read in the list.")
def create_command(target: Target, role: KeyRole, label: str) -> None:
    """Make a key and print it, once: only its hash is kept. Without --user it opens the whole namespace."""
    if not target.namespace:
        raise click.UsageError("Which namespace does the key open? Pass --namespace.")
    with target.open(create=True) as memory:
        key, secret = memory.keys.create(namespace=target.namespace, role=role, user=target.user, label=label)
    if target.json:
        print_json({**key.to_dict(), "secret": secret})
    else:
        click.echo(secret)
        click.echo(f"This is shown once. Its id, for `wellkept keys revoke`, is {key.id}.", err=True)


@keys_command.command("list")
@target_options
def list_command(target: Target) -> None:
    """List keys, revoked ones too; of all namespaces unless one is given."""
    with target.open() as memory:
        keys = [key for key in memory.keys.all() if target.namespace in (None, key.namespace)]
    if target.json:
        print_json([key.to_dict() for key in keys])
    elif keys:
        print_table(["key", "namespace", "user", "role", "made", "revoked", "label"], map(_row, keys))
    else:
        click.echo("No keys.")


def _row(key: ApiKey) -> list[str]:
    revoked = local(key.revoked_at) if key.revoked_at else ""
    return [
        key.id,
        key.namespace,
        key.user or "(all)",
        key.role,
        local(key.created_at),
        revoked,
        key.label,
    ]


@keys_command.command("revoke")
@click.argument("key")
@target_options
def revoke_command(target: Target, key: str) -> None:
    """Let KEY (its id, not the secret) open nothing any more. A running service notices within seconds."""
    with target.open() as memory:
        memory.keys.revoke(key)
    if target.json:
        print_json({"revoked": key})
    else:
        click.echo(f"Revoked {key}.")
