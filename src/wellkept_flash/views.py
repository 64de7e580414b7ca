"""What is derived of long-term memory: the firmware's index, ``MEMORY.md`` for people, the uses in the
digest."""

import json

from wellkept_flash import text
from wellkept_flash.files import CHUNK
from wellkept_flash.items import terms

# The firmware's wording (ESP-Claw, Apache-2.0), so that a fresh directory is the same as its own.
EMPTY = "(empty - Claw will write memories here as it learns)"


def write_index(memory, next_label):
    """Write ``memory_index.json`` for the firmware: labels of 8 characters with their numbers, and the
    keywords."""
    names = []
    labels = {}
    keywords = []
    for item in memory.items():
        for label, number in zip(item.short_labels, item.summary_ids):  # noqa: B905
            if label not in labels:
                names.append(label)
                labels[label] = [number, 0]
            labels[label][1] += 1
        for term in terms(item.keywords) or terms(item.tags):
            _file_under(keywords, term, item.id)
    summaries = [
        [("summary_id", labels[name][0]), ("label", name), ("ref_count", labels[name][1])] for name in names
    ]
    index = [
        ("version", 3),
        ("next_summary_id", next_label),
        ("summaries", summaries),
        ("keyword_index", keywords or {}),
        ("last_compact_digest_size", counted_size(memory.disk, memory.digest)),
    ]
    memory.disk.write(memory.folder + "/memory_index.json", text.clean(text.dumps(index)))


def index_labels(disk, path):
    """The labels in an index file, none when there is no file; None when the firmware could not read it."""
    if disk.size(path) < 0:
        return []
    try:
        index = json.loads(text.decode(disk.read(path)))
        return [summary["label"] for summary in index["summaries"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def stored_twice(memory):
    """Ids that the digest says were stored anew while they stood: without a clock the firmware repeats
    ids."""
    standing = []
    found = []
    for _, line in _lines(memory.disk, memory.digest, 0):
        parts = text.decode(line).split("\t")
        if len(parts) < 3:
            continue
        if parts[1] == "store" and parts[2] in standing:
            found.append(parts[2])
        elif parts[1] == "store":
            standing.append(parts[2])
        elif parts[1] in ("forget", "evict") and parts[2] in standing:
            standing.remove(parts[2])
    return found


def write_markdown(memory):
    """Write ``MEMORY.md``: the labels, and the items by heat with time, uses and labels."""
    memory.disk.write(memory.folder + "/MEMORY.md", text.clean("\n".join(markdown(memory)) + "\n"))


def markdown(memory):
    """The lines of ``MEMORY.md``."""
    lines = ["# Long-term Memory", ""]
    items = memory.listed()
    if not items:
        lines.append(EMPTY)
        return lines
    lines.extend(["## Summary Labels", ""])
    lines.extend([f"- {label} (refs={count})" for label, count in memory.labels()])
    lines.extend(["", "## Active Memories", ""])
    for item in items:
        lines.append(f"- `{item.id}` {item.content}")
        labels = text.dumps(item.labels)
        lines.append(f"  time={timestamp(item.updated_at)} access={item.access_count} labels={labels}")
    return lines


def timestamp(seconds):
    """``seconds`` since 1970 as YYYY-MM-DD HH:MM:SS in UTC, after Howard Hinnant's ``civil_from_days``."""
    days, second = divmod(seconds, 86400)
    days += 719468
    era, day = divmod(days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    month += 3 if month < 10 else -9
    year += era * 400 + (1 if month <= 2 else 0)
    return f"{year:04d}-{month:02d}-{day:02d} {second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def uses(disk, path, counted):
    """Yield the id of each use that is not counted in the records yet.

    They are counted up to the last line that says "compact", or up to ``counted``, the size of the digest
    that the index names, where that is later: the firmware compacts at boot without a line.
    """
    counted = max(counted if counted <= disk.size(path) else 0, counted_size(disk, path))
    for _, line in _lines(disk, path, counted):
        parts = line.split(b"\t")
        if len(parts) >= 3 and parts[1] == b"recall":
            yield text.decode(parts[2])


def counted_size(disk, path):
    """Size of the digest up to the end of its last line that says "compact", 0 without one."""
    counted = 0
    for end, line in _lines(disk, path, 0):
        if b"\tcompact\t" in line:
            counted = end
    return counted


def _lines(disk, path, offset):
    """Yield (offset behind the line, line) of the complete lines of a file."""
    size = disk.size(path)
    rest = b""
    while offset < size:
        data = disk.read(path, offset, CHUNK)
        if not data:
            return
        offset += len(data)
        parts = (rest + data).split(b"\n")
        rest = parts.pop()
        end = offset - len(rest)
        for part in parts:
            end -= len(part) + 1
        for part in parts:
            end += len(part) + 1
            yield end, part


def _file_under(keywords, term, item_id):
    """Add ``item_id`` to the entry of ``term``, whose ASCII case does not count."""
    for key, ids in keywords:
        if key.lower() == term.lower():
            ids.append(item_id)
            return
    keywords.append((term, [item_id]))
