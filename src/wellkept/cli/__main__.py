"""``python -m wellkept.cli``."""

from __future__ import annotations

from wellkept.cli import main

main()
