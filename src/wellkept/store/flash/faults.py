"""The device package's errors, and the system's, as ours."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from wellkept.errors import InvalidInput, NotFound, StoreError, StoreFull, StoreReadOnly, Unsupported
from wellkept_flash import errors

_OURS: tuple[tuple[type[Exception], type[Exception]], ...] = (
    (errors.InvalidInput, InvalidInput),
    (errors.NotFound, NotFound),
    (errors.StorageFull, StoreFull),
    (errors.Unsupported, Unsupported),
    (errors.FlashError, StoreError),
)
_NO_RIGHT = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise the device package's errors, and those of the file system, as those of ``wellkept.errors``."""
    try:
        yield
    except errors.FlashError as error:
        ours = next(ours for theirs, ours in _OURS if isinstance(error, theirs))
        raise ours(str(error)) from error
    except OSError as error:
        if error.errno in _NO_RIGHT:
            raise StoreReadOnly(f"{error.filename} cannot be written to. Check its permissions.") from error
        raise StoreError(
            f"The directory cannot be read or written ({error}). Check the disk, and open it again."
        ) from error
