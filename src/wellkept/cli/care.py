"""``wellkept doctor`` and ``wellkept backup``."""

from __future__ import annotations

import click

from wellkept.cli.output import clean, print_json, progress
from wellkept.cli.target import Target, store_options
from wellkept.errors import StoreCorrupt
from wellkept.store.health import Finding, Report
from wellkept.store.sqlite.maintenance import doctor


@click.command("doctor")
@store_options
@click.option("--repair", is_flag=True, help="Put right what can be; a damaged file itself is left as it is.")
def doctor_command(target: Target, repair: bool) -> None:
    """Look a store over: the file, the text index, the counts, the jobs. Also one that cannot be opened any more.

    Of a device's directory (`flash:DIR`) it also says what the firmware makes of it, as `wellkept device check` does.

    Ends with exit code 1 when something is damaged and not repaired.
    """
    try:
        report = _report(target, repair)
    except StoreCorrupt as error:
        lost = f"Not even the list of tables in {target.path()} can be read: nothing can be saved. Restore a backup."
        raise click.ClickException(lost) from error
    if target.json:
        print_json({**report.to_dict(), "healthy": report.healthy})
    else:
        _print(report)
    if not report.healthy:
        raise click.exceptions.Exit(1)


def _report(target: Target, repair: bool) -> Report:
    if target.location().startswith("flash:"):
        from wellkept.store.flash import maintenance

        return maintenance.doctor(target.existing(), repair=repair)
    return doctor(target.path(), repair=repair)


def _print(report: Report) -> None:
    for finding in report.findings:
        click.echo(clean(f"{_mark(finding)} {finding.subject}: {finding.text}"))
    for line in report.lost:
        click.echo(clean(f"lost: {line}"))
    if report.salvaged:
        click.echo(
            f"What could be read is in {report.salvaged}. Look at it, then put it in the place of {report.location}."
        )
    elif report.healthy:
        click.echo(f"{report.location} is sound.")
    else:
        click.echo(f"To repair it: wellkept doctor --store {report.location} --repair")


def _mark(finding: Finding) -> str:
    if finding.repaired:
        return "repaired"
    return "damaged" if finding.damage else "note"


@click.command("backup")
@click.argument("output", type=click.Path(dir_okay=False))
@store_options
def backup_command(target: Target, output: str) -> None:
    """Write a consistent copy of a store to OUTPUT, also while others use it. It is whole, or not there at all."""
    with target.open() as memory, progress() as bars:
        task = bars.add_task("copying", total=None)
        memory.backup(output, lambda done, total: bars.update(task, completed=done, total=total))
    if target.json:
        print_json({"output": output})
    else:
        click.echo(f"{target.location()} is copied to {output}.")
