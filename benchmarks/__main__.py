"""All benchmarks, one after the other."""

from __future__ import annotations

from benchmarks import loop, summaries

loop.main()
summaries.main()
