"""What a device directory is like: ``check`` looks, ``show`` lists, ``repair`` puts right. All return plain
dicts."""

import json

from wellkept_flash import text, views
from wellkept_flash.errors import InvalidInput
from wellkept_flash.files import Disk
from wellkept_flash.folder import Folder
from wellkept_flash.journal import DAMAGED, HEALED
from wellkept_flash.profile import Profile

READS = "reads it"
LONGEST_LINE = 1024


def check(root, disk=None):
    """Look through the directory, or the littlefs or FAT image file, ``root`` without writing anything.

    Returns:
        A dict: ``healthy``; ``sessions``, a list of dicts (name, id, bytes, records, healed, damaged_bytes,
        unclaimed, blocked, firmware: "reads it" or why it would lose it, findings, notes); ``memory``, a dict
        (bytes, items, damaged_bytes, firmware, findings, notes); ``profile``, the sizes of the documents;
        ``bytes`` in all.

    Raises:
        NotFound: there is nothing of a device in it.
    """
    if (disk or Disk()).size(root) >= 0:
        return _in_image(check, root)
    folder = Folder(root, disk)
    sessions = [_check_session(session) for session in folder.sessions()]
    memory = _check_memory(folder)
    profile = {name: len(words.encode()) for name, words in folder.profile().items()}
    reports = sessions + [memory]  # noqa: RUF005 - MicroPython has no [*list]
    return {
        "root": root,
        "healthy": not any(report["findings"] or report["firmware"] != READS for report in reports),
        "sessions": sessions,
        "memory": memory,
        "profile": profile,
        "bytes": sum([report["bytes"] for report in reports]) + sum(profile.values()),
    }


def show(root, disk=None):
    """The contents of the directory or image file for people: ``sessions`` (id, messages as role and text),
    ``facts``,
    ``profile``."""
    if (disk or Disk()).size(root) >= 0:
        return _in_image(show, root)
    folder = Folder(root, disk)
    sessions = []
    for session in folder.sessions():
        messages = [_shown(record) for record in folder.records(session)]
        sessions.append({"id": session.id, "messages": [message for message in messages if message]})
    return {"sessions": sessions, "facts": list(folder.facts()), "profile": folder.profile()}


def repair(root, disk=None):
    """Set damage aside, rebuild the derived files, lift blocks by compaction; returns what was done.

    Returns:
        A dict: ``sessions`` by name with the lines "good", "healed" and "damaged" (set aside in a
        ``.damaged`` file); ``memory``, the same for the records; ``after``, the report of ``check``.

    Raises:
        InvalidInput: ``root`` is an image file: unpack it, repair the folder and make a new image.
    """
    if (disk or Disk()).size(root) >= 0:
        raise InvalidInput("an image is not changed: unpack it (images.unpack) and repair the folder")
    folder = Folder(root, disk)
    done = {}
    for session in folder.sessions():
        done[session.path.rsplit("/", 1)[-1]] = session.repair()
        session.lift_block()
    memory = folder.memory()
    repaired = memory.records.repair()
    memory = folder.memory()
    memory.begin()
    memory.compact()
    Profile(folder.disk, folder.memory_folder).begin()
    return {"sessions": done, "memory": repaired, "after": check(root, disk)}


def _in_image(look, image):
    """``look`` at the files of an image file, unpacked for the moment."""
    import tempfile

    from wellkept_flash import images

    with tempfile.TemporaryDirectory() as folder:
        kind = images.unpack(image, folder)
        report = look(folder)
    return dict(report, root=image, image=kind)


def _check_session(session):
    aside = session.set_aside()
    findings = [finding for finding in session.findings() if finding != aside]
    records = healed = unclaimed = damaged = unclean = 0
    for line in session.scan():
        if line.state == DAMAGED:
            findings.append(f"{line.length} damaged bytes at {line.offset}")
            damaged += line.length
            continue
        source = session.text(line)
        unclean += text.clean(source) != source
        records += 1
        healed += line.state == HEALED
        unclaimed += not line.claimed
    if healed:
        findings.append(f"{healed} records lost their newline")
    if unclean:
        findings.append(f"{unclean} records hold invalid UTF-8, which is dropped when they are read")
    return {
        "name": session.path.rsplit("/", 1)[-1],
        "id": session.id,
        "bytes": max(0, session.size()),
        "records": records,
        "healed": healed,
        "unclaimed": unclaimed,
        "damaged_bytes": damaged,
        "blocked": session.disk.size(session.blocked) >= 0,
        "firmware": firmware_view(session),
        "findings": findings,
        "notes": [aside] if aside else [],
    }


def firmware_view(session):
    """What the firmware makes of the session by its own rules: READS, or why it would erase or refuse it."""
    data, index = session.disk.size(session.path), session.disk.size(session.index)
    if session.disk.size(session.blocked) >= 0:
        return "refuses every request: blocked"
    if data < 0 or index < 0:
        return "erases it: the " + ("data file" if data < 0 else "index") + " is missing"
    covered = session.index_problem()
    if covered:
        return "erases it: " + covered
    for line in session.entries():
        source = session.disk.read(session.path, line.offset, line.length)
        try:
            json.loads(text.decode(source[:-1]))
        except ValueError:
            return f"erases it: the record at {line.offset} is no JSON"
        if source[-1:] != b"\n":
            return f"erases it: the record at {line.offset} has no newline"
    return READS


def _check_memory(folder):
    memory = folder.memory()
    findings = list(memory.findings)
    items = list(memory.items())
    firmware = READS
    labels = views.index_labels(folder.disk, folder.memory_folder + "/memory_index.json")
    long = sum([line.length > LONGEST_LINE for line in memory.records.scan()])
    if labels is None:
        firmware = "fails every request: memory_index.json is no JSON"
    elif long:
        firmware = f"passes over {long} lines of more than 1023 bytes"
    elif sum([len(item.line()) for item in items]) > 512 * len(items):
        firmware = "cuts the records file at its next compaction: lines of more than 512 bytes on average"
    known = [label for item in items for label in item.short_labels]
    lost = [label for label in labels or [] if label not in known]
    notes = ["labels in the index that no memory has: " + ", ".join(lost)] if lost else []
    unclean = [line for line in memory.records.scan() if _unclean(memory.records, line)]
    if unclean:
        findings.append(f"{len(unclean)} records hold invalid UTF-8, which is dropped when they are read")
    findings.extend([f"{one} was stored twice: the older one is gone" for one in views.stored_twice(memory)])
    return {
        "bytes": max(0, memory.records.size()),
        "items": len(items),
        "damaged_bytes": sum([line.length for line in memory.records.scan() if line.state == DAMAGED]),
        "firmware": firmware,
        "findings": findings,
        "notes": notes,
    }


def _unclean(journal, line):
    source = journal.text(line)
    return line.state != DAMAGED and text.clean(source) != source


def _shown(record):
    try:
        message = json.loads(record["text"])
    except ValueError:
        return None
    content = message.get("content") if isinstance(message, dict) else None
    if record["type"] not in ("user", "final") or not content:
        return None
    if isinstance(content, list):
        content = "".join([block.get("text") or "" for block in content if isinstance(block, dict)])
    return {"role": "user" if record["type"] == "user" else "assistant", "text": content}
