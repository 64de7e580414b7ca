"""A fact as a row, and back: what each column holds, and what a fact is found by."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from wellkept.ids import DIGITS, is_number
from wellkept.policy.facts.conflict import handles
from wellkept.policy.text.words import index_tokens
from wellkept.records import utc
from wellkept.store.facts import Fact, FactState
from wellkept.store.sqlite.sessions import dump, load

STATES: tuple[FactState, ...] = ("active", "retired", "archived")
STATE_NUMBERS = {state: number for number, state in enumerate(STATES)}
_SEARCHED = ("active", "archived")

NAMES = "key, state, pinned, text, claim, sources, valid_from, valid_to, superseded_by, metadata, created, changed"
SELECT_FACT = "SELECT f." + NAMES.replace(", ", ", f.") + ", u.uses, u.last"
FROM_FACTS = "FROM facts f LEFT JOIN fact_uses u ON u.fact = f.key"

_NO_KEY = -1


def fact_id(key: int) -> str:
    """The id that stands for ``key``: 12 characters."""
    return "".join([DIGITS[(key >> shift) & 31] for shift in range(55, -1, -5)])


def fact_key(id: str) -> int:
    """The key behind an id; one that no fact has for anything else."""
    if not is_number(id):
        return _NO_KEY
    key = 0
    for digit in id:
        key = key << 5 | DIGITS.index(digit)
    return key


def words_of(fact: Fact) -> str:
    """The index tokens that a fact is searched by, with blanks between; none of a retired one."""
    if fact.state not in _SEARCHED:
        return ""
    return " ".join(index_tokens("\n".join([fact.text, *fact.labels, *fact.keywords])))


def handles_of(fact: Fact) -> frozenset[int]:
    """The handles that a fact is stored under; none of a retired one."""
    return handles(fact).stored if fact.state in _SEARCHED else frozenset()


def row_of(fact: Fact) -> tuple[Any, ...]:
    """The values of ``NAMES``."""
    claim = {
        "subject": fact.subject,
        "attribute": fact.attribute,
        "labels": fact.labels,
        "keywords": fact.keywords,
        "quote": fact.quote,
    }
    return (
        fact.key,
        STATE_NUMBERS[fact.state],
        int(fact.pinned),
        fact.text,
        dump({name: value for name, value in claim.items() if value}),
        json.dumps(fact.sources) if fact.sources else None,
        ms(fact.valid_from),
        ms(fact.valid_to),
        None if fact.superseded_by is None else fact_key(fact.superseded_by),
        dump(fact.metadata),
        ms(fact.created_at),
        ms(fact.changed_at),
    )


def read_fact(row: Sequence[Any]) -> Fact:
    """A fact from a row of ``SELECT_FACT``."""
    (key, state, pinned, text, claim, sources, valid_from, valid_to, superseded_by, metadata, created, changed,
     uses, last) = row  # fmt: skip
    key_of = load(claim)
    return Fact(
        id=fact_id(key),
        key=key,
        text=text,
        subject=key_of.get("subject", ""),
        attribute=key_of.get("attribute", ""),
        labels=tuple(key_of.get("labels", ())),
        keywords=tuple(key_of.get("keywords", ())),
        quote=key_of.get("quote", ""),
        state=STATES[state],
        pinned=bool(pinned),
        sources=tuple(json.loads(sources)) if sources else (),
        valid_from=_moment(valid_from),
        valid_to=_moment(valid_to),
        superseded_by=None if superseded_by is None else fact_id(superseded_by),
        created_at=utc(created),
        changed_at=utc(changed),
        uses=uses or 0,
        last_used=_moment(last),
        metadata=load(metadata),
    )


def restored(after: str | None) -> Fact | None:
    """A fact from a line of the log."""
    return None if after is None else read_fact([*json.loads(after), 0, None])


def ms(moment: datetime | None) -> int | None:
    """Milliseconds since 1970; None for None."""
    return None if moment is None else round(moment.timestamp() * 1000)


def _moment(ms: int | None) -> Any:
    return None if ms is None else utc(ms)
