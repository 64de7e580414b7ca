"""Runs one operation with only so much heap left beside the code. Runs on MicroPython.

    micropython -X heapsize=256k tests/device/heap.py SRC FOLDER append|load|compact BYTES

BYTES is what remains free when the operation begins. It fails with MemoryError when that is not enough.
"""

import gc
import json
import sys

sys.path.insert(0, sys.argv[1])

from wellkept_flash import compact
from wellkept_flash.files import Disk
from wellkept_flash.session import Session


def ballast(leave):
    """Fill the heap but for one stretch of ``leave`` bytes."""
    gc.collect()
    room = bytearray(leave)
    held = None
    size = 4096
    while size >= 16:
        try:
            held = (held, bytearray(size))
        except MemoryError:
            size //= 2
    del room
    gc.collect()
    return held


def main():
    folder, operation, leave = sys.argv[2], sys.argv[3], int(sys.argv[4])
    disk = Disk()
    held = ballast(leave)
    free = gc.mem_free()
    session = Session(disk, folder, "s")
    if operation == "append":
        session.user("What is the weather like? 今天天气怎么样？")
        session.final(text="Fine. 很好。")
        result = session.size()
    elif operation == "load":
        result = len(session.load(20).messages)
    else:
        result = compact.compact(session)["kept"]
    del held
    print(json.dumps({"result": result, "free": free}))


main()
