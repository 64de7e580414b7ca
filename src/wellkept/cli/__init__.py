"""The ``wellkept`` command. A command's module is imported only when that command is asked for."""

from __future__ import annotations

import importlib
import sys
from io import TextIOWrapper

import click

from wellkept.errors import WellkeptError

# name: (module in this package, what the list of commands says). The function is called NAME_command.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "Play a long conversation and show what a model would be given."),
    "import": ("imports", "Take conversations from a file into a store."),
    "export": ("exports", "Write conversations to a file that import reads back."),
    "sessions": ("sessions", "List a user's conversations."),
    "show": ("sessions", "Print a conversation."),
    "context": ("contexts", "Print what a model would be given now, tier by tier."),
    "trace": ("traces", "What a model was given and why; replay it under another policy."),
    "search": ("search", "Search what is remembered of a user."),
    "facts": ("facts", "What is durably remembered of a user, and every change of it."),
    "undo": ("facts", "Take back a change of the facts."),
    "forget": ("forget", "Erase what is remembered about something, with a receipt."),
    "eval": ("evals", "Ask a store your own questions and measure what is found."),
    "reembed": ("reembed", "Make the vectors of an embedder where they are missing."),
    "doctor": ("care", "Look a store over, and repair it."),
    "backup": ("care", "Copy a store while it is in use."),
    "jobs": ("jobs", "List, retry and cancel background work."),
    "device": ("device", "Look after the memory of a device; move it in and out of a store."),
    "serve": ("serve", "Serve a store over HTTP, with the gateway, MCP and the panel."),
    "worker": ("worker", "Do the background work of a store in a process of its own."),
    "mcp": ("mcp", "Offer a user's memory to a model's host, over MCP."),
    "keys": ("keys", "Make, list and revoke keys of the service."),
}


class NotUnderstood(click.ClickException):
    """A command line that makes no sense: one line on stderr, exit code 2."""

    exit_code = 2


class Commands(click.Group):
    """The group of all commands. Errors of ours end as one line on stderr and exit code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"wellkept.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except click.UsageError as error:
            where = (error.ctx or ctx).command_path
            raise NotUnderstood(f"{error.format_message()} See: {where} --help") from error
        except (WellkeptError, OSError) as error:
            raise click.ClickException(" ".join(str(error).split())) from error


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(package_name="wellkept")
def cli() -> None:
    """Memory, well kept: move conversations in and out of a store, and see what a model is given."""


def main() -> None:
    """Run the command line; what the terminal's encoding cannot show is shown as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="wellkept")
