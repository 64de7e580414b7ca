"""Long-term memory: one line per change in ``memory_records.jsonl``; everything else is derived from it.

The later line of an id wins and keeps the place of the first, so a change of an item is one appended line:
it is there as a whole or not at all. ``memory_index.json`` and ``MEMORY.md`` are caches for the firmware
and for people, written by ``flush``. How often an item was used is counted in ``memory_digest.log``.
"""

import json

from wellkept_flash import rules, views
from wellkept_flash.errors import InvalidInput, NotFound
from wellkept_flash.items import Item, parse, terms
from wellkept_flash.journal import Journal

MAX_ITEMS = 128
RECALL_LIMIT = 8
COMPACT_CHANGES = 5
COMPACT_BYTES = 32768


class Stored:
    """What a write did.

    Attributes:
        item: the Item that stands now.
        changed: False when it was there already and nothing was written.
        replaced: the Item whose place it took, or None.
        conflicts: ids of live items that say the opposite or another number; they stay.
    """

    def __init__(self, item, changed=True, replaced=None, conflicts=()):
        self.item = item
        self.changed = changed
        self.replaced = replaced
        self.conflicts = list(conflicts)


class LongTerm:
    """The memories of one device.

    Args:
        disk: the Disk to write to.
        folder: where the files are.
        clock: gives the seconds since 1970; it may start at 0 at every boot.
        max_items: live items; beyond it the one with the lowest score moves to ``memory_archive.jsonl``.
        compact_changes: superseded lines from which a flush compacts the records file.
        compact_bytes: size of the records file from which a write compacts it, once half of it is superseded.
        digest_bytes: size of the digest from which a compaction drops its older half.
    """

    def __init__(
        self,
        disk,
        folder,
        clock,
        max_items=MAX_ITEMS,
        compact_changes=COMPACT_CHANGES,
        compact_bytes=COMPACT_BYTES,
        digest_bytes=COMPACT_BYTES,
    ):
        self.disk = disk
        self.folder = folder
        self.clock = clock
        self.digest = folder + "/memory_digest.log"
        self.records = Journal(disk, folder + "/memory_records.jsonl")
        self.archive = Journal(disk, folder + "/memory_archive.jsonl")
        self._max_items = max_items
        self._compact_changes = compact_changes
        self._compact_bytes = compact_bytes
        self._digest_bytes = digest_bytes
        self._sequence = clock() % 10000
        self._live = {}
        self._order = []
        self._superseded = 0
        self._buried = False
        self._next_label = 1
        self.findings = []
        self.changed = False
        self._load()

    def begin(self):
        """Write the files that are missing, so that the firmware boots on the folder."""
        for path in (self.records.path, self.digest):
            if self.disk.size(path) < 0:
                self.disk.append(path, b"")
        if self.disk.size(self.folder + "/memory_index.json") <= 0 or self.changed:
            self._write_caches()

    # ── reading ──

    def items(self):
        """Yield the live items in the order in which they were first stored."""
        for item_id in self._order:
            yield self._read(item_id)

    def get(self, item_id):
        """The live Item. Raises NotFound."""
        if item_id not in self._live:
            raise NotFound("no memory has this id: list or recall them to see the ids")
        return self._read(item_id)

    def listed(self):
        """The live items, most used first, then the latest changed, then by id."""
        return sorted(self.items(), key=lambda item: (-item.access_count, -item.updated_at, item.id))

    def labels(self):
        """(label, number of items) of the catalogue, whole words, in the order of their first item."""
        names = []
        counts = {}
        for item in self.items():
            for label in item.labels:
                if label not in counts:
                    names.append(label)
                counts[label] = counts.get(label, 0) + 1
        return [(name, counts[name]) for name in names]

    def markdown(self):
        """The lines of ``MEMORY.md`` as they are now."""
        return views.markdown(self)

    def recall(self, labels=(), limit=RECALL_LIMIT):
        """The items that have one of ``labels`` (whole or in the 8-character form), each counted as used.

        Args:
            labels: up to 3; none means all items.
            limit: at most so many; 0 means 8.
        """
        wanted = terms(labels)
        found = [item for item in self.listed() if not wanted or _has(item, wanted)][: limit or RECALL_LIMIT]
        if found:
            lines = [self._digest_line("recall", item.id, "access_count+1") for item in found]
            self._note(b"".join(lines))
        for item in found:
            self._live[item.id][2] += 1
        return found

    # ── writing ──

    def store(self, content, tags="", keywords="", source="manual", memory_id="", replaces=False, times=None):
        """Keep a memory.

        Args:
            content: the fact; at most 255 bytes of it are kept.
            tags: up to 3, as a comma list or a list of str.
            keywords: up to 3 that occur in content or tags.
            source: where it comes from, at most 15 bytes.
            memory_id: an id of the caller's own; one that is in use is updated.
            replaces: the memory corrects an older one. The one it is about is replaced, if that is beyond
            doubt.
            times: (created, changed, uses) of a memory that comes from elsewhere; seconds since 1970.

        Returns:
            Stored. One that says no more than a live item is not written; one that says more takes its place.

        Raises:
            InvalidInput: there is no content.
        """
        item = Item(memory_id or self._new_id(), content, tags, keywords, source, self.clock())
        if times:
            item.created_at, item.updated_at, item.access_count = times
        if not item.content:
            raise InvalidInput("content is required: give the fact to remember as a short sentence")
        if item.id in self._live:
            return self.update(item.id, content, tags, keywords, source)
        kept, place, conflicts = self._compare(item)
        if kept:
            return Stored(kept, False)
        if replaces and not place:
            place = self._target(item)
            conflicts = [one for one in conflicts if not place or one != place.id]
        if place:
            item.id, item.created_at = place.id, place.created_at
        self._write(item, "update" if place else "store")
        self._evict()
        return Stored(item, True, place, conflicts)

    def put(self, item):
        """Keep ``item`` (an Item) as it is, new or changed, for a caller that decides on duplicates and room
        itself.

        Returns:
            False when it stands so already and nothing was written.
        """
        old = self._read(item.id) if item.id in self._live else None
        if old and old.fields()[:5] == item.fields()[:5]:
            return False
        self._write(item, "update" if old else "store")
        return True

    def has(self, memory_id):
        """True when a live item has this id."""
        return memory_id in self._live

    def update(self, memory_id, content="", tags="", keywords="", source=""):
        """Change what is given of a live item, which keeps its id. Raises NotFound."""
        old = self.get(memory_id)
        item = Item(
            memory_id,
            content or old.content,
            tags or old.tags,
            keywords or old.keywords,
            source or old.source,
            self.clock(),
        )
        item.created_at = old.created_at
        before, after = old.fields(), item.fields()
        if before[:5] == after[:5]:
            return Stored(old, False)
        self._write(item, "update")
        return Stored(item, True, old)

    def forget(self, memory_id):
        """Retire a live item; its text leaves the flash with the next flush. Raises NotFound."""
        item = self.get(memory_id)
        self._bury(item, "forget")
        return Stored(item)

    def flush(self):
        """Write the caches if something changed since, and compact the records file when it is due."""
        if self._buried or self._superseded >= max(self._compact_changes, len(self._order) // 4):
            self.compact()
        if self.changed or self.disk.size(self.folder + "/memory_index.json") <= 0:
            self._write_caches()

    def compact(self):
        """Rewrite the records file with the live items alone, their uses counted in."""
        if self.findings:
            self.records.repair()
            self._load()
        lines = []
        for item_id in self._order:
            item = self._read(item_id)
            lines.append((1, 0, item.line()[:-1] + b',"summary_labels":[]}'))
        self.records.rewrite(lines)
        self._note(self._digest_line("compact", "-", "rebuild=index+markdown"))
        self._trim_digest()
        self._load()
        self._write_caches()

    # ── inside ──

    def _load(self):
        self._live, self._order, self._superseded, self._buried = {}, [], 0, False
        self.findings = []
        for path in (self.digest, self.folder + "/memory_index.json", self.folder + "/MEMORY.md"):
            self.disk.settle(path)
        for line in self.records.scan():
            if line.state == "damaged":
                self.findings.append(
                    f"{line.length} damaged bytes at {line.offset} of the records are left out"
                )
                continue
            try:
                source = self.records.text(line)
                self._take(parse(source), line.offset, len(source))
            except ValueError:
                self.findings.append(f"the line at {line.offset} of the records is no memory")
        size = self.disk.size(self.digest)
        self._torn = size > 0 and self.disk.read(self.digest, size - 1, 1) != b"\n"
        for item_id in views.uses(self.disk, self.digest, self._counted()):
            if item_id in self._live:
                self._live[item_id][2] += 1

    def _take(self, item, offset, length):
        for number in item.summary_ids:
            self._next_label = max(self._next_label, number + 1)
        if item.id in self._live:
            self._superseded += 1
        if item.deleted:
            self._superseded += 1
            self._buried = True
            self._drop(item.id)
            return
        if item.id not in self._live:
            self._order.append(item.id)
        self._live[item.id] = [offset, length, item.access_count, item.updated_at]

    def _drop(self, item_id):
        if self._live.pop(item_id, None):
            self._order.remove(item_id)

    def _counted(self):
        """Size of the digest up to which uses are in the records already, as the index says; -1: unknown."""
        path = self.folder + "/memory_index.json"
        if self.disk.size(path) > 0:
            try:
                index = json.loads(self.disk.read(path).decode())
                counted = index["last_compact_digest_size"]
            except (OSError, ValueError, KeyError, TypeError):
                self.changed = True  # with such an index the firmware fails every request
                return -1
            if isinstance(counted, int):
                return counted
        return -1

    def _read(self, item_id):
        offset, length, uses, _ = self._live[item_id]
        item = parse(self.records.read(offset, length))
        item.access_count = uses
        return item

    def _new_id(self):
        while True:
            self._sequence = (self._sequence + 1) % 10000
            item_id = f"mem-{self.clock()}-{self._sequence:04d}"
            if item_id not in self._live:
                return item_id

    def _compare(self, item):
        """(an item that says it already, the one it says more than, ids of those it contradicts)."""
        new = rules.Statement(item.content)
        place = None
        conflicts = []
        for old in self.items():
            verdict = rules.compare(new, rules.Statement(old.content))
            if verdict in (rules.SAME, rules.BROADER):
                return old, None, []
            if verdict == rules.NARROWER and not place:
                place = old
            elif verdict == rules.CONFLICT:
                conflicts.append(old.id)
        return None, place, conflicts

    def _target(self, item):
        olds = list(self.items())
        at = rules.target(
            item.content, [old.content for old in olds], [item.shares_a_term(old) for old in olds]
        )
        return None if at is None else olds[at]

    def _write(self, item, action):
        item.summary_ids = self._label_ids(item)
        line = item.line()
        if self.records.ready():
            self._load()
        self.records.append([(1, 0, line)])
        self._note(self._digest_line(action, item.id), False)
        self.changed = True
        if item.id in self._live:
            self._superseded += 1
        else:
            self._order.append(item.id)
        end = self.records.size()
        self._live[item.id] = [end - len(line) - 1, len(line), item.access_count, item.updated_at]
        if end >= self._compact_bytes and self._superseded > len(self._order):
            self.compact()

    def _label_ids(self, item):
        """The firmware's numbers for the short labels of ``item``; new labels get the next free number."""
        known = {}
        for old in self.items():
            known.update(zip(old.short_labels, old.summary_ids))  # noqa: B905
        ids = []
        for label in item.short_labels:
            if label not in known:
                known[label] = self._next_label
                self._next_label += 1
            ids.append(known[label])
        return ids

    def _bury(self, item, action):
        item.deleted = True
        item.updated_at = self.clock()
        item.content = item.tags = item.keywords = ""
        if self.records.ready():
            self._load()
        self.records.append([(1, 0, item.line())])
        self._note(self._digest_line(action, item.id), False)
        self._drop(item.id)
        self._superseded += 2
        self._buried = self.changed = True

    def _evict(self):
        while len(self._order) > self._max_items:
            worst = None
            for item_id in self._order[:-1]:
                score = rules.score(self._live[item_id][2], self._live[item_id][3])
                if worst is None or score < worst[0]:
                    worst = (score, item_id)
            item = self._read(worst[1])
            self.archive.append([(1, 0, item.line())])
            self._bury(item, "evict")

    def _note(self, lines, sync=True):
        """Append to the digest; behind a line that a cut left without its end on a new one."""
        self.disk.append(self.digest, b"\n" + lines if self._torn else lines, sync)
        self._torn = False

    def _digest_line(self, action, item_id, extra=""):
        line = f"{self.clock()}\t{action}\t{item_id}"
        return (line + "\t" + extra + "\n" if extra else line + "\n").encode()

    def _trim_digest(self):
        size = self.disk.size(self.digest)
        if size > self._digest_bytes:
            tail = self.disk.read(self.digest, size - self._digest_bytes // 2)
            self.disk.write(self.digest, tail[tail.find(b"\n") + 1 :])

    def _write_caches(self):
        views.write_index(self, self._next_label)
        views.write_markdown(self)
        self.changed = False


def _has(item, wanted):
    own = item.labels + item.short_labels
    return any(label in own for label in wanted)
