"""Extracts: asks a model what is durably true in what a user said, and keeps only what was really said.

One job reads the user's messages since the last one, in one model call. The answer is untrusted: each claim
passes the gate of ``policy.facts.ground``, and code alone decides what it replaces. The result and the place up to
which was read are stored in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from wellkept.core import Core
from wellkept.errors import Conflict, ModelError, NotFound
from wellkept.facts.graves import is_buried
from wellkept.facts.keep import Keeper, Source, made_ready
from wellkept.facts.wishes import heed
from wellkept.jobs import Finish, Outcome, Run
from wellkept.outbox import EXTRACT
from wellkept.policy.facts import answers, prompt
from wellkept.policy.facts.answers import Answer, Proposal, Unreadable
from wellkept.policy.facts.claims import USER, Claim
from wellkept.policy.facts.conflict import same_content
from wellkept.policy.facts.ground import UNQUOTED, Said, dated, refusal, since
from wellkept.policy.facts.intent import NOTHING, is_small_talk, sentences, states
from wellkept.policy.facts.labels import catalogue
from wellkept.policy.facts.quoted import own_words
from wellkept.policy.facts.wish import wishes, without_wishes
from wellkept.policy.text.words import index_tokens
from wellkept.records import Event, Record, Scope, text_of
from wellkept.store.facts import EXPLICIT, Change
from wellkept.store.protocol import SessionRef, Tables

BATCH = 12
BATCH_TOKENS = 6_000
ANSWER_TOKENS = 320


@dataclass(frozen=True)
class _Batch:
    """What one job reads: user events behind ``after``, up to ``upto``; ``more`` when there are others behind
    them."""

    ref: SessionRef
    after: int
    upto: int
    events: list[Event]
    labels: list[str]
    more: bool


def extract(run: Run) -> Finish:
    """The handler of an extract job: one batch of a session's user messages."""
    batch = run.core.store.read(lambda tables: _batch(run, tables))
    worth = [event for event in batch.events if _is_worth_asking(text_of(event.content))]
    answer = _ask(run, batch, worth) if worth else Answer("none", ())
    unasked = [{"event": event.seq, "reason": NOTHING} for event in batch.events if event not in worth]
    return lambda tables: {**_apply(run, tables, batch, answer), "unasked": unasked}


def _batch(run: Run, tables: Tables) -> _Batch:
    ref = tables.sessions.find(run.scope, run.job.session_id or "")
    if ref is None:
        raise NotFound("The session was deleted; there is nothing to extract.")
    after = upto = tables.facts.extracted(ref)
    events: list[Event] = []
    tokens, more = 0, False
    for event in tables.events.walk(ref, after=after):
        if event.role == "user" and events and (len(events) == BATCH or tokens + event.tokens > BATCH_TOKENS):
            more = True
            break
        upto = event.seq
        if event.role == "user":
            events.append(event)
            tokens += event.tokens
    labels = catalogue(list(islice(tables.facts.all(ref.scope), 512)))
    return _Batch(ref, after, upto, events, labels, more)


def _is_worth_asking(text: str) -> bool:
    """False for what states nothing: questions, orders, greetings, signs and single words such as "ok"."""
    if wishes(text):
        return True
    return any(
        states(sentence) and len(index_tokens(sentence)) > 1 and not is_small_talk(sentence)
        for sentence in sentences(own_words(text))
    )


def _ask(run: Run, batch: _Batch, events: Sequence[Event]) -> Answer:
    """The model's answer, with one chance to mend it."""
    core = run.core
    shown = [
        prompt.Message(event.speaker or "", _day(core, event), text_of(event.content)) for event in events
    ]
    messages = [{"role": "user", "content": prompt.request(shown, batch.labels, core.policy.time_zone)}]
    system = prompt.system(core.policy.max_memories)
    most = ANSWER_TOKENS * (1 + len(events))
    reply = text_of(run.complete(system, messages, max_tokens=most, schema=answers.SCHEMA).content)
    try:
        return answers.read(reply)
    except Unreadable as error:
        messages += [
            {"role": "assistant", "content": reply[:4000] or "(nothing)"},
            {"role": "user", "content": prompt.REPAIR % error},
        ]
    second = text_of(run.complete(system, messages, max_tokens=most, schema=answers.SCHEMA).content)
    try:
        return answers.read(second)
    except Unreadable as error:
        raise ModelError(
            f"The model's answer could not be read, asked twice: {error}. Retry the job, or use another model.",
            raw_reply=f"{reply}\n----\n{second}",
        ) from error


def _day(core: Core, event: Event) -> str:
    return event.ts.astimezone(core.zone).strftime("%Y-%m-%d (%A)")


# ── taking over the answer ───────────────────────────────────────────────────────────────────────────────────


@dataclass
class _Result:
    """What a batch came to, for the record of the job."""

    stored: list[str] = field(default_factory=list)
    known: int = 0
    retired: list[str] = field(default_factory=list)
    doubts: int = 0
    refused: list[dict[str, str]] = field(default_factory=list)

    def refuse(self, text: str, reason: str) -> None:
        self.refused.append({"text": text[:200], "reason": reason})


@dataclass(frozen=True, slots=True)
class _Grounded(Record):
    """A proposal with the event that says it."""

    proposal: Proposal
    said: Said


