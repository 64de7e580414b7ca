"""Extraction: what a model proposes to remember from the newest user message, and what of it is grounded.

The prompt sends the labels and that message, nothing else. A fact is stored only if code finds it in the
user's words.
"""

import json

from wellkept_flash import rules, text, words
from wellkept_flash.items import terms

MAX_MEMORIES = 3
NONE, FORGET, REPLACE = "none", "forget", "replace"
SYSTEM = """Find long-term facts in the newest user message. Answer with JSON alone:
{"intent":"none|forget|replace","memories":[{"content":"","tags":[],"keywords":[]}]}
intent: "forget" when the user asks to forget something (put that fact into memories), "replace" when the
user corrects an earlier fact (only the corrected one), else "none". A memory is a short plain statement in
the user's language, said by the user in this message, true for long: who they are, what they like, need,
own, plan. At most 3. Keep every number, date and name as it was said.
tags: 1 or 2 short topic words; reuse an existing label where one fits. keywords: 1 to 3 words copied from
the message. Leave out questions, requests, small talk, one-off tasks, and anything on how the assistant
should speak or behave.
Nothing to remember: {"intent":"none","memories":[]}"""


class Extraction:
    """What a reply proposes: ``intent`` and up to 3 ``memories``, dicts with content, tags, keywords and
    source."""

    def __init__(self, intent, memories):
        self.intent = intent
        self.memories = memories


class Applied:
    """What came of it: ``labels`` of the items that changed, and ``refused``, sentences on what was not
    stored."""

    def __init__(self):
        self.labels = []
        self.refused = []


def prompt(labels, message):
    """The user message of the extraction call."""
    catalogue = "\n".join(["- " + label for label in labels] or ["- (empty)"])
    return "Existing summary labels:\n" + catalogue + "\n\nCurrent user message:\n" + message + "\n"


def parse(reply, limit=MAX_MEMORIES):
    """The Extraction (of at most ``limit`` memories) in the text ``reply``, which may hold prose or a code
    fence around the JSON.

    Raises:
        ValueError: there is none.
    """
    found = None
    for source in (reply, _between(reply, "{", "}"), _between(reply, "[", "]")):
        try:
            found = json.loads(source)
        except ValueError:
            continue
        if isinstance(found, (dict, list)):
            break
    found = {"memories": found} if isinstance(found, list) else found
    memories = found.get("memories") if isinstance(found, dict) else None
    if not isinstance(memories, list):
        raise ValueError("no memories in the reply: " + text.cut_chars(reply, 80))
    intent = found.get("intent")
    intent = intent if intent in (FORGET, REPLACE) else NONE
    return Extraction(intent, [_memory(one) for one in memories[:limit] if isinstance(one, dict)])


def apply(memory, message, extraction):
    """Store, replace or forget in the LongTerm ``memory`` what the user's ``message`` bears out; returns
    Applied."""
    applied = Applied()
    for one in extraction.memories:
        content = one["content"].strip()
        if not content:
            applied.refused.append("a memory without content")
        elif extraction.intent == FORGET:
            _forget(memory, content, applied)
        elif not grounded(content, one["keywords"], message):
            applied.refused.append("not in the user's words: " + text.cut_chars(content, 60))
        else:
            replaces = extraction.intent == REPLACE
            stored = memory.store(content, one["tags"], one["keywords"], one["source"], "", replaces)
            if stored.changed:
                applied.labels.extend([label for label in stored.item.labels if label not in applied.labels])
    return applied


def grounded(content, keywords, message):
    """True when every number of ``content`` is in ``message`` and a keyword or another word of it is, too."""
    said = rules.numbers(message)
    if not all(number in said for number in rules.numbers(content)):
        return False
    place = rules.normal(message)
    if any(rules.normal(term) in place for term in terms(keywords)):
        return True
    core = [token.text for token in rules.Statement(content).core if token.kind == words.WORD]
    pairs = [core[at] + core[at + 1] for at in range(len(core) - 1) if words.is_han(core[at][0])]
    return any(piece in place for piece in pairs + [word for word in core if len(word) > 3])


def _forget(memory, content, applied):
    """Retire the one item that ``content`` names, if that is beyond doubt."""
    wanted = rules.Statement(content)
    found = []
    for item in memory.items():
        verdict = rules.compare(wanted, rules.Statement(item.content))
        if verdict in (rules.SAME, rules.BROADER, rules.NARROWER):
            found.append(item)
    if len(found) != 1:
        applied.refused.append(f"forget: {len(found)} memories fit {text.cut_chars(content, 60)}")
        return
    memory.forget(found[0].id)
    applied.labels.extend(found[0].labels)


def _memory(one):
    tags = one.get("tags") or one.get("summary_labels") or ""
    return {
        "content": one["content"] if isinstance(one.get("content"), str) else "",
        "tags": _list(tags),
        "keywords": _list(one.get("keywords") or tags),
        "source": one["source"] if isinstance(one.get("source"), str) else "auto_llm",
    }


def _list(value):
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str)]
    return value if isinstance(value, str) else ""


def _between(reply, opening, closing):
    return reply[reply.find(opening) : reply.rfind(closing) + 1]
