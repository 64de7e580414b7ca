"""``wellkept reembed``: vectors of another embedder are replaced, and a failure is said and can be gone on from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept import InvalidInput, Memory, models
from wellkept.cli import cli
from wellkept.testing import FakeEmbedder


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "chat.db")
    with Memory(path, embedder=FakeEmbedder(dimension=32), worker=False) as memory:
        for user in ("alice", "bob"):
            chat = memory.session(namespace="acme", user=user)
            chat.add_message("user", "我小孩今年五岁，对恐龙特别着迷")
            chat.add_message("assistant", "Dinosaurs are great 🦖")
        memory.run_jobs()
    return path


def reembed(store: str, *options: str) -> Result:
    return CliRunner().invoke(
        cli, ["reembed", "--store", store, "--embedder", "ollama:fake", "--json", *options]
    )


def test_vectors_of_another_embedder_are_made_again(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = FakeEmbedder(dimension=64)
    monkeypatch.setattr("wellkept.cli.reembed.load_embedder", lambda spec: embedder)
    done = json.loads(reembed(store, "--namespace", "acme", "--user", "alice").stdout)
    assert (done["embedded"], done["left"]) == (2, 0)
    done = json.loads(reembed(store).stdout)
    assert (done["embedded"], done["left"], sum(done["vectors"].values())) == (2, 0, 4)
    assert json.loads(reembed(store).stdout)["embedded"] == 0


def test_what_could_not_be_embedded_is_said_and_waits(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = FakeEmbedder(dimension=64)
    embedder.fault = "raise"
    monkeypatch.setattr("wellkept.cli.reembed.load_embedder", lambda spec: embedder)
    done = json.loads(reembed(store).stdout)
    assert (done["embedded"], done["left"]) == (0, 4)


@pytest.mark.parametrize("spec", ["", "local:x", "nobody:model", "ollama"])
def test_an_embedder_is_named_or_refused(spec: str) -> None:
    with pytest.raises(InvalidInput):
        models.load_embedder(spec)
