"""Models and embedders: the seams, adapters on the providers' own SDKs, and ``load`` for a model by name."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wellkept.errors import InvalidInput
from wellkept.models.protocol import Clock, Embedder, Model, Reply, Tokenizer, Usage

if TYPE_CHECKING:
    from wellkept.models.anthropic import Anthropic
    from wellkept.models.embedders import (
        LocalEmbedder,
        OllamaEmbedder,
        OpenAIEmbedder,
        SentenceTransformersEmbedder,
        calibrate,
    )
    from wellkept.models.openai import OpenAI

__all__ = [
    "Anthropic",
    "Clock",
    "Embedder",
    "LocalEmbedder",
    "Model",
    "OllamaEmbedder",
    "OpenAI",
    "OpenAIEmbedder",
    "Reply",
    "SentenceTransformersEmbedder",
    "Tokenizer",
    "Usage",
    "calibrate",
    "load",
    "load_embedder",
]

# Servers that speak OpenAI's interface: their address, and the variable that holds the key if they want one.
_COMPATIBLE: dict[str, tuple[str, str | None]] = {
    "deepseek": ("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "qwen": ("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "ollama": ("http://localhost:11434/v1", None),
    "vllm": ("http://localhost:8000/v1", None),
    "llamacpp": ("http://localhost:8080/v1", None),
}


def load(spec: str, **options: Any) -> Model:
    """The model that ``spec`` names, such as ``anthropic:claude-sonnet-4-5`` or ``ollama:qwen3``.

    Providers: anthropic, openai, deepseek, qwen, ollama, vllm, llamacpp. ``options`` go to the adapter
    (``api_key``, ``base_url``, ``timeout``, ``max_retries``).

    Raises:
        InvalidInput: no such provider, or its key is missing.
        MissingExtra: the provider's package is not installed.
    """
    provider, _, model = spec.partition(":")
    if not model or provider not in ("anthropic", "openai", *_COMPATIBLE):
        known = ", ".join(("anthropic", "openai", *_COMPATIBLE))
        raise InvalidInput(f"a model is named 'provider:model' with a provider of {known}; not {spec!r}")
    from wellkept.models.anthropic import Anthropic
    from wellkept.models.openai import OpenAI

    if provider == "anthropic":
        return Anthropic(model, **options)
    if provider == "openai":
        return OpenAI(model, **options)
    return OpenAI(model, **{**_preset(provider, options), **options}, name=spec)


def load_embedder(spec: str, **options: Any) -> Embedder:
    """The embedder that ``spec`` names: ``local``, ``ollama:bge-m3``, ``openai:text-embedding-3-small`` or
    ``sentence-transformers:MODEL``. ``options`` go to the adapter.

    Raises:
        InvalidInput: no such provider, or its key is missing.
        MissingExtra: the provider's package is not installed.
    """
    from wellkept.models import embedders

    provider, _, model = spec.partition(":")
    if provider == "local" and not model:
        return embedders.LocalEmbedder()
    makers = {
        "ollama": embedders.OllamaEmbedder,
        "openai": embedders.OpenAIEmbedder,
        "sentence-transformers": embedders.SentenceTransformersEmbedder,
    }
    if provider not in makers or not model:
        raise InvalidInput(
            f"an embedder is 'local', or 'provider:model' with a provider of {', '.join(makers)}; not {spec!r}"
        )
    made: Embedder = makers[provider](model, **options)
    return made


def _preset(provider: str, options: dict[str, Any]) -> dict[str, Any]:
    base_url, variable = _COMPATIBLE[provider]
    if variable is None or {"api_key", "base_url", "client"} & options.keys():
        return {"base_url": base_url}
    if key := os.environ.get(variable):
        return {"base_url": base_url, "api_key": key}
    raise InvalidInput(f"{provider} needs a key: set {variable} or pass api_key=")


def __getattr__(name: str) -> Any:
    """The adapters, when they are asked for: a program without a model need not import them."""
    if name in ("Anthropic", "OpenAI"):
        return getattr(import_module(f"wellkept.models.{name.lower()}"), name)
    if name in __all__:
        return getattr(import_module("wellkept.models.embedders"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
