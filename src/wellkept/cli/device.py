"""``wellkept device``: look after a device's directory, and move memory between it and a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.text import Text

from wellkept.cli import device_files, render
from wellkept.cli.clock import StoryClock
from wellkept.cli.exports import oldest_first
from wellkept.cli.importer import Importer
from wellkept.cli.importer import Report as Imported
from wellkept.cli.output import clean, console, print_json, print_table, progress
from wellkept.cli.target import Target, target_options
from wellkept.errors import NotFound
from wellkept.facts.keep import made_ready
from wellkept.facts.user import FactsMemory
from wellkept.memory import Memory
from wellkept.policy.claims import Claim
from wellkept.records import Event, Scope, blocks_of
from wellkept.store.facts import Fact
from wellkept.store.flash.faults import typed_errors
from wellkept.store.flash.messages import Backend, draft_of
from wellkept.store.protocol import Tables
from wellkept_flash import health
from wellkept_flash.folder import TYPE_NAMES
from wellkept_flash.rules import fingerprint

_PAGE = 500
_SHOWN = 20
_PATH = click.argument("path", type=click.Path(exists=True))
_DIRECTORY = click.argument("path", type=click.Path(exists=True, file_okay=False))
_JSON = click.option("--json", is_flag=True, help="Print JSON for programs to read.")


@click.group("device")
def device_command() -> None:
    """Look after the memory of a device: its directory on a flash disk, or an image of it."""


# ── looking after it ────────────────────────────────────────────────────────────────────────────────────────


@device_command.command("check")
@_PATH
@_JSON
def check_command(path: str, json: bool) -> None:
    """Say how the directory, or the littlefs or FAT image, PATH is, and what the device's firmware makes of it.

    Nothing is written. Ends with exit code 1 when something is damaged, or would be lost or refused by the firmware.
    """
    with typed_errors():
        report = health.check(path)
    if json:
        print_json(report)
    else:
        _print_health(report)
    if not report["healthy"]:
        raise click.exceptions.Exit(1)


def _print_health(report: Mapping[str, Any]) -> None:
    if report["sessions"]:
        print_table(["session", "bytes#", "records#", "the firmware"], map(_health_row, report["sessions"]))
    memory = report["memory"]
    click.echo(
        f"memories: {memory['items']:,} in {memory['bytes']:,} bytes; the firmware {memory['firmware']}"
    )
    documents = ", ".join(f"{name} {size:,}" for name, size in report["profile"].items())
    click.echo(f"profile: {documents or 'no documents'} bytes; {report['bytes']:,} bytes in all")
    for name, one in [*((one["name"], one) for one in report["sessions"]), ("memories", memory)]:
        for finding in one["findings"]:
            click.echo(clean(f"{name}: {finding}"))
    for note in memory["notes"]:
        click.echo(clean(f"note: {note}"))
    path = report["root"]
    click.echo(f"{path} is sound." if report["healthy"] else f"To repair it: wellkept device repair {path}")


def _health_row(session: Mapping[str, Any]) -> list[str]:
    return [session["name"], f"{session['bytes']:,}", f"{session['records']:,}", session["firmware"]]


@device_command.command("repair")
@_DIRECTORY
@_JSON
def repair_command(path: str, json: bool) -> None:
    """Set damage in the directory PATH aside, make its indexes anew, and lift blocks.

    Whole records stay as they are; what is damaged goes into a `.damaged` file beside its own.
    """
    with typed_errors():
        done = health.repair(path)
    if json:
        print_json(done)
    else:
        for name, counts in [*done["sessions"].items(), ("memories", done["memory"])]:
            click.echo(clean(f"{name}: {_counted(counts)}"))
        _print_health(done["after"])


def _counted(counts: Mapping[str, int]) -> str:
    said = {"good": "whole", "healed": "healed", "damaged": "damaged stretches set aside"}
    return ", ".join(f"{number:,} {said[name]}" for name, number in counts.items() if number) or "empty"


@device_command.command("show")
@_PATH
@click.option("--session", metavar="ID", help="Only this conversation, by its id or the name of its file.")
@_JSON
def show_command(path: str, session: str | None, json: bool) -> None:
    """Print what the directory, or the image, PATH holds: conversations, memories, profile."""
    with device_files.opened(path) as device:
        shown = [_shown(device, one) for one in _chosen(device, session)]
        rest = {} if session else {"facts": list(device.facts()), "profile": device.profile()}
    if json:
        print_json({"sessions": shown, **rest})
        return
    out = console()
    for one in shown:
        out.print(render.hint(f"── {clean(one['id'])}: {len(one['records'])} records"))
        for record in one["records"]:
            out.print(*_record(record), sep="\n")
    for fact in rest.get("facts", ()):
        out.print(Text(clean(f"{fact['id']}  {fact['content']}  [{', '.join(fact['labels'])}]")))
    for name, text in rest.get("profile", {}).items():
        out.print(render.hint(f"── {name}.md"), Text(clean(text.strip())), sep="\n")


def _chosen(device: Any, name: str | None) -> list[Any]:
    found = [
        session
        for session in device.sessions()
        if name is None or name in (session.id, session.path.rsplit("/", 1)[-1])
    ]
    if name is not None and not found:
        raise NotFound(f"No conversation {name!r} there. `wellkept device check` lists them.")
    return found


def _shown(device: Any, session: Any) -> dict[str, Any]:
    findings: list[str] = session.findings()
    records = list(device.records(session, findings))
    return {"id": session.id, "records": records, "findings": findings}


def _record(record: Mapping[str, Any]) -> Iterator[Any]:
    yield Text(f"#{record['seq']:<4} {record['type']}", style="bold")
    number = next(number for number, name in TYPE_NAMES.items() if name == record["type"])
    draft = draft_of(number, record["format"], record["text"])
    yield from (render.Indented(render.block(block)) for block in blocks_of(draft.content))


# ── moving it ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Taken(Imported):
    """What an import of a device did. ``facts`` counts the memories that are new, ``known_facts`` the others."""

    facts: int = 0
    known_facts: int = 0


@device_command.command("import")
@_PATH
@target_options
def import_command(target: Target, path: str) -> None:
    """Take the conversations, memories and profile of the directory, or image, PATH into a store.

    Each message keeps in its metadata which record it came from. Every record is taken once: import a device again
    whenever it has more to tell, also after it has dropped or summarised its older records.
    """
    scope = _owner(target)
    clock = StoryClock()
    with target.open(create=True, clock=clock) as memory, device_files.opened(path) as device:
        importer = Importer(memory, clock, namespace=scope.namespace, user=scope.user, skip_bad=True)
        with progress() as bars:
            sessions = bars.track(list(device.sessions()), description="importing")
            done = importer.run(device_files.items(device, _Known(memory, scope), iter(sessions)))
        facts, known_facts = _take_facts(memory, scope, clock, list(device.facts()))
    report = Taken(**vars(done), facts=facts, known_facts=known_facts)
    if target.json:
        print_json(report.to_dict())
    else:
        _print_taken(report)


def _owner(target: Target) -> Scope:
    if not (target.namespace and target.user):
        raise click.UsageError("A device does not say whose it is. Pass --namespace and --user.")
    return Scope(target.namespace, target.user)


class _Known:
    """Gives the checksums of the records of a session that were imported before."""

    def __init__(self, memory: Memory, scope: Scope) -> None:
        self._memory = memory
        self._scope = scope

    def __call__(self, session_id: str) -> list[str]:
        try:
            events = list(_events(self._memory, self._scope, session_id))
        except NotFound:
            return []
        sources = (event.metadata.get("device", {}) for event in events)
        return [source["sha256"] for source in sources if source.get("session") == session_id]


def _take_facts(
    memory: Memory, scope: Scope, clock: StoryClock, found: Sequence[Mapping[str, Any]]
) -> tuple[int, int]:
    """Keep the memories that were not taken before; how many are new, and how many were there already."""
    core = memory._core
    facts = FactsMemory(core, scope)
    known = {_origin(fact) for fact in _facts(facts, ("active", "archived", "retired"))}
    clock.moment = None
    ready = [
        (made_ready(core, device_files.claim_of(item)), device_files.origin_of(item), core.now())
        for item in found
        if (item["id"], item["sha"]) not in known and item["content"].strip()
    ]

    def take(tables: Tables) -> int:
        return sum(_take(tables, scope, claim, source, now) for claim, source, now in ready)

    new = core.store.write(take) if ready else 0
    return new, len(found) - new


def _take(tables: Tables, scope: Scope, claim: Claim, source: Mapping[str, Any], now: int) -> bool:
    """Keep one as it is: which of them give way to which was decided on the device."""
    if tables.facts.by_text(scope, fingerprint(claim.text)) is not None:
        return False
    at = device_files.moment_of(source["updated_at"]) or now
    since = device_files.moment_of(source["created_at"]) or now
    tables.facts.begin(scope, "app", at=at).add(claim, valid_from=since, metadata={"device": source})
    return True


def _origin(fact: Fact) -> tuple[str, str]:
    source = fact.metadata.get("device", {})
    return source.get("id", ""), source.get("sha256", "")


def _print_taken(report: Taken) -> None:
    known = f", {report.known:,} were there already" if report.known else ""
    click.echo(f"{report.sessions:,} conversations, {report.added:,} new messages{known}.")
    known = f", {report.known_facts:,} were there already" if report.known_facts else ""
    click.echo(f"{report.facts:,} new memories{known}.")
    remarks = [*(note.text for note in report.notes), *(f"left out: {bad.reason}" for bad in report.skipped)]
    for remark in remarks[:_SHOWN]:
        click.echo(clean(remark), err=True)
    if remarks[_SHOWN:]:
        click.echo(f"… and {len(remarks) - _SHOWN:,} more remarks; --json lists them all.", err=True)


@device_command.command("export")
@click.argument("directory", type=click.Path())
@target_options
@click.option(
    "--backend",
    type=click.Choice(["openai_compatible", "anthropic_compatible"]),
    default="openai_compatible",
    show_default=True,
    help="The provider that the device is set to.",
)
def export_command(target: Target, directory: str, backend: Backend) -> None:
    """Write a user's conversations, memories and profile as the new DIRECTORY, which the firmware boots on."""
    with target.open() as memory:
        scope = target.scope(memory)
        user = memory.user(scope.user, namespace=scope.namespace)
        profile = {name: user.profile[name] for name in user.profile if user.profile[name]}
        facts = list(_facts(memory.user(scope.user, namespace=scope.namespace), ("active",)))
        infos = oldest_first(user)
        with progress() as bars:
            tracked = bars.track(infos, description="exporting")
            sessions = ((info.id, list(_events(memory, scope, info.id))) for info in tracked)
            written = device_files.write(directory, sessions, facts, profile, backend)
    if target.json:
        print_json(written.to_dict())
        return
    click.echo(
        f"{written.sessions:,} conversations with {written.records:,} records, {written.facts:,} memories and "
        f"{written.documents} profile documents are in {directory}."
    )
    for note in written.notes[:_SHOWN]:
        click.echo(clean(note), err=True)


def _events(memory: Memory, scope: Scope, session_id: str) -> Iterator[Event]:
    session = memory.session(namespace=scope.namespace, user=scope.user, session_id=session_id)
    page = session.get_events(after=0, limit=_PAGE)
    while page:
        yield from page
        page = session.get_events(after=page[-1].seq, limit=_PAGE)


def _facts(facts: FactsMemory, states: Sequence[Any]) -> Iterator[Fact]:
    page = facts.get_all(limit=_PAGE, states=states)
    yield from page
    while page.cursor:
        page = facts.get_all(limit=_PAGE, states=states, cursor=page.cursor)
        yield from page
