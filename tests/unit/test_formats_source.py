from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import InvalidInput
from wellkept.formats import BadLine, Entry, SessionStart, detect, read
from wellkept.formats.fields import moment
from wellkept.formats.source import lines
from wellkept.formats.values import elements, values
from wellkept.records import text_of

EXPORT = (
    '{"kind": "header", "format": "wellkept", "version": "1.0"}\n'
    '{"kind": "session", "id": "s1", "title": "生日"}\n'
    '{"kind": "event", "session": "s1", "seq": 1, "role": "user", "content": "朵朵五岁🎂"}\n'
    '{"kind": "event", "session": "s1", "seq": 2, "role": "assistant", "content": "a\u2028b\u0085c"}\n'
    '{"kind": "end", "sessions": 1, "events": 2}\n'
)


def said(data: bytes) -> list[str]:
    found = list(read(io.BytesIO(data)))
    return [text_of(item.draft.content) if isinstance(item, Entry) else type(item).__name__ for item in found]


def bad(data: bytes) -> list[BadLine]:
    return [item for item in read(io.BytesIO(data)) if isinstance(item, BadLine)]


# ── encodings ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\n\n  \n"])
def test_unicode_in_any_dress(encoding: str, newline: str) -> None:
    data = EXPORT.replace("\n", newline).encode(encoding)
    assert said(data) == ["SessionStart", "朵朵五岁🎂", "a\u2028b\u0085c"]


def test_big_endian_with_a_mark() -> None:
    assert said(b"\xfe\xff" + EXPORT.encode("utf-16-be"))[1] == "朵朵五岁🎂"


def test_text_streams_and_paths_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "导出 文件.jsonl"
    path.write_text(EXPORT, encoding="utf-8-sig")
    assert list(read(path)) == list(read(str(path))) == list(read(io.StringIO("\ufeff" + EXPORT)))
    with path.open("rb") as stream:
        assert len(list(read(stream))) == 3
        assert not stream.closed


def test_bytes_of_another_encoding_cost_their_lines_only() -> None:
    head, session, _, second, end = EXPORT.encode().splitlines(keepends=True)
    gbk = '{"kind": "event", "session": "s1", "seq": 1, "role": "user", "content": "朵朵"}\n'.encode(
        "gb18030"
    )
    items = list(read(io.BytesIO(head + session + gbk + second + end)))
    assert [type(item) for item in items] == [SessionStart, BadLine, Entry]
    assert isinstance(items[1], BadLine)
    assert items[1].line == 3
    assert "save the file as UTF-8" in items[1].reason


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_file_cut_inside_a_character(encoding: str) -> None:
    data = EXPORT.encode(encoding)[:-1]
    assert [type(item) for item in read(io.BytesIO(data))][:3] == [SessionStart, Entry, Entry]
    assert bad(data)[0].line >= 5


def test_half_of_a_surrogate_pair_is_refused_and_told() -> None:
    (found,) = bad(EXPORT.replace("🎂", "\\ud83d").encode())
    assert found.line == 3
    assert "U+D83D" in found.reason
    assert "朵朵五岁🎂" in said(EXPORT.replace("🎂", "\\ud83c\\udf82").encode())


