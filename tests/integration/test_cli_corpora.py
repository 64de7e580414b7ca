"""Real conversations in numbers: imported, and every context on the way inside its budget and valid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.provider_rules import check_anthropic, check_openai
from wellkept import Memory, Session
from wellkept.cli import cli
from wellkept.policy.text.tokens import estimate


@pytest.mark.parametrize(("corpus", "messages"), [("locomo", 2960), ("eventmem_zh", 2880)])
def test_every_twentieth_context_keeps_its_budget_and_both_providers_rules(
    corpus: str, messages: int, shared: Path, tmp_path: Path
) -> None:
    store = str(tmp_path / "corpus.db")
    file = str(shared / "bench" / corpus / "corpus.jsonl")
    imported = CliRunner().invoke(
        cli, ["import", file, "--store", store, "--namespace", "bench", "--user", "u", "--json"]
    )
    assert json.loads(imported.stdout)["added"] == messages, imported.output
    with Memory(store, worker=False) as memory:
        memory.run_jobs()
        infos = memory.user("u", namespace="bench").sessions(limit=1000)
        assert sum(info.events for info in infos) == messages
        for info in infos:
            chat = memory.session(namespace="bench", user="u", session_id=info.id)
            for seq in range(20, info.events + 1, 20):
                check(chat, seq)


def check(chat: Session, seq: int) -> None:
    for budget in (700, 3000):
        context = chat.get_context(budget=budget, as_of=seq)
        assert context.tokens <= budget
        assert estimate(context.text) <= budget
        check_openai(context.to_openai())
        check_anthropic(context.to_anthropic())
