"""Cuts the power of a flash disk after every operation, under a real littlefs or FAT. Runs on MicroPython.

    micropython -X heapsize=24m tests/device/power.py SRC littlefs|fat clean|half|unsynced|sector STEP FIRST [LAST [SEED]]

A workload runs once on a block device that records each program and erase. For each cut the device is built
again from what had reached it, mounted, opened and compared with what had been acknowledged. The last line
printed is JSON. With SEED the flash was in use before it was formatted, and holds random bytes.
"""

import json
import os
import random
import sys

if sys.implementation.name == "micropython":
    sys.path.insert(0, sys.argv[1])

from wellkept_flash import compact
from wellkept_flash.files import Disk
from wellkept_flash.longterm import LongTerm
from wellkept_flash.profile import Profile
from wellkept_flash.session import Session

SIZES = {"littlefs": (512, 512), "fat": (512, 512)}
DISK = Disk(sync=sys.implementation.name == "micropython")
LIMIT = 1200
SUMMARY = "[Summary"


class Flash:
    """A block device in memory that records its operations: ("p", address, bytes), ("e", address, size),
    ("s",)."""

    def __init__(self, kind, image=None):
        self.block, count = SIZES[kind]
        self.image = image or bytearray(b"\xff" * (self.block * count))
        self.log = None

    def readblocks(self, block, data, offset=0):
        at = block * self.block + offset
        data[:] = self.image[at : at + len(data)]

    def writeblocks(self, block, data, offset=0):
        at = block * self.block + offset
        self.image[at : at + len(data)] = data
        if self.log is not None:
            self.log.append(("p", at, bytes(data)))

    def ioctl(self, op, arg):
        if op == 3 and self.log is not None:
            self.log.append(("s", 0, b""))
        if op == 4:
            return len(self.image) // self.block
        if op == 5:
            return self.block
        if op == 6:
            at = arg * self.block
            self.image[at : at + self.block] = b"\xff" * self.block
            if self.log is not None:
                self.log.append(("e", at, self.block))
        return 0


def used(kind, seed):
    """What a flash may hold that was in use before: many zeros, and anything else."""
    random.seed(seed)
    size, count = SIZES[kind]
    return bytearray(random.choice((0, random.getrandbits(8), 0x41)) for _ in range(size * count))


def mount(kind, flash, fresh=False):
    import vfs

    system = vfs.VfsLfs2 if kind == "littlefs" else vfs.VfsFat
    if fresh:
        system.mkfs(flash)
    vfs.mount(system(flash), "/flash")


class Workload:
    """Appends, two compactions, stores, a replacement, an eviction, a forget, a flush and profile writes."""

    def __init__(self, log, root="/flash", disk=None):
        self._log = log
        self._root = root
        self.said = []
        self.facts = []
        self.profile = []
        self._disk = disk or Disk()
        self._clock = 1750000000

    def _now(self):
        self._clock += 60
        return self._clock

    def run(self):
        for number in range(12):
            session = Session(self._disk, self._root + "/sessions", "s")
            session.user(f"u{number:02d} 你好")
            self.said.append((len(self._log), f"u{number:02d}"))
            if number % 3 == 0:
                call = {
                    "id": f"c{number}",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                }
                result = {
                    "role": "tool",
                    "tool_call_id": f"c{number}",
                    "content": "x" * 250,
                    "is_error": False,
                }
                session.tool_round({"role": "assistant", "content": None, "tool_calls": [call]}, [result])
            session.final(text=f"f{number:02d} ok")
            self.said.append((len(self._log), f"f{number:02d}"))
            if session.size() > LIMIT:
                compact.compact(session, LIMIT)
        self._memories()
        for number in range(3):
            Profile(self._disk, self._root + "/memory").write("soul", f"soul {number} " * 20)
            self.profile.append((len(self._log), f"soul {number} " * 20))

    def _memories(self):
        self._disk.make(self._root + "/memory")
        memory = LongTerm(self._disk, self._root + "/memory", self._now, 4)
        memory.begin()
        steps = [(f"m{number} holds box {number}", False) for number in range(6)]
        steps.insert(3, ("m2 holds box 9", True))
        for content, replaces in steps:
            memory.store(content, "box", "", "manual", "", replaces)
            self.facts.append((len(self._log), [item.content for item in memory.items()]))
        memory.forget(memory.listed()[-1].id)
        self.facts.append((len(self._log), [item.content for item in memory.items()]))
        memory.flush()


