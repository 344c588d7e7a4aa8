"""Decimal numbers: what is written reads back bit for bit, what is read is what Python reads."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malmoi.arrays import UInt32Array
from malmoi.kernels.parsing.numbers import NOT_A_NUMBER, format_number, parse_number
from tests import naive

finite = st.floats(width=32, allow_nan=False, allow_infinity=False).map(np.float32)
decimals = st.from_regex(r"[+-]?[0-9]{1,9}(\.[0-9]{0,8})?([eE][+-]?[0-9]{1,2})?", fullmatch=True)


def parsed(text: bytes) -> tuple[float, int]:
    value, after = parse_number(np.frombuffer(text, np.uint8), 0, len(text))
    return float(value), int(after)


def formatted(value: np.float32) -> bytes:
    out = np.zeros(16, np.uint8)  # as many bytes as are promised
    return out[: format_number(value, out, 0)].tobytes()


def bits(value: float) -> bytes:
    with np.errstate(over="ignore"):
        return np.float32(value).tobytes()


def significant(text: bytes) -> int:
    digits = text.lstrip(b"-").partition(b"e")[0].replace(b".", b"")
    return len(digits.strip(b"0"))


@given(finite)
@example(np.float32(-0.0))
@example(np.float32(1e-45))
@example(np.float32(-1.1754942e-38))
@example(np.float32(3.4028235e38))
@example(np.float32(9.999999e-6))
@example(np.float32(9999999.0))
@example(np.float32(16777216.0))
def test_a_written_number_reads_back_bit_for_bit(value: np.float32) -> None:
    text = formatted(value)
    assert naive.reads_back(text, value)
    assert parsed(text)[1] == len(text)
    assert bits(parsed(text)[0]) == value.tobytes()
    assert significant(text) <= 9


@pytest.mark.parametrize("sign", [0, 1])
def test_numbers_of_every_exponent_read_back(sign: int) -> None:
    mantissas = np.random.default_rng(3).integers(0, 1 << 23, 24, dtype=np.uint32)
    edges = np.array([0, 1, 2, (1 << 23) - 1, (1 << 23) - 2], dtype=np.uint32)
    exponents = np.arange(255, dtype=np.uint32)[:, None] << 23
    patterns: UInt32Array = (exponents | np.r_[edges, mantissas] | np.uint32(sign << 31)).reshape(
        -1
    )
    values = patterns.view(np.float32)
    texts = [formatted(value) for value in values]
    by_python = np.array([np.float32(float(text)) for text in texts])
    by_us = np.array([np.float32(parsed(text)[0]) for text in texts])
    np.testing.assert_array_equal(by_python.view(np.uint32), patterns)
    np.testing.assert_array_equal(by_us.view(np.uint32), patterns)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, b"0"),
        (-0.0, b"-0"),
        (1.0, b"1"),
        (-2.5, b"-2.5"),
        (0.418, b"0.418"),
        (0.1, b"0.1"),
        (1000000.0, b"1000000"),
        (1e-5, b"0.00001"),
        (1e-10, b"1e-10"),
        (1e10, b"1e+10"),
    ],
)
def test_numbers_are_written_short(value: float, text: bytes) -> None:
    assert formatted(np.float32(value)) == text


@given(decimals)
@example("0.123456789012345678")
@example("1e-45")
@example("7e-46")
@example("3.4028236e38")
@example("1e39")
@example("-1e-99")
@example("00000000000000000000000000001")
@example("0.0000000000000000000000000000000000000000000001e46")
@example("123456789012345678901234567890")
def test_decimals_read_as_python_reads_them(text: str) -> None:
    value, after = parsed(text.encode())
    assert after == len(text)
    assert bits(value) == bits(float(text))


@given(st.floats(2.0**-20, 2.0**40, width=32), st.sampled_from([0.25, 0.5, 0.75]))
@example(16777216.0, 0.5)
@example(16777218.0, 0.5)
def test_fifteen_digits_between_two_floats_round_to_the_nearer(low: float, part: float) -> None:
    high = float(np.nextafter(np.float32(low), np.float32(np.inf)))
    text = f"{low + (high - low) * part:.15g}"  # part = 0.5 is a tie, or next to one
    assert bits(parsed(text.encode())[0]) == bits(float(text))


@pytest.mark.parametrize(
    "junk",
    [b"", b".", b"+", b"-", b"--1", b"+-1", b"e5", b".e5", b"1e", b"1e+", b"1e-", b"x", b"na",
     b"in", b"-i", b"\xff", b" 1", "１".encode()],
)  # fmt: skip
def test_what_is_no_number_is_none(junk: bytes) -> None:
    assert naive.parse_number(junk) is None
    assert parsed(junk)[1] == NOT_A_NUMBER


@pytest.mark.parametrize("junk", [b"1.2.3", b"1_000", b"0x10", b"1e5.5", b"1,5", b"3rd", b"1-2"])
def test_a_number_with_junk_behind_it_ends_before_the_junk(junk: bytes) -> None:
    assert naive.parse_number(junk) is None
    assert 0 < parsed(junk)[1] < len(junk)


@pytest.mark.parametrize("text", [b"nan", b"NaN", b"-nan", b"nan(ind)", b"-NaN(ind)"])
def test_every_spelling_of_nan_is_nan(text: bytes) -> None:
    assert np.isnan(parsed(text)[0])
    assert parsed(text)[1] == len(text)


@pytest.mark.parametrize("text", [b"inf", b"-inf", b"+Inf", b"Infinity", b"-INFINITY"])
def test_every_spelling_of_infinity_is_infinite(text: bytes) -> None:
    assert parsed(text) == (float(text), len(text))


@pytest.mark.parametrize(
    "word", [b"nancy", b"nanometre", b"info", b"infinite", b"infinit", b"-inf0"]
)
def test_a_word_that_begins_like_nan_or_inf_is_no_number(word: bytes) -> None:
    assert naive.parse_number(word) is None
    assert parsed(word)[1] != len(word)


def test_a_number_ends_where_it_is_told_to() -> None:
    text = np.frombuffer(b"12345", np.uint8)
    assert parse_number(text, 1, 3) == (23.0, 3)
