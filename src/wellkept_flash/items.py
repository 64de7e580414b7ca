"""One item of long-term memory: its line in the records file, its tags, keywords and labels."""

import json

from wellkept_flash import text

MAX_TERMS = 3
LABEL_CHARS = 8
_SEPARATORS = ",;/|"
_ID, _SOURCE, _CONTENT, _TAGS, _KEYWORDS, _LABEL, _INPUT = 39, 15, 255, 95, 127, 39, 191


class Item:
    """A memory as the firmware keeps it. ``tags`` and ``keywords`` are comma lists of at most 3 terms.

    Raises:
        ValueError: from ``parse``, when the line is no item.
    """

    def __init__(self, item_id, content, tags="", keywords="", source="manual", now=0):
        self.id = _bound(item_id, _ID)
        self.source = _bound(source or "manual", _SOURCE)
        self.content = _bound(content.strip(), _CONTENT)
        self.tags = _bound(",".join(terms(tags)), _TAGS)
        self.keywords = _bound(",".join(_grounded(keywords, self.content, self.tags)), _KEYWORDS)
        self.created_at = self.updated_at = now
        self.access_count = 0
        self.deleted = False
        self.summary_ids = []

    @property
    def labels(self):
        """The tags as whole words: what the catalogue shows and recall looks for."""
        return terms(self.tags)

    @property
    def short_labels(self):
        """The labels as the firmware makes them: each cut to 8 characters, then without duplicates."""
        return short(self.labels)

    def line(self):
        """Its line in the records file, without newline."""
        return text.clean(text.dumps(self.fields()))

    def fields(self):
        """(name, value) in the order of the file."""
        names = (
            "id",
            "source",
            "content",
            "tags",
            "keywords",
            "created_at",
            "updated_at",
            "access_count",
            "deleted",
        )
        fields = [(name, getattr(self, name)) for name in names]
        fields.append(("summary_ids", self.summary_ids))
        return fields

    def shares_a_term(self, other):
        """True when ``other`` has one of its tags or keywords."""
        mine = terms(self.tags) + terms(self.keywords)
        return any(term in mine for term in terms(other.tags) + terms(other.keywords))


def parse(line):
    """The Item of a line (bytes) of the records file. Raises ValueError when it is none."""
    record = json.loads(text.decode(line))
    if not isinstance(record, dict) or not isinstance(record.get("id"), str) or not record["id"]:
        raise ValueError("no item: " + str(line[:40]))
    item = Item(record["id"], "")
    for name in ("source", "content", "tags", "keywords"):
        if isinstance(record.get(name), str):
            setattr(item, name, record[name])
    for name in ("created_at", "updated_at", "access_count"):
        if isinstance(record.get(name), int):
            setattr(item, name, int(record[name]))
    item.deleted = record.get("deleted") is True
    ids = record.get("summary_ids")
    item.summary_ids = [number for number in ids if isinstance(number, int)] if isinstance(ids, list) else []
    return item


def terms(source, limit=MAX_TERMS):
    """The terms of a list separated by ``, ; / |``, trimmed and without duplicates, at most ``limit``."""
    source = _bound(source if isinstance(source, str) else ",".join(source), _INPUT)
    for separator in _SEPARATORS:
        source = source.replace(separator, ",")
    found = []
    for term in source.split(","):
        term = term.strip()
        if term and term not in found and len(found) < limit:
            found.append(term)
    return found


def short(labels):
    """``labels`` cut to 8 characters each, without duplicates."""
    found = []
    for label in labels:
        label = _bound(label[:LABEL_CHARS], _LABEL)
        if label not in found:
            found.append(label)
    return found


def _grounded(keywords, content, tags):
    """Keywords that occur in content or tags, filled up with the tags to 3."""
    place = (content + "\n" + tags).lower()
    found = [term for term in terms(keywords, _INPUT) if term.lower() in place][:MAX_TERMS]
    for tag in terms(tags):
        if tag not in found and len(found) < MAX_TERMS:
            found.append(tag)
    return found


def _bound(words, limit):
    return text.cut_bytes(words, limit).decode()
