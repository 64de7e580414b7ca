"""Does recorded file calls again on a littlefs or FAT disk, and cuts its power. Runs on MicroPython.

    micropython -X heapsize=48m tests/device/replay.py SRC littlefs|fat clean|half|unsynced STEP FIRST CALLS OUT

CALLS is a file with one JSON list a line: what a disk did, and ["done"] after each acknowledged operation. For
every cut the surviving files are copied to a folder of OUT. The last line printed is JSON: for each of these folders
how many operations were acknowledged; -1 where the disk could not be mounted.
"""

import json
import os
import sys

sys.path.insert(0, sys.argv[1])
sys.path.insert(0, sys.argv[1] + "/../tests/device")

import power

ROOT = "/flash"


def replay(calls, log):
    """Returns the length of ``log`` at each acknowledged operation."""
    marks = []
    files = {}
    for call in calls:
        name = call[0]
        if name == "open":
            files[call[1]] = open(ROOT + call[2], call[3])  # noqa: SIM115 - a later call closes it
        elif name == "write":
            files[call[1]].write(bytes.fromhex(call[2]))
        elif name == "sync":
            files[call[1]].flush()
        elif name == "close":
            files.pop(call[1]).close()
        elif name == "remove":
            os.remove(ROOT + call[1])
        elif name == "make":
            power.Disk().make(ROOT + call[1])
        else:
            marks.append(len(log))
    return marks


def copy(source, target):
    os.mkdir(target)
    for entry in os.ilistdir(source):
        if entry[1] & 0x4000:
            copy(source + "/" + entry[0], target + "/" + entry[0])
        else:
            with open(source + "/" + entry[0], "rb") as there, open(target + "/" + entry[0], "wb") as here:
                here.write(there.read())


def main():
    kind, mode, step, first, path, out = sys.argv[2:8]
    with open(path) as file:
        calls = [json.loads(line) for line in file]
    flash = power.Flash(kind)
    power.mount(kind, flash, True)
    start = bytes(flash.image)
    log = flash.log = []
    marks = replay(calls, log)
    flash.log = None
    os.umount(ROOT)
    acknowledged = {}
    for cut in range(int(first), len(log) + 1, int(step)):
        image = bytearray(start)
        for op in power.survivors(log, cut, mode):
            power.apply(image, op)
        if mode == "half" and cut < len(log):
            power.apply(image, log[cut], True)
        try:
            power.mount(kind, power.Flash(kind, image))
        except OSError:
            acknowledged[str(cut)] = -1
            continue
        copy(ROOT, out + "/" + str(cut))
        acknowledged[str(cut)] = len([mark for mark in marks if mark <= cut])
        os.umount(ROOT)
    print(json.dumps(acknowledged))


main()
