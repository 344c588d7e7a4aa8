"""Lines of text to rows and back, beside a twin that splits them in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.kernels.parsing.text_rows import (
    BLANK,
    FITS,
    MAX_NUMBER_BYTES,
    MISFIT,
    format_lines,
    parse_lines,
)
from tests import naive

numbers = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: repr(x).encode()),
    st.sampled_from([b"0", b"-1", b"2.0", b"1e5", b".5", b"7.", b"+3", b"nan", b"-inf", b"1e99"]),
)
keys = st.sampled_from(
    [b"the", b"of", "한국".encode(), "a\u00a0b".encode(), b"New York", b" ", b"  x", b"y ", b"1",
     b"version 2.0", b"at 0.418", b"1e5", b"\xff\xfe", b"tab\there", b".", b"...", b"-"],
)  # fmt: skip
junk = st.sampled_from([b"1.2.3", b"x", b"--1", b"1e", b"", b"1_0", b"\xff"])
ends = st.sampled_from([b"", b" ", b"\r", b" \r", b"\t", b"   "])
fields = st.lists(st.one_of(numbers, numbers, numbers, junk), max_size=5)
lines = st.builds(lambda key, rest, end: b" ".join([key, *rest]) + end, keys, fields, ends)


def parse(lines: list[bytes], dim: int, separator: bytes, keyed: bool) -> list[naive.Row]:
    text = np.frombuffer(b"\n".join(lines) + b"\n", np.uint8)
    stops = np.flatnonzero(text == ord("\n"))[-len(lines) :]
    starts = np.r_[0, stops[:-1] + 1]
    matrix = np.zeros((len(lines), dim), np.float32)
    key_stops, status = np.zeros(len(lines), np.int64), np.full(len(lines), 99, np.uint8)
    rows = np.arange(len(lines))
    parse_lines(
        text, starts, stops, rows, separator[0], keyed, matrix, key_stops, status, 0, len(lines)
    )
    found: list[naive.Row] = []
    for i, kind in enumerate(status.tolist()):
        key = text[starts[i] : max(key_stops[i], starts[i])].tobytes() if kind == FITS else b""
        found.append((kind, key, matrix[i].tolist() if kind == FITS else []))
    return found


def as_float32(row: naive.Row) -> tuple[int, bytes, bytes]:
    with np.errstate(over="ignore"):
        return row[0], row[1], np.array(row[2], np.float64).astype(np.float32).tobytes()


@given(st.lists(lines, min_size=1, max_size=4), st.integers(1, 4))
def test_lines_are_parsed_as_the_twin_parses_them(text: list[bytes], dim: int) -> None:
    expected = [as_float32(naive.parse_line(line, dim, b" ", True)) for line in text]
    assert [as_float32(row) for row in parse(text, dim, b" ", True)] == expected


@given(st.lists(fields.map(b"\t".join), min_size=1, max_size=4), st.integers(1, 4))
def test_rows_without_keys_are_parsed_as_the_twin_parses_them(text: list[bytes], dim: int) -> None:
    expected = [as_float32(naive.parse_line(line, dim, b"\t", False)) for line in text]
    assert [as_float32(row) for row in parse(text, dim, b"\t", False)] == expected


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (b"the 0.418 0.25", b"the"),
        (b"the 0.418 0.25 \r", b"the"),
        (b"the 0.418  0.25", b"the"),
        (b"the  0.418 0.25", b"the "),
        (b"New York 0.418 0.25", b"New York"),
        (b". . . 0.418 0.25", b". . ."),
        (b"version 2.0 0.418 0.25", b"version 2.0"),
        (b"at 3 0.418 0.25", b"at 3"),
        (b"0.5 0.418 0.25", b"0.5"),
        (b"to infinite 0.418 0.25", b"to infinite"),
        (b"one nanometre 0.418 0.25", b"one nanometre"),
        ("a\u00a0b 0.418 0.25".encode(), "a\u00a0b".encode()),
    ],
)
def test_the_key_is_all_before_the_last_numbers(line: bytes, key: bytes) -> None:
    assert parse([line], 2, b" ", True)[0][:2] == (FITS, key)


@pytest.mark.parametrize(
    "line", [b"the 0.418", b"the", b"0.1 0.2", b"the 0.418 0.25 0.125", b"the 0.4x 0.25"]
)
def test_a_line_of_another_width_does_not_fit(line: bytes) -> None:
    assert parse([line], 2, b" ", True)[0][0] == MISFIT


@pytest.mark.parametrize("line", [b"", b"  ", b"\r", b" \t\r"])
def test_a_line_of_nothing_is_blank(line: bytes) -> None:
    assert parse([line], 2, b" ", True)[0][0] == BLANK


def test_only_the_lines_asked_for_are_parsed() -> None:
    text = np.frombuffer(b"a 1\nb 2\nc 3\n", np.uint8)
    starts, stops = np.array([0, 4, 8]), np.array([3, 7, 11])
    matrix = np.zeros((3, 1), np.float32)
    key_stops, status = np.zeros(3, np.int64), np.full(3, 99, np.uint8)
    rows = np.arange(3)
    parse_lines(text, starts, stops, rows, ord(" "), True, matrix, key_stops, status, 1, 2)
    assert matrix.ravel().tolist() == [0, 2, 0]
    assert status.tolist() == [99, FITS, 99]


@given(
    st.lists(
        st.lists(
            st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_rows_are_written_with_the_numbers_of_the_twin(
    rows: list[list[float]], keyed: bool
) -> None:
    matrix: Float32Array = np.array(rows, np.float32)
    words = [b"key%d" % i for i in range(len(rows))]
    packed = np.frombuffer(b"".join(words), np.uint8)
    offsets = np.arange(len(rows) + 1) * 4 if keyed else np.empty(0, np.int64)
    out = np.zeros(len(rows) * (3 * MAX_NUMBER_BYTES + 5), np.uint8)
    used = format_lines(matrix, packed, offsets, ord("\t"), out, 0, len(rows))
    text = out[:used].tobytes()
    assert text.endswith(b"\n")
    for line, twin in zip(text.splitlines(), naive.format_lines(matrix, words), strict=True):
        written = line.split(b"\t")
        if keyed:
            assert written.pop(0) == twin[0]
        assert as_float32((FITS, b"", list(map(float, written)))) == as_float32(
            (FITS, b"", list(map(float, twin[1:])))
        )
