"""A program that appends until it is killed and says aloud, only after it returned, what was acknowledged."""

from __future__ import annotations

import sys

from wellkept import Memory


def main(path: str, name: str, limit: int) -> None:
    with Memory(path, worker=False) as memory:
        shared = memory.session(namespace="n", user="shared", session_id="shared", create=True)
        own = memory.session(namespace="n", user=name, session_id=name, create=True)
        begin = own.info().events
        for number in range(begin, begin + limit):
            texts = (f"{name} {number}", f"answer 回答 {name} {number}")
            pair = [{"role": "user", "content": texts[0]}, {"role": "assistant", "content": texts[1]}]
            for session in (own, shared):
                seqs = [event.seq for event in session.add_messages(pair)]
                print(session.id, *seqs, name, number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
