"""Memory on the files of a device: what its firmware reads and writes, and what it has no place for beside it."""
