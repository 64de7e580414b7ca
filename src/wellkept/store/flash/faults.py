"""The device package's errors as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wellkept.errors import InvalidInput, NotFound, StoreError, StoreFull, Unsupported
from wellkept_flash import errors

_OURS: tuple[tuple[type[Exception], type[Exception]], ...] = (
    (errors.InvalidInput, InvalidInput),
    (errors.NotFound, NotFound),
    (errors.StorageFull, StoreFull),
    (errors.Unsupported, Unsupported),
    (errors.FlashError, StoreError),
)


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise the device package's errors as those of ``wellkept.errors``."""
    try:
        yield
    except errors.FlashError as error:
        ours = next(ours for theirs, ours in _OURS if isinstance(error, theirs))
        raise ours(str(error)) from error
