"""Makes src/wellkept/policy/text/han.py from OpenCC's character tables.

pip download --no-deps opencc-python-reimplemented && unzip *.whl
python tools/make_han.py opencc/dictionary > src/wellkept/policy/text/han.py
"""

from __future__ import annotations

import sys
from pathlib import Path

HEADER = '''\
"""Traditional to simplified Chinese, one character for one character.

Made by tools/make_han.py from TSCharacters.txt and STCharacters.txt of OpenCC by Carbo Kuo and contributors
(github.com/BYVoid/OpenCC, Apache License 2.0). Where a character has several simplified forms they are taken
for one, because a search should find too much rather than too little.
"""

from __future__ import annotations

from functools import cache


@cache
def simplified() -> dict[int, int]:
    """The table for ``str.translate``. Applying it twice changes nothing more."""
    pairs = "".join(_PAIRS.split())
    return dict(zip(map(ord, pairs[::2]), map(ord, pairs[1::2]), strict=True))


_PAIRS = """
'''

# Written in Taiwan and Hong Kong where the mainland writes a character that exists there as well.
USED_ALIKE = {"著": "着", "妳": "你", "牠": "它"}


def rows(path: Path) -> list[tuple[str, list[str]]]:
    """The entries of one table: a character and its forms in the other script, the usual one first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(key, forms.split()) for key, _, forms in (line.partition("\t") for line in lines) if key]


def table(folder: Path) -> dict[str, str]:
    """Each traditional character with its simplified one, chains resolved."""
    pairs: dict[str, str] = {}
    for traditional, forms in rows(folder / "TSCharacters.txt"):
        pairs.update((traditional, form) for form in reversed(forms) if form != traditional)
    for simplified, forms in rows(folder / "STCharacters.txt"):
        for form in forms:
            if form != simplified and simplified not in pairs:
                pairs.setdefault(form, simplified)
    pairs.update(USED_ALIKE)
    return {key: pairs.get(value, value) for key, value in pairs.items() if key != pairs.get(value)}


def main() -> None:
    """Prints the module."""
    pairs = "".join(key + value for key, value in sorted(table(Path(sys.argv[1])).items()))
    width = 104
    lines = [pairs[start : start + width] for start in range(0, len(pairs), width)]
    print(HEADER + "\n".join(lines) + '\n"""')


if __name__ == "__main__":
    main()
