"""A program that extracts a fact and is killed (-9) around the moment at which it stores what the model replied."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from wellkept import Memory
from wellkept.testing import Call, FakeModel

SAID = "I am allergic to peanuts"
FACT = "The user is allergic to peanuts"


def reply(call: Call) -> str:
    memory = {
        "subject": "user", "attribute": "allergy", "content": FACT, "labels": ["diet"], "keywords": ["peanuts"], "quote": SAID,
    }  # fmt: skip
    return json.dumps({"intent": "none", "memories": [memory]})


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(path: str, moment: str) -> None:
    model = FakeModel(reply)
    memory = Memory(path, worker=False, model=model)
    write = memory._core.store.write

    def dying(work: Any) -> Any:
        if not model.calls:
            return write(work)
        if moment == "before":
            die()
        done = write(lambda tables: (work(tables), die() if moment == "inside" else None)[0])
        if moment == "after":
            die()
        return done

    memory._core.store.write = dying  # type: ignore[method-assign]
    memory.run_jobs()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
