"""README and docs run as written, and leave no command, option or page out."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tools import cli_docs, public_api
from tools.doc_blocks import ROOT, Block, Reader, blocks, documents
from wellkept import Memory
from wellkept.cli import COMMANDS, cli

CONTEXT = click.Context(cli, info_name="wellkept")


def commands(group: click.Group = cli, path: str = "") -> list[tuple[str, click.Command]]:
    found = []
    for name in group.list_commands(CONTEXT):
        command = group.get_command(CONTEXT, name)
        assert command is not None
        found.append((f"{path} {name}".strip(), command))
        if isinstance(command, click.Group):
            found += commands(command, f"{path} {name}".strip())
    return found


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_a_document_runs_as_written(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks(path):
        reader.follow(block)
    for value in reader.namespace.values():
        if isinstance(value, Memory):
            value.close()


def test_a_document_that_lies_is_caught(tmp_path: Path) -> None:
    python = Block(tmp_path / "page.md", 1, "python", "print(1 + 1)\n")
    console = Block(tmp_path / "page.md", 5, "console", "$ wellkept --version\nsomething else\n")
    reader = Reader(tmp_path)
    reader.follow(python)
    with pytest.raises(AssertionError, match=r"page\.md:3"):
        reader.follow(Block(tmp_path / "page.md", 3, "text", "3\n"))
    with pytest.raises(AssertionError, match=r"page\.md:5"):
        reader.follow(console)


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_page_is_listed() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page for page in pages if f"({page})" not in index] == []


def test_make_has_the_targets_that_the_documents_name() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {
        target
        for path in [*documents(), ROOT / "CONTRIBUTING.md"]
        for block in blocks(path)
        if block.language == "sh"
        for target in re.findall(r"^make (\w+)", block.text, re.MULTILINE)
    }
    assert {"run", "test", "check", "bench"} <= named
    assert [target for target in named if f"\n{target}:" not in makefile] == []


def test_both_readmes_show_the_same_code() -> None:
    def shown(name: str) -> list[str]:
        return [block.language for block in blocks(ROOT / name)]

    assert shown("README.md") == shown("README.zh.md")


def test_readme_names_the_python_versions_of_ci() -> None:
    (supported,) = re.findall(
        r'^supported="(.+)"$', (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE
    )
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert [version for version in supported.split() if version not in text] == []


# ── the command line ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_and_option_has_help(name: str, command: click.Command) -> None:
    assert command.help, name
    silent = [param.name for param in command.params if isinstance(param, click.Option) and not param.help]
    assert silent == []


def test_every_command_has_its_line_in_the_list() -> None:
    assert all(summary.endswith(".") for _, summary in COMMANDS.values())


def test_the_command_reference_is_what_the_commands_say() -> None:
    written = cli_docs.PAGE.read_text(encoding="utf-8").partition(cli_docs.MARK)[2]
    assert written == cli_docs.reference(), "run: python tools/cli_docs.py"


# ── the public names ─────────────────────────────────────────────────────────────────────────────────


def test_the_public_names_are_those_that_were_agreed_on() -> None:
    assert public_api.text() == public_api.FILE.read_text(encoding="utf-8"), (
        "A public name changed. If that is meant, run: python tools/public_api.py"
    )