def _apply(run: Run, tables: Tables, batch: _Batch, answer: Answer) -> Outcome:
    core, ref, now = run.core, batch.ref, run.core.now()
    if not tables.facts.set_extracted(ref, batch.upto, expected=batch.after):
        raise Conflict("Another worker extracted from this session first.")
    result = _Result()
    alive = [event for event in batch.events if tables.events.get(ref, event.seq)]
    grounded = _grounded(core, alive, answer, result)
    by_hand = _by_hand(tables, run.scope, alive)
    keeper = Keeper(core, tables, run.scope, "extract")
    for event in alive:
        for each in grounded.get(event.seq, []):
            _take(keeper, ref, event, each, answer.intent == "replace", by_hand, result)
        retired, doubts = heed(keeper, ref, event, sure=answer.intent == "forget")
        result.retired += retired
        result.doubts += doubts
    if batch.more:
        tables.jobs.put(run.scope, EXTRACT, ref=ref, at=now, once=str(ref.key))
    return {
        "events": [batch.after + 1, batch.upto], "stored": result.stored, "known": result.known, "retired": result.retired,
        "doubts": result.doubts, "refused": result.refused, "unusable": answer.unusable,
    }  # fmt: skip


def _grounded(
    core: Core, events: Sequence[Event], answer: Answer, result: _Result
) -> dict[int, list[_Grounded]]:
    """The proposals that pass the gate, by the seq of the event that says them; at most ``max_memories`` an
    event."""
    found: dict[int, list[_Grounded]] = {}
    for proposal in answer.proposals:
        reason = "no message of the user says it"
        for event in events:
            said = _said(core, event)
            why = _refusal(proposal, said)
            if why is None:
                found.setdefault(event.seq, []).append(_Grounded(proposal, said))
                break
            if why != UNQUOTED:
                reason = why
        else:
            result.refuse(proposal.text, reason)
    for seq, kept in found.items():
        for extra in kept[core.policy.max_memories :]:
            result.refuse(extra.proposal.text, "more than max_memories of one message")
        found[seq] = kept[: core.policy.max_memories]
    return found


def _refusal(proposal: Proposal, said: Said) -> str | None:
    """Why the message does not give the proposal: what it wants forgotten is no fact; what else it says may be."""
    why = refusal(proposal, replace(said, text=without_wishes(said.text)))
    if why == UNQUOTED and refusal(proposal, said) != UNQUOTED:
        return "the message asks to forget"
    return why


def _said(core: Core, event: Event) -> Said:
    return Said(text_of(event.content), event.ts, core.policy.time_zone, event.speaker or "")


def _take(
    keeper: Keeper,
    ref: SessionRef,
    event: Event,
    grounded: _Grounded,
    correction: bool,
    by_hand: Sequence[Change],
    result: _Result,
) -> None:
    said, proposal = grounded.said, _attributed(grounded, keeper.scope.user)
    claim = made_ready(keeper.core, proposal)
    source = Source(ref, event.seq, said.text, int(event.ts.timestamp() * 1000))
    why = _blocked(keeper, claim, source, by_hand)
    if why is not None:
        result.refuse(claim.text, why)
        return
    begin, end = (_ms(since(value, proposal, said)) for value in (proposal.valid_from, proposal.valid_to))
    kept, decision, known = keeper.keep(
        claim, source=source, correction=correction, valid_from=begin, valid_to=end
    )
    result.stored += [each.id for each in kept if each.event == "ADD"]
    result.known += sum(each.event == "NONE" for each in kept)
    result.retired += [each.id for each in kept if each.event == "DELETE"]
    for at in decision.doubts:
        pair = (kept[0].id, known[at].id)
        keeper.tables.doubts.add(keeper.scope, "replace", facts=pair, at=keeper.at)
        result.doubts += 1


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def _attributed(grounded: _Grounded, user: str) -> Proposal:
    """The proposal with absolute dates, and with the speaker's name where somebody else than the user
    spoke."""
    proposal, said = grounded.proposal, grounded.said
    text, subject = dated(proposal.text, said), proposal.subject
    if said.speaker and said.speaker.casefold() != user.casefold():
        subject = said.speaker if subject.casefold() in (USER, "用户", "me", "i", "我") else subject
        if said.speaker.casefold() not in text.casefold():
            text = f"{said.speaker}: {text}"
    return replace(proposal, text=text, subject=subject)


def _by_hand(tables: Tables, scope: Scope, events: Sequence[Event]) -> list[Change]:
    """What people, applications and tools changed since the first of ``events`` was said."""
    first = min((int(event.ts.timestamp() * 1000) for event in events), default=None)
    if first is None:
        return []
    changes = tables.facts.changes(scope, after=tables.facts.newest_at(scope, first - 1))
    return [change for change in changes if change.actor in EXPLICIT]


def _blocked(keeper: Keeper, claim: Claim, source: Source, by_hand: Sequence[Change]) -> str | None:
    """Why a grounded claim is still not stored: it was forgotten, or somebody wrote the same by hand since it
    was said."""
    if is_buried(keeper.tables, keeper.scope, claim, source.text, source.at):
        return "it was forgotten"
    for change in by_hand:
        since_then = change.at.timestamp() * 1000 >= source.at
        facts = [fact for fact in (change.before, change.after) if since_then and fact is not None]
        if any(same_content(claim, fact) for fact in facts):
            return "the same was written by hand"
    return None
