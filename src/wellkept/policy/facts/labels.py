"""Labels: which tags a fact may carry, and the catalogue of those that exist."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from wellkept.errors import InvalidInput
from wellkept.policy.facts.claims import Claim
from wellkept.policy.text import lazy

MAX_LABEL = 40
"""Characters of a label. A longer one is no tag and is left out whole: a cut one would collide with
others."""

OTHER = "other"
"""Where facts without a label stand in the catalogue."""

_GENERIC = frozenset(
    """
    user profile preference preferences memory memories fact facts info information general misc personal other
    用户 资料 偏好 记忆 事实 信息 个人 其他 其它 个人信息 用户信息
    """.split()  # noqa: SIM905
)
_OUTSIDE = lazy.compile(r"[^\w\s+#&./-]|_")


def clean(labels: Iterable[str], known: Iterable[str] = (), *, limit: int = 3) -> tuple[str, ...]:
    """At most ``limit`` labels fit to be kept, whole words, in order.

    One that differs from a ``known`` label only in case, width or punctuation becomes that one (the first such), so
    that few labels serve many facts. Empty, overlong and generic ones ("memory", 偏好) are left out.
    """
    existing: dict[str, str] = {}
    for label in known:
        existing.setdefault(_key(label), label)
    chosen: dict[str, str] = {}
    for label in labels:
        tidy = " ".join(_OUTSIDE.sub(" ", unicodedata.normalize("NFKC", label)).split())
        key = _key(tidy)
        if key and key not in _GENERIC and len(tidy) <= MAX_LABEL and any(char.isalnum() for char in key):
            chosen.setdefault(key, existing.get(key, tidy))
    return tuple(chosen.values())[:limit]


def left_out(given: Iterable[str], kept: Sequence[str]) -> list[str]:
    """Those of the ``given`` labels that ``clean`` did not keep."""
    keys = {_key(label) for label in kept}
    return [label for label in given if _key(" ".join(_OUTSIDE.sub(" ", label).split())) not in keys]


def check_labels(labels: Sequence[str], *, limit: int) -> None:
    """Raise InvalidInput for labels that could only be kept in part: not a list of texts, too many, too long."""
    check_list(labels)
    if len(labels) > limit:
        raise InvalidInput(
            f"These are {len(labels)} labels; a fact carries at most {limit} (Policy.max_labels)."
        )
    if overlong := [label for label in labels if len(label) > MAX_LABEL]:
        raise InvalidInput(
            f"The label {overlong[0]!r:.60} has {len(overlong[0])} characters; a label is a short tag of at most {MAX_LABEL}."
        )


def check_list(labels: Sequence[str]) -> None:
    """Raise InvalidInput for what is no list of labels; a single text would be taken for its letters."""
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise InvalidInput(
            f"The labels are {labels!r:.60}; they must be a list of texts, as in labels=['food']."
        )


def catalogue(claims: Sequence[Claim]) -> list[str]:
    """The labels of ``claims`` in the order and spelling of first use; ``OTHER`` stands for those that have none."""
    first: dict[str, str] = {}
    for claim in claims:
        for label in claim.labels or (OTHER,):
            first.setdefault(_key(label), label)
    return list(first.values())


def carries(claim: Claim, labels: Iterable[str]) -> bool:
    """Whether ``claim`` stands under one of ``labels``, whatever their case and width."""
    own = {_key(label) for label in claim.labels or (OTHER,)}
    return any(_key(label) in own for label in labels)


def _key(label: str) -> str:
    return re.sub(r"[\s_.-]+", " ", unicodedata.normalize("NFKC", label).casefold()).strip()
