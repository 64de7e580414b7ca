"""``wellkept device``: look after a device's directory, and move memory between it and a store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import click
from rich.text import Text

from wellkept.cli import device_files, render
from wellkept.cli.clock import StoryClock
from wellkept.cli.exports import items, oldest_first
from wellkept.cli.importer import Importer
from wellkept.cli.importer import Report as Imported
from wellkept.cli.output import clean, console, print_json, print_table, progress
from wellkept.cli.target import Target, target_options
from wellkept.errors import NotFound
from wellkept.facts.copies import profile_of
from wellkept.facts.keep import made_ready
from wellkept.memory import Memory
from wellkept.policy.checks import milliseconds
from wellkept.policy.facts.claims import Claim
from wellkept.records import Event, Scope, SessionInfo, blocks_of
from wellkept.store.facts import Fact
from wellkept.store.flash import care, location
from wellkept.store.flash.faults import typed_errors
from wellkept.store.flash.messages import Backend, draft_of
from wellkept.store.protocol import Tables
from wellkept.user import UserMemory
from wellkept_flash import folder, health
from wellkept_flash.rules import fingerprint

# A claim, its metadata, and the times (ms) since when it holds and of its last change, where they are known.
Statement: TypeAlias = tuple[Claim, Mapping[str, Any], int | None, int | None]
_PAGE = 500
_SHOWN = 20
_PATH = click.argument("path", type=click.Path(exists=True))
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
        report = care.check(path)
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
    for name in report.get("cut_off", ()):
        click.echo(
            clean(f"{name}: a power cut interrupted its replacement; as it is, the firmware may lose it")
        )
    for one in [*report["sessions"], memory]:
        for note in one["notes"]:
            click.echo(clean(f"note: {note}"))
    path = report["root"]
    click.echo(f"{path} is sound." if report["healthy"] else f"To repair it: wellkept device repair {path}")


def _health_row(session: Mapping[str, Any]) -> list[str]:
    return [session["name"], f"{session['bytes']:,}", f"{session['records']:,}", session["firmware"]]


@device_command.command("repair")
@_PATH
@click.option("--into", metavar="DIRECTORY", help="A new directory for what an image holds.")
@_JSON
def repair_command(path: str, into: str | None, json: bool) -> None:
    """Set damage in the directory PATH aside, make its indexes anew, and lift blocks.

    Whole records stay as they are; what is damaged goes into a `.damaged` file beside its own. A littlefs or FAT image
    is left as it is: its files are put into another directory and repaired there.
    """
    if os.path.isfile(path) and not into:
        raise click.UsageError("An image is not changed. Pass --into with a new directory for its files.")
    with typed_errors():
        if into:
            device_files.unpack(path, into)
        done = health.repair(into or path)
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
    number = next(number for number, name in folder.TYPE_NAMES.items() if name == record["type"])
    draft = draft_of(number, record["format"], record["text"])
    yield from (render.Indented(render.block(block)) for block in blocks_of(draft.content))


# ── moving it ───────────────────────────────────────────────────────────────────────────────────────────────


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
    report = replace(done, facts=facts, known_facts=known_facts)
    if target.json:
        print_json(report.to_dict())
    else:
        _print_taken(report)


def _owner(target: Target) -> Scope:
    if not (target.namespace and target.user):
        raise click.UsageError("A device does not say whose it is. Pass --namespace and --user.")
    return Scope(target.namespace, target.user)


class _Known:
    """Gives, for each message of a session, the checksums of the records that may hold it on a device."""

    def __init__(self, memory: Memory, scope: Scope) -> None:
        self._memory = memory
        self._scope = scope

    def __call__(self, session_id: str) -> list[set[str]]:
        try:
            events = list(_events(self._memory, self._scope, session_id))
        except NotFound:
            return []
        return [device_files.records_of(event) for event in events]


def _take_facts(
    memory: Memory, scope: Scope, clock: StoryClock, found: Sequence[Mapping[str, Any]]
) -> tuple[int, int]:
    """Keep the memories whose text is new; how many there were, and how many were known already."""
    user = memory.user(scope.user, namespace=scope.namespace)
    facts = list(_facts(user, ("active", "archived", "retired")))
    said = {checksum for fact in facts for checksum in device_files.checksums(fact)}
    fresh = [item for item in found if item["sha"] not in said and item["content"].strip()]
    clock.moment = None
    own = {device_files.origin(fact): fact for fact in facts if fact.state == "active"}
    changed = [item for item in fresh if item["id"] in own]
    for item in changed:
        claim, (metadata, *_) = device_files.claim_of(item), device_files.history_of(item)
        known = own[item["id"]]
        user.update(known.id, claim.text, labels=claim.labels, keywords=claim.keywords, metadata=metadata)
    statements = [_made_ready(memory, item) for item in fresh if item["id"] not in own]
    new = _keep(memory, scope, statements) + len(changed)
    return new, len(found) - new


def _made_ready(memory: Memory, item: Mapping[str, Any]) -> Statement:
    return made_ready(memory._core, device_files.claim_of(item)), *device_files.history_of(item)


def _keep(
    memory: Memory,
    scope: Scope,
    statements: Sequence[Statement],
) -> int:
    """Store statements as they are.

    Which of them give way to which was decided where they come from. Returns how many were not known by their text.
    """
    now = memory._core.now()

    def keep(tables: Tables) -> int:
        new = [one for one in statements if tables.facts.by_text(scope, fingerprint(one[0].text)) is None]
        for claim, metadata, since, at in new:
            writer = tables.facts.begin(scope, "app", at=now if at is None else at)
            writer.add(claim, valid_from=now if since is None else since, metadata=metadata)
        return len(new)

    return memory._core.store.write(keep) if statements else 0


def _print_taken(report: Imported) -> None:
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
    """Write a user's conversations, memories and profile as the new DIRECTORY, which the firmware boots on.

    `flash:DIRECTORY` is a store, too: what the firmware has no place for, such as times, is kept beside its files.
    """
    with target.open() as memory, device_files.appearing(directory) as inside, typed_errors():
        scope = target.scope(memory)
        if scope not in memory.scopes(scope.namespace):
            raise NotFound(f"Nothing is kept about {scope.user!r} in the namespace {scope.namespace!r}.")
        user = memory.user(scope.user, namespace=scope.namespace)
        folder.write(inside)
        infos, facts = oldest_first(user), list(_facts(user, ("active",)))
        _copy(memory, user, infos, facts, location.written(inside, scope, backend))
        notes = [*device_files.made_short(inside), *device_files.cut_short(facts)]
    events = sum(info.events for info in infos)
    if target.json:
        done = {"directory": directory, "sessions": len(infos), "events": events, "facts": len(facts)}
        print_json({**done, "notes": notes})
        return
    click.echo(
        f"{len(infos):,} conversations with {events:,} messages, and {len(facts):,} memories, are in {directory}."
    )
    for note in notes[:_SHOWN]:
        click.echo(clean(note), err=True)


def _copy(
    memory: Memory, user: UserMemory, infos: Sequence[SessionInfo], facts: Sequence[Fact], store: str
) -> None:
    scope, clock = user.scope, StoryClock()
    with Memory(store, clock=clock, worker=False) as device, progress() as bars:
        importer = Importer(device, clock, namespace=None, user=None, skip_bad=False)
        found = items(memory, scope, infos, profile_of(memory._core, scope))
        total = sum(info.events for info in infos)
        importer.run(bars.track(found, total=total, description="exporting"))
        _keep(device, scope, [_statement(fact) for fact in facts])


def _statement(fact: Fact) -> Statement:
    claim = Claim(**{name: getattr(fact, name) for name in Claim.__dataclass_fields__})
    source = {**fact.metadata.get("device", {}), "id": device_files.origin(fact)}
    return (
        claim,
        {**fact.metadata, "device": source},
        milliseconds(fact.valid_from),
        milliseconds(fact.changed_at),
    )


def _events(memory: Memory, scope: Scope, session_id: str) -> Iterator[Event]:
    session = memory.session(namespace=scope.namespace, user=scope.user, session_id=session_id)
    page = session.get_events(after=0, limit=_PAGE)
    while page:
        yield from page
        page = session.get_events(after=page[-1].seq, limit=_PAGE)


def _facts(user: UserMemory, states: Sequence[Any]) -> Iterator[Fact]:
    page = user.get_all(limit=_PAGE, states=states)
    yield from page
    while page.cursor:
        page = user.get_all(limit=_PAGE, states=states, cursor=page.cursor)
        yield from page
