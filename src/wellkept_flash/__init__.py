"""Memory on flash files, for CPython and MicroPython alike.

It needs nothing but the standard modules of MicroPython. The files are those of the ESP-Claw firmware; see
the page "On a device" of the documentation.
"""
