from __future__ import annotations
from typing import NamedTuple
class Entry(NamedTuple):
    seq: int; speaker: str; date: str; text: str
class Digest(NamedTuple):
    text: str; kept: tuple; dropped: tuple
def digest(entries, *, limit, count, previous=""):
    out=[]; n=0
    for e in reversed(entries):
        l=f"{e.speaker} ({e.date}): {e.text[:80]}"; n+=count(l)+1
        if n>limit: break
        out.append(l)
    return Digest("\n".join(out[::-1]),(),())
