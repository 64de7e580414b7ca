"""Writes the reference part of docs/cli.md from the commands themselves.

python tools/cli_docs.py           write it
python tools/cli_docs.py --check   end with 1 when it is out of date
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from wellkept.cli import COMMANDS, cli

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
MARK = "<!-- Below this line: made by tools/cli_docs.py from the commands. -->\n"


def main() -> int:
    """Write or check the page."""
    text = PAGE.read_text(encoding="utf-8")
    made = text.partition(MARK)[0] + MARK + reference()
    if "--check" in sys.argv:
        return int(made != text)
    PAGE.write_text(made, encoding="utf-8")
    return 0


def reference() -> str:
    """Each command with its arguments and options."""
    context = click.Context(cli, info_name="wellkept")
    parts = []
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        parts.append("\n".join(_command(f"wellkept {name}", command)))
    return "\n" + "\n\n".join(parts) + "\n"


def _command(path: str, command: click.Command, level: int = 2) -> Iterator[str]:
    arguments = [_argument(param) for param in command.params if isinstance(param, click.Argument)]
    yield f"{'#' * level} `{' '.join([path, *arguments])}`\n"
    yield inspect.cleandoc(command.help or "")
    options = [param for param in command.params if isinstance(param, click.Option)]
    if options:
        yield "\n| option | |\n|--|--|"
        yield from map(_option, options)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield ""
            yield from _command(f"{path} {name}", inner, level + 1)


def _argument(argument: click.Argument) -> str:
    name = (argument.name or "").upper() + ("…" if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _option(option: click.Option) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {_value(option)}"
    default = "" if not option.show_default else f" Default: {option.default}."
    variable = f" Environment: `{option.envvar}`." if option.envvar else ""
    return f"| `{names}{value}` | {option.help}{default}{variable} |"


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return r" \| ".join(map(str, option.type.choices))
    return (option.metavar or option.type.name.upper()).replace("|", r"\|")


if __name__ == "__main__":
    sys.exit(main())
