"""One way to fail and to try again for everything that talks to a model server.

The SDKs' own retries are switched off: they obey any Retry-After, even one of a day, inside the call.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from wellkept.errors import InvalidInput, ModelError

T = TypeVar("T")

_TEMPORARY = {408, 409, 425, 429}
_ADVICE = {
    400: "the server refused the request",
    401: "check the API key",
    403: "this key may not use the model",
    404: "check the model's name and the base URL",
    413: "the request is too large",
}


class Refusal(ModelError):
    """A server's error status.

    Attributes:
        status: HTTP status code.
        wait: seconds that the server asks to wait before the next try, or None.
    """

    def __init__(
        self, message: str, *, status: int, wait: float | None, raw_reply: str, retryable: bool
    ) -> None:
        super().__init__(message, raw_reply=raw_reply, retryable=retryable)
        self.status = status
        self.wait = wait


@dataclass(frozen=True)
class Retry:
    """Tries a call again while its ``ModelError`` is retryable, waiting twice as long each time.

    A server's Retry-After is obeyed up to ``longest`` seconds; if it asks for more, the error is raised.
    """

    times: int = 3
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.times < 0:
            raise InvalidInput(f"max_retries must be 0 or more, not {self.times}")

    def run(self, call: Callable[[], T]) -> T:
        """What ``call`` returns, or the last error it raised."""
        for attempt in range(self.times):
            try:
                return call()
            except ModelError as error:
                wait = self._wait(error, attempt)
                if not error.retryable or wait > self.longest:
                    raise
            self.sleep(wait)
        return call()

    def _wait(self, error: ModelError, attempt: int) -> float:
        if isinstance(error, Refusal) and error.wait is not None:
            return error.wait
        return min(self.first * 2.0**attempt, self.longest) * random.uniform(0.75, 1.0)


@contextmanager
def sdk_errors(sdk: Any, name: str) -> Iterator[None]:
    """Turns errors of the ``anthropic`` or ``openai`` module, which name them alike, into ``ModelError``."""
    try:
        yield
    except ModelError:
        raise
    except sdk.APITimeoutError as error:
        raise timed_out(name) from error
    except sdk.APIConnectionError as error:
        raise unreachable(name, error.__cause__ or error) from error
    except sdk.APIStatusError as error:
        raise refusal(name, error.status_code, error.response.headers, _body(error)) from error
    except sdk.APIError as error:
        raise ModelError(
            f"{name} reported an error: {error}", raw_reply=_body(error), retryable=True
        ) from error
    except Exception as error:
        # A stream that breaks raises what its transport raises, and a garbled reply what the parser does:
        # httpx, httpx2, json and pydantic errors, which differ between versions of the SDKs.
        reason = f"{name} sent no whole reply ({type(error).__name__}: {error})"
        raise ModelError(reason, retryable=not isinstance(error, (TypeError, AttributeError))) from error


def refusal(name: str, status: int, headers: Mapping[str, str], body: str) -> Refusal:
    """The error for a reply of status ``status``."""
    temporary = status in _TEMPORARY or status >= 500 or status < 400  # below 400: an error inside a stream
    advice = _ADVICE.get(status, "try again later" if temporary else "the server refused the request")
    return Refusal(
        f"{name} answered {status}: {advice}. It said: {body[:500]}",
        status=status,
        wait=_retry_after(headers),
        raw_reply=body,
        retryable=temporary and "insufficient_quota" not in body,
    )


def timed_out(name: str) -> ModelError:
    """The error for a server that is silent for too long."""
    return ModelError(f"{name} did not answer in time; raise timeout= if it needs longer", retryable=True)


def unreachable(name: str, cause: BaseException) -> ModelError:
    """The error for a connection that failed or broke."""
    return ModelError(f"{name} cannot be reached ({cause}); is its server running?", retryable=True)


def _body(error: Any) -> str:
    return (
        error.body if isinstance(error.body, str) else json.dumps(error.body, ensure_ascii=False, default=str)
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of the Retry-After header; a date there is left to the back-off."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None