# ── files that are none ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "data, reason",
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \n\r\n", "empty"),
        (b"PK\x03\x04....", "ZIP archive"),
        (b"\x1f\x8b....", "gzip archive"),
        (b"SQLite format 3\0....", "a database"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "no JSON and no JSON Lines"),
        ("你好，这是一封信。".encode(), "no JSON and no JSON Lines"),
        (b"[]", "empty"),
        (b"42", "no format that was tried"),
        (
            b'{"a": 1}',
            "wellkept: .*; chatgpt: .*; claude: .*; claude-code: .*; bench: .*; openai: .*; anthropic: ",
        ),
    ],
)
def test_whole_file_of_no_use(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        list(read(io.BytesIO(data)))


def test_path_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read"):
        list(read(tmp_path / "absent.jsonl"))
    with pytest.raises(InvalidInput, match="cannot read"):
        list(read(tmp_path))


def test_nothing_is_opened_before_the_first_item(tmp_path: Path) -> None:
    read(tmp_path / "absent.jsonl").close()  # type: ignore[attr-defined]


# ── lines and values ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "line, reason",
    [
        ('{"kind": "event", "session": "s1", "se', "cut off"),
        ('{"kind": "event" "session": 1}', "Expecting ',' delimiter at character 18"),
        ('{"kind": NaN}', "NaN is no JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ("[1]", "a line must be an object"),
    ],
)
def test_line_that_is_no_json(line: str, reason: str) -> None:
    start = "".join(EXPORT.splitlines(keepends=True)[:3])
    first, *_ = bad((start + line).encode())
    assert first.line == 4
    assert reason in first.reason


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 5))
def test_lines_do_not_depend_on_the_pieces(text: str, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    expected = [
        (number, line.strip("\r \t\ufeff"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip("\r \t\ufeff")
    ]
    assert list(lines(pieces)) == expected


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('ab界\n"\\'), inner),
    max_leaves=8,
)


@given(
    st.lists(json_values, min_size=1),
    st.integers(1, 7),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_elements_do_not_depend_on_the_pieces(
    found: list[Any], size: int, indent: int | None, ascii: bool
) -> None:
    text = json.dumps(found, indent=indent, ensure_ascii=ascii)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert [value for _, value in elements(pieces)] == found


def test_elements_are_numbered_by_their_first_line() -> None:
    assert [line for line, _ in elements(['[\n{"a":\n1},\n', '\n{"b": 2}]\n'])] == [2, 5]


@pytest.mark.parametrize(
    "text, good, reason",
    [
        ('[{"a": 1}, {"b": 2', 1, "cut off"),
        ('[{"a": 1}, {"b": "x', 1, "cut off"),
        ('[{"a": 1}', 1, "does not end"),
        ('[{"a": 1},', 1, "does not end"),
        ('[{"a": 1} {"b": 2}]', 1, "does not end"),
        ('[{"a": 1}] {"b": 2}', 1, "more text after the end"),
        ('[{"a": 1}, {b: 2}, {"c": 3}]', 1, "Expecting property name"),
    ],
)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_array_that_is_damaged(text: str, good: int, reason: str, size: int) -> None:
    found = [value for _, value in elements([text[at : at + size] for at in range(0, len(text), size)])]
    assert len(found) == good + 1
    assert isinstance(found[-1], BadLine)
    assert reason in found[-1].reason
    assert "nothing after this was read" in found[-1].reason


def test_damaged_element_is_not_searched_to_the_end_of_the_file() -> None:
    taken = 0

    def pieces() -> Iterator[str]:
        nonlocal taken
        yield '[{"a": 1 "b"}, '
        for _ in range(1000):
            taken += 1
            yield '{"c": 3}, ' * 10

    assert [type(value) for _, value in elements(pieces())] == [BadLine]
    assert taken < 10


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1},\n {"b": 2}]',
        "[\n[1],\n[2]\n]",
        '{"a": 1}\n{"b": 2}\n',
        '{\n"a": [\n1]\n}',
        "[1]\n[2]\n",
        '{"a": 1}\n42\n',
    ],
)
def test_ways_of_writing_values(text: str) -> None:
    try:
        whole = json.loads(text)
        expected = whole if isinstance(whole, list) else [whole]
    except ValueError:
        expected = [json.loads(line) for line in text.splitlines()]
    assert [value for _, value in values([text])] == expected


@pytest.mark.parametrize("shape", ["lines", "array"])
def test_memory_stays_flat(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    message = {"role": "user", "content": "今天去看恐龙化石，门票六十元。" * 20}
    text = json.dumps(message, ensure_ascii=False)
    with path.open("w", encoding="utf-8") as stream:
        if shape == "lines":
            stream.writelines(f"{text}\n" for _ in range(8000))
        else:
            stream.write("[" + ",".join([text] * 8000) + "]")
    assert path.stat().st_size > 7_000_000
    tracemalloc.start()
    try:
        assert sum(isinstance(item, Entry) for item in read(path)) == 8000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


# ── times ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "value, expected",
    [
        ("2026-06-01T08:00:00.5Z", "2026-06-01T08:00:00.500000+00:00"),
        ("2026-06-01T08:00:00.123456789Z", "2026-06-01T08:00:00.123456+00:00"),
        ("2026-06-01T16:00:00.25+08:00", "2026-06-01T08:00:00.250000+00:00"),
        ("2026-06-01T08:00:00", "2026-06-01T08:00:00+00:00"),
        (1780300800, "2026-06-01T08:00:00+00:00"),
        (1780300800.25, "2026-06-01T08:00:00.250000+00:00"),
    ],
)
def test_moments(value: Any, expected: str) -> None:
    found = moment(value)
    assert found is not None
    assert found.isoformat() == expected


@pytest.mark.parametrize("value", [None, "", 0])
def test_no_moment(value: Any) -> None:
    assert moment(value) is None


@pytest.mark.parametrize("value", ["yesterday", [1], 1e30, float("1e308"), {"a": 1}])
def test_what_is_no_moment(value: Any) -> None:
    with pytest.raises(InvalidInput, match="no time"):
        moment(value)


def test_detect_says_why_not(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(EXPORT, encoding="utf-8")
    found = detect(path)
    assert found.format == "wellkept"
    assert "mapping" in found.against["chatgpt"]
