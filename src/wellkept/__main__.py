"""``python -m wellkept``: the command line."""

from __future__ import annotations

from wellkept.cli import main

main()
