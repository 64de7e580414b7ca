"""A claim: one durable statement in words, with what it is about. Facts are claims that a store keeps."""

from __future__ import annotations

from dataclasses import dataclass

from wellkept.records import Record

USER = "user"
"""The subject of claims about the person whose memory it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Record):
    """One statement.

    Attributes:
        text: the statement, in the language of who said it.
        subject: whom or what it is about; ``USER``, or the name of a speaker in a group.
        attribute: which side of the subject it tells ("diet", "home"); subject and attribute are its key.
        labels: short tags it is listed under.
        keywords: exact words to find it by.
        quote: the words it was taken from; "" when it was written by hand.
    """

    text: str
    subject: str = USER
    attribute: str = ""
    labels: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    quote: str = ""
