"""Writes a device directory into a flash image. Runs on MicroPython.

micropython -X heapsize=8m tests/device/image.py SRC littlefs|fat FILE
"""

import os
import sys

sys.path.insert(0, sys.argv[1])

import vfs

from wellkept_flash.manager import Device

BLOCK, COUNT = 512, 1024


class Ram:
    def __init__(self):
        self.image = bytearray(b"\xff" * (BLOCK * COUNT))

    def readblocks(self, block, data, offset=0):
        at = block * BLOCK + offset
        data[:] = self.image[at : at + len(data)]

    def writeblocks(self, block, data, offset=0):
        at = block * BLOCK + offset
        self.image[at : at + len(data)] = data

    def ioctl(self, op, arg):
        if op == 6:
            self.image[arg * BLOCK : (arg + 1) * BLOCK] = b"\xff" * BLOCK
        return COUNT if op == 4 else BLOCK if op == 5 else 0


def main():
    _, _, kind, path = sys.argv
    ram = Ram()
    system = vfs.VfsLfs2 if kind == "littlefs" else vfs.VfsFat
    system.mkfs(ram)
    vfs.mount(system(ram), "/flash")
    device = Device("/flash", lambda: 1750000000)
    device.session("chat:web:1").user("你好")
    device.final("chat:web:1", words="Hello. " * 200)
    device.tool("memory_store", {"content": "用户住在无锡", "tags": "城市"})
    device.memory.flush()
    os.umount("/flash")
    with open(path, "wb") as file:
        file.write(ram.image)


main()
