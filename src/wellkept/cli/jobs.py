"""``wellkept jobs``."""

from __future__ import annotations

from typing import get_args

import click

from wellkept.cli.output import local, print_json, print_table
from wellkept.cli.target import Target, target_options
from wellkept.records import Scope
from wellkept.store.jobs import Job, JobState


@click.group("jobs")
def jobs_command() -> None:
    """Background work on memories: what waits, what failed and why."""


@jobs_command.command("list")
@target_options
@click.option("--state", type=click.Choice(get_args(JobState)), help="Only jobs in this state.")
@click.option("--limit", default=50, show_default=True, help="How many at most.")
@click.option("--before", type=int, metavar="ID", help="Go on after this job of the last page.")
def list_command(target: Target, state: JobState | None, limit: int, before: int | None) -> None:
    """List jobs, newest first: of the whole store, of a namespace, or of one user."""
    scope = Scope(target.namespace, target.user) if target.namespace and target.user else None
    with target.open() as memory:
        found = memory.jobs.list(
            namespace=target.namespace, scope=scope, state=state, limit=limit, before=before
        )
    if target.json:
        print_json([job.to_dict() for job in found])
    elif found:
        print_table(
            ["job", "kind", "state", "attempts#", "next or end", "user", "last error"], map(_row, found)
        )
    else:
        click.echo("No jobs.")


def _row(job: Job) -> list[str]:
    user = f"{job.scope.namespace}/{job.scope.user}"
    when = local(job.finished_at or job.run_at)
    return [str(job.id), job.kind, job.state, str(job.attempts), when, user, job.last_error or ""]


@jobs_command.command("retry")
@click.argument("job", type=int)
@target_options
def retry_command(target: Target, job: int) -> None:
    """Let a failed or cancelled JOB run again."""
    with target.open() as memory:
        _say(target, memory.jobs.retry(job, namespace=target.namespace))


@jobs_command.command("cancel")
@click.argument("job", type=int)
@target_options
def cancel_command(target: Target, job: int) -> None:
    """Keep a JOB from running."""
    with target.open() as memory:
        _say(target, memory.jobs.cancel(job, namespace=target.namespace))


def _say(target: Target, job: Job) -> None:
    if target.json:
        print_json(job.to_dict())
    else:
        click.echo(f"Job {job.id} ({job.kind}) is {job.state}.")
