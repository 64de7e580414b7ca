"""The code blocks of a Markdown document, and how to run them as a reader would.

* ``python`` blocks of one document run in order, in one namespace; a ``text`` block right behind one is its output.
* ``console`` blocks hold commands (``$ ``) and, below each, its output.
* ``<!-- not run: reason -->`` before a block leaves it out.

In an expected output, ``…`` stands for anything.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(
    r"(?P<mark><!-- not run: (?P<reason>.+?) -->\s*\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_MARK = "\x1e"


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, what it is, and why it is not run (if it is not)."""

    path: Path
    line: int
    language: str
    text: str
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


def documents() -> list[Path]:
    """README and docs, in every language."""
    return sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a document, in order."""
    text = path.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Block(path, line, found["language"], found["text"], found["reason"])


@dataclass
class Reader:
    """Somebody who follows a document in ``folder``, block by block."""

    folder: Path
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str | None = None

    def follow(self, block: Block) -> None:
        """Run one block. Raises what it raises, or AssertionError when its output is not as written."""
        if block.reason is None and block.language == "python":
            self.printed = self._python(block)
            return
        if block.reason is None and block.language == "console":
            commands = list(_commands(block.text))
            printed = self._shell([command for command, _ in commands])
            for (_, expected), output in zip(commands, printed, strict=True):
                _compare(block, expected, output)
        elif block.language == "text" and self.printed is not None:
            _compare(block, block.text, self.printed)
        self.printed = None

    def _python(self, block: Block) -> str:
        code = compile("\n" * block.line + block.text, str(block.path), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self.namespace)
        return printed.getvalue()

    def _shell(self, commands: Sequence[str]) -> list[str]:
        """What each of the commands prints, in one shell."""
        script = "\n".join(f"{command}\nprintf '{_MARK}'" for command in commands)
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self._environment(), timeout=120, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.stdout.decode("utf-8").split(_MARK)[:-1]

    def _environment(self) -> Mapping[str, str]:
        """The reader's shell, with this checkout's ``wellkept`` in front."""
        script = self.folder / ".bin" / "wellkept"
        if not script.exists():
            script.parent.mkdir()
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wellkept.cli "$@"\n', encoding="utf-8")
            script.chmod(0o755)
        ours = {name: value for name, value in os.environ.items() if not name.startswith("WELLKEPT_")}
        path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
        return {
            **ours,
            "PATH": path,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "110",
            "TZ": "UTC",
        }


def _commands(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def _compare(block: Block, expected: str, printed: str) -> None:
    pattern = ".*?".join(re.escape(piece) for piece in _trimmed(expected).split("…"))
    if not re.fullmatch(pattern, _trimmed(printed), re.DOTALL):
        raise AssertionError(f"{block} says\n{expected}\nbut the output is\n{printed}")


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
