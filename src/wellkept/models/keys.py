"""Which API key goes to which server."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from wellkept.errors import InvalidInput

NO_KEY = "none"  # the SDKs insist on one, and local servers ignore it


def key_for(variable: str, home: str, base_url: str | None, api_key: str | None) -> str:
    """``api_key``, or that of the environment; the latter never goes to a server other than ``home``.

    Raises:
        InvalidInput: there is none, and ``home`` wants one.
    """
    if api_key:
        return api_key
    if base_url is not None and urlsplit(base_url).hostname != home:
        return NO_KEY
    if key := os.environ.get(variable):
        return key
    raise InvalidInput(f"{home} needs a key: set the variable {variable} or pass api_key=")
