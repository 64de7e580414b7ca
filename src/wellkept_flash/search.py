"""Full text search over the small files of a device: words and pairs of Han characters, the rare ones count
more.

There are no vectors on a device; a store that has them is SQLite or PostgreSQL.
"""

from wellkept_flash import text, words
from wellkept_flash.shape import FINAL, USER


def terms(source):
    """The search terms of a text: folded words and numbers, and each pair of neighbouring Han characters."""
    found = []
    last = None
    for token in words.tokens(source):
        han = words.is_han(token.text[0])
        if han and last is not None and not token.broke:
            found.append(last[-1] + token.text[0])
        if not han or len(token.text) > 1:
            found.append(token.text)
        last = token.text if han else None
    return found or [token.text for token in words.tokens(source)]


def search(query, documents, limit=8):
    """The documents that share terms with ``query``, best first.

    Args:
        documents: a callable that gives an iterable of (key, text); it is called twice and never held.
        limit: at most so many.

    Returns:
        A list of (score, key, text). A term counts 1 / (number of documents that have it).
    """
    wanted = []
    for term in terms(query):
        if term not in wanted:
            wanted.append(term)
    seen = [0] * len(wanted)
    for _, source in documents():
        here = terms(source)
        for at in range(len(wanted)):
            seen[at] += wanted[at] in here
    best = []
    for key, source in documents():
        here = terms(source)
        score = sum([1.0 / seen[at] for at in range(len(wanted)) if wanted[at] in here])
        if score:
            best.append((score, key, source))
            best.sort(key=lambda found: -found[0])
            best = best[:limit]
    return best


def in_memory(memory, query, limit=8):
    """(score, id, content) of the memories of a LongTerm that fit ``query``; nothing is counted as used."""
    return search(
        query, lambda: ((item.id, item.content + " " + item.tags) for item in memory.items()), limit
    )


def in_session(session, query, limit=8):
    """(score, offset, JSON text) of the user and final records of a Session that fit ``query``."""
    return search(query, lambda: _records(session), limit)


def _records(session):
    for line in session.lines():
        if line.type in (USER, FINAL):
            yield line.offset, text.decode(session.text(line))
