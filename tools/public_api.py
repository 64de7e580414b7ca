"""Writes public_api.json: every public name with its signature, to be read in a review and compared by a test.

python tools/public_api.py           write it
python tools/public_api.py --check   end with 1 when it is out of date
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "public_api.json"
MODULES = ("wellkept", "wellkept.testing", "wellkept.models", "wellkept.formats")


def main() -> int:
    """Write or check the file."""
    if "--check" in sys.argv:
        return int(FILE.read_text(encoding="utf-8") != text())
    FILE.write_text(text(), encoding="utf-8")
    return 0


def text() -> str:
    """Module → name → signature, or the members of a class with theirs, as JSON."""
    found = {name: _module(importlib.import_module(name)) for name in MODULES}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _module(module: Any) -> dict[str, Any]:
    return {name: _described(getattr(module, name)) for name in sorted(module.__all__)}


def _described(value: Any) -> Any:
    if inspect.isclass(value):
        return _class(value)
    if inspect.isfunction(value):
        return _signature(value)
    return type(value).__name__ if inspect.ismodule(value) else repr(value)


def _class(cls: type) -> dict[str, str]:
    ours = [base for base in cls.__mro__ if base.__module__.startswith("wellkept")]
    described = {"bases": ", ".join(base.__name__ for base in cls.__bases__)}
    for name in sorted({name for base in ours for name in vars(base)}):
        if name == "__init__" or not name.startswith("_"):
            described[name] = _member(inspect.getattr_static(cls, name))
    return described


def _member(member: Any) -> str:
    if isinstance(member, (classmethod, staticmethod)):
        return f"{type(member).__name__} {_signature(member.__func__)}"
    if isinstance(member, property):
        return f"property -> {_returns(member.fget)}"
    if hasattr(member, "func"):
        return f"property -> {_returns(member.func)}"
    return _signature(member) if inspect.isfunction(member) else "attribute"


def _returns(function: Any) -> str:
    return str(inspect.get_annotations(function).get("return"))


def _signature(function: Any) -> str:
    return str(inspect.signature(function)).replace("'", "")


if __name__ == "__main__":
    sys.exit(main())
