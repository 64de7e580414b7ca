"""Compresses: turns what has left the window into a rolling summary, checked in code.

A summary is a view on events. Each compaction summarises only the new range, and code merges it with what was
there, so that the work is linear in the conversation and nothing is paraphrased over and over. What a summary has
no room for goes to the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wellkept.core import Core
from wellkept.errors import Conflict, ModelError, NotFound
from wellkept.jobs import Finish, Outcome, OverCeiling, Run
from wellkept.outbox import is_due, put_if_due
from wellkept.policy.context.bridge import entry
from wellkept.policy.summaries.compress import (
    DEFAULT_TOPIC,
    MAX_TOPICS,
    clean,
    dated,
    holding,
    repair_request,
    request,
    review,
    source_text,
    spoken,
    supported,
    topic_names,
    topics_of,
)
from wellkept.policy.summaries.digest import Entry, digest, quotable, quote, sentences
from wellkept.policy.text.keydata import KeyDatum, extract, missing
from wellkept.policy.text.language import language
from wellkept.records import Event, LedgerLine, Policy, Summary, text_of
from wellkept.store.protocol import SessionRef, Tables

EXTRACTIVE = "extractive"
CHUNK_TOKENS = 4_000
_LANGUAGES: dict[str | None, str] = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean"}
PATIENCE = 3  # failures of a model at which the built-in summariser takes its place


def rebuild(tables: Tables, ref: SessionRef, policy: Policy, now: int) -> int:
    """Take all versions away, and put the work to make them anew into the outbox; how many there were."""
    dropped = tables.summaries.drop(ref, 0)
    put_if_due(tables, ref, policy, now)
    return dropped


@dataclass(frozen=True)
class _Range:
    """What one compaction works on."""

    ref: SessionRef
    covered: int
    events: list[Event]
    current: list[Summary]


def summarize(run: Run) -> Finish:
    """The handler of a summarise job: one compaction of one session."""
    work = run.core.store.read(lambda tables: _range(run, tables))
    if not work.events:
        return lambda tables: {"due": False}
    texts, outcome = _summaries(run, work)
    return lambda tables: _store(run, tables, work, texts, outcome)


def _range(run: Run, tables: Tables) -> _Range:
    policy = run.core.policy
    ref = tables.sessions.find(run.scope, run.job.session_id or "")
    if ref is None:
        raise NotFound("The session was deleted; there is nothing to summarise.")
    uncovered = tables.summaries.uncovered(ref, policy.recent_window_size)
    events: list[Event] = []
    if is_due(uncovered, policy):
        tokens = 0
        for event in tables.events.walk(ref, after=uncovered.first - 1, until=uncovered.last):
            if events and tokens + event.tokens > CHUNK_TOKENS:
                break
            events.append(event)
            tokens += event.tokens
    return _Range(ref, uncovered.first - 1, events, tables.summaries.current(ref))


@dataclass(frozen=True)
class _Notes:
    """What is new for one topic.

    ``source`` is all that was said, ``text`` a model's points on it (or none), ``entries`` what the digest takes up
    itself, and ``lost`` the key data that the model lost, which must at least reach the ledger.
    """

    source: list[Entry]
    entries: list[Entry]
    text: str
    by: str
    lost: tuple[KeyDatum, ...] = ()


def _summaries(run: Run, work: _Range) -> tuple[list[tuple[Summary, list[LedgerLine]]], Outcome]:
    outcome: dict[str, Any] = {"covers": [work.events[0].seq, work.events[-1].seq]}
    previous = {summary.topic: summary for summary in work.current}
    notes = _notes(run, _by_topic(run.core, work.events, list(previous)), list(previous), outcome)
    limit = summary_limit(run.core) // min(MAX_TOPICS, max(1, len({*previous, *notes})))
    made = []
    for topic in {**previous, **notes}:
        old = previous.get(topic)
        if topic in notes or (old and old.tokens > limit):
            made.append(_merged(run.core, work, topic, old, notes.get(topic), limit))
    return made, outcome


def summary_limit(core: Core) -> int:
    """Tokens that the newest topics of a session take together; those beyond ``MAX_TOPICS`` wait to be searched for."""
    return int(core.room(core.policy.context_budget) * core.policy.summary_share) - 40


def _by_topic(core: Core, events: Sequence[Event], known: Sequence[str]) -> dict[str, list[Entry]]:
    """Entries by the topic that the application gave (``metadata["topic"]``, which holds for the rest of the turn)."""
    given: list[tuple[str, Entry]] = []
    topic = DEFAULT_TOPIC
    for event in events:
        if event.role == "user" or "topic" in event.metadata:
            topic = str(event.metadata.get("topic") or DEFAULT_TOPIC)
        if text_of(event.content).strip():
            given.append((topic, entry(event, core.zone)))
    names = topic_names(dict.fromkeys(topic for topic, _ in given), known)
    groups: dict[str, list[Entry]] = {}
    for topic, each in given:
        groups.setdefault(names[topic], []).append(each)
    return groups


def _notes(
    run: Run, groups: Mapping[str, list[Entry]], topics: Sequence[str], outcome: dict[str, Any]
) -> dict[str, _Notes]:
    """Notes of the model; of the built-in summariser where there is no model, no budget for it, or no use in it."""
    extractive = {topic: _Notes(entries, entries, "", EXTRACTIVE) for topic, entries in groups.items()}
    if run.core.model is None or not groups:
        return extractive
    try:
        return _model_notes(run, groups, topics, outcome)
    except OverCeiling as error:
        outcome["refused"] = str(error)
    except ModelError as error:
        if run.job.failures + 1 < PATIENCE:
            raise ModelError(str(error), raw_reply=error.raw_reply, retryable=True) from error
        outcome["refused"] = str(error)
    return extractive


def _model_notes(
    run: Run, groups: Mapping[str, list[Entry]], topics: Sequence[str], outcome: dict[str, Any]
) -> dict[str, _Notes]:
    """A model's points on all topics in one call, checked. What they lost is asked for once, and what is lost even then
    is handed on. A topic of the application on which there are no points is left to the built-in summariser."""
    given = [topic for topic in groups if topic != DEFAULT_TOPIC]
    others = groups.get(DEFAULT_TOPIC, [])
    keys = {topic: [key for entry in part for key in extract(entry.text)] for topic, part in groups.items()}
    every = [key for part in keys.values() for key in part]
    source = source_text(groups)
    named = _LANGUAGES.get(language(source), "as they are")
    entries = [entry for part in groups.values() for entry in part]
    asked = request(groups, every, named, None if given else topics)
    reply = _asked(run, source, entries, every, outcome, *asked)
    points = topics_of(reply, given, free=bool(others), known=topics)
    lost = {topic: missing(keys[topic], points[topic]) for topic in given if topic in points}
    if others:  # a model may file them where it likes
        lost[DEFAULT_TOPIC] = missing(keys[DEFAULT_TOPIC], reply)
    held = {topic: holding(groups[topic], part) for topic, part in lost.items() if part}
    repaired: dict[str, str] = {}
    if held:
        outcome["repaired"] = sum(map(len, lost.values()))
        repaired = topics_of(_repaired(run, held, every, named, outcome), list(held), free=False)
    if quiet := [topic for topic in given if topic not in points]:
        outcome["no_points_on"] = quiet
    made = {topic: _Notes(groups[topic], groups[topic], "", EXTRACTIVE) for topic in quiet}
    for topic, text in points.items():
        own = groups[topic] if topic in given else []
        entries = sorted([*own, *others], key=lambda entry: entry.seq)
        made[topic] = _Notes(entries, [], dated(text.strip(), entries), run.model.name)
    for topic in held:
        home, text = _home(topic, points, given), repaired.get(topic, "")
        still = missing(lost[topic], text)
        notes = made.get(home) or _Notes(groups[topic], [], "", run.model.name)
        text = dated(f"{notes.text}\n{text}".strip(), groups[topic])
        made[home] = replace(notes, text=text, entries=holding(groups[topic], still), lost=still)
    return made


def _home(topic: str, points: Mapping[str, str], given: Sequence[str]) -> str:
    """Where points on ``topic`` belong: a model may have split the default topic into its own."""
    if topic in given:
        return topic
    return next((found for found in points if found not in given), topic)


def _asked(
    run: Run,
    source: str,
    entries: Sequence[Entry],
    keys: Sequence[KeyDatum],
    outcome: dict[str, Any],
    system: str,
    message: str,
) -> str:
    """The model's notes on ``source``, without lines that it does not bear out; the ``outcome`` tells of those.

    Raises ModelError, with the reply, when the notes are refused.
    """
    most = max(256, run.core.tokenizer(source) * 2)
    reply = text_of(run.complete(system, [{"role": "user", "content": message}], max_tokens=most).content)
    notes, gone = supported(spoken(clean(reply), keys), entries)
    if gone:
        outcome["left_out"] = [*outcome.get("left_out", ()), *gone]
    refused = review(notes, source, run.core.tokenizer)
    if refused:
        raise ModelError(f"Refused: {refused}.", raw_reply=reply)
    return notes


def _repaired(
    run: Run,
    held: Mapping[str, list[Entry]],
    keys: Sequence[KeyDatum],
    named: str,
    outcome: dict[str, Any],
) -> str:
    """Points on what was lost; none when the model fails at them, because the first notes are good without."""
    system, message = repair_request(held, named)
    entries = [entry for part in held.values() for entry in part]
    try:
        return _asked(run, message, entries, keys, outcome, system, message)
    except (ModelError, OverCeiling) as error:
        outcome["repair_refused"] = str(error)
        return ""


def _merged(
    core: Core, work: _Range, topic: str, old: Summary | None, notes: _Notes | None, limit: int
) -> tuple[Summary, list[LedgerLine]]:
    """The next version of a topic: what it was, and the new notes behind it, inside ``limit`` tokens."""
    notes = notes or _Notes([], [], "", EXTRACTIVE)
    previous = f"{old.text if old else ''}\n{notes.text}".strip()
    made = digest(notes.entries, limit=limit, count=core.tokenizer, previous=previous)
    summary = Summary(
        session_id=work.ref.id,
        topic=topic,
        version=0,
        covers_from=work.events[0].seq,
        covers_to=work.events[-1].seq,
        text=made.text,
        tokens=core.tokenizer(made.text),
        by=notes.by,
        at=core.clock(),
    )
    sources = [*notes.source, *quotable(previous, work.covered)]
    return summary, _ledger([*notes.lost, *made.bared, *made.dropped], sources)


def _ledger(lost: Sequence[KeyDatum], sources: Sequence[Entry]) -> list[LedgerLine]:
    """A line for each datum, with what it stood in; what stands in nothing was lost before, and noted then."""
    wanted = {(datum.kind, datum.value) for datum in lost}
    lines: dict[tuple[str, str], LedgerLine] = {}
    for source in sources if lost else ():
        for sentence in sentences(source.text):
            for datum in sentence.data:
                key = datum.kind, datum.value
                if key in wanted and key not in lines:
                    text = _quoted(source, quote(sentence, datum))
                    lines[key] = LedgerLine(seq=source.seq, kind=datum.kind, value=datum.value, text=text)
    return list(lines.values())


def _quoted(source: Entry, text: str) -> str:
    said = f"{source.speaker}: {text}" if source.speaker else text
    return f"[{source.date}] {said}" if source.date else said


def _store(
    run: Run,
    tables: Tables,
    work: _Range,
    made: Sequence[tuple[Summary, list[LedgerLine]]],
    outcome: Outcome,
) -> Outcome:
    """The new version, if nobody was faster; and the next job, when one compaction was not enough."""
    ref, policy = work.ref, run.core.policy
    still_there = tables.events.walk(ref, after=work.covered, until=work.events[-1].seq)
    if [event.seq for event in still_there] != [event.seq for event in work.events]:
        raise Conflict("Events of this summary were removed meanwhile.")
    ledger = [line for _, lines in made for line in lines]
    if not made:
        made = [(_nothing_said(run.core, work), [])]
    if not tables.summaries.add(ref, [summary for summary, _ in made], ledger, expected=work.covered):
        raise Conflict("Another worker summarised this session first.")
    tables.facts.anchor(ref)
    put_if_due(tables, ref, policy, run.core.now())
    return {**outcome, "due": True, "by": made[0][0].by, "ledger": len(ledger)}


def _nothing_said(core: Core, work: _Range) -> Summary:
    """A version for a range without any words (tool calls only), so that the coverage moves on."""
    old = next((summary for summary in work.current if summary.topic == DEFAULT_TOPIC), None)
    text = old.text if old else ""
    return Summary(
        session_id=work.ref.id, topic=DEFAULT_TOPIC, version=0, covers_from=work.events[0].seq,
        covers_to=work.events[-1].seq, text=text, tokens=core.tokenizer(text), by=EXTRACTIVE, at=core.clock(),
    )  # fmt: skip