def acknowledged(marks, cut):
    return [value for at, value in marks if at <= cut]


def check_session(done, cut, root="/flash"):
    said = acknowledged(done.said, cut)
    session = Session(DISK, root + "/sessions", "s")
    if not said and session.size() <= 0:
        return None
    contents = [m["content"] for m in session.load().messages if m["role"] != "tool" and m["content"]]
    folded = contents[0] if contents and contents[0].startswith(SUMMARY) else ""
    kept = [content[:3] for content in contents if not content.startswith(SUMMARY)]
    for word in said:
        if word not in kept and word not in folded:
            return "lost " + word
    numbers = [int(word[1:]) for word in kept]
    if numbers != sorted(numbers) or len(set(kept)) != len(kept):
        return "disorder " + str(kept)
    session.user("u99 after")
    if session.load().messages[-1]["content"] != "u99 after":
        return "does not go on"
    return None


def check_memory(done, cut, root="/flash"):
    before = acknowledged(done.facts, cut)
    coming = done.facts[len(before)][1] if len(before) < len(done.facts) else []
    must = [fact for fact in before[-1] if fact in coming or len(before) == len(done.facts)] if before else []
    may = (before[-1] if before else []) + coming
    DISK.make(root + "/memory")
    memory = LongTerm(DISK, root + "/memory", lambda: 1760000000, 4)
    live = [item.content for item in memory.items()]
    if [fact for fact in must if fact not in live]:
        return f"lost of {must}: {live}"
    if [fact for fact in live if fact not in may]:
        return f"came back: {live} not in {may}"
    memory.store("m77 after", "x")
    if "m77 after" not in [
        item.content for item in LongTerm(DISK, root + "/memory", lambda: 1760000000, 4).items()
    ]:
        return "does not go on"
    return None


def check_profile(done, cut, root="/flash"):
    written = acknowledged(done.profile, cut)
    found = Profile(DISK, root + "/memory").read("soul")
    choices = [text for _, text in done.profile[len(written) :][:1]] + (written[-1:] or [""])
    return None if found in choices else "profile " + found[:20]


def apply(image, op, half=False):
    kind, at, data = op
    if kind == "p":
        data = data[: len(data) // 2] if half else data
        image[at : at + len(data)] = data
    elif kind == "e":
        size = data // 2 if half else data
        image[at : at + size] = b"\xff" * size


def survivors(log, cut, mode):
    """The operations of the first ``cut`` that reached the flash."""
    if mode != "unsynced":
        return log[:cut]
    synced = 0
    for number in range(cut):
        if log[number][0] == "s":
            synced = number + 1
    return log[:synced]


def main():
    kind, mode, step, first = sys.argv[2:6]
    flash = Flash(kind, used(kind, int(sys.argv[7])) if len(sys.argv) > 7 else None)
    mount(kind, flash, True)
    start = bytes(flash.image)
    flash.log = []
    done = Workload(flash.log)
    done.run()
    log, flash.log = flash.log, None
    os.umount("/flash")
    bad = []
    count = broken = 0
    base = bytearray(start)
    reached = 0
    last = int(sys.argv[6]) if len(sys.argv) > 6 else len(log)
    for cut in range(int(first), min(last, len(log)) + 1, int(step)):
        left = survivors(log, cut, mode)
        while reached < len(left):
            apply(base, left[reached])
            reached += 1
        image = bytearray(base)
        if mode in ("half", "sector") and cut < len(log):
            apply(image, log[cut], True)
        if mode == "sector" and cut < len(log) and log[cut][0] == "p":
            at = log[cut][1] // 4096 * 4096
            image[at : at + 4096] = b"\xff" * 4096
        count += 1
        try:
            mount(kind, Flash(kind, image))
        except OSError:
            broken += 1
            continue
        try:
            for check in (check_session, check_memory, check_profile):
                problem = check(done, cut)
                if problem:
                    bad.append(f"cut {cut}: {problem}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            bad.append(f"cut {cut}: {type(error).__name__} {error}")
            if len(bad) < 3:
                sys.print_exception(error)
        os.umount("/flash")
    written = sum([len(op[2]) for op in log if op[0] == "p"])
    print(
        json.dumps(
            {
                "operations": len(log),
                "cuts": count,
                "unmountable": broken,
                "bad": bad[:20],
                "failed": len(bad),
                "written": written,
            }
        )
    )


if __name__ == "__main__":
    main()
