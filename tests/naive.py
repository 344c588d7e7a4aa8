"""Slow, obvious twins of the kernels, in plain Python and NumPy.

Written from the formats' descriptions, not from the kernels.
"""

import re
import struct

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.kernels.parsing.text_rows import BLANK, FITS, MISFIT

Row = tuple[int, bytes, list[float]]  # status, key, numbers


def parse_number(field: bytes) -> float | None:
    """What a whole field reads as; None if it is no number."""
    if re.fullmatch(rb"[+-]?nan\([^ \t]*\)", field, re.IGNORECASE):
        return float("nan")
    if field != field.strip() or b"_" in field:
        return None
    try:
        return float(field)
    except ValueError:
        return None


def reads_back(text: bytes, value: np.float32) -> bool:
    """Whether Python reads just these 32 bits from the text."""
    return np.float32(float(text)).tobytes() == np.float32(value).tobytes()


def parse_line(line: bytes, dim: int, separator: bytes, keyed: bool) -> Row:
    """The key is the first field, or else all that stands before the last `dim` fields."""
    line = line.rstrip(separator + b"\r\t")
    if not line:
        return BLANK, b"", []
    key, fields = b"", line.split(separator)
    if keyed:
        key, *fields = fields
    if fields and fields[0]:
        numbers = [parse_number(field) for field in fields if field]
        if len(numbers) == dim and None not in numbers:
            return FITS, key, [number for number in numbers if number is not None]
    return parse_from_the_end(line, dim, separator) if keyed else (MISFIT, b"", [])


def parse_from_the_end(line: bytes, dim: int, separator: bytes) -> Row:
    numbers: list[float] = []
    for _ in range(dim):
        line, before, field = line.rstrip(separator).rpartition(separator)
        number = parse_number(field)
        if not before or number is None:
            return MISFIT, b"", []
        numbers.insert(0, number)
    if separator in line and is_component(line.rpartition(separator)[2]):
        return MISFIT, b"", []
    return FITS, line, numbers


def is_component(field: bytes) -> bool:
    """A number with an exponent, or with three digits behind the point."""
    if parse_number(field) is None:
        return False
    return b"e" in field.lower() or len(field.partition(b".")[2]) >= 3


def format_lines(matrix: Float32Array, keys: list[bytes]) -> list[list[bytes]]:
    """The fields of each line, numbers as Python writes them."""
    return [
        [key, *(repr(float(number)).encode() for number in row)]
        for key, row in zip(keys, matrix, strict=True)
    ]


def scan_word2vec(text: bytes, dim: int, most: int) -> tuple[list[tuple[bytes, bytes]], int]:
    """Whole rows, as key and bytes of the floats, and the position after the last."""
    found: list[tuple[bytes, bytes]] = []
    at = 0
    while len(found) < most:
        row = text[at:].lstrip(b"\n")
        key, space, rest = row.partition(b" ")
        if not space or len(rest) < 4 * dim:
            break
        found.append((key, rest[: 4 * dim]))
        at = len(text) - len(rest) + 4 * dim
    return found, at


def scan_fasttext_entries(
    text: bytes, at: int, entries: int
) -> tuple[list[tuple[bytes, int, bool]], int]:
    """Word, count and whether it is a label; the position after, -1 if the text ends before."""
    found: list[tuple[bytes, int, bool]] = []
    for _ in range(entries):
        word, nul, rest = text[at:].partition(b"\0")
        if not nul or len(rest) < 9:
            return found, -1
        count, kind = struct.unpack_from("<qb", rest)
        found.append((word, count, kind != 0))
        at += len(word) + 10
    return found, at


def fasttext_hash(text: bytes) -> int:
    """FNV-1a, where a byte is a signed char widened to 32 bits."""
    value = 2166136261
    for byte in text:
        value ^= int(np.int8(byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
        value = value * 16777619 % 2**32
    return value


def ngrams(word: bytes, shortest: int, longest: int) -> list[bytes]:
    """The n-grams of `<word>`; a character is a byte and the continuation bytes after it."""
    if word == b"</s>":
        return []
    characters = re.findall(rb"[^\x80-\xbf][\x80-\xbf]*", b"<" + word + b">")
    found = []
    for first in range(len(characters)):
        for size in range(shortest, longest + 1):
            last = first + size
            inside = first > 0 and last < len(characters)
            if last <= len(characters) and (size > 1 or inside):
                found.append(b"".join(characters[first:last]))
    return found


def word_vectors(
    words: list[bytes],
    own: Float32Array,
    rows: Float32Array,
    shortest: int,
    longest: int,
    buckets: int,
    kept: list[int] | None = None,
) -> Float32Array:
    """The mean of a word's own row and its n-grams' rows."""
    out = []
    for word, row in zip(words, own, strict=True):
        cut = [] if longest <= 0 else ngrams(word, shortest, longest)
        places = [fasttext_hash(ngram) % buckets for ngram in cut]
        if kept is not None:
            places = [kept.index(place) for place in places if place in kept]
        parts = np.vstack([row[None], rows[places]]).astype(np.float64)
        out.append(parts.mean(axis=0))
    return np.array(out, dtype=np.float32).reshape(own.shape)


def screen(
    tiles: npt.NDArray[np.int8], scales: Float32Array, direction: Float32Array
) -> Float32Array:
    """out[t, l] = scales[t, l] * Σ_j direction[j] * tiles[t, j, l]."""
    sums = np.einsum("j,tjl->tl", direction.astype(np.float64), tiles.astype(np.float64))
    found: Float32Array = (sums * scales).astype(np.float32)
    return found


class GloVe:
    """GloVe's update rule in float64: vectors, biases and the sums of squares of each."""

    def __init__(
        self,
        words: Float32Array,
        contexts: Float32Array,
        biases: Float32Array,
        others: Float32Array,
    ) -> None:
        self.numbers = [part.astype(np.float64) for part in (words, contexts, biases, others)]
        self.squares = [np.ones_like(part) for part in self.numbers]

    def learn(self, i: int, j: int, log: float, weight: float, rate: float) -> float:
        """One record; returns f(x) (w·c + b + d − log x)² as it was before."""
        words, contexts, biases, others = self.numbers
        off = words[i] @ contexts[j] + biases[i] + others[j] - log
        slope = rate * weight * off
        gradients = slope * contexts[j], slope * words[i], slope, slope
        for part, squares, row, gradient in zip(
            self.numbers, self.squares, (i, j, i, j), gradients, strict=True
        ):
            part[row] -= gradient / np.sqrt(squares[row])
            squares[row] += gradient**2
        return float(weight * off**2)
