"""What can go wrong on flash. Each message says what to do next."""


class FlashError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidInput(FlashError):
    """What was passed in cannot be stored; nothing was written."""


class NotFound(FlashError):
    """There is no such session or memory."""


class StorageFull(FlashError):
    """No room on the flash. What was acknowledged before is safe; free some room and try again."""


class Unsupported(FlashError):
    """A device store does not have this feature; the message names a store that does."""
