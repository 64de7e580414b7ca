"""A program that extracts a fact with a model that says when it is asked, and answers when it is told to (a line on stdin)."""

from __future__ import annotations

import sys

from tests.stress.extractor import reply
from wellkept import Memory, lease
from wellkept.testing import Call, FakeModel


def think(call: Call) -> str:
    print("asked", flush=True)
    sys.stdin.readline()
    return reply(call)


def main(path: str, seconds: float) -> None:
    lease.RENEW_SECONDS = seconds
    with Memory(path, worker=False, model=FakeModel(think)) as memory:
        print(memory.run_jobs(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
