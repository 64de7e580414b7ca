"""What a model may raise, as the one error that everything here knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wellkept.errors import InvalidInput, ModelError, WellkeptError


@contextmanager
def model_errors(model: Any) -> Iterator[None]:
    """Turn whatever an application's own model raises into a ModelError that may be tried again."""
    try:
        yield
    except WellkeptError:
        raise
    except Exception as error:
        raise ModelError(f"{model.name} failed ({type(error).__name__}: {error}).", retryable=True) from error


def check_model(model: Any) -> None:
    """Raises InvalidInput, with the next step, for what is no model."""
    missing = [name for name in ("name", "complete") if not hasattr(model, name)]
    if missing:
        raise InvalidInput(
            f"The model has no {missing[0]!r}: {model!r:.80}. Pass models.load('openai:gpt-5'), or an object of your own "
            "that follows models.Model."
        )
