"""Rows of bytes: word2vec's and fastText's, whole, cut and damaged, beside a twin."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.kernels.parsing.binary_rows import scan_fasttext_entries, scan_word2vec
from tests import naive

LONGEST = 50

keys = st.binary(min_size=1, max_size=8).filter(lambda key: b" " not in key and key[:1] != b"\n")
floats = st.binary(min_size=8, max_size=8)
rows = st.lists(st.tuples(keys, floats, st.sampled_from([b"", b"\n"])), max_size=5)
entries = st.lists(
    st.tuples(
        st.binary(max_size=8).filter(lambda word: b"\0" not in word),
        st.integers(-(2**63), 2**63 - 1),
        st.sampled_from([0, 1]),
    ),
    max_size=5,
)


def scan(text: bytes, most: int) -> tuple[list[tuple[bytes, bytes]], int]:
    found_rows = np.zeros((most, 8), np.uint8)
    starts, stops = np.zeros(most, np.int64), np.zeros(most, np.int64)
    found, end = scan_word2vec(np.frombuffer(text, np.uint8), 8, found_rows, starts, stops, LONGEST)
    spans = zip(starts[:found].tolist(), stops[:found].tolist(), strict=True)
    return [
        (text[start:stop], row.tobytes())
        for (start, stop), row in zip(spans, found_rows[:found], strict=True)
    ], end


def scan_entries(text: bytes, at: int, count: int) -> tuple[list[tuple[bytes, int, bool]], int]:
    starts, stops, counts = (np.zeros(count, np.int64) for _ in range(3))
    labels = np.zeros(count, np.bool_)
    end = scan_fasttext_entries(np.frombuffer(text, np.uint8), at, starts, stops, counts, labels)
    spans = zip(starts.tolist(), stops.tolist(), counts.tolist(), labels.tolist(), strict=True)
    return [(text[start:stop], number, label) for start, stop, number, label in spans], end


@given(rows, st.integers(0, 6))
def test_word2vec_rows_are_found_with_and_without_newlines(
    given_rows: list[tuple[bytes, bytes, bytes]], most: int
) -> None:
    text = b"".join(key + b" " + numbers + end for key, numbers, end in given_rows)
    found, end = scan(text, most)
    assert (found, end) == naive.scan_word2vec(text, 2, most)
    assert found == [(key, numbers) for key, numbers, _ in given_rows][:most]


@given(rows, st.integers(0, 60))
def test_a_row_that_is_cut_is_left_for_the_next_block(
    given_rows: list[tuple[bytes, bytes, bytes]], cut: int
) -> None:
    text = b"".join(key + b" " + numbers + end for key, numbers, end in given_rows)
    found, end = scan(text[:cut], 6)
    assert (found, end) == naive.scan_word2vec(text[:cut], 2, 6)
    following, _ = scan(text[end:], 6)
    assert found + following == [(key, numbers) for key, numbers, _ in given_rows]


@given(st.binary(max_size=40))
def test_any_bytes_are_scanned_as_the_twin_scans_them(text: bytes) -> None:
    assert scan(text, 6) == naive.scan_word2vec(text, 2, 6)


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_key_without_end_tells_which_row_it_stands_in(before: int) -> None:
    text = np.frombuffer(b"key 12345678" * before + b"x" * (LONGEST + 1), np.uint8)
    starts, stops = np.zeros(9, np.int64), np.zeros(9, np.int64)
    found, end = scan_word2vec(text, 8, np.zeros((9, 8), np.uint8), starts, stops, LONGEST)
    assert (found, end) == (-before - 1, 12 * before)


def test_a_key_may_be_as_long_as_allowed() -> None:
    text = b"x" * LONGEST + b" 12345678"
    assert scan(text, 1) == ([(b"x" * LONGEST, b"12345678")], len(text))


@given(entries, st.binary(max_size=3))
def test_fasttext_entries_are_what_was_packed(
    given_entries: list[tuple[bytes, int, int]], before: bytes
) -> None:
    packed = [word + struct.pack("<xqb", count, kind) for word, count, kind in given_entries]
    text = before + b"".join(packed)
    found, end = scan_entries(text, len(before), len(given_entries))
    assert found == [(word, count, kind == 1) for word, count, kind in given_entries]
    assert end == len(text)
    assert (found, end) == naive.scan_fasttext_entries(text, len(before), len(given_entries))


@given(entries.filter(bool), st.integers(1, 200))
def test_cut_fasttext_entries_are_told(
    given_entries: list[tuple[bytes, int, int]], cut: int
) -> None:
    text = b"".join(word + struct.pack("<xqb", n, kind) for word, n, kind in given_entries)
    text = text[:-cut]
    assert scan_entries(text, 0, len(given_entries))[1] == -1
    assert naive.scan_fasttext_entries(text, 0, len(given_entries))[1] == -1
